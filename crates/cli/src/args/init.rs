//! Arguments of `quipu init`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Connect only this client, installed or not (repeatable) [default: all installed ones]
    #[arg(long = "client", value_name = "NAME")]
    pub(crate) clients: Vec<String>,
    /// Ways to connect: MCP tools, hooks that add memory unasked, or Quipu as the model server
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mcp,hooks")]
    pub(crate) with: Vec<DoorArg>,
    /// User whose memory the clients get [default: me]
    #[arg(long, value_name = "ID")]
    pub(crate) user: Option<String>,
    /// Undo all changes of `quipu init`
    #[arg(long, conflicts_with_all = ["clients", "with", "user"])]
    pub(crate) undo: bool,
    /// Write without confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DoorArg {
    Mcp,
    Hooks,
    BaseUrl,
}
