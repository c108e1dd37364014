//! Files beside memory, as `SOUL.md`: no index has them, and the history does.

use std::time::Duration;

use ports::{By, Clock as _};
use tokio::task::yield_now;

use super::Recorded;

const SOUL: &str = "default/default/users/ann/SOUL.md";

#[tokio::test]
async fn each_edit_beside_memory_is_recorded_though_nothing_else_changes() {
    let world = Recorded::new();
    world.vault.write(SOUL, "edit 0\n");
    let engine = world.open().await;
    world.until_recorded(1).await;
    for n in 1..3 {
        world.vault.write(SOUL, format!("edit {n}\n"));
        let before = world.stage.clock.elapsed();
        let log = world.until_recorded(n + 1).await;
        let waited = world.stage.clock.elapsed().saturating_sub(before);
        assert!(matches!(log[0].by, By::Person { .. }), "{log:?}");
        assert!(world.diff(&log[0]).await.contains(&format!("+edit {n}")));
        let bounds = Duration::from_secs(10)..Duration::from_mins(5);
        assert!(bounds.contains(&waited), "{waited:?}");
    }
    // A moment before the end, when nobody hears of it.
    world.vault.write(SOUL, "edit 3\n");
    engine.shutdown().await;
    let log = world.log().await;
    assert_eq!(log.len(), 4, "{log:?}");
    // While nobody watches.
    world.vault.delete(SOUL);
    let _engine = world.open().await;
    let log = world.until_recorded(5).await;
    assert!(world.diff(&log[0]).await.contains("-edit 3"), "{log:?}");
}

#[tokio::test]
async fn edits_beside_memory_that_never_end_are_recorded_from_time_to_time() {
    let world = Recorded::new();
    let _engine = world.open().await;
    for n in 0..80 {
        world.vault.write(SOUL, format!("edit {n}\n"));
        for _ in 0..200 {
            yield_now().await;
        }
        world.stage.clock.advance(Duration::from_secs(5));
    }
    let made = world.log().await.len();
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
    assert_eq!(world.log().await, []);
}
