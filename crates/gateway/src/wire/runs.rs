//! Background runs on the wire.
//!
//! Owns: their JSON form, and the JSON form of `ome/trigger` and `cascade/quiesce`. Never: running anything.

use macro_rules_attribute::apply;
use std::time::Duration;

use model::{Owner, OwnerKind, Scope, Zone};
use ports::runs::{Run, RunQuery, RunState};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::wire::Invalid;
use crate::wire::fields::{filled, query};
use crate::wire::get::{PAGE_MAX, PAGE_SIZE_MAX, between};

/// Status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Queued,
    Running,
    Success,
    /// Another attempt will follow.
    Failed,
    /// Failed permanently.
    DeadLetter,
}

impl From<RunState> for RunStatus {
    fn from(state: RunState) -> Self {
        model::same!(state, RunState => Self: Queued, Running, Success, Failed, DeadLetter)
    }
}

/// Filter and page of a list of runs.
#[apply(query!)]
pub struct RunsQuery {
    pub strategy: Option<String>,
    pub status: Option<RunStatus>,
    pages: Query,
    tenant: Query,
}

impl RunsQuery {
    /// Checks the request.
    pub fn runs(&self, home: &Scope) -> Result<RunQuery, Invalid> {
        let state = self.status.map(
            |status| model::same!(status, RunStatus => RunState: Queued, Running, Success, Failed, DeadLetter),
        );
        Ok(RunQuery {
            scope: Some(self.scope(home)?),
            strategy: self.strategy.clone(),
            state,
            ids: Vec::new(),
            page: between("page", self.page, PAGE_MAX)?,
            page_size: between("page_size", self.page_size.min(100), PAGE_SIZE_MAX)?,
        })
    }
}

/// One page of runs, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunPageData {
    pub total: usize,
    pub page: usize,
    pub page_size: usize,
    pub items: Vec<RunItem>,
}

/// A background run.
#[apply(filled!)]
#[from(run: &Run, zone: &Zone)]
#[skip_serializing_none]
pub struct RunItem {
    #[value(run.id.to_string())]
    pub run_id: String,
    #[value(run.work.strategy.clone())]
    pub strategy: String,
    #[value(owner_of(run, OwnerKind::User))]
    pub user_id: Option<String>,
    #[value(owner_of(run, OwnerKind::Agent))]
    pub agent_id: Option<String>,
    /// Subject of the run; empty if it concerns everything.
    #[value(run.work.subject.clone())]
    pub subject: String,
    #[value(run.state.into())]
    pub status: RunStatus,
    /// `event`, `idle`, `cron`, `counter` or `manual`.
    #[value(run.cause.as_str().to_owned())]
    pub cause: String,
    pub reason: String,
    pub attempt: u32,
    /// Time of the next attempt; none unless the run waits.
    #[value(run.state.is_waiting().then(|| zone.render(run.run_at)))]
    pub run_at: Option<String>,
    #[value(zone.render(run.created))]
    pub created_at: String,
    #[value(run.started.map(|at| zone.render(at)))]
    pub started_at: Option<String>,
    #[value(run.finished.map(|at| zone.render(at)))]
    pub finished_at: Option<String>,
    /// Calls of a model, and their tokens.
    #[value(run.cost.calls)]
    pub calls: u64,
    #[value(run.cost.prompt_tokens)]
    pub prompt_tokens: u64,
    #[value(run.cost.completion_tokens)]
    pub completion_tokens: u64,
    /// Duration of its attempts, in milliseconds.
    #[value(run.cost.millis)]
    pub millis: u64,
    /// Result of the run; empty until it succeeds.
    pub change: String,
    pub error: Option<String>,
}

fn owner_of(run: &Run, kind: OwnerKind) -> Option<String> {
    let owner = run.work.owner.as_ref().filter(|owner| owner.kind == kind);
    owner.map(|Owner { id, .. }| id.to_string())
}

/// A strategy to run now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TriggerRequest {
    pub name: String,
    /// Maximum number of seconds to wait for the runs.
    #[serde(default = "default_timeout")]
    #[schema(default = 120.0, minimum = 0.0)]
    pub timeout: f64,
    /// Run the strategy even if it is disabled.
    #[serde(default)]
    pub force: bool,
}

fn default_timeout() -> f64 {
    120.0
}

impl TriggerRequest {
    /// Maximum time to wait for the runs.
    pub fn wait(&self) -> Result<Duration, Invalid> {
        Duration::try_from_secs_f64(self.timeout)
            .map_err(|_| Invalid::at("timeout", "must be a number of seconds from 0 on"))
    }
}

/// Outcome of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerStatus {
    Ok,
    Timeout,
    /// The strategy is disabled, or nothing waits for it.
    NotDispatched,
}

/// The triggered runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TriggerData {
    pub status: TriggerStatus,
    pub name: String,
    /// Number of runs that the trigger started.
    pub dispatched: usize,
    pub runs: Vec<TriggeredRun>,
}

/// A run, with its status at the time of the answer.
#[apply(filled!)]
#[from(run: &Run)]
pub struct TriggeredRun {
    #[value(run.id.to_string())]
    pub run_id: String,
    #[value(run.state.into())]
    pub status: RunStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How background work came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QuiesceData {
    pub quiesced: bool,
    /// Number of tasks and runs that ended meanwhile.
    pub drained: usize,
    /// Tasks and runs that waited or were under way.
    pub pending_before: usize,
    /// Runs that wait for their time or for a retry, and tasks that wait for a disk or a file to be repaired.
    pub pending_after: usize,
    /// Tasks and runs that failed permanently.
    pub failed_permanent: usize,
}
