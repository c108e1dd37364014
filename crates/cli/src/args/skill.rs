//! Options of `quipu skill`.

use clap::{Args, Subcommand};

use super::ScopeArgs;

#[derive(Debug, Args)]
pub(crate) struct SkillArgs {
    #[command(subcommand)]
    pub(crate) what: SkillCommand,
    /// The agent whose skills they are
    #[arg(long, value_name = "ID", global = true, default_value = "assistant")]
    pub(crate) agent: String,
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
