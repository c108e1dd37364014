//! Health: problems and remedies, as the first view shows them.
//!
//! Owns: reading health from the API, and its sums. Never: assessing it.

use gateway::ApiError;
use gateway::wire::HealthData;
use model::text::size;

use crate::visit::{CLOSED, Visit, unless};

/// The server's health; none if the token may not read it.
pub(crate) async fn of(visit: &Visit) -> Result<Option<HealthData>, ApiError> {
    let reply = visit.api.get("/health").await?;
    unless(CLOSED, reply.bare().map(Some))
}

/// The number of tasks and runs that failed or are stuck.
pub(crate) fn blocked(health: &HealthData) -> usize {
    let dead = health.runs.map_or(0, |runs| runs.dead_letters);
    health.tasks.failed + health.tasks.stuck + dead
}

pub(crate) fn index_size(health: &HealthData) -> String {
    size(health.index.bytes_on_disk)
}

/// Whether rules alone make memories, because no chat model is configured.
pub(crate) fn is_by_rules(health: Option<&HealthData>) -> bool {
    health.is_some_and(|health| health.chat_model.is_none())
}

/// The number of tasks and runs that wait or run now, without runs planned for later.
pub(crate) fn waiting(health: &HealthData) -> usize {
    let runs = health.runs.map_or(0, |runs| runs.queued + runs.running);
    health.tasks.queued + health.tasks.processing + runs
}
