//! Files beside memory, as `SOUL.md`: they are not in the index, but in the history.

use std::time::Duration;

use model::{Owner, Page, Scope};
use ports::{By, Clock as _};
use tokio::task::yield_now;

use super::{Recorded, diff, log, run};
use crate::stage::user;

const SOUL: &str = "default/default/users/ann/SOUL.md";

#[tokio::test]
async fn each_edit_of_a_file_beside_memory_is_recorded() {
    let world = Recorded::new();
    world.vault.write(SOUL, "edit 0\n");
    let engine = world.open().await;
    world.until_logged(&engine, 1).await;
    for n in 1..3 {
        world.vault.write(SOUL, format!("edit {n}\n"));
        let before = world.stage.clock.elapsed();
        let log = world.until_logged(&engine, n + 1).await;
        let waited = world.stage.clock.elapsed().saturating_sub(before);
        assert_eq!(log[0].by, By::Person, "{log:?}");
        let told = diff(&engine, &log[0]).await;
        assert!(told.contains(&format!("-edit {}\n+edit {n}", n - 1)), "{told}");
        let bounds = Duration::from_secs(10)..Duration::from_mins(5);
        assert!(bounds.contains(&waited), "{waited:?}");
    }
    // Right before the end, when the watcher reports it no more.
    world.vault.write(SOUL, "edit 3\n");
    engine.shutdown().await;
    // Then a deletion while no engine runs.
    let engine = world.open().await;
    assert_eq!(log(&engine).await.len(), 4);
    engine.shutdown().await;
    world.vault.delete(SOUL);
    let engine = world.open().await;
    let log = world.until_logged(&engine, 5).await;
    assert!(diff(&engine, &log[0]).await.contains("-edit 3"), "{log:?}");
}

#[tokio::test]
async fn endless_edits_beside_memory_are_recorded_every_few_minutes() {
    let world = Recorded::new();
    let engine = world.open().await;
    for n in 0..80 {
        world.vault.write(SOUL, format!("edit {n}\n"));
        for _ in 0..200 {
            yield_now().await;
        }
        world.stage.clock.advance(Duration::from_secs(5));
    }
    let made = log(&engine).await.len();
    assert!(
        (1..=3).contains(&made),
        "{made} changes in 80 edits over seven minutes"
    );
}

#[tokio::test]
async fn a_process_that_only_asks_records_nothing_beside_memory() {
    let mut world = Recorded::new();
    world.stage.settings.asks_only = true;
    world.vault.write(SOUL, "edit 0\n");
    let engine = world.open().await;
    world.stage.rest(&engine).await;
    engine.shutdown().await;
    let engine = world.open().await;
    assert_eq!(log(&engine).await, []);
}

/// A page that a run wrote is recorded as the run's, and the undo restores the person's text.
#[tokio::test]
async fn a_page_is_undone_like_an_entry() {
    for before in [None, Some("Ann's own words\n")] {
        let world = Recorded::new();
        let engine = world.open().await;
        let page = Page::Memory;
        let path = "default/default/users/ann/MEMORY.md";
        if let Some(before) = before {
            world.vault.write(path, before);
        }
        let (scope, owner): (Scope, Owner) = (Scope::default(), user("ann"));
        let replace = memory::ReplacePage {
            scope,
            owner,
            page,
            before: before.map(str::to_owned),
            text: "A page of a run\n".to_owned(),
        };
        let (done, change) = engine.recorded(run("r_1"), engine.replace_page(replace)).await;
        assert!(done.expect("it replaces") && change.is_some());
        world.stage.clock.advance(Duration::from_mins(6));
        world.until_logged(&engine, 1).await;
        assert!(log(&engine).await.iter().all(|change| change.by.run().is_some()));
        engine
            .undo(None, "r_1")
            .await
            .expect("it is undone")
            .expect("something changed");
        assert_eq!(world.vault.bytes(path).as_deref(), before.map(str::as_bytes));
    }
}
