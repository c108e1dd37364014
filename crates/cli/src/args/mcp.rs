//! Arguments of `quipu mcp`.
//!
//! Owns: the command's words. Never: its work.

use clap::Args;

use super::{DEFAULT_USER, FolderScopeArgs};

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The user whose memory it is
    #[arg(long, default_value = DEFAULT_USER, value_name = "ID")]
    pub(crate) user: String,
    #[command(flatten)]
    pub(crate) scope: FolderScopeArgs,
}
