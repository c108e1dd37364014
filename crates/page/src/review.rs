//! Statements that Quipu believes of a person, with an answer to each; and the core memory that every chat gets, with
//! a deletion of each line.
//!
//! Owns: both views. Never: the effect of an answer, or choosing the lines for a chat.

use askama::Template;
use axum::Form;
use axum::extract::Query;
use axum::response::Response;
use gateway::wire::review::{Belief, Verdict};
use gateway::wire::{AnswerData, AnswerRequest, BelievedItem, ContextData, ReviewData, ReviewRequest};
use serde::Deserialize;
use serde_json::json;

use crate::around::{Around, Problem, html};
use crate::guest::Guest;
use gateway::ApiError;

/// Statements on a page.
const PAGE_SIZE: usize = 20;

#[derive(Template)]
#[template(path = "review.html")]
struct ReviewView {
    around: Around,
    statements: Vec<BelievedItem>,
    open: usize,
    skip: usize,
    /// The number of statements before the next page; none on the last page.
    next: Option<usize>,
}

impl ReviewView {
    /// The kind of a statement's chip, and its label.
    fn chip(one: &BelievedItem) -> (&'static str, &'static str) {
        match one.belief {
            Belief::Fact => ("", "Fact"),
            Belief::Again => ("warn", "You took it back, and said it again"),
            Belief::Doubt => ("warn", "In doubt: whose words?"),
            Belief::Confirmed => ("good", "You confirmed it"),
            Belief::Ended => ("", "No longer so"),
            Belief::Withdrawn => ("", "You took it back"),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PlaceQuery {
    skip: String,
}

pub(crate) async fn page(guest: Guest, Query(place): Query<PlaceQuery>) -> Result<Response, Problem> {
    // An address with an invalid number shows the first page.
    Ok(html(&view(&guest, place.skip.parse().unwrap_or(0), None).await?))
}

async fn view(guest: &Guest, skip: usize, notice: Option<String>) -> Result<ReviewView, ApiError> {
    let whose = &guest.whose;
    let request = ReviewRequest {
        user_id: whose.user.clone(),
        app_id: Some(whose.app.clone()),
        project_id: Some(whose.project.clone()),
        skip,
        limit: PAGE_SIZE,
    };
    let data: ReviewData = guest.api.post_data("/memory/review", &request).await?;
    let end = skip + data.statements.len();
    Ok(ReviewView {
        around: Around::new(guest, "/page/memories", "What Quipu believes").with_notice(notice),
        next: (end < data.total_count).then_some(end),
        open: data.open_count,
        statements: data.statements,
        skip,
    })
}

#[derive(Deserialize)]
pub(crate) struct AnswerForm {
    id: String,
    verdict: String,
    skip: usize,
}

pub(crate) async fn answer(guest: Guest, Form(form): Form<AnswerForm>) -> Result<Response, Problem> {
    let verdict =
        Verdict::parse(&form.verdict).ok_or_else(|| ApiError::refused(422, "the form was changed"))?;
    let request = AnswerRequest {
        user_id: guest.whose.user.clone(),
        app_id: Some(guest.whose.app.clone()),
        project_id: Some(guest.whose.project.clone()),
        id: form.id,
        verdict,
    };
    let changed: AnswerData = guest.api.post_data("/memory/answer", &request).await?;
    let statements: Vec<String> = changed
        .statements
        .iter()
        .map(|said| format!("“{said}”"))
        .collect();
    let said = statements.join(", ");
    let notice = match verdict {
        Verdict::Keep => format!("Kept: {said}. With the next night it stands in core memory."),
        Verdict::Wrong => format!("Taken back: {said}, and what was made of it. The messages stay."),
        Verdict::Scene => format!(
            "A scene. Taken back: {said}. No chat is given its messages. What of it is true you can keep below."
        ),
        Verdict::Ended => format!("No longer so, from today: {said}."),
    };
    Ok(html(&view(&guest, form.skip, Some(notice)).await?))
}

#[derive(Template)]
#[template(path = "given.html")]
struct GivenView {
    around: Around,
    /// Each line with the address of the preview that deletes it.
    lines: Vec<(String, String)>,
    tokens: usize,
}

pub(crate) async fn given(guest: Guest) -> Result<Response, Problem> {
    let whose = &guest.whose;
    let request = json!({"user_id": whose.user, "app_id": whose.app, "project_id": whose.project, "include_person": true});
    let data: ContextData = guest.api.post_data("/memory/context", &request).await?;
    let lines = data.context.lines();
    let lines: Vec<&str> = lines
        .map(|line| line.trim_start_matches([' ', '-']))
        .filter(|line| !line.is_empty() && !line.starts_with('<'))
        .collect();
    // The subjects of episodes come last; each has an id.
    let core = lines.len().saturating_sub(data.memory_ids.len());
    let address = |at: usize, line: &str| match at.checked_sub(core).and_then(|at| data.memory_ids.get(at)) {
        Some(id) => whose.link("forget", &[("id", &format!("{}_{id}", whose.user))]),
        None => whose.link("forget", &[("words", &line)]),
    };
    let lines = lines.iter().enumerate();
    Ok(html(&GivenView {
        lines: lines
            .map(|(at, line)| ((*line).to_owned(), address(at, line)))
            .collect(),
        tokens: data.tokens,
        around: Around::new(&guest, "/", "What every chat is given"),
    }))
}
