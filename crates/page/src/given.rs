//! What every chat is given: core memory and the latest subjects, with a way to take each line out.
//!
//! Owns: the view. Never: choosing what is given.

use askama::Template;
use axum::response::Response;
use serde_json::json;
use wire::ContextData;

use crate::around::{Around, Problem, html};
use crate::guest::Guest;

#[derive(Template)]
#[template(path = "given.html")]
struct GivenView {
    around: Around,
    /// Each line, and the address of the preview that forgets it.
    lines: Vec<(String, String)>,
    tokens: usize,
}

pub(crate) async fn page(guest: Guest) -> Result<Response, Problem> {
    let whose = &guest.whose;
    let request = json!({"user_id": whose.user, "app_id": whose.app, "project_id": whose.project, "include_person": true});
    let data: ContextData = guest.api.post_data("/memory/context", &request).await?;
    let lines = data.context.lines();
    let lines: Vec<&str> = lines
        .map(|line| line.trim_start_matches([' ', '-']))
        .filter(|line| !line.is_empty() && !line.starts_with('<'))
        .collect();
    // The subjects of episodes come last, each with its id.
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
