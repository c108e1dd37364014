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

use crate::frame::{PageFrame, Problem, html};
use crate::visit::Visit;
use gateway::ApiError;

/// Statements on a page.
const PAGE_SIZE: usize = 20;

#[derive(Template)]
#[template(path = "review.html")]
struct ReviewView {
    frame: PageFrame,
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

pub(crate) async fn page(visit: Visit, Query(place): Query<PlaceQuery>) -> Result<Response, Problem> {
    // An address with an invalid number shows the first page.
    Ok(html(&view(&visit, place.skip.parse().unwrap_or(0), None).await?))
}

async fn view(visit: &Visit, skip: usize, notice: Option<String>) -> Result<ReviewView, ApiError> {
    let owner = &visit.owner;
    let request = ReviewRequest {
        user_id: owner.user.clone(),
        app_id: Some(owner.app.clone()),
        project_id: Some(owner.project.clone()),
        skip,
        limit: PAGE_SIZE,
    };
    let data: ReviewData = visit.api.post_data("/memory/review", &request).await?;
    let end = skip + data.statements.len();
    Ok(ReviewView {
        frame: PageFrame::new(visit, "/page/memories", "What Quipu believes").with_notice(notice),
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

pub(crate) async fn answer(visit: Visit, Form(form): Form<AnswerForm>) -> Result<Response, Problem> {
    let verdict =
        Verdict::parse(&form.verdict).ok_or_else(|| ApiError::refused(422, "the form was changed"))?;
    let request = AnswerRequest {
        user_id: visit.owner.user.clone(),
        app_id: Some(visit.owner.app.clone()),
        project_id: Some(visit.owner.project.clone()),
        id: form.id,
        verdict,
    };
    let changed: AnswerData = visit.api.post_data("/memory/answer", &request).await?;
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
    Ok(html(&view(&visit, form.skip, Some(notice)).await?))
}

#[derive(Template)]
#[template(path = "opening.html")]
struct OpeningView {
    frame: PageFrame,
    /// Each line with the address of the preview that deletes it.
    lines: Vec<(String, String)>,
    tokens: usize,
}

pub(crate) async fn opening(visit: Visit) -> Result<Response, Problem> {
    let owner = &visit.owner;
    let request = json!({"user_id": owner.user, "app_id": owner.app, "project_id": owner.project, "include_person": true});
    let data: ContextData = visit.api.post_data("/memory/context", &request).await?;
    let lines = data.context.lines();
    let lines: Vec<&str> = lines
        .map(|line| line.trim_start_matches([' ', '-']))
        .filter(|line| !line.is_empty() && !line.starts_with('<'))
        .collect();
    // The subjects of episodes come last; each has an id.
    let core = lines.len().saturating_sub(data.memory_ids.len());
    let address = |at: usize, line: &str| match at.checked_sub(core).and_then(|at| data.memory_ids.get(at)) {
        Some(id) => owner.link("forget", &[("id", &format!("{}_{id}", owner.user))]),
        None => owner.link("forget", &[("words", &line)]),
    };
    let lines = lines.iter().enumerate();
    Ok(html(&OpeningView {
        lines: lines
            .map(|(at, line)| ((*line).to_owned(), address(at, line)))
            .collect(),
        tokens: data.tokens,
        frame: PageFrame::new(&visit, "/", "What every chat is given"),
    }))
}
