//! Background runs: reason, cost, result, and undo; and one change of the files, line by line.
//!
//! Owns: which run can be undone here. Never: undoing.

use std::collections::BTreeSet;

use askama::Template;
use axum::Form;
use axum::extract::{Path, Query};
use axum::response::Response;
use serde::Deserialize;
use wire::history::{DiffData, HistoryData, UndoData, UndoRequest};
use wire::runs::{RunItem, RunPageData, RunStatus};

use crate::around::{Around, Nav, Problem, html};
use crate::guest::{Guest, IdPath, person};
use crate::words;
use gateway::ApiError;

/// Runs on a page.
const PAGE_SIZE: usize = 40;
/// Changes that are looked through for those of runs.
const CHANGES_LOOKED_AT: usize = 200;

/// A run.
struct RunRow {
    name: String,
    status: &'static str,
    class: &'static str,
    reason: String,
    whose: Option<String>,
    /// When the reason for it came.
    when: String,
    /// When it starts, if it waits.
    next: Option<String>,
    cost: String,
    change: String,
    error: Option<String>,
    /// The run wrote something that can be taken back.
    undo: Option<String>,
    address: Option<String>,
}

#[derive(Template)]
#[template(path = "background.html")]
struct BackgroundView {
    around: Around,
    rows: Vec<RunRow>,
    /// What has a time to come: what it does, and when.
    planned: Vec<(String, String)>,
    total: usize,
    next: Option<String>,
    previous: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Paged {
    pub(crate) page: Option<usize>,
}

pub(crate) async fn page(guest: Guest, Query(paged): Query<Paged>) -> Result<Response, Problem> {
    Ok(html(&view(&guest, paged.page.unwrap_or(1), None).await?))
}

async fn view(guest: &Guest, page: usize, notice: Option<String>) -> Result<BackgroundView, ApiError> {
    let data = runs(guest, &format!("page={page}&page_size={PAGE_SIZE}")).await?;
    let mut planned = runs(guest, "status=queued&page_size=100").await?.items;
    planned.retain(is_planned);
    planned.sort_by(|a, b| a.run_at.cmp(&b.run_at));
    let route = of_tenant(guest, format!("/history?limit={CHANGES_LOOKED_AT}"));
    let history: HistoryData = match guest.api.get_data(&route).await {
        Err(refused) if matches!(refused.status(), 403 | 409) => HistoryData::default(),
        answer => answer?,
    };
    let come = data.items.into_iter().filter(|run| !is_planned(run));
    let rows = come.map(|run| RunRow::of(run, &history));
    let around = Around::new(guest, Nav::Background, "Background");
    let at = |page: usize| guest.whose.link("background", &[("page", &page)]);
    Ok(BackgroundView {
        around: match notice {
            Some(notice) => around.with_notice(notice),
            None => around,
        },
        rows: rows.collect(),
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
    })
}

/// A route for the visitor's tenant, unless the visitor sees all of them.
fn of_tenant(guest: &Guest, route: String) -> String {
    if guest.visitor.sees_all {
        return route;
    }
    let sign = if route.contains('?') { '&' } else { '?' };
    format!("{route}{sign}{}", guest.whose.tenant())
}

/// A page of runs; none where the server has no background strategies.
async fn runs(guest: &Guest, filter: &str) -> Result<RunPageData, ApiError> {
    let route = format!("/runs?{}&{filter}", guest.whose.tenant());
    match guest.api.get_data(&route).await {
        Err(refused) if refused.status() == 503 => Ok(RunPageData {
            total: 0,
            page: 1,
            page_size: PAGE_SIZE,
            items: Vec::new(),
        }),
        answer => answer,
    }
}

/// Whether a run waits for the time of its schedule.
fn is_planned(run: &RunItem) -> bool {
    run.status == RunStatus::Queued && run.cause == "cron"
}

impl RunRow {
    fn of(run: RunItem, history: &HistoryData) -> Self {
        let is_its = |id: Option<&String>| id == Some(&run.run_id);
        let change = history
            .changes
            .iter()
            .find(|change| is_its(change.run_id.as_ref()));
        let is_undone = history
            .changes
            .iter()
            .any(|change| is_its(change.undoes.as_ref()));
        let (status, class) = match run.status {
            RunStatus::Queued => ("waiting", "quiet"),
            RunStatus::Running => ("running", "busy"),
            RunStatus::Success if is_undone => ("undone", "quiet"),
            RunStatus::Success => ("done", "good"),
            RunStatus::Failed => ("will try again", "warn"),
            RunStatus::DeadLetter => ("failed", "bad"),
        };
        let cost = if run.calls == 0 {
            words::duration(run.millis)
        } else {
            format!(
                "{} · {} · {}",
                words::duration(run.millis),
                words::count(usize::try_from(run.calls).unwrap_or_default(), "call", "calls"),
                words::count(run.prompt_tokens + run.completion_tokens, "token", "tokens")
            )
        };
        Self {
            name: words::strategy(&run.strategy),
            status,
            class,
            // The list is in this order.
            when: words::moment(&run.created_at),
            next: run.run_at.as_deref().map(words::moment),
            whose: run.user_id.or(run.agent_id).map(|id| person(&id).to_owned()),
            reason: words::reason(&run.reason),
            cost,
            change: run.change,
            error: run.error,
            undo: change.filter(|_| !is_undone).map(|_| run.run_id.clone()),
            address: change.map(|change| format!("/page/change/{}", change.id)),
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct UndoForm {
    run: String,
}

pub(crate) async fn undo(guest: Guest, Form(undo): Form<UndoForm>) -> Result<Response, Problem> {
    let (app_id, project_id) = if guest.visitor.sees_all {
        (None, None)
    } else {
        (Some(guest.whose.app.clone()), Some(guest.whose.project.clone()))
    };
    let request = UndoRequest {
        run_id: undo.run,
        app_id,
        project_id,
    };
    let notice = match guest.api.post_data::<UndoData>("/history/undo", &request).await {
        Ok(data) => match data.change {
            Some(change) => format!("Undone: {}.", change.subject),
            None => "Later changes left nothing to undo.".to_owned(),
        },
        Err(refused) if refused.status() == 409 => format!("Not undone: {refused}."),
        Err(refused) => return Err(refused.into()),
    };
    Ok(html(&view(&guest, 1, Some(notice)).await?))
}

/// A line of a diff.
struct DiffLine {
    class: &'static str,
    text: String,
}

#[derive(Template)]
#[template(path = "change.html")]
struct ChangeView {
    around: Around,
    lines: Vec<DiffLine>,
    /// Lines that are not shown.
    more: usize,
}

/// Lines of a diff that are shown.
const LINES_MAX: usize = 1_500;

/// A change, line by line.
pub(crate) async fn diff(guest: &Guest, id: &str) -> Result<DiffData, ApiError> {
    let route = of_tenant(guest, format!("/history/{}", words::encoded(id)));
    guest.api.get_data(&route).await
}

pub(crate) async fn change(guest: Guest, Path(IdPath { id }): Path<IdPath>) -> Result<Response, Problem> {
    let data = diff(&guest, &id).await?;
    let is_noise = |line: &&str| {
        ["index ", "--- ", "new file", "deleted file"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    let mut lines: Vec<DiffLine> = data
        .diff
        .lines()
        .filter(|line| !is_noise(line))
        .map(DiffLine::of)
        .collect();
    let more = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    // The name of a file stands in two lines.
    let mut files = BTreeSet::new();
    lines.retain(|line| line.class != "file" || files.insert(line.text.clone()));
    Ok(html(&ChangeView {
        around: Around::new(&guest, Nav::None, "A change"),
        lines,
        more,
    }))
}

impl DiffLine {
    fn of(line: &str) -> Self {
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
        Self {
            class,
            text: text.to_owned(),
        }
    }
}
