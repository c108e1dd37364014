//! `tasks`: what became of queued work.
//!
//! Owns: showing only what a request made. Never: running anything.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use ports::{JobId, JobKind, JobState, TaskQuery};
use wire::tasks::{ScopeQuery, TaskStatus};
use wire::{Envelope, ErrorCode, TaskItem, TaskPageData, TasksQuery};

use crate::body::UrlQuery;
use crate::failure::Failure;
use crate::frame::Visit;
use crate::openapi::Errors;
use crate::present;
use crate::state::Gateway;

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
    let parts = query.parts(&visit.caller.home)?;
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
            kinds: vec![JobKind::MemoryAdd, JobKind::MemoryFlush],
            page: parts.page,
            page_size: parts.page_size,
        })
        .await?;
    let zone = gateway.zone();
    Ok(visit.answer(TaskPageData {
        total: page.total,
        page: parts.page,
        page_size: parts.page_size,
        items: page
            .jobs
            .iter()
            .filter_map(|job| present::task(job, zone))
            .collect(),
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
    let Ok(Path(task_id)) = task_id else {
        return Err(Failure::new(ErrorCode::BadRequest, "the task's id is not text"));
    };
    let scope = query.scope(&visit.caller.home)?;
    visit.caller.enter(&scope)?;
    let job = gateway.engine.task(&scope, &JobId(task_id.clone())).await?;
    let item = present::task(&job, gateway.zone()).ok_or_else(|| Failure::not_found("task", &task_id))?;
    Ok(visit.answer(item))
}
