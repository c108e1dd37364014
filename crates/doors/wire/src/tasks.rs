//! `tasks`: what became of work that was queued.
//!
//! Owns: the tasks' JSON form and the listing's parameters. Never: running a task.

use model::{Scope, SessionId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::get::{PAGE_MAX, PAGE_SIZE_MAX, between};
use crate::{Invalid, scope};

/// Which tasks to list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TasksQuery {
    #[serde(default)]
    pub session_id: Option<String>,
    #[serde(default)]
    pub status: Option<TaskStatus>,
    #[serde(default = "first_page")]
    #[param(minimum = 1, default = 1, required = false)]
    pub page: i64,
    /// 1 to 100; more is read as 100.
    #[serde(default = "default_page_size")]
    #[param(minimum = 1, default = 20, required = false)]
    pub page_size: i64,
    #[serde(default)]
    #[param(value_type = String, default = "default", required = false)]
    pub app_id: Option<String>,
    #[serde(default)]
    #[param(value_type = String, default = "default", required = false)]
    pub project_id: Option<String>,
}

fn first_page() -> i64 {
    1
}

fn default_page_size() -> i64 {
    20
}

/// A checked listing, in the nouns of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TasksParts {
    pub scope: Scope,
    pub session: Option<SessionId>,
    pub page: usize,
    pub page_size: usize,
}

impl TasksQuery {
    /// Checks it.
    pub fn parts(&self, home: &Scope) -> Result<TasksParts, Invalid> {
        let scope = scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)?;
        let session = match &self.session_id {
            Some(text) => Some(scope::session(text, scope.clone())?.session),
            None => None,
        };
        Ok(TasksParts {
            scope,
            session,
            page: between("page", self.page, PAGE_MAX)?,
            page_size: between("page_size", self.page_size.min(100), PAGE_SIZE_MAX)?,
        })
    }
}

/// The tenant of a single task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ScopeQuery {
    #[serde(default)]
    #[param(value_type = String, default = "default", required = false)]
    pub app_id: Option<String>,
    #[serde(default)]
    #[param(value_type = String, default = "default", required = false)]
    pub project_id: Option<String>,
}

impl ScopeQuery {
    /// Checks it.
    pub fn scope(&self, home: &Scope) -> Result<Scope, Invalid> {
        scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)
    }
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    Queued,
    Processing,
    Success,
    Failed,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    MemoryAdd,
    MemoryFlush,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskItem {
    /// The `request_id` of the 202 that made it.
    pub id: String,
    pub status: TaskStatus,
    pub task_type: TaskType,
    /// Why it failed.
    pub error: Option<String>,
    /// `replays_exhausted` when it was given up after its last attempt.
    pub error_code: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub finished_at: Option<String>,
}

/// A page of tasks, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskPageData {
    pub total: usize,
    pub page: usize,
    pub page_size: usize,
    pub items: Vec<TaskItem>,
}
