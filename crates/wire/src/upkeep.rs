//! `index/sync` and `index/rebuild`: the index and the Markdown brought together.
//!
//! Owns: their answer. Never: reading a file.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a sync or a rebuild did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SyncedData {
    /// Files that were read.
    pub files: usize,
    pub entries_added: usize,
    pub entries_changed: usize,
    pub entries_removed: usize,
    /// Files that cannot be read now, those found earlier included; `/health` names them.
    pub broken_files: usize,
}
