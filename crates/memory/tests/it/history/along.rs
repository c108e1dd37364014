//! What goes along with an undo.

use memory::Engine;
use model::Scope;
use ports::By;

use super::{Recorded, run};
use crate::stage::{finds, user};

/// The messages of ann's first episode.
async fn sources(engine: &Engine) -> Vec<model::MessageId> {
    let rows = engine
        .rows(&Scope::default(), &user("ann"))
        .await
        .expect("it reads");
    let episode = rows
        .into_iter()
        .find(|row| row.kind == model::DocKind::Entry(model::EntryKind::Episode));
    episode.expect("it is there").sources
}

/// And comes back with what it was made of.
#[tokio::test]
async fn an_undo_takes_along_what_was_made_of_what_it_took_out() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "I live in Lisbon").await;
    let log = world.until_recorded(1).await;
    let entries = world.vault.paths();
    let fact = sources(&engine).await;
    let ahead = model::Entry {
        sources: fact,
        ..crate::stage::written(
            "ann",
            model::EntryKind::Foresight,
            "fs_1",
            1,
            "Ann will leave Lisbon",
        )
    };
    let curate = memory::Curate {
        scope: Scope::default(),
        owner: user("ann"),
        put: vec![ahead],
        remove: Vec::new(),
    };
    let (put, made) = engine.recorded(run("r_ahead"), engine.curate(curate)).await;
    put.expect("it is put");
    assert!(made.is_some());
    let By::Run { run: remembered, .. } = &log[0].by else {
        panic!("{log:?}");
    };
    let undone = engine.undo(None, &remembered.id).await.expect("it is taken back");
    let By::Run { run: undo, .. } = undone.expect("something changed").by else {
        panic!("a person undid it");
    };
    let texts = || {
        let paths = world.vault.paths().into_iter();
        let bytes = paths.filter_map(|path| world.vault.bytes(&path));
        bytes
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect::<String>()
    };
    assert!(!texts().contains("Lisbon"), "{}", texts());
    assert!(!finds(&engine, "ann", "Lisbon", "leave").await);
    engine
        .undo(None, &undo.id)
        .await
        .expect("it is taken back")
        .expect("something changed");
    assert!(texts().contains("leave Lisbon"));
    assert!(finds(&engine, "ann", "Lisbon", "leave").await);
    assert!(world.vault.paths().len() > entries.len());
}
