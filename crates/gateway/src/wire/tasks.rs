//! `tasks`: status and results of queued work.
//!
//! Owns: the tasks' JSON form and the listing's parameters. Never: running a task.

use macro_rules_attribute::apply;
use model::{Scope, Timestamp, Zone};
use ports::{Job, JobKind, JobState, TaskQuery};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wire::fields::{filled, query};
use crate::wire::get::{PAGE_MAX, PAGE_SIZE_MAX, between};
use crate::wire::{DateTime, Invalid, scope};

/// Which tasks to list.
#[apply(query!)]
pub struct TasksQuery {
    pub session_id: Option<String>,
    pub status: Option<TaskStatus>,
    pages: Query,
    tenant: Query,
    /// Only tasks made since then: ISO 8601 or epoch milliseconds.
    pub start: Option<String>,
    /// Only tasks made before then.
    pub end: Option<String>,
    /// Quipu: also the tasks that write memories, which no request made.
    #[serde(default)]
    #[param(required = false)]
    pub all: bool,
}

/// Kinds of jobs that requests queue.
const ASKED_FOR: [JobKind; 2] = [JobKind::MemoryAdd, JobKind::MemoryFlush];

/// The query for tasks of a time span, from `start` up to and without `end`. Times without an offset are in `zone`.
fn tasks(scope: Scope, start: Option<&str>, end: Option<&str>, zone: &Zone) -> Result<TaskQuery, Invalid> {
    let instant = |path: &str, text: Option<&str>| {
        let read = |text: &str| match text.trim().parse() {
            Ok(millis) => Ok(Timestamp::from_millis(millis)),
            Err(_) => zone.parse(text).map_err(|error| Invalid::at(path, error)),
        };
        text.map(read).transpose()
    };
    let (made_from, made_before) = (instant("start", start)?, instant("end", end)?);
    if made_from.zip(made_before).is_some_and(|(start, end)| start > end) {
        return Err(Invalid::at("start", "must not be after `end`"));
    }
    Ok(TaskQuery {
        scope,
        session: None,
        state: None,
        kinds: ASKED_FOR.to_vec(),
        made_from,
        made_before,
        page: 1,
        page_size: 1,
    })
}

impl TasksQuery {
    /// Checks the query; times without an offset are in `zone`.
    pub fn tasks(&self, home: &Scope, zone: &Zone) -> Result<TaskQuery, Invalid> {
        let scope = self.scope(home)?;
        let session = self.session_id.as_deref();
        let session = session
            .map(|text| scope::session(text, scope.clone()))
            .transpose()?;
        let state = self
            .status
            .map(|status| model::same!(status, TaskStatus => JobState: Queued, Processing, Success, Failed));
        let asked = tasks(scope, self.start.as_deref(), self.end.as_deref(), zone)?;
        Ok(TaskQuery {
            session: session.map(|key| key.session),
            state,
            kinds: if self.all {
                JobKind::ALL.to_vec()
            } else {
                asked.kinds
            },
            page: between("page", self.page, PAGE_MAX)?,
            page_size: between("page_size", self.page_size.min(100), PAGE_SIZE_MAX)?,
            ..asked
        })
    }
}

/// The tenant of a request without a body.
#[apply(query!)]
#[derive(Default)]
pub struct ScopeQuery {
    tenant: Query,
}

/// Which tasks to count.
#[apply(query!)]
#[derive(Default)]
pub struct StatsQuery {
    /// Tasks made since then: ISO 8601 or epoch milliseconds; as long ago as finished tasks are kept when absent.
    pub start: Option<String>,
    /// Tasks made before then; now when absent.
    pub end: Option<String>,
    tenant: Query,
}

impl StatsQuery {
    /// Checks the query; times without an offset are in `zone`.
    pub fn tasks(&self, home: &Scope, zone: &Zone) -> Result<TaskQuery, Invalid> {
        tasks(
            self.scope(home)?,
            self.start.as_deref(),
            self.end.as_deref(),
            zone,
        )
    }
}

/// Status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    Queued,
    Processing,
    Success,
    Failed,
}

/// Kind of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    MemoryAdd,
    MemoryFlush,
    /// Quipu: one memory's way to its file, which no request made.
    MemoryWrite,
}

/// One task.
#[apply(filled!)]
#[from(job: &Job, zone: &Zone)]
pub struct TaskItem {
    /// The `request_id` of the 202 that made it.
    #[value(job.id.0.clone())]
    pub id: String,
    #[value(model::same!(job.state, JobState => TaskStatus: Queued, Processing, Success, Failed))]
    pub status: TaskStatus,
    #[value(match job.kind {
        JobKind::MemoryAdd => TaskType::MemoryAdd,
        JobKind::MemoryFlush => TaskType::MemoryFlush,
        JobKind::WriteCell => TaskType::MemoryWrite,
    })]
    pub task_type: TaskType,
    /// Quipu: the session that it works for.
    #[value(job.session.session.to_string())]
    #[serde(default)]
    pub session_id: String,
    /// Why it failed.
    pub error: Option<String>,
    /// `replays_exhausted` if the last attempt failed.
    #[value((job.state == JobState::Failed).then(|| "replays_exhausted".to_owned()))]
    pub error_code: Option<String>,
    #[value(zone.render(job.created))]
    pub created_at: DateTime,
    #[value(job.finished.map(|at| zone.render(at)))]
    pub finished_at: Option<DateTime>,
}

/// A page of tasks, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskPageData {
    pub total: usize,
    pub page: usize,
    pub page_size: usize,
    pub items: Vec<TaskItem>,
}

/// Number of tasks by status. All five are always present.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskCounts {
    pub failed: usize,
    /// Always 0: a task waits as `queued`.
    pub pending: usize,
    pub processing: usize,
    pub queued: usize,
    pub success: usize,
}

/// Tasks of a stretch of time, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskStatsData {
    pub by_status: TaskCounts,
    pub start: DateTime,
    pub end: DateTime,
    pub total: usize,
}
