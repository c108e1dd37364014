//! Arguments of the commands that show the changes and runs of Quipu: `history`, `audit`, `runs`.
//!
//! Owns: their names and help. Never: executing them.

use clap::{Args, Subcommand};
use model::Name;

use super::{ScopeArgs, user};
use crate::project;

/// Background strategies, by the names that `quipu runs start` accepts.
pub(crate) const STRATEGIES: &str =
    "dream, extract_agent_case, extract_agent_skill, extract_foresight, extract_user_profile";

/// The tenant, or every one.
#[derive(Debug, Args)]
pub(crate) struct TenantArgs {
    /// Only files of this application [default: all]
    #[arg(long, value_name = "ID", value_parser = Name::parse)]
    pub(crate) app: Option<Name>,
    /// Only files of this project
    #[arg(long, value_name = "ID", value_parser = project::named)]
    pub(crate) project: Option<Name>,
}

#[derive(Debug, Args)]
#[command(mut_args(|arg| arg.global(true)))]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
    #[command(subcommand)]
    pub(crate) command: HistoryCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// List changes of the memory files with author and reason
    Log(LogArgs),
    /// Show the memory files as they were at a time
    Show {
        /// A file below `memory/`, to print [default: list all files]
        path: Option<String>,
        /// Time: ISO 8601; a date is its beginning
        #[arg(long, value_name = "TIME")]
        at: String,
    },
    /// Show one change line by line
    Diff {
        /// Id of a change from `quipu history log` [default: the newest one]
        id: Option<String>,
    },
    /// Undo one background run and nothing else
    Undo {
        /// Id of the run, from `quipu history log` or `quipu audit`
        run: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Only changes of this user's memory
    #[arg(long, visible_alias = "owner", value_name = "ID", value_parser = user, conflicts_with = "agent")]
    pub(crate) user: Option<Name>,
    /// Only changes of this agent's memory
    #[arg(long, value_name = "ID", value_parser = Name::parse)]
    pub(crate) agent: Option<Name>,
    /// Maximum number of changes
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// Print every change as a stream for `git fast-import`
    #[arg(long = "as", value_name = "FORM", value_parser = ["git"], conflicts_with_all = ["user", "agent", "limit"])]
    pub(crate) form: Option<String>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunsArgs {
    /// Only runs of this strategy
    #[arg(long, value_name = "NAME")]
    pub(crate) strategy: Option<String>,
    /// Maximum number of runs, newest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// Run a background strategy now
    #[command(alias = "trigger")]
    Start {
        #[arg(help = format!("Name of the strategy: {STRATEGIES}; `dream` writes core memory, `extract_foresight` upcoming events"))]
        name: String,
        /// Maximum number of seconds to wait for the runs
        #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
        timeout: f64,
        /// Run the strategy even if it is disabled
        #[arg(long)]
        force: bool,
    },
    /// Retry tasks that failed permanently
    Retry {
        /// Ids of tasks, from `quipu status --tasks` [default: all failed tasks]
        #[arg(value_name = "TASK")]
        tasks: Vec<String>,
        #[command(flatten)]
        scope: ScopeArgs,
    },
}
