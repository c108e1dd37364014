//! Arguments of `quipu hook`.

use clap::Args;

use super::{DEFAULT_USER, FolderScopeArgs};

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// User whose memory it is
    #[arg(long, default_value = DEFAULT_USER, value_name = "ID")]
    pub(crate) user: String,
    #[command(flatten)]
    pub(crate) scope: FolderScopeArgs,
}
