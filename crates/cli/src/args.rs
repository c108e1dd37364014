//! Command line: commands, options, and their help.

mod agents;
mod context;
mod groups;
mod history;
mod knowledge;
mod scope;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use model::{Name, SessionId};

pub(crate) use agents::{AgentArgs, InitArgs, ModelCommand, SkillArgs, SkillCommand, TokenCommand};
pub(crate) use context::{ContextArgs, ContextCommand, LiveArgs, LiveContext, LiveOf};
pub(crate) use groups::parse;
pub(crate) use history::{
    HistoryArgs, HistoryCommand, LogArgs, RunsArgs, RunsCommand, STRATEGIES, TenantArgs,
};
pub(crate) use knowledge::{KnowledgeArgs, KnowledgeCommand};
pub(crate) use scope::{FolderScopeArgs, OwnerArgs, ScopeArgs, me, user};

use crate::error::Exit;

/// The default user: the person who runs Quipu.
pub(crate) const DEFAULT_USER: &str = "me";

/// Memory you can read, for LLM agents.
#[derive(Debug, Parser)]
#[command(
    name = "quipu",
    version,
    max_term_width = 110,
    arg_required_else_help = true,
    after_help = Exit::table()
)]
pub(crate) struct Cli {
    /// Data folder: memory (Markdown), ledger, index, quipu.toml [default: ~/.quipu]
    #[arg(long, global = true, env = "QUIPU_ROOT", value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Hide progress on standard error
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Asking(ApiCommand),
    /// Back up the root into a folder, also while a server uses it
    Backup {
        /// Folder for the backup: a new one, or an empty one
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Restore a backup into a new root and rebuild its index
    Restore {
        /// Folder of a backup
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Create, list and revoke tokens of the server
    #[command(subcommand)]
    Token(TokenCommand),
    /// Show, compact, search and recover the context of a transcript file or a live conversation
    Context(ContextArgs),
    /// Serve the HTTP API and, under /v1, a model server with memory
    Serve(ServeArgs),
    /// Serve memory to an agent that starts this program (Model Context Protocol)
    Mcp(AgentArgs),
    /// Give memory to an agent and store its session: reads an event of Claude Code, Codex or Gemini CLI from standard input
    Hook(AgentArgs),
    /// Chat with a model through a running server, in the terminal or in a pipe
    Chat(ChatArgs),
    /// Download and check a local model for embeddings or reranking
    #[command(subcommand)]
    Model(ModelCommand),
    /// Connect the agents of this machine with Quipu: shows each change, asks, and can undo all of them
    Init(InitArgs),
    /// Check configuration, root, server, memory, model servers and connected agents, and say what to do
    Doctor,
    /// Show the effective configuration and where each value came from
    Config,
    /// Ask a bundled conversation three questions
    Demo {
        /// Folder for the demo's memory [default: a new one among the temporary files]
        #[arg(long, value_name = "DIR")]
        keep: Option<PathBuf>,
    },
    /// Print a completion script for a shell
    #[command(hide = true)]
    Completions {
        /// The shell that reads the script
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write the manual pages
    #[command(hide = true)]
    Man {
        /// Folder to write them into
        folder: PathBuf,
    },
}

/// Commands that ask the API of a root.
#[derive(Debug, Subcommand)]
pub(crate) enum ApiCommand {
    /// Store one message
    Add(AddArgs),
    /// Export all memory of one user: JSON lines, or a folder of Markdown
    Export(ExportArgs),
    /// Import conversations: ChatGPT and Claude exports, Claude Code and Codex sessions, chat files
    Import(ImportArgs),
    /// Answer a question in one line from memory, without a model: what was said, by whom and when
    Ask(AskArgs),
    /// Search messages and memories
    Search(SearchArgs),
    /// List memories, or show one
    Get(GetArgs),
    /// Show what Quipu believes of you, and say what is true, wrong, a game or no longer so
    Review(ReviewArgs),
    /// List, show, approve or reject agent skills
    Skill(SkillArgs),
    /// Delete a session, an owner or single memories everywhere
    Forget(ForgetArgs),
    /// List, show and undo changes of the memory files
    History(HistoryArgs),
    /// Find duplicates, loops, secrets, and stale or unsupported memories
    Audit(TenantArgs),
    /// Store documents and search them
    Knowledge(KnowledgeArgs),
    /// Rebuild the index from the Markdown files
    Rebuild,
    /// Update the index with changes of the Markdown files
    Sync {
        /// Use the memory folder that is there, or a new one: memories that it lacks count as deleted
        #[arg(long)]
        accept_missing: bool,
    },
    /// Show system status, or who has memory here
    Status(StatusArgs),
    /// List background runs with reason, cost and result; start one, or retry failed tasks
    Runs(RunsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Text of the message, with or without quotation marks; `-` or no text reads standard input
    pub(crate) text: Vec<String>,
    /// User who said it
    #[arg(long, default_value = DEFAULT_USER, value_name = "ID", value_parser = Name::parse)]
    pub(crate) user: Name,
    /// Session of the message
    #[arg(long, default_value = "notes", value_name = "ID", value_parser = SessionId::parse)]
    pub(crate) session: SessionId,
    /// Role of the speaker
    #[arg(long, value_enum, default_value_t = RoleArg::User)]
    pub(crate) role: RoleArg,
    /// Display name of the speaker
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Time of the message: ISO 8601 or epoch milliseconds [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// Your id for the message; a second message with the same id changes nothing
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// End the segment here and write its episode now
    #[arg(long)]
    pub(crate) flush: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    User,
    Assistant,
    Tool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files, zip archives of exports, or folders: `export.zip`, `~/.claude/projects`, `~/.codex/sessions`
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// User of messages that name none [default: me]
    #[arg(long, value_name = "ID", value_parser = Name::parse)]
    pub(crate) user: Option<Name>,
    /// Order of dates in a chat of `WhatsApp`, where its dates do not show it
    #[arg(long, value_enum)]
    pub(crate) dates: Option<DatesArg>,
    /// Also store messages that you deleted before
    #[arg(long)]
    pub(crate) forgotten: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DatesArg {
    /// 3/6/2026 is 3 June
    DayFirst,
    /// 3/6/2026 is 6 March
    MonthFirst,
}

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// A question, with or without quotation marks
    #[arg(required = true)]
    pub(crate) question: Vec<String>,
    #[command(flatten)]
    pub(crate) whose: OwnerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// Answer about this statement instead of listing all of them
    #[arg(requires = "verdict")]
    pub(crate) id: Option<String>,
    /// Your answer
    #[arg(value_enum)]
    pub(crate) verdict: Option<VerdictArg>,
    /// Maximum number of statements
    #[arg(long, short = 'n', default_value_t = 100, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) limit: u8,
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: u32,
    /// The user whose memory it is
    #[arg(long, default_value = DEFAULT_USER, value_name = "ID", value_parser = user)]
    pub(crate) user: Name,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerdictArg {
    /// It is true
    Keep,
    /// It was never true, or it is about somebody else
    Wrong,
    /// It was said in a game or a story, as was all of its conversation
    Scene,
    /// It was true and is no longer
    Ended,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words or a question to search for, with or without quotation marks
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) whose: OwnerArgs,
    /// Search by keywords, by meaning (vector) or by both (hybrid)
    #[arg(long, value_enum, default_value_t = MethodArg::Hybrid)]
    pub(crate) method: MethodArg,
    /// Maximum number of memories
    #[arg(long, short = 'k', default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) top_k: u16,
    /// Maximum number of verbatim messages
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=200))]
    pub(crate) messages: u16,
    /// Return the memories that were valid at this time
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Time that words like "last May" refer to [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) asked_at: Option<String>,
    /// Search only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Leave out memories with a lower score
    #[arg(long, default_value_t = 0.0, value_name = "0..1")]
    pub(crate) min_score: f64,
    /// Cut the result to about this many tokens
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u32>,
    /// Show the id and file of each hit, for `quipu get ID`, `quipu forget ID` and an editor
    #[arg(long)]
    pub(crate) ids: bool,
    /// Show every hit with id, score and reason
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    Keyword,
    Vector,
    Hybrid,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// Show this memory in full
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) whose: OwnerArgs,
    /// Kind of memory to list
    #[arg(long, value_enum, default_value_t = KindArg::Episode)]
    pub(crate) kind: KindArg,
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: u32,
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) page_size: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    Episode,
    Fact,
    /// Events that somebody announced, also those that are over
    Foresight,
    /// The user's profile
    Profile,
    /// How an agent did a task; needs --agent
    Case,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Memories of the user or agent to delete
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) whose: OwnerArgs,
    /// Delete every message and memory of the user (`me` if you name nobody) or agent that contains all of these words
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["ids", "session", "all"])]
    pub(crate) words: Option<String>,
    /// Delete a session from every memory; with --user or --agent, from that memory only
    #[arg(long, value_name = "ID", value_parser = SessionId::parse, conflicts_with_all = ["ids", "all"])]
    pub(crate) session: Option<SessionId>,
    /// Delete the whole memory of the user or agent in one project (--project); other projects keep theirs
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Delete without confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct StatusArgs {
    /// List failed tasks
    #[arg(long)]
    pub(crate) tasks: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(subcommand)]
    pub(crate) command: Option<StatusCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StatusCommand {
    /// List users, agents and libraries with counts and sizes
    Users,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on [default: 127.0.0.1:4777]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Model server behind /v1, as in `http://127.0.0.1:8080` [default: from the configuration]
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Model to use [default: the server's]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Conversation to continue [default: a new one, named by the server]
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    /// System prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Send this message and exit (repeatable)
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A new file (`ana.jsonl`), a new folder for Markdown, or `-` for JSON lines on standard output
    #[arg(value_name = "FILE.jsonl|DIR|-")]
    pub(crate) to: PathBuf,
    /// The user whose memory it is
    #[arg(long, value_name = "NAME", value_parser = user)]
    pub(crate) user: Name,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}
