//! Arguments of the commands that connect agents and models: `init`, `mcp`, `hook`, `token`, `model`, `skill`.
//!
//! Owns: their names and help. Never: executing them.

use clap::{Args, Subcommand};

use model::Name;

use super::{DEFAULT_USER, FolderScopeArgs, ScopeArgs, user};
use crate::clients::ClientDoor;
use crate::config::TokenPurpose;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Connect only this client, installed or not (repeatable) [default: all installed ones]
    #[arg(long = "client", value_name = "NAME")]
    pub(crate) clients: Vec<String>,
    /// Ways to connect: MCP tools, hooks that add memory unasked, or Quipu as the model server
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mcp,hooks")]
    pub(crate) with: Vec<ClientDoor>,
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

/// Whose memory an agent that works in a folder has.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The user whose memory it is
    #[arg(long, default_value = DEFAULT_USER, value_name = "ID", value_parser = user)]
    pub(crate) user: Name,
    #[command(flatten)]
    pub(crate) scope: FolderScopeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Download a model from the hub, run it once and show its configuration
    Fetch {
        /// Hub id, as in `intfloat/multilingual-e5-small`, or the folder of a model
        #[arg(value_name = "ID")]
        id: String,
    },
}

#[derive(Debug, Args)]
#[command(mut_args(|arg| arg.global(true)))]
pub(crate) struct SkillArgs {
    #[command(subcommand)]
    pub(crate) what: SkillCommand,
    /// The agent whose skills they are
    #[arg(long, value_name = "ID", default_value = "assistant", value_parser = Name::parse)]
    pub(crate) agent: Name,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    /// List skills, drafts included
    List,
    /// Show a skill in full
    Show(SkillId),
    /// Approve the skill: the agent's searches find it, and only people change it
    Approve(SkillId),
    /// Reject the skill: hide it and never regenerate it
    Reject(SkillId),
}

#[derive(Debug, Args)]
pub(crate) struct SkillId {
    /// Name or id of the skill, as `quipu skill list` shows it
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token and print it; it is shown only this once
    Create(TokenPurpose),
    /// List tokens by id, with what they open
    List,
    /// Revoke a token; a running server refuses it from the next request on
    Revoke {
        /// Id of the token, from `quipu token list`
        id: String,
    },
}
