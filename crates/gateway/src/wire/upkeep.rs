//! `index/sync` and `index/rebuild`: the index updated from the Markdown files.
//!
//! Owns: their answer. Never: reading a file.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Result of a sync or a rebuild.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SyncedData {
    /// Files that were read.
    pub files: usize,
    pub entries_added: usize,
    pub entries_changed: usize,
    pub entries_removed: usize,
    /// Number of unreadable files, earlier ones included; `/health` lists them.
    pub broken_files: usize,
}
