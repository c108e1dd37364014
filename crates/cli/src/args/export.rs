//! Arguments of `quipu export`.
//!
//! Owns: the command's words. Never: its work.

use std::path::PathBuf;

use clap::Args;

use super::ScopeArgs;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A new file (`ana.jsonl`), a new folder for Markdown, or `-` for JSON lines on standard output
    #[arg(value_name = "FILE.jsonl|DIR|-")]
    pub(crate) to: PathBuf,
    /// The user whose memory it is
    #[arg(long, value_name = "NAME")]
    pub(crate) user: String,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}
