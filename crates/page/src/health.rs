//! Health and settings: what is wrong and the remedy, what the server can do, how to connect a client.
//!
//! Owns: the view. Never: judging.

use askama::Template;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use wire::HealthData;

use crate::around::{Around, Nav, Problem, html};
use crate::guest::{Guest, if_open};
use crate::words;
use gateway::ApiError;

#[derive(Template)]
#[template(path = "health.html")]
struct HealthView {
    around: Around,
    health: HealthData,
    /// Name, value and remark of each figure.
    figures: Vec<(&'static str, String, String)>,
    host: String,
    user: String,
}

pub(crate) async fn page(guest: Guest) -> Result<Response, Problem> {
    let health: HealthData = guest.api.get("/health").await.map_err(ApiError::from)?.bare()?;
    Ok(html(&HealthView {
        around: Around::new(&guest, Nav::Health, "Health"),
        figures: figures(&health),
        health,
        host: guest.host.clone(),
        user: guest.whose.user.clone(),
    }))
}

/// The server's health; none where the token does not open it.
pub(crate) async fn of(guest: &Guest) -> Result<Option<HealthData>, ApiError> {
    let reply = guest.api.get("/health").await?;
    if_open(reply.bare().map(Some))
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

fn figures(health: &HealthData) -> Vec<(&'static str, String, String)> {
    let number = |number: usize| words::number(number);
    let tasks = &health.tasks;
    let dead = health.runs.map_or(0, |runs| runs.dead_letters);
    let mut figures = vec![
        (
            "Version",
            health.version.clone(),
            format!("{} of memory", words::count(health.files, "file", "files")),
        ),
        (
            "Searched",
            words::number(health.index.rows),
            format!(
                "{}, {}",
                words::noun(health.index.rows, "text", "texts"),
                words::size(health.index.bytes_on_disk)
            ),
        ),
        (
            "Waiting",
            number(waiting(health)),
            match tasks.failed + tasks.stuck + dead {
                0 => words::noun(waiting(health), "task", "tasks").to_owned() + ", nothing blocked",
                some => format!(
                    "{}; {} failed or blocked",
                    words::noun(waiting(health), "task", "tasks"),
                    number(some)
                ),
            },
        ),
        (
            "Conversations under way",
            number(health.open_sessions),
            format!(
                "with {}",
                words::count(health.buffered_messages, "message", "messages")
            ),
        ),
        (
            "Secrets removed",
            number(health.redacted),
            "since the start".to_owned(),
        ),
    ];
    figures.extend(health.rebuilding.iter().map(|rebuilding| {
        let done = format!(
            "{} of {}",
            words::number(rebuilding.done),
            words::number(rebuilding.total)
        );
        (
            "Preparing the search",
            done,
            "texts; searches answer meanwhile".to_owned(),
        )
    }));
    figures
}

/// No view has that address.
pub(crate) async fn nowhere(request: Request) -> Response {
    let words = format!("there is no view at `{}`", request.uri().path());
    Problem::from(ApiError::refused(404, words)).into_response()
}
