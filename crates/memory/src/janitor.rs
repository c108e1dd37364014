//! Retention: removes data that is kept only for a time, even if nobody asks for the status.
//!
//! Owns: when. Never: messages or the content of files; deletion on request is not retention.

use std::sync::Arc;
use std::time::Duration;

use ports::NoRoom;
use text::chain;

use crate::copies;
use crate::world::World;

/// Interval between removals of finished tasks and background runs.
const EVERY: Duration = Duration::from_hours(1);

/// Removes what is older than the settings keep, and makes daily copies, until the engine stops.
pub(crate) async fn keep(world: Arc<World>) {
    tokio::join!(drop_finished(&world), copies::keep(&world));
}

async fn drop_finished(world: &World) {
    while !world.work.is_stopping() {
        let hours = i64::from(world.settings.task_retention_hours);
        let before = world.now().plus_millis(-hours * 3_600_000);
        match world.parts.retention.drop_finished(before).await {
            Ok(dropped) => tracing::debug!(dropped, "finished tasks were removed"),
            Err(error) if NoRoom::of(&error).is_some() => tracing::debug!("the disk takes no removals now"),
            Err(error) => tracing::warn!(
                error = chain(&error),
                "finished tasks could not be removed; retrying in an hour"
            ),
        }
        world.work.unless_stopping(world.parts.clock.sleep(EVERY)).await;
    }
}
