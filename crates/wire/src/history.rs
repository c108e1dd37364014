//! `history` and `audit`: what changed in the memory files, by whom and why, taken back, and what is wrong in them.
//!
//! Owns: their JSON form. Never: git, or a judgement.

use model::{Owner, Scope};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::get::between;
use crate::{Invalid, scope};

/// Changes in one answer.
const CHANGES_MAX: usize = 1_000;

/// An id of a run is shorter.
const RUN_ID_BYTES_MAX: usize = 128;

/// In a change's place: what stands in the files and is not recorded yet.
pub const UNRECORDED: &str = "unrecorded";

/// Which changes to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// Only changes that touch nothing outside this application and project; a token for all tenants sees every change
    /// without it.
    #[serde(default)]
    pub app_id: Option<String>,
    #[serde(default)]
    pub project_id: Option<String>,
    /// Only changes that touch this user's files.
    #[serde(default)]
    pub user_id: Option<String>,
    #[serde(default)]
    pub agent_id: Option<String>,
    /// 1 to 1000.
    #[serde(default = "default_limit")]
    #[param(minimum = 1, maximum = 1000, default = 50, required = false)]
    pub limit: i64,
}

fn default_limit() -> i64 {
    50
}

/// A checked request for changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryParts {
    pub owner: Option<(Scope, Owner)>,
    pub limit: usize,
}

impl HistoryQuery {
    /// Checks it.
    pub fn parts(&self, scope: &Scope) -> Result<HistoryParts, Invalid> {
        let owner = match (self.user_id.as_deref(), self.agent_id.as_deref()) {
            (None, None) => None,
            (user, agent) => Some((scope.clone(), scope::owner(user, agent)?)),
        };
        let limit = between("limit", self.limit, CHANGES_MAX)?;
        Ok(HistoryParts { owner, limit })
    }
}

/// The tenant that a request names, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TenantQuery {
    /// A token for all tenants means every one without it.
    #[serde(default)]
    pub app_id: Option<String>,
    #[serde(default)]
    pub project_id: Option<String>,
}

/// Changes, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryData {
    pub changes: Vec<ChangeItem>,
}

/// Who made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangedBy {
    /// A person, in the files or with git.
    Person,
    /// A background run.
    Run,
    /// A forgetting, with which the history began anew.
    Purge,
}

/// A recorded change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangeItem {
    /// The commit; its beginning will do where no other begins so.
    pub id: String,
    #[schema(format = DateTime)]
    pub at: String,
    pub by: ChangedBy,
    /// The person's name, as git knows it.
    pub name: Option<String>,
    /// What `history/undo` takes back.
    pub run_id: Option<String>,
    pub strategy: Option<String>,
    pub reason: Option<String>,
    /// The run that this one took back.
    pub undoes: Option<String>,
    /// One line that tells what changed.
    pub subject: String,
    /// Below `memory/`.
    pub files: Vec<String>,
}

/// A change as a unified diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffData {
    pub diff: String,
}

/// Takes back a run. Keys that are not listed are refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoRequest {
    pub run_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

impl UndoRequest {
    /// The run, checked: a text that no run has for its id is not repeated in an error.
    pub fn run(&self) -> Result<&str, Invalid> {
        match self.run_id.len() {
            1..=RUN_ID_BYTES_MAX => Ok(&self.run_id),
            _ => Err(Invalid::at("run_id", "is no id of a run: `history` names them")),
        }
    }
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UndoData {
    /// None if later changes had taken back all of it.
    pub change: Option<ChangeItem>,
}

/// What is wrong with what is remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditData {
    /// By file, then by memory.
    pub findings: Vec<FindingItem>,
}

/// One thing that is wrong with one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FindingItem {
    /// `duplicate`, `loop`, `secret`, `stale` or `unsupported`.
    pub fault: String,
    /// The memory.
    pub id: String,
    pub app_id: String,
    pub project_id: String,
    /// Below `memory/`.
    pub path: String,
    pub why: String,
    /// The run that wrote it, if the history tells; `history/undo` takes it back.
    pub run_id: Option<String>,
}
