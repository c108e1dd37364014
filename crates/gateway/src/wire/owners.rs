//! `/owners`: everybody who has memory, with counts and sizes.
//!
//! Owns: its JSON form. Never: counting.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Owners by tenant, then kind, then id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnersData {
    pub owners: Vec<OwnerItem>,
}

/// One owner in one tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnerItem {
    pub app_id: String,
    pub project_id: String,
    /// `user`, `agent` or `library`.
    pub kind: String,
    pub id: String,
    /// Entries of the owner's Markdown files.
    pub memories: usize,
    pub files: usize,
    /// Size of the files.
    pub bytes: u64,
    /// Of a user: messages that no episode has yet, with those of others in the same sessions.
    pub waiting: usize,
}
