//! What can be typed: commands, options, and their help.

mod context;
mod knowledge;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use context::{LiveArgs, LiveContext, LiveOf};
pub(crate) use knowledge::{KnowledgeArgs, KnowledgeCommand};

/// Whose memory it is where nobody is named: the one person's who runs Quipu.
pub(crate) const DEFAULT_USER: &str = "me";

/// Memory you can read, for LLM agents.
#[derive(Debug, Parser)]
#[command(name = "quipu", version, max_term_width = 110, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// The folder that holds everything: memory (Markdown), ledger, index, quipu.toml [default: ~/.quipu]
    #[arg(long, global = true, env = "QUIPU_ROOT", value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress on standard error
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Remember one message
    Add(AddArgs),
    /// Remember conversations: exports of ChatGPT and Claude, sessions of Claude Code and Codex, chat files
    Import(ImportArgs),
    /// Find what was said and what is known
    Search(SearchArgs),
    /// List memories, or show one
    Get(GetArgs),
    /// List, show, approve or reject what an agent has learnt to do
    Skill(SkillArgs),
    /// Forget a session, an owner or single memories, everywhere
    Forget(ForgetArgs),
    /// Show what changed in the memory files, by whom and why
    Log(LogArgs),
    /// Show one change line by line, or what is not recorded yet
    Diff(DiffArgs),
    /// Take back a background run, and nothing else
    Undo(UndoArgs),
    /// Find duplicates, loops, secrets, and what is stale or unsupported
    Audit(AuditArgs),
    /// Keep documents and find what is in them
    Knowledge(KnowledgeArgs),
    /// Build the index anew from the Markdown files
    Rebuild,
    /// Bring the index up to date with the Markdown files
    Sync,
    /// Show how the system is
    Status(StatusArgs),
    /// Try tasks again that failed for good
    Retry(RetryArgs),
    /// Show what is done in the background: why, at what cost, and what it changed
    Runs(RunsArgs),
    /// Run something of the background now
    Trigger(TriggerArgs),
    /// Show what a model sees of a transcript file or of a live conversation; compact, search and recover it
    Context(ContextArgs),
    /// Serve the HTTP API, and a model server with memory under /v1
    Serve(ServeArgs),
    /// Talk to a model through a running server, from the terminal or a pipe
    Chat(ChatArgs),
    /// Show what requests through a running server cost, and why a model had to read again what it had read
    Cache(CacheArgs),
    /// Show the effective configuration and where each value came from
    Config,
    /// Remember, search, edit and rebuild a bundled conversation in a throw-away folder
    Demo(DemoArgs),
}

impl Command {
    /// The tenant that it is about, if it is about one.
    pub(crate) fn scope(&self) -> Option<ScopeArgs> {
        match self {
            Self::Add(args) => Some(args.scope.clone()),
            Self::Import(args) => Some(args.scope.clone()),
            Self::Search(args) => Some(args.whose.scope.clone()),
            Self::Get(args) => Some(args.whose.scope.clone()),
            Self::Skill(args) => Some(args.scope.clone()),
            Self::Forget(args) => Some(args.whose.scope.clone()),
            Self::Status(args) => Some(args.scope.clone()),
            Self::Retry(args) => Some(args.scope.clone()),
            Self::Runs(args) => Some(args.scope.clone()),
            Self::Knowledge(args) => Some(args.scope.clone()),
            Self::Log(args) => args.tenant.scope(),
            Self::Diff(args) => args.tenant.scope(),
            Self::Undo(args) => args.tenant.scope(),
            Self::Context(args) => args.live.as_ref().map(|live| live.of().scope.clone()),
            Self::Audit(args) => args.tenant.scope(),
            Self::Rebuild
            | Self::Sync
            | Self::Trigger(_)
            | Self::Serve(_)
            | Self::Chat(_)
            | Self::Cache(_)
            | Self::Config
            | Self::Demo(_) => None,
        }
    }
}

/// Whose memory, in which scope.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// The user whose memory it is
    #[arg(long, value_name = "ID", conflicts_with = "agent")]
    pub(crate) user: Option<String>,
    /// The agent whose memory it is
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// The tenant.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScopeArgs {
    /// The application
    #[arg(long, default_value = "default", value_name = "ID", global = true)]
    pub(crate) app: String,
    /// The project inside it
    #[arg(long, default_value = "default", value_name = "ID", global = true)]
    pub(crate) project: String,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What was said; `-` or nothing reads it from standard input
    pub(crate) text: Option<String>,
    /// Who said it
    #[arg(long, default_value = DEFAULT_USER, value_name = "ID")]
    pub(crate) user: String,
    /// In which conversation
    #[arg(long, default_value = "notes", value_name = "ID")]
    pub(crate) session: String,
    /// In which role
    #[arg(long, value_enum, default_value_t = RoleArg::User)]
    pub(crate) role: RoleArg,
    /// The name to show for the speaker
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// When it was said: ISO 8601 or epoch milliseconds [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// An id of your own; adding it again changes nothing
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// End the conversation's episode here and write it now
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
    /// What the files are
    #[arg(long, value_enum, default_value_t = FormatArg::Auto)]
    pub(crate) format: FormatArg,
    /// Who the user in them is, where they do not say
    #[arg(long, default_value = DEFAULT_USER, value_name = "ID")]
    pub(crate) user: String,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// Look and decide
    Auto,
    /// One message a line: role, content, and if known timestamp, sender, session
    Jsonl,
    /// OpenAI messages: an array, or an object with `messages`
    Openai,
    /// A ChatGPT export: conversations.json, its parts, the zip or its folder
    Chatgpt,
    /// A Claude export: conversations.json, the zip or its folder
    Claude,
    /// A session of Claude Code, or a folder of them
    ClaudeCode,
    /// A session of Codex, or a folder of them
    Codex,
    /// The root of an `EverOS` 1.5
    Everos,
    /// The `LoCoMo` data set
    Locomo,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// What to look for
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// Which evidence to use
    #[arg(long, value_enum, default_value_t = MethodArg::Hybrid)]
    pub(crate) method: MethodArg,
    /// How many memories at most
    #[arg(long, short = 'k', default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) top_k: u16,
    /// How many verbatim messages at most
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=200))]
    pub(crate) messages: u16,
    /// Answer with what held at this time
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Take this as the time of asking, for words like "last May" [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) asked_at: Option<String>,
    /// Only this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Leave out what scores below this
    #[arg(long, default_value_t = 0.0, value_name = "0..1")]
    pub(crate) min_score: f64,
    /// Cut the answer to about this many tokens
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u32>,
    /// Show the id and file of each hit, for `quipu get ID`, `quipu forget ID` and an editor
    #[arg(long)]
    pub(crate) ids: bool,
    /// Show ids, scores and why each hit was found, and leave nothing out
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
    /// Show this memory whole
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// Which kind to list
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
    /// What the user is like
    Profile,
    /// With --agent: how it went about a task
    Case,
}

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
    /// Show one whole
    Show(SkillId),
    /// Let searches of the agent find it; from now on only people change it
    Approve(SkillId),
    /// Keep it from being found and from being made again
    Reject(SkillId),
}

#[derive(Debug, Args)]
pub(crate) struct SkillId {
    /// Its name or id, as a list shows them
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Single memories of the user or agent
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// A whole conversation, for everyone who remembers it; with --user or --agent, their part of it
    #[arg(long, value_name = "ID", conflicts_with_all = ["ids", "all"])]
    pub(crate) session: Option<String>,
    /// Everything of the user or agent
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// The tenant, or every one.
#[derive(Debug, Args)]
pub(crate) struct TenantArgs {
    /// Only the files of this application [default: of all]
    #[arg(long, value_name = "ID")]
    pub(crate) app: Option<String>,
    /// Only the files of this project
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
}

impl TenantArgs {
    fn scope(&self) -> Option<ScopeArgs> {
        let part = |named: &Option<String>| named.clone().unwrap_or_else(|| "default".to_owned());
        (self.app.is_some() || self.project.is_some()).then(|| ScopeArgs {
            app: part(&self.app),
            project: part(&self.project),
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Only what touches this user's memory
    #[arg(long, visible_alias = "owner", value_name = "ID", conflicts_with = "agent")]
    pub(crate) user: Option<String>,
    /// Only what touches this agent's memory
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// How many changes at most
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Which change, as `quipu log` names it [default: what is not recorded yet]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// Which run, as `quipu log` and `quipu audit` name it
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Name the tasks that failed
    #[arg(long)]
    pub(crate) tasks: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    /// Which tasks, as `quipu status --tasks` names them; all that failed when none is named
    #[arg(value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Only those of this strategy
    #[arg(long, value_name = "NAME")]
    pub(crate) strategy: Option<String>,
    /// How many, the newest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TriggerArgs {
    /// The strategy
    pub(crate) name: String,
    /// How many seconds to wait for the runs' ends
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    pub(crate) timeout: f64,
    /// Also when the strategy is disabled
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen [default: 127.0.0.1:4777]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// The model server behind /v1, as in `http://127.0.0.1:8080` [default: those of the configuration]
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// The model that answers [default: the server's]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Go on with this conversation's memory [default: a new one, which the server names]
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    /// What the model is told before the talk
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Say this and end; given again, one after the other
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Vec<String>,
    /// Which server, asked with a token of this configuration [default: the one that has the root, or server.listen]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Do not ask before `/forget`
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    /// Only this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep what the demo made in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ContextArgs {
    /// A transcript: OpenAI or Anthropic messages (JSON or JSONL), a Claude Code or Codex session
    pub(crate) file: Option<PathBuf>,
    /// What the request may weigh, tools included [default: the model's window, less an eighth for the answer]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<usize>,
    /// The model that would answer [default: the one that the transcript names]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// By which rules: quipu, codebuddy or openclaw
    #[arg(long, default_value = "quipu", value_name = "NAME")]
    pub(crate) policy: String,
    /// Print the original of a message (m17) or of all that a summary stands for (n3)
    #[arg(long, value_name = "ID")]
    pub(crate) recover: Option<String>,
    #[command(subcommand)]
    pub(crate) live: Option<LiveContext>,
}
