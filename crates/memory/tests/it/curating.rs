//! Derived memories: put, replaced and removed, with the same result when repeated.

use memory::{Curate, Engine, EngineError};
use model::{Entry, EntryId, EntryKind, Scope, SessionKey};
use tokio::task::yield_now;

use crate::slow::At;
use crate::stage::{Stage, finds, flush, name, say, session, user, written};

fn curate(put: Vec<Entry>, remove: &[&str]) -> Curate {
    let remove = remove.iter().map(|id| EntryId::new(*id)).collect();
    Curate::new(&Scope::default(), &user("ann"), put, remove)
}

async fn opened() -> (Stage, Engine) {
    let stage = Stage::default();
    let engine = stage.open().await;
    (stage, engine)
}

#[tokio::test]
async fn a_curated_memory_is_found_at_once_and_replaced_under_its_id() {
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
async fn a_curation_refuses_the_entry_of_another_owner() {
    let (stage, engine) = opened().await;
    let foreign = written("bob", EntryKind::Profile, "pf_1", 0, "Bob owns a theremin");
    let refused = engine.curate(curate(vec![foreign], &[])).await;
    assert!(matches!(refused, Err(EngineError::Invalid(_))), "{refused:?}");
    assert!(stage.vault.paths().is_empty());
}

fn of_another_tenant() -> SessionKey {
    SessionKey {
        scope: Scope::new(name("other"), name("default")),
        ..session("s")
    }
}

/// Yields until no task can make progress.
async fn settled() {
    for _ in 0..1_000 {
        yield_now().await;
    }
}

#[tokio::test]
async fn a_change_of_one_tenant_does_not_delay_another() {
    let stage = Stage::default();
    let (slow, engine) = stage.open_slow().await;
    let theirs = of_another_tenant();
    say(&engine, &theirs, "bob", 0, "I live in Lisbon").await;
    slow.arm(At::Apply);
    let put = vec![written(
        "ann",
        EntryKind::Profile,
        "pf_1",
        0,
        "Ann owns a theremin",
    )];
    let curating = engine.curate(curate(put, &[]));
    let meanwhile = async {
        slow.called().await;
        // The watcher has seen Ann's file.
        settled().await;
        engine.flush(flush(&theirs)).await.expect("it cuts");
        settled().await;
        let paths = stage.vault.paths();
        assert!(paths.iter().any(|path| path.contains("bob")), "{paths:?}");
        slow.let_go();
    };
    tokio::join!(async { curating.await.expect("it is put") }, meanwhile);
    assert_eq!(stage.rest(&engine).await, 0);
    stage.check().await;
}

#[tokio::test]
async fn writes_of_others_come_between_the_parts_of_a_long_file() {
    let stage = Stage::default();
    let (slow, engine) = stage.open_slow().await;
    let theirs = of_another_tenant();
    say(&engine, &theirs, "bob", 0, "I live in Lisbon").await;
    slow.arm(At::Apply);
    let body = |n: i64| {
        written(
            "ann",
            EntryKind::Profile,
            &format!("pf_{n}"),
            0,
            &format!("Ann owns {n} harps"),
        )
    };
    let curating = engine.curate(curate((0..1_200).map(body).collect(), &[]));
    let meanwhile = async {
        slow.called().await;
        engine.flush(flush(&theirs)).await.expect("it cuts");
        settled().await;
        for _ in 0..2 {
            slow.arm(At::Apply);
            slow.let_go();
            settled().await;
        }
        let bobs = stage.parts().index.load(&theirs.scope, &user("bob")).await;
        let anns = stage.parts().index.load(&Scope::default(), &user("ann")).await;
        let (bobs, anns) = (bobs.expect("it is read").len(), anns.expect("it is read").len());
        assert!(bobs > 0 && (1..1_200).contains(&anns), "{bobs} {anns}");
        slow.let_go();
    };
    tokio::join!(async { curating.await.expect("it is put") }, meanwhile);
    assert_eq!(stage.rest(&engine).await, 0);
    stage.check().await;
}
