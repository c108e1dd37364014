//! Arguments of `quipu backup`, `quipu restore` and `quipu sync`.
//!
//! Owns: the commands' words. Never: their work.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// Folder for the backup: a new one, or an empty one
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// Folder of a backup
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// Use the memory folder that is there, or a new one: memories that it lacks count as deleted
    #[arg(long)]
    pub(crate) accept_missing: bool,
}
