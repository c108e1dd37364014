//! Retention: removes data that is kept only for a time, even if nobody asks for the status.
//!
//! Owns: when. Never: how a session is deleted (`forget`).

use std::sync::Arc;
use std::time::Duration;

use model::text::chain;
use ports::NoRoom;

use super::copies;
use crate::api::Forget;
use crate::error::EngineError;
use crate::forgetting::{Forgetting, unfinished};

/// Interval between removals of finished tasks and background runs, and of old sessions.
const EVERY: Duration = Duration::from_hours(1);

/// Removes data older than its retention time, and makes daily copies, until the engine stops.
pub(crate) async fn keep(forgetting: Arc<Forgetting>) {
    tokio::join!(drop_finished(&forgetting), copies::keep(&forgetting.base));
}

async fn drop_finished(forgetting: &Forgetting) {
    let base = &forgetting.base;
    while !base.work.is_stopping() {
        match drop_old(forgetting).await {
            Ok(dropped) => tracing::debug!(dropped, "finished tasks and old sessions were removed"),
            Err(error) if NoRoom::of(&error).is_some() => tracing::debug!("the disk takes no removals now"),
            Err(error) => tracing::warn!(
                error = chain(&error),
                "finished tasks and old sessions could not be removed; retrying in an hour"
            ),
        }
        base.pause(EVERY).await;
    }
}

async fn drop_old(forgetting: &Forgetting) -> Result<usize, EngineError> {
    let base = &forgetting.base;
    let before = |hours| base.now().plus_millis(-i64::from(hours) * 3_600_000);
    let retention = &base.parts.retention;
    let dropped = retention
        .drop_finished(before(base.settings.task_retention_hours))
        .await?;
    let quiet = match base.settings.keep_days.saturating_mul(24) {
        0 => Vec::new(),
        hours => retention.quiet_sessions(before(hours)).await?,
    };
    for session in &quiet {
        Box::pin(unfinished::forget(forgetting, Forget::Session(session.clone()))).await?;
    }
    Ok(dropped + quiet.len())
}
