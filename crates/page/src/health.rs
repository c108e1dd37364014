//! Health and settings: what is wrong and the remedy, what the server can do, how to connect a client.
//!
//! Owns: the view. Never: judging.

use askama::Template;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use gateway::ApiError;
use wire::HealthData;

use crate::around::{Around, Problem, html};
use crate::guest::{Guest, if_open};
use crate::words;

#[derive(Template)]
#[template(path = "health.html")]
struct HealthView {
    around: Around,
    health: HealthData,
    host: String,
    user: String,
}

impl HealthView {
    /// Work that failed or cannot go on.
    fn blocked(&self) -> usize {
        let (tasks, runs) = (&self.health.tasks, self.health.runs);
        tasks.failed + tasks.stuck + runs.map_or(0, |runs| runs.dead_letters)
    }

    fn index_size(&self) -> String {
        words::size(self.health.index.bytes_on_disk)
    }
}

pub(crate) async fn page(guest: Guest) -> Result<Response, Problem> {
    Ok(html(&HealthView {
        around: Around::new(&guest, "/page/health", "Health"),
        health: read(&guest).await?,
        user: guest.whose.user,
        host: guest.host,
    }))
}

async fn read(guest: &Guest) -> Result<HealthData, ApiError> {
    guest.api.get("/health").await?.bare()
}

/// The server's health; none where the token does not open it.
pub(crate) async fn of(guest: &Guest) -> Result<Option<HealthData>, ApiError> {
    if_open(read(guest).await.map(Some))
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

/// No view has that address.
pub(crate) async fn nowhere(request: Request) -> Response {
    let words = format!("there is no view at `{}`", request.uri().path());
    Problem::from(ApiError::refused(404, words)).into_response()
}
