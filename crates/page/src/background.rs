//! Background runs: reason, cost, result, and undo; and one change of the files, line by line.
//!
//! Owns: which run can be undone here. Never: undoing.

use std::collections::BTreeSet;

use askama::Template;
use axum::Form;
use axum::extract::Path;
use axum::response::Response;
use gateway::wire::history::{DiffData, HistoryData, UndoData, UndoRequest};
use gateway::wire::runs::{RunItem, RunPageData, RunStatus};
use serde::Deserialize;

use crate::frame::{PageFrame, Problem, html};
use crate::visit::{CLOSED, IdPath, LACKING, Visit, person, unless};
use crate::{now, words};
use gateway::ApiError;

/// Runs on a page.
const PAGE_SIZE: usize = 10;
/// Maximum number of changes that are searched for the changes of runs.
const CHANGES_LOOKED_AT: usize = 200;
/// The status of a history that a person must repair before anything can read it.
const BROKEN: u16 = 409;

/// A run with its change.
struct RunRow {
    run: RunItem,
    /// The id of the change that the run made.
    change: Option<String>,
    is_undone: bool,
}

/// The part of the view with background runs.
#[derive(Template)]
#[template(path = "background.html")]
pub(crate) struct RunsPart {
    /// The query of addresses: `who=…`.
    query: String,
    rows: Vec<RunRow>,
    /// Runs with a time in the future: the strategy in words, and the time.
    planned: Vec<(String, String)>,
    total: usize,
    next: Option<String>,
    previous: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Paged {
    pub(crate) page: Option<usize>,
}

pub(crate) async fn part(visit: &Visit, page: usize) -> Result<RunsPart, ApiError> {
    let data = runs(visit, &format!("page={page}&page_size={PAGE_SIZE}")).await?;
    let mut planned = runs(visit, "status=queued&page_size=100").await?.items;
    planned.retain(is_planned);
    planned.sort_by(|a, b| a.run_at.cmp(&b.run_at));
    let route = of_tenant(visit, format!("/history?limit={CHANGES_LOOKED_AT}"));
    let history = unless(CLOSED, visit.api.get_data(&route).await);
    let history: HistoryData = unless(BROKEN, history)?;
    let come = data.items.into_iter().filter(|run| !is_planned(run));
    let query = visit.owner.query();
    let at = |page: usize| format!("/?{query}&page={page}#background");
    Ok(RunsPart {
        rows: come.map(|run| RunRow::of(run, &history)).collect(),
        total: data.total.saturating_sub(planned.len()),
        planned: planned
            .iter()
            .map(|run| {
                let at = run.run_at.as_deref().unwrap_or(&run.created_at);
                (words::strategy(&run.strategy), words::moment(at))
            })
            .collect(),
        next: (page * PAGE_SIZE < data.total).then(|| at(page + 1)),
        previous: (page > 1).then(|| at(page - 1)),
        query,
    })
}

/// A route with the visitor's tenant; without it for a visitor that sees all tenants.
fn of_tenant(visit: &Visit, route: String) -> String {
    if visit.visitor.sees_all {
        return route;
    }
    let sign = if route.contains('?') { '&' } else { '?' };
    format!("{route}{sign}{}", visit.owner.tenant())
}

/// A page of runs; empty if the server has no background strategies.
async fn runs(visit: &Visit, filter: &str) -> Result<RunPageData, ApiError> {
    let route = format!("/runs?{}&{filter}", visit.owner.tenant());
    unless(LACKING, visit.api.get_data(&route).await)
}

/// Whether the run waits for its scheduled time.
fn is_planned(run: &RunItem) -> bool {
    run.status == RunStatus::Queued && run.cause == "cron"
}

impl RunRow {
    fn of(run: RunItem, history: &HistoryData) -> Self {
        let is_its = |id: Option<&String>| id == Some(&run.run_id);
        let mut changes = history.changes.iter();
        Self {
            is_undone: changes.clone().any(|change| is_its(change.undoes.as_ref())),
            change: changes
                .find(|change| is_its(change.run_id.as_ref()))
                .map(|change| change.id.clone()),
            run,
        }
    }

    /// The run's status in words, and the kind of its chip.
    fn status(&self) -> (&'static str, &'static str) {
        match self.run.status {
            RunStatus::Queued => ("waiting", "quiet"),
            RunStatus::Running => ("running", "busy"),
            RunStatus::Success if self.is_undone => ("undone", "quiet"),
            RunStatus::Success => ("done", "good"),
            RunStatus::Failed => ("will try again", "warn"),
            RunStatus::DeadLetter => ("failed", "bad"),
        }
    }

    fn person(&self) -> Option<&str> {
        let owner = self.run.user_id.as_deref().or(self.run.agent_id.as_deref());
        owner.map(person)
    }

    fn cost(&self) -> String {
        let run = &self.run;
        let took = words::duration(run.millis);
        if run.calls == 0 {
            return took;
        }
        let calls = words::count(run.calls, "call", "calls");
        let tokens = words::count(run.prompt_tokens + run.completion_tokens, "token", "tokens");
        format!("{took} · {calls} · {tokens}")
    }
}

#[derive(Deserialize)]
pub(crate) struct UndoForm {
    run: String,
}

pub(crate) async fn undo(visit: Visit, Form(undo): Form<UndoForm>) -> Result<Response, Problem> {
    let is_bound = !visit.visitor.sees_all;
    let request = UndoRequest {
        run_id: undo.run,
        app_id: is_bound.then(|| visit.owner.app.clone()),
        project_id: is_bound.then(|| visit.owner.project.clone()),
    };
    let notice = match visit.api.post_data::<UndoData>("/history/undo", &request).await {
        Ok(data) => match data.change {
            Some(change) => format!("Undone: {}.", change.subject),
            None => "Later changes left nothing to undo.".to_owned(),
        },
        Err(refused) if refused.status() == 409 => format!("Not undone: {refused}."),
        Err(refused) => return Err(refused.into()),
    };
    Ok(html(&now::view(visit, 1, Some(notice)).await?))
}

#[derive(Template)]
#[template(path = "change.html")]
struct ChangeView {
    frame: PageFrame,
    /// The class in the style sheet and the text of each line.
    lines: Vec<(&'static str, String)>,
    /// Lines that are not shown.
    more: usize,
}

/// Maximum number of lines of a diff on the view.
const LINES_MAX: usize = 1_500;

/// A change of the files as a diff.
pub(crate) async fn diff(visit: &Visit, id: &str) -> Result<DiffData, ApiError> {
    let route = of_tenant(visit, format!("/history/{}", words::encoded(id)));
    visit.api.get_data(&route).await
}

pub(crate) async fn change(visit: Visit, Path(IdPath { id }): Path<IdPath>) -> Result<Response, Problem> {
    let data = diff(&visit, &id).await?;
    let is_noise = |line: &&str| {
        let noise = ["index ", "--- ", "new file", "deleted file"];
        noise.iter().any(|word| line.starts_with(word))
    };
    let lines = data.diff.lines().filter(|line| !is_noise(line));
    let mut lines: Vec<(&str, String)> = lines.map(classed).collect();
    let more = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    // A diff names each file in two lines; the view shows one.
    let mut files = BTreeSet::new();
    lines.retain(|(class, text)| *class != "file" || files.insert(text.clone()));
    Ok(html(&ChangeView {
        frame: PageFrame::new(&visit, "/", "A change"),
        lines,
        more,
    }))
}

/// A line of a diff with its class in the style sheet.
fn classed(line: &str) -> (&'static str, String) {
    let (class, text) = if let Some(file) = line.strip_prefix("+++ b/") {
        ("file", file)
    } else if let Some(rest) = line.strip_prefix("diff --git a/") {
        ("file", rest.split(" b/").next().unwrap_or(rest))
    } else {
        let class = match line.as_bytes().first() {
            Some(b'+') => "added",
            Some(b'-') => "removed",
            Some(b'@') => "place",
            _ => "same",
        };
        (class, line)
    };
    (class, text.to_owned())
}
