//! `tasks`: status and results of queued work.
//!
//! Owns: showing only what a request made unless all is asked for. Never: running anything.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use model::Scope;
use ports::{JobId, JobKind, JobState, TaskQuery};
use wire::tasks::{ScopeQuery, TaskCounts, TaskStatus};
use wire::{Envelope, ErrorCode, StatsQuery, TaskItem, TaskPageData, TaskStatsData, TasksQuery};

use crate::body::UrlQuery;
use crate::failure::Failure;
use crate::frame::Visit;
use crate::openapi::Errors;
use crate::present;
use crate::state::Gateway;

/// Kinds of jobs that requests queue.
const ASKED_FOR: [JobKind; 2] = [JobKind::MemoryAdd, JobKind::MemoryFlush];

/// List tasks
///
/// Newest first; finished tasks are kept for a week.
#[utoipa::path(
    get,
    path = "/tasks",
    operation_id = "list_tasks",
    tag = "tasks",
    params(TasksQuery),
    responses((status = 200, description = "A page", body = Envelope<TaskPageData>), Errors),
)]
pub(crate) async fn list(
    State(gateway): State<Gateway>,
    visit: Visit,
    UrlQuery(query): UrlQuery<TasksQuery>,
) -> Result<Response, Failure> {
    let zone = gateway.zone();
    let parts = query.parts(&visit.caller.home, zone)?;
    visit.caller.enter(&parts.scope)?;
    let state = query.status.map(|status| match status {
        TaskStatus::Queued => JobState::Queued,
        TaskStatus::Processing => JobState::Processing,
        TaskStatus::Success => JobState::Success,
        TaskStatus::Failed => JobState::Failed,
    });
    let page = gateway
        .engine
        .tasks(TaskQuery {
            scope: parts.scope,
            session: parts.session,
            state,
            kinds: if query.all {
                JobKind::ALL.to_vec()
            } else {
                ASKED_FOR.to_vec()
            },
            made_from: parts.window.start,
            made_before: parts.window.end,
            page: parts.page,
            page_size: parts.page_size,
        })
        .await?;
    Ok(visit.answer(TaskPageData {
        total: page.total,
        page: parts.page,
        page_size: parts.page_size,
        items: page.jobs.iter().map(|job| present::task(job, zone)).collect(),
    }))
}

/// Count tasks by status
///
/// Tasks created in a period; the answer contains the period.
#[utoipa::path(
    get,
    path = "/tasks/stats",
    operation_id = "task_stats",
    tag = "tasks",
    params(StatsQuery),
    responses((status = 200, description = "The counts", body = Envelope<TaskStatsData>), Errors),
)]
pub(crate) async fn stats(
    State(gateway): State<Gateway>,
    visit: Visit,
    UrlQuery(query): UrlQuery<StatsQuery>,
) -> Result<Response, Failure> {
    let zone = gateway.zone();
    let (scope, window) = query.parts(&visit.caller.home, zone)?;
    visit.caller.enter(&scope)?;
    let now = gateway.clock.now();
    let end = window.end.unwrap_or(now);
    let kept_hours = i64::from(gateway.engine.settings().task_retention_hours);
    let start = window
        .start
        .unwrap_or_else(|| end.min(now).plus_millis(-kept_hours * 3_600_000));
    let mut by_status = TaskCounts::default();
    for (state, count) in [
        (JobState::Failed, &mut by_status.failed),
        (JobState::Processing, &mut by_status.processing),
        (JobState::Queued, &mut by_status.queued),
        (JobState::Success, &mut by_status.success),
    ] {
        let query = TaskQuery {
            scope: scope.clone(),
            session: None,
            state: Some(state),
            kinds: ASKED_FOR.to_vec(),
            made_from: Some(start),
            made_before: window.end,
            page: 1,
            page_size: 1,
        };
        *count = gateway.engine.tasks(query).await?.total;
    }
    let TaskCounts {
        failed,
        pending,
        processing,
        queued,
        success,
    } = by_status;
    Ok(visit.answer(TaskStatsData {
        by_status,
        start: zone.render(start),
        end: zone.render(end),
        total: failed + pending + processing + queued + success,
    }))
}

/// One task
///
/// `task_id` is the `request_id` of the 202 that made it.
#[utoipa::path(
    get,
    path = "/tasks/{task_id}",
    operation_id = "get_task",
    tag = "tasks",
    params(("task_id" = String, Path, description = "The `request_id` of a 202"), ScopeQuery),
    responses((status = 200, description = "The task", body = Envelope<TaskItem>), Errors),
)]
pub(crate) async fn one(
    State(gateway): State<Gateway>,
    visit: Visit,
    task_id: Result<Path<String>, PathRejection>,
    UrlQuery(query): UrlQuery<ScopeQuery>,
) -> Result<Response, Failure> {
    let (scope, task_id) = named(&visit, task_id, &query)?;
    let job = gateway.engine.task(&scope, &task_id).await?;
    Ok(visit.answer(present::task(&job, gateway.zone())))
}

/// Retry a task
///
/// Retries a failed task, with its attempts counted from zero; 409 if it has not failed.
#[utoipa::path(
    post,
    path = "/tasks/{task_id}/retry",
    operation_id = "retry_task",
    tag = "tasks",
    params(("task_id" = String, Path, description = "The task"), ScopeQuery),
    responses((status = 200, description = "The queued task", body = Envelope<TaskItem>), Errors),
)]
pub(crate) async fn retry(
    State(gateway): State<Gateway>,
    visit: Visit,
    task_id: Result<Path<String>, PathRejection>,
    UrlQuery(query): UrlQuery<ScopeQuery>,
) -> Result<Response, Failure> {
    let (scope, task_id) = named(&visit, task_id, &query)?;
    let engine = gateway.engine.clone();
    let retry = async move { Ok(engine.retry(&scope, &task_id).await?) };
    let job = gateway.see_through(retry).await?;
    Ok(visit.answer(present::task(&job, gateway.zone())))
}

/// The task that a path names, in a tenant that the caller may enter.
fn named(
    visit: &Visit,
    task_id: Result<Path<String>, PathRejection>,
    query: &ScopeQuery,
) -> Result<(Scope, JobId), Failure> {
    let Ok(Path(task_id)) = task_id else {
        return Err(Failure::new(ErrorCode::BadRequest, "the task's id is not text"));
    };
    let scope = query.scope(&visit.caller.home)?;
    visit.caller.enter(&scope)?;
    Ok((scope, JobId(task_id)))
}
