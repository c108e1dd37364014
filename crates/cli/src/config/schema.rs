//! The keys of `quipu.toml` with their defaults. `docs/quipu.example.toml` shows them all; a test compares the two.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

fn engine() -> memory::MemorySettings {
    memory::MemorySettings::default()
}

/// Declares sections of the configuration: every key is optional, and unknown keys are refused.
macro_rules! sections {
    ($($(#[$about:meta])* struct $name:ident {
        $($(#[$of_key:meta])* $key:ident: $ty:ty $(= $value:expr)?,)+
    })+) => {
        model::defaults! {$(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            #[serde(default, deny_unknown_fields)]
            pub(crate) struct $name {
                $($(#[$of_key])* pub(crate) $key: $ty $(= $value)?,)+
            }
        )+}
    };
}

sections! {
    /// All settings.
    struct Config {
        memory: Memory,
        history: History,
        server: Server,
        proxy: Proxy,
        context: Context,
        consolidation: Consolidation,
        embedding: Embedding,
        rerank: Rerank,
        chat: Chat,
        search: Search,
        knowledge: Knowledge,
        tasks: Tasks,
        log: Log,
    }

    /// Storage of messages and the division of conversations into segments.
    struct Memory {
        /// Empty: the machine's time zone.
        timezone: String,
        gap_minutes: u32 = engine().gap_minutes,
        messages_max: usize = engine().messages_max,
        tokens_max: usize = engine().tokens_max,
        /// Remove secrets from messages before anything is written.
        redact: bool = engine().redacts,
        /// Delete a session after this many days without a new message; 0: never.
        keep_days: u32,
        /// Projects, as `app/project` or `project`, in which a search also covers the memory of the project's other users.
        shared_projects: Vec<String>,
    }

    /// The history of the memory files.
    struct History {
        enabled: bool = engine().records_history,
    }

    /// The HTTP server.
    struct Server {
        listen: String = "127.0.0.1:4777".to_owned(),
        body_mebibytes_max: usize = 32,
        shutdown_seconds: u32 = 10,
        tokens: Vec<TokenPurpose>,
    }

    /// The model servers behind `/v1`.
    struct Proxy {
        /// Default user of requests that name none; empty: `me`, or, with tokens, requests must name a user.
        owner: String,
        /// Headers in which clients name the user, beside `x-quipu-user`.
        user_headers: Vec<String>,
        /// Paths behind `/v1/`, such as `files`, that every token can use, with all paths below. They can hold data of others.
        passthrough: Vec<String>,
        /// A folder of instruction files at the start of every conversation, before the files of `<root>/instructions`.
        instructions: String,
        /// Names of instruction files, in order; empty: the seven known ones.
        instruction_files: Vec<String>,
        upstreams: Vec<Upstream>,
    }

    /// The model's view of conversations.
    #[skip_serializing_none]
    struct Context {
        /// `quipu`, `codebuddy`, `openclaw`, or the name of one of `engines`.
        engine: String = "quipu".to_owned(),
        /// Compact when the view reaches this share of its limit; 0: the engine's default.
        compact_at_percent: u8,
        /// … or this many tokens; 0: the engine's default.
        compact_at_tokens: usize,
        /// The window of an agent in tokens, by the agent's name; it replaces the model's window.
        agent_windows: BTreeMap<String, usize>,
        /// Warn at these shares; none: the engine's default.
        warn_at_percent: Option<Vec<u8>>,
        /// Folder with a file for each user, which gets the facts of messages that leave the view; empty: no file.
        flush_folder: String,
        /// A command that runs before and after a compaction.
        on_compact: Vec<String>,
        dangerous_instructions: Dangerous,
        /// The user's own engines.
        engines: Vec<ContextEngine>,
    }

    /// A context engine in another process.
    struct ContextEngine {
        name: String,
        /// A program and its arguments.
        command: Vec<String>,
        /// The engine compacts on its own.
        owns_compaction: bool,
        timeout_ms: u32 = 5_000,
        /// The engine's own settings.
        config: serde_json::Map<String, serde_json::Value>,
    }

    /// One model server.
    struct Upstream {
        /// Its name in `quipu context cache`; empty: its address.
        name: String,
        base_url: String,
        api_key: String,
        /// Kind of the server, if a probe cannot detect it: `llama.cpp`, `openai`, …
        kind: String,
        /// Models of the server, with `*` at the end as a wildcard; empty: all.
        models: Vec<String>,
        /// The server's name for the model, if it differs.
        model: String,
        /// Window in tokens, if the server reports none or a wrong one; 0: the reported one.
        context_tokens: usize,
        /// A header with a key of the conversation, for a load balancer before replicas; empty: none.
        session_header: String,
        /// Requested time that the server keeps a prompt in its cache, as in `24h`; empty: the server's default.
        cache_retention: String,
        /// Whether a local server gets a `session_id` with each request of a conversation.
        session_id: bool = true,
    }

    /// The embedding model.
    struct Embedding {
        provider: EmbeddingProvider,
        model: String,
        base_url: String,
        api_key: String,
        dims: usize,
        timeout_seconds: u32 = 30,
    }

    /// The model that scores the best hits of a search again.
    struct Rerank {
        provider: RerankProvider,
        /// Empty with `http`: the endpoint is a server of text-embeddings-inference.
        model: String,
        base_url: String,
        api_key: String,
        /// Maximum seconds that a search waits for the model.
        timeout_seconds: u32 = 5,
    }

    /// The chat model for extraction; none if `model` is empty.
    struct Chat {
        model: String,
        base_url: String,
        api_key: String,
        timeout_seconds: u32 = 60,
        /// The model also describes pictures and sounds in messages.
        media: bool,
    }

    /// Part of the index that stays in memory.
    struct Search {
        /// Memory for the rows of recently used owners; 0: an eighth of the machine's, 256 at least.
        hot_mebibytes_max: usize,
        hot_rows_max: usize = engine().hot_rows_max,
    }

    /// Documents.
    struct Knowledge {
        /// Maximum size of an uploaded file.
        upload_mebibytes_max: usize = gateway::GatewaySettings::default().upload_bytes_max >> 20,
    }

    /// Background strategies.
    struct Consolidation {
        /// Seconds without a message after which a session is idle.
        idle_seconds: u32 = u32::try_from(engine().idle_after.as_secs()).unwrap_or(u32::MAX),
        /// Strategies that do not run.
        disabled: Vec<String>,
        /// Maximum tokens of all background runs in a day, prompts and answers together; 0: no limit.
        tokens_per_day_max: u64,
        /// Only runs that a person asks for start.
        quiet: bool,
        /// Number of background runs at a time.
        concurrency: usize = background::BackgroundSettings::default().concurrency,
        /// Maximum characters of `MEMORY.md`, `USER.md` and `SOUL.md` together.
        pages_chars_max: usize = background::strategies::Limits::default().chars_max,
        /// Settings of single strategies.
        strategies: Vec<StrategyKeys>,
    }

    /// Settings of one strategy; omitted ones keep the strategy's defaults.
    #[skip_serializing_none]
    struct StrategyKeys {
        name: String,
        /// Cron expression of five fields; empty: no schedule.
        cron: Option<String>,
        /// Start only after this many seconds without another event.
        idle_seconds: Option<u32>,
        /// Start only after this number of events,
        count: Option<u32>,
        /// and not sooner than this after the last run.
        cooldown_seconds: Option<u32>,
        attempts_max: Option<u32>,
        /// A chat model in place of `chat.model`, at the same server.
        model: Option<String>,
        /// Text after the instructions of the strategy's prompts.
        instructions: Option<String>,
    }

    /// Background work.
    struct Tasks {
        workers: usize = engine().workers,
        attempts_max: u32 = engine().attempts_max,
        session_pending_max: usize = engine().session_pending_max,
        retention_hours: u32 = engine().task_retention_hours,
    }

    /// Log on standard error.
    struct Log {
        /// Filter, as in `info` or `quipu=debug,engine=trace`.
        filter: String = "warn".to_owned(),
        json: bool,
    }
}

/// What a bearer token opens, as the configuration names it, `quipu token create` takes it and the file of issued tokens keeps it. With
/// an app and a project it has access to that scope only, with a user to that user's memory only.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenPurpose {
    // Only in the configuration: of an issued token, only a hash is stored.
    #[arg(skip)]
    pub(crate) secret: Option<String>,
    /// The user whose memory it opens; for an admin, the user of requests that name none [default: every user]
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Allow to search (read), also to change memory (write), also to administer all users and the server (admin)
    #[arg(long, value_enum, required = true)]
    pub(crate) role: Option<RoleKey>,
    /// The application that it opens [default: every one; with --user: default]
    #[arg(long, value_name = "ID")]
    pub(crate) app: Option<String>,
    /// The project that it opens
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
    /// Also open what the user said outside of any project
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) person: bool,
}

/// What a token may do; each role may do what the one before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RoleKey {
    /// Search and look
    #[default]
    Read,
    /// Also add, change and forget memory
    Write,
    /// Also everything that concerns all users, and the server itself
    Admin,
}

impl From<RoleKey> for gateway::TokenRole {
    fn from(role: RoleKey) -> Self {
        model::same!(role, RoleKey => Self: Read, Write, Admin)
    }
}

/// Handling of an instruction file that matches a dangerous pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dangerous {
    /// Quipu uses it and logs a warning.
    #[default]
    Report,
    /// Quipu does not use it and logs a warning.
    Refuse,
}

/// Source of vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EmbeddingProvider {
    /// The table in the binary.
    #[default]
    Static,
    /// A BERT-family model from a folder or a hub id.
    Local,
    /// An OpenAI-compatible endpoint.
    OpenAi,
}

/// Where rerankers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RerankProvider {
    /// No reranker.
    #[default]
    #[serde(rename = "")]
    Off,
    /// A cross-encoder of the BERT family from a folder or a hub id.
    Local,
    /// An HTTP endpoint.
    Http,
}
