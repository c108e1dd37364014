//! `/owners`: all owners with memory, with counts and sizes.
//!
//! Owns: its JSON form. Never: counting.

use macro_rules_attribute::apply;
use memory::Holding;
use model::{Owner, Scope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wire::fields::filled;

/// Owners by tenant, then kind, then id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OwnersData {
    pub owners: Vec<OwnerItem>,
}

/// One owner in one tenant.
#[apply(filled!)]
#[from(holding: &Holding, scope: &Scope, owner: &Owner)]
pub struct OwnerItem {
    #[value(scope.app.to_string())]
    pub app_id: String,
    #[value(scope.project.to_string())]
    pub project_id: String,
    /// `user`, `agent` or `library`.
    #[value(owner.kind.as_str().to_owned())]
    pub kind: String,
    #[value(owner.id.to_string())]
    pub id: String,
    /// Entries of the owner's Markdown files.
    #[value(holding.entries)]
    pub memories: usize,
    pub files: usize,
    /// Size of the files.
    pub bytes: u64,
    /// Of a user: messages that no episode has yet, with those of others in the same sessions.
    pub waiting: usize,
}
