//! The keys of `quipu.toml` with their defaults. `docs/quipu.example.toml` shows them all; a test compares the two.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// Everything that can be configured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) memory: Memory,
    pub(crate) history: History,
    pub(crate) server: Server,
    pub(crate) proxy: Proxy,
    pub(crate) context: Context,
    pub(crate) consolidation: Consolidation,
    pub(crate) embedding: Embedding,
    pub(crate) rerank: Rerank,
    pub(crate) chat: Chat,
    pub(crate) search: Search,
    pub(crate) knowledge: Knowledge,
    pub(crate) tasks: Tasks,
    pub(crate) log: Log,
}

/// Storage of messages and the division of conversations into segments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Memory {
    /// Empty: the machine's.
    pub(crate) timezone: String,
    pub(crate) gap_minutes: u32,
    pub(crate) messages_max: usize,
    pub(crate) tokens_max: usize,
    /// Secrets are removed from messages before anything is written.
    pub(crate) redact: bool,
    /// Projects, as `app/project` or `project`, whose users search each other's memory too.
    pub(crate) shared_projects: Vec<String>,
}

/// The history of the memory files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct History {
    pub(crate) enabled: bool,
}

/// The HTTP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) listen: String,
    pub(crate) body_mebibytes_max: usize,
    pub(crate) shutdown_seconds: u32,
    pub(crate) tokens: Vec<Token>,
}

/// A bearer token. With an app and a project it has access to that scope only, with a user to that user's memory only.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    pub(crate) secret: String,
    pub(crate) app: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) user: Option<String>,
    /// None: `write` with a user, `admin` without.
    pub(crate) role: Option<RoleKey>,
    /// With a project: also what its users said outside of any project, and what holds for them in all their projects.
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

impl RoleKey {
    /// The word of the configuration.
    pub(crate) fn as_str(self) -> &'static str {
        gateway::TokenRole::from(self).as_str()
    }
}

impl From<RoleKey> for gateway::TokenRole {
    fn from(role: RoleKey) -> Self {
        match role {
            RoleKey::Read => Self::Read,
            RoleKey::Write => Self::Write,
            RoleKey::Admin => Self::Admin,
        }
    }
}

/// The model servers behind `/v1`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Proxy {
    /// Default user of requests that name none; empty: `me`, or, with tokens, requests must name a user.
    pub(crate) owner: String,
    /// Headers in which clients name the user, beside `x-quipu-user`.
    pub(crate) user_headers: Vec<String>,
    /// Paths behind `/v1/` that every token can use, with all below them, although they can hold data of others: `files`.
    pub(crate) passthrough: Vec<String>,
    /// A folder of instruction files that every conversation begins with, before those of `<root>/instructions`.
    pub(crate) instructions: String,
    /// Names of instruction files in their order; empty: the seven known ones.
    pub(crate) instruction_files: Vec<String>,
    pub(crate) upstreams: Vec<Upstream>,
}

/// The model's view of conversations.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Context {
    /// `quipu`, `codebuddy`, `openclaw`, or the name of one of `engines`.
    pub(crate) engine: String,
    /// Compact when the view reaches this share of its limit; 0: the engine's default.
    pub(crate) compact_at_percent: u8,
    /// … or this many tokens; 0: the engine's default.
    pub(crate) compact_at_tokens: usize,
    /// The window of an agent in tokens, by its name: before that of the model.
    pub(crate) agent_windows: BTreeMap<String, usize>,
    /// Warn at these shares; none: the engine's default.
    pub(crate) warn_at_percent: Option<Vec<u8>>,
    /// Facts of messages that leave the view are appended to a file of their user in this folder; empty: to none.
    pub(crate) flush_folder: String,
    /// A command that Quipu starts before a compaction.
    pub(crate) on_compact: Vec<String>,
    pub(crate) dangerous_instructions: Dangerous,
    /// Engines of the user's own.
    pub(crate) engines: Vec<ContextEngine>,
}

/// A context engine in another process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ContextEngine {
    pub(crate) name: String,
    /// A program and its arguments.
    pub(crate) command: Vec<String>,
    /// The engine compacts by itself.
    pub(crate) owns_compaction: bool,
    pub(crate) timeout_ms: u32,
    /// The engine's own settings.
    pub(crate) config: serde_json::Map<String, serde_json::Value>,
}

impl Default for ContextEngine {
    fn default() -> Self {
        Self {
            name: String::new(),
            command: Vec::new(),
            owns_compaction: false,
            timeout_ms: 5_000,
            config: serde_json::Map::new(),
        }
    }
}

/// Treatment of an instruction file that matches a dangerous pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dangerous {
    /// Quipu uses it and logs a warning.
    #[default]
    Report,
    /// Quipu does not use it and logs a warning.
    Refuse,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            engine: "quipu".to_owned(),
            compact_at_percent: 0,
            compact_at_tokens: 0,
            agent_windows: BTreeMap::new(),
            warn_at_percent: None,
            flush_folder: String::new(),
            on_compact: Vec::new(),
            dangerous_instructions: Dangerous::default(),
            engines: Vec::new(),
        }
    }
}

/// One model server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Upstream {
    /// Its name in `quipu cache`; empty: its address.
    pub(crate) name: String,
    pub(crate) base_url: String,
    pub(crate) api_key: String,
    /// Kind of the server, if a probe cannot find it out: `llama.cpp`, `openai`, …
    pub(crate) kind: String,
    /// Its models, with `*` at the end as a wildcard; empty: all.
    pub(crate) models: Vec<String>,
    /// Its own name for the model, if it differs.
    pub(crate) model: String,
    /// Window in tokens, if the server reports none or a wrong one; 0: as the server reports.
    pub(crate) context_tokens: usize,
    /// A header that carries a key of the conversation, for a load balancer before replicas; empty: none.
    pub(crate) session_header: String,
    /// How long the server is asked to keep a prompt in its cache, as in `24h`; empty: the server's default.
    pub(crate) cache_retention: String,
}

/// Source of vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EmbeddingProvider {
    /// The table inside the binary.
    #[default]
    Static,
    /// A BERT-family model from a folder or a hub id.
    Local,
    /// An OpenAI-compatible endpoint.
    OpenAi,
}

/// The embedding model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Embedding {
    pub(crate) provider: EmbeddingProvider,
    pub(crate) model: String,
    pub(crate) base_url: String,
    pub(crate) api_key: String,
    pub(crate) dims: usize,
    pub(crate) timeout_seconds: u32,
}

/// Where rerankers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RerankProvider {
    /// There is none.
    #[default]
    #[serde(rename = "")]
    Off,
    /// A cross-encoder of the BERT family from a folder or a hub id.
    Local,
    /// An endpoint.
    Http,
}

/// The model that reads the best hits of a search again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Rerank {
    pub(crate) provider: RerankProvider,
    /// Empty with `http`: the endpoint is a server of text-embeddings-inference.
    pub(crate) model: String,
    pub(crate) base_url: String,
    pub(crate) api_key: String,
    /// Maximum time that a search waits.
    pub(crate) timeout_seconds: u32,
}

/// The chat model that extracts; none when `model` is empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Chat {
    pub(crate) model: String,
    pub(crate) base_url: String,
    pub(crate) api_key: String,
    pub(crate) timeout_seconds: u32,
}

/// Part of the index that stays in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Search {
    pub(crate) hot_mebibytes_max: usize,
    pub(crate) hot_rows_max: usize,
}

/// Documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Knowledge {
    /// Maximum size of an uploaded file.
    pub(crate) upload_mebibytes_max: usize,
}

/// Background strategies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Consolidation {
    /// Time without a message after which a session is idle.
    pub(crate) idle_seconds: u32,
    /// Strategies that do not run.
    pub(crate) disabled: Vec<String>,
    /// Prompts and answers of background runs together; 0 for no bound.
    pub(crate) tokens_per_day_max: u64,
    pub(crate) quiet: QuietWhen,
    /// Background runs at a time.
    pub(crate) concurrency: usize,
    /// Minimum cosine of two episodes about the same thing that are at most `alike_days_max` days apart.
    pub(crate) alike_percent_min: u8,
    pub(crate) alike_days_max: u32,
    /// Maximum characters of `MEMORY.md`, `USER.md` and `SOUL.md` together.
    pub(crate) pages_chars_max: usize,
    /// Settings of single strategies.
    pub(crate) strategies: Vec<StrategyKeys>,
}

/// Settings of one strategy; omitted ones keep the strategy's defaults.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StrategyKeys {
    pub(crate) name: String,
    /// Cron expression of five fields; empty: no schedule.
    pub(crate) cron: Option<String>,
    /// Start only after this time without another event.
    pub(crate) idle_seconds: Option<u32>,
    /// Start only after this number of events,
    pub(crate) count: Option<u32>,
    /// and not sooner than this after the last run.
    pub(crate) cooldown_seconds: Option<u32>,
    pub(crate) attempts_max: Option<u32>,
    /// A chat model in place of `chat.model`, at the same server.
    pub(crate) model: Option<String>,
    /// Text behind the instructions of the strategy's prompts.
    pub(crate) instructions: Option<String>,
}

/// When background runs pause; a run that a person asked for starts anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum QuietWhen {
    #[default]
    Never,
    Battery,
    Always,
}

/// Background work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tasks {
    pub(crate) workers: usize,
    pub(crate) attempts_max: u32,
    pub(crate) session_pending_max: usize,
    pub(crate) retention_hours: u32,
}

/// Log on standard error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    /// As in `info` or `quipu=debug,engine=trace`.
    pub(crate) filter: String,
    pub(crate) json: bool,
}

impl Default for Memory {
    fn default() -> Self {
        let engine = memory::MemorySettings::default();
        Self {
            timezone: String::new(),
            gap_minutes: engine.gap_minutes,
            messages_max: engine.messages_max,
            tokens_max: engine.tokens_max,
            redact: engine.redacts,
            shared_projects: Vec::new(),
        }
    }
}

impl Default for History {
    fn default() -> Self {
        Self {
            enabled: memory::MemorySettings::default().records_history,
        }
    }
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:4777".to_owned(),
            body_mebibytes_max: 32,
            shutdown_seconds: 10,
            tokens: Vec::new(),
        }
    }
}

impl Default for Embedding {
    fn default() -> Self {
        Self {
            provider: EmbeddingProvider::Static,
            model: String::new(),
            base_url: String::new(),
            api_key: String::new(),
            dims: 0,
            timeout_seconds: 30,
        }
    }
}

impl Default for Rerank {
    fn default() -> Self {
        Self {
            provider: RerankProvider::Off,
            model: String::new(),
            base_url: String::new(),
            api_key: String::new(),
            timeout_seconds: 5,
        }
    }
}

impl Default for Chat {
    fn default() -> Self {
        Self {
            model: String::new(),
            base_url: String::new(),
            api_key: String::new(),
            timeout_seconds: 60,
        }
    }
}

impl Default for Consolidation {
    fn default() -> Self {
        let idle = memory::MemorySettings::default().idle_after;
        Self {
            idle_seconds: u32::try_from(idle.as_secs()).unwrap_or(u32::MAX),
            disabled: background::strategies::OFF_BY_DEFAULT.map(str::to_owned).into(),
            tokens_per_day_max: 0,
            quiet: QuietWhen::default(),
            concurrency: background::BackgroundSettings::default().concurrency,
            alike_percent_min: 55,
            alike_days_max: background::strategies::Nearness::default().days_max,
            pages_chars_max: background::strategies::Limits::default().chars_max,
            strategies: Vec::new(),
        }
    }
}

impl Default for Search {
    fn default() -> Self {
        let engine = memory::MemorySettings::default();
        Self {
            hot_mebibytes_max: engine.hot_bytes_max >> 20,
            hot_rows_max: engine.hot_rows_max,
        }
    }
}

impl Default for Knowledge {
    fn default() -> Self {
        Self {
            upload_mebibytes_max: gateway::GatewaySettings::default().upload_bytes_max >> 20,
        }
    }
}

impl Default for Tasks {
    fn default() -> Self {
        let engine = memory::MemorySettings::default();
        Self {
            workers: engine.workers,
            attempts_max: engine.attempts_max,
            session_pending_max: engine.session_pending_max,
            retention_hours: engine.task_retention_hours,
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self {
            filter: "warn".to_owned(),
            json: false,
        }
    }
}
