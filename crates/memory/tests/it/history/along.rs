//! Memories that an undo removes or restores with their sources.

use memory::Engine;
use model::Scope;

use super::{Recorded, log, run};
use crate::stage::{finds, user};

/// A run writes an upcoming event, made of Ann's first episode.
pub(super) async fn look_ahead(engine: &Engine, body: &str) {
    let rows = engine
        .rows(&Scope::default(), &user("ann"))
        .await
        .expect("it reads");
    let is_episode = |row: &model::Doc| row.kind == model::DocKind::Entry(model::EntryKind::Episode);
    let episode = rows.into_iter().find(is_episode).expect("it is there");
    let ahead = model::Entry {
        sources: episode.sources,
        ..crate::stage::written("ann", model::EntryKind::Foresight, "fs_1", 1, body)
    };
    let curate = memory::Curate::new(&Scope::default(), &user("ann"), vec![ahead], Vec::new());
    let (put, made) = engine.recorded(run("r_ahead"), engine.curate(curate)).await;
    put.expect("it is put");
    assert!(made.is_some());
}

/// And an undo of the undo restores both.
#[tokio::test]
async fn an_undo_removes_memories_made_of_the_removed_ones() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "I live in Lisbon").await;
    let remembered = log(&engine).await[0].by.run().expect("a run").id.clone();
    let entries = world.vault.paths();
    look_ahead(&engine, "Ann will leave Lisbon").await;
    let undone = engine.undo(None, &remembered).await.expect("it is taken back");
    let undone = undone.expect("something changed");
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
        .undo(None, &undone.by.run().expect("a run").id)
        .await
        .expect("it is taken back")
        .expect("something changed");
    assert!(texts().contains("leave Lisbon"));
    assert!(finds(&engine, "ann", "Lisbon", "leave").await);
    assert!(world.vault.paths().len() > entries.len());
}
