//! `memory/edit` in the format of EverOS Cloud's clients: adding, changing and deleting statements of a profile.
//!
//! Owns: its request, bounds and answer. Never: storing a profile.

use model::{EntryId, Owner, Scope};
use serde::{Deserialize, Serialize};

use crate::wire::{ApiId, Invalid, MemoryType, ProfileData, scope};

/// Maximum number of operations in one request.
const OPERATIONS_MAX: usize = 50;

/// Changes of one user's profile. Unknown keys are refused.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileEditRequest {
    pub app_id: Option<String>,
    pub project_id: Option<String>,
    pub user_id: String,
    /// Only `profile`.
    pub memory_type: Option<MemoryType>,
    #[serde(deserialize_with = "super::json::objects")]
    pub operations: Vec<ProfileOperation>,
}

/// One change.
#[derive(Debug, Clone, Deserialize)]
pub struct ProfileOperation {
    #[serde(deserialize_with = "super::json::word")]
    pub action: Action,
    #[serde(rename = "type", deserialize_with = "super::json::word")]
    pub kind: StatementKind,
    /// The `id` of the statement; `add` creates one.
    pub item_id: Option<String>,
    #[serde(default)]
    pub data: Statement,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Add,
    Update,
    Delete,
}

/// A statement, or a trait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    ExplicitInfo,
    ImplicitTraits,
}

/// The text of a statement; an update keeps omitted fields.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Statement {
    #[serde(alias = "trait")]
    pub category: Option<String>,
    pub description: Option<String>,
    pub evidence: Option<String>,
}

impl ProfileEditRequest {
    /// Checks the request.
    pub fn parts(&self, home: &Scope) -> Result<(Scope, Owner), Invalid> {
        let scope = scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)?;
        let owner = scope::owner(Some(&self.user_id), None)?;
        if self.memory_type.is_some_and(|kind| kind != MemoryType::Profile) {
            return Err(Invalid::at("memory_type", "operations change a `profile` only"));
        }
        match self.operations.len() {
            1..=OPERATIONS_MAX => Ok((scope, owner)),
            count => Err(Invalid::at(
                "operations",
                format!("must have 1 to {OPERATIONS_MAX} operations, this has {count}"),
            )),
        }
    }
}

impl ProfileOperation {
    /// The id of the statement, which must belong to this user.
    pub fn id(&self, owner: &Owner) -> Result<EntryId, Invalid> {
        let id = self
            .item_id
            .as_deref()
            .ok_or_else(|| Invalid::at("item_id", "this field is required"))?;
        ApiId::parse("item_id", id, Some(&owner.id)).map(|id| id.entry)
    }
}

/// The result of the changes.
#[derive(Debug, Clone, Serialize)]
pub struct ProfileEditData {
    pub user_id: String,
    /// Time of the edit in epoch milliseconds; it grows with each edit.
    pub version: i64,
    /// Number of operations that succeeded.
    pub applied: usize,
    /// In the order of the request.
    pub results: Vec<OperationResult>,
    /// The profile afterwards.
    pub profile: Option<ProfileData>,
}

/// The result of one change.
#[derive(Debug, Clone, Serialize)]
pub struct OperationResult {
    pub op_index: usize,
    pub action: Action,
    #[serde(rename = "type")]
    pub kind: StatementKind,
    pub status: OperationStatus,
    pub item_id: Option<String>,
    pub new_item_id: Option<String>,
    pub error: Option<String>,
}

/// Whether a change succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OperationStatus {
    Applied,
    Rejected,
}
