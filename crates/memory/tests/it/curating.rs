//! Memories made of other memories: put, replaced and taken out, once and the same when done again.

use memory::{Curate, Engine, EngineError};
use model::{Entry, EntryId, EntryKind};

use crate::stage::{Stage, finds, user, written};

fn curate(put: Vec<Entry>, remove: &[&str]) -> Curate {
    Curate {
        scope: model::Scope::default(),
        owner: user("ann"),
        put,
        remove: remove.iter().map(|id| EntryId::new(*id)).collect(),
    }
}

async fn opened() -> (Stage, Engine) {
    let stage = Stage::default();
    let engine = stage.open().await;
    (stage, engine)
}

#[tokio::test]
async fn what_is_put_is_found_at_once_and_replaced_under_its_id() {
    let (stage, engine) = opened().await;
    let ahead = |body: &str| written("ann", EntryKind::Foresight, "fs_1", 0, body);
    engine
        .curate(curate(vec![ahead("Ann owns a theremin")], &[]))
        .await
        .expect("it is put");
    assert!(finds(&engine, "ann", "theremin", "theremin").await);
    for _ in 0..2 {
        engine
            .curate(curate(vec![ahead("Ann owns a glockenspiel")], &[]))
            .await
            .expect("it is replaced");
    }
    assert!(finds(&engine, "ann", "glockenspiel", "glockenspiel").await);
    assert!(!finds(&engine, "ann", "theremin", "theremin").await);
    stage.check().await;
    for _ in 0..2 {
        engine
            .curate(curate(Vec::new(), &["fs_1"]))
            .await
            .expect("it is taken out");
    }
    assert!(!finds(&engine, "ann", "glockenspiel", "glockenspiel").await);
    stage.check().await;
}

#[tokio::test]
async fn nothing_is_put_among_the_memories_of_somebody_else() {
    let (stage, engine) = opened().await;
    let foreign = written("bob", EntryKind::Profile, "pf_1", 0, "Bob owns a theremin");
    let refused = engine.curate(curate(vec![foreign], &[])).await;
    assert!(matches!(refused, Err(EngineError::Invalid(_))), "{refused:?}");
    assert!(stage.vault.paths().is_empty());
}
