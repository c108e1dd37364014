//! `history` and `audit`: changes of the memory files with author and reason, undo, and problems in the files.
//!
//! Owns: their JSON form. Never: finding problems.

use macro_rules_attribute::apply;
use memory::{Finding, RecordedChange};
use model::{Owner, Scope, Zone};
use ports::{By, RunId};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::{IntoParams, ToSchema};

use crate::wire::fields::filled;
use crate::wire::get::between;
use crate::wire::{ApiId, DateTime, Invalid, scope};

/// Changes in one answer.
const CHANGES_MAX: usize = 1_000;

/// An id of a run is shorter.
const RUN_ID_BYTES_MAX: usize = 128;

/// Filter of the changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// Only what changed within this application and project. Without it, a token for all tenants sees every change.
    pub app_id: Option<String>,
    pub project_id: Option<String>,
    /// Only changes that touch this user's files.
    pub user_id: Option<String>,
    pub agent_id: Option<String>,
    /// Only changes before this one.
    pub before: Option<u64>,
    /// 1 to 1000.
    #[serde(default = "default_limit")]
    #[param(minimum = 1, maximum = 1000, default = 50, required = false)]
    pub limit: i64,
}

fn default_limit() -> i64 {
    50
}

impl HistoryQuery {
    /// The owner of the changes, and their maximum number.
    pub fn parts(&self, scope: &Scope) -> Result<(Option<(Scope, Owner)>, usize), Invalid> {
        let owner = scope::maybe_owner(self.user_id.as_deref(), self.agent_id.as_deref())?;
        let owner = owner.map(|owner| (scope.clone(), owner));
        Ok((owner, between("limit", self.limit, CHANGES_MAX)?))
    }
}

/// The tenant that a request names, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TenantQuery {
    /// Without it, a token for all tenants means all of them.
    pub app_id: Option<String>,
    pub project_id: Option<String>,
}

/// Which files, and when. Either `at` or `change`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PastQuery {
    /// Without it, a token for all tenants means all of them.
    pub app_id: Option<String>,
    pub project_id: Option<String>,
    /// ISO 8601. A run counts from its start, an edit in a file from when Quipu found it.
    pub at: Option<String>,
    /// After this change and all before it. 0 is before the first.
    pub change: Option<u64>,
    /// Return only this file, with its text.
    pub path: Option<String>,
}

/// Files as they were, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PastData {
    pub files: Vec<PastFileItem>,
}

/// A file as it was. A file of memories has the entries that it had, without what stood between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PastFileItem {
    /// Below `memory/`.
    pub path: String,
    /// If the request names the file, and the text is kept.
    pub text: Option<String>,
}

/// Changes, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HistoryData {
    pub changes: Vec<ChangeItem>,
}

/// Author of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangedBy {
    /// A person, through a door or in the files, or another program in the files.
    Person,
    /// A background run.
    Run,
}

/// A recorded change.
#[apply(filled!)]
#[from(change: &RecordedChange, zone: &Zone)]
pub struct ChangeItem {
    /// Its number.
    #[value(change.id.to_string())]
    pub id: String,
    #[value(zone.render(change.at))]
    pub at: DateTime,
    #[value(change.by.run().map_or(ChangedBy::Person, |_| ChangedBy::Run))]
    pub by: ChangedBy,
    /// The run to undo.
    #[value(change.by.run().map(|run| run.id.to_string()))]
    pub run_id: Option<String>,
    #[value(change.by.run().map(|run| run.strategy.clone()))]
    pub strategy: Option<String>,
    #[value(change.by.run().map(|run| run.reason.clone()))]
    pub reason: Option<String>,
    /// The run that this one undid.
    #[value(match &change.by {
        By::Run { undoes, .. } => undoes.as_ref().map(ToString::to_string),
        By::Person => None,
    })]
    pub undoes: Option<String>,
    /// One line that summarises the change.
    pub subject: String,
    /// Below `memory/`.
    #[value(change.files.iter().map(ToString::to_string).collect())]
    pub files: Vec<String>,
}

/// A change as a diff: for each file its entries, with the lines that differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffData {
    pub diff: String,
}

/// Undoes a run. Unknown keys are refused.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoRequest {
    pub run_id: String,
    pub app_id: Option<String>,
    pub project_id: Option<String>,
}

impl UndoRequest {
    /// Checks the run's id. The error does not repeat a text that cannot be an id.
    pub fn run(&self) -> Result<&str, Invalid> {
        match self.run_id.len() {
            1..=RUN_ID_BYTES_MAX => Ok(&self.run_id),
            _ => Err(Invalid::at(
                "run_id",
                "is not the id of a run: list runs with `history`",
            )),
        }
    }
}

/// Result of an undo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UndoData {
    /// None if later changes left nothing to undo.
    pub change: Option<ChangeItem>,
}

/// Problems of the stored memories.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditData {
    /// By file, then by memory.
    pub findings: Vec<FindingItem>,
}

/// One problem of one memory.
#[apply(filled!)]
#[from(finding: &Finding, run: Option<RunId>)]
pub struct FindingItem {
    /// `duplicate`, `loop`, `secret`, `stale` or `unsupported`.
    #[value(finding.fault.as_str().to_owned())]
    pub fault: String,
    /// The memory.
    #[value(ApiId::render(&finding.owner.id, finding.id.as_str()))]
    pub id: String,
    #[value(finding.scope.app.to_string())]
    pub app_id: String,
    #[value(finding.scope.project.to_string())]
    pub project_id: String,
    /// Below `memory/`.
    #[value(finding.path.as_ref().to_owned())]
    pub path: String,
    pub why: String,
    /// The run that wrote the entry, if the history knows it; `history/undo` undoes it.
    #[value(run.map(|run| run.to_string()))]
    pub run_id: Option<String>,
}
