//! `index/sync` and `index/rebuild`: the index updated from the Markdown files.
//!
//! Owns: their answer. Never: reading a file.

use macro_rules_attribute::apply;
use memory::Synced;

use crate::wire::fields::filled;

/// Result of a sync or a rebuild.
#[apply(filled!)]
#[from(synced: &Synced, broken_files: usize)]
#[derive(Copy, Default)]
pub struct SyncedData {
    /// Files that were read.
    pub files: usize,
    pub entries_added: usize,
    pub entries_changed: usize,
    pub entries_removed: usize,
    /// Number of unreadable files, earlier ones included; `/health` lists them.
    #[value(broken_files)]
    pub broken_files: usize,
}
