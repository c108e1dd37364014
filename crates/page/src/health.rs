//! Health: what is wrong and the remedy, as the view of what runs shows it.
//!
//! Owns: reading it, and its sums. Never: judging.

use gateway::ApiError;
use gateway::wire::HealthData;

use crate::guest::{CLOSED, Guest, unless};
use crate::words;

/// The server's health; none where the token does not open it.
pub(crate) async fn of(guest: &Guest) -> Result<Option<HealthData>, ApiError> {
    let reply = guest.api.get("/health").await?;
    unless(CLOSED, reply.bare().map(Some))
}

/// Work that failed or cannot go on.
pub(crate) fn blocked(health: &HealthData) -> usize {
    let dead = health.runs.map_or(0, |runs| runs.dead_letters);
    health.tasks.failed + health.tasks.stuck + dead
}

pub(crate) fn index_size(health: &HealthData) -> String {
    words::size(health.index.bytes_on_disk)
}

/// Whether rules make the memories, because there is no chat model.
pub(crate) fn is_by_rules(health: Option<&HealthData>) -> bool {
    health.is_some_and(|health| health.chat_model.is_none())
}

/// Work that waits or runs now: conversations to write, and background runs without those planned for later.
pub(crate) fn waiting(health: &HealthData) -> usize {
    let runs = health.runs.map_or(0, |runs| runs.queued + runs.running);
    health.tasks.queued + health.tasks.processing + runs
}
