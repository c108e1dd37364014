//! `context/…`: conversations of programs that call their model themselves, and views of live ones.
//!
//! Owns: these requests, their bounds and answers. Never: choosing the messages that a model sees.

mod answers;

use model::{Name, Scope, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;
use utoipa::{IntoParams, ToSchema};

use crate::wire::{Invalid, scope};

pub use answers::{
    AfterTurnData, AppendData, ArchiveItem, ArchivesData, AssembleData, CleanupData, CompactData,
    ContextStatsData, ConversationsData, DoneData, ExpandData, GivenData, GivenItem, GuardData, OriginalItem,
    OriginalsData, SpawnData, StepItem, ToolsData, ViewData, ViewItem,
};

/// Maximum number of messages in one `append`.
const MESSAGES_MAX: usize = 1_000;
/// Upper bound of `limit`.
const FOUND_MAX: u32 = 100;
/// Minimum accepted window, in tokens.
const WINDOW_MIN: u32 = 256;

/// Format of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Messages of OpenAI's chat completions.
    #[default]
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Items of OpenAI's responses.
    Responses,
}

/// Memory mode of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryMode {
    /// The turn gets recalled memory, and memory learns from the turn.
    #[default]
    On,
    /// The turn gets recalled memory; memory does not learn from it.
    ReadOnly,
    /// No recalled memory, and memory does not learn from the turn.
    Off,
}

/// The conversation of a checked request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationAt {
    pub scope: Scope,
    pub user: Option<Name>,
    pub conversation: SessionId,
}

/// A request about conversations.
pub trait OfConversation {
    /// Checks the request, and returns its conversation.
    fn at(&self, home: &Scope) -> Result<ConversationAt, Invalid>;
}

/// Requests about one conversation: the fields that identify it, and their own fields.
macro_rules! of_conversation {
    ($($(#[$meta:meta])* $name:ident derives [$($derive:ident),*] {
        $($(#[$field_meta:meta])* $field:ident: $kind:ty),* $(,)?
    })+) => {$(
        #[skip_serializing_none]
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, $($derive),*)]
        $(#[$meta])*
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The user of the conversation. Without it: the token's user, else the configured `proxy.owner`.
            pub user_id: Option<String>,
            pub app_id: Option<String>,
            pub project_id: Option<String>,
            /// Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer.
            pub conversation_id: String,
            $($(#[$field_meta])* pub $field: $kind,)*
        }

        impl OfConversation for $name {
            fn at(&self, home: &Scope) -> Result<ConversationAt, Invalid> {
                let scope = scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)?;
                let user = scope::maybe_user(self.user_id.as_deref())?;
                let conversation = SessionId::parse(&self.conversation_id)
                    .map_err(|error| Invalid::at("conversation_id", error))?;
                Ok(ConversationAt { scope, user, conversation })
            }
        }
    )+};
}

of_conversation! {
    /// Messages for a conversation, oldest first. The first request makes the conversation.
    AppendRequest derives [ToSchema] {
        #[serde(default)]
        dialect: Dialect,
        /// Each as your model's API takes it, without the system text.
        #[schema(value_type = Vec<Object>, min_items = 1, max_items = 1000)]
        messages: Vec<Value>,
    }

    /// The next request for your model. The budget is the window less the reserve, the system text, the tools and the room for memory.
    AssembleRequest derives [ToSchema] {
        #[serde(default)]
        dialect: Dialect,
        /// The model that will answer: its vocabulary decides token counts, and its window is the default of `window_tokens`.
        model: Option<String>,
        /// The model's window.
        #[schema(minimum = 256)]
        window_tokens: Option<u32>,
        /// Kept free for the answer. Default: an eighth of the window.
        reserve_tokens: Option<u32>,
        system: Option<String>,
        /// The tools that go with the request.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(value_type = Vec<Object>)]
        tools: Vec<Value>,
        #[serde(default)]
        memory: MemoryMode,
        /// The agent of the conversation: its approved skills are added if the request has tools.
        agent_id: Option<String>,
    }

    /// Your model's reply.
    AfterTurnRequest derives [ToSchema] {
        #[serde(default)]
        dialect: Dialect,
        #[schema(value_type = Object)]
        message: Value,
        /// The prompt's tokens as the server reported them, cached ones included: Quipu corrects later counts with it.
        prompt_tokens: Option<u32>,
        /// `on`: memory learns from the turn.
        #[serde(default)]
        memory: MemoryMode,
        agent_id: Option<String>,
    }

    /// Compact now, even if no compaction is due.
    CompactRequest derives [ToSchema] {
        /// The window to compact for. Default: that of the last request.
        #[schema(minimum = 256)]
        window_tokens: Option<u32>,
    }

    /// A conversation to show.
    #[into_params(parameter_in = Query)]
    LookQuery derives [IntoParams] {
        /// The window to measure against. Default: that of the last request.
        #[param(minimum = 256)]
        window_tokens: Option<u32>,
    }

    /// A conversation whose window to check.
    #[into_params(parameter_in = Query)]
    GuardQuery derives [IntoParams] {
        /// The window to compare with. Default: that of the last request.
        #[param(minimum = 256)]
        window_tokens: Option<u32>,
        /// Whether the verdict may be `warn`.
        #[serde(default = "yes")]
        #[param(default = true)]
        warn: bool,
        /// Whether the verdict may be `block`; if not, it is `warn` instead.
        #[serde(default = "yes")]
        #[param(default = true)]
        block: bool,
    }

    /// A conversation whose reports are dropped.
    CleanupRequest derives [ToSchema] {}

    /// The message or summary to return.
    #[into_params(parameter_in = Query)]
    RecoverQuery derives [IntoParams] {
        /// A message (`m17`) or a summary (`n3`), as summaries and stubs name them.
        id: String,
    }

    /// The words to search for.
    #[into_params(parameter_in = Query)]
    FindQuery derives [IntoParams] {
        /// Words; a message must contain all of them.
        query: String,
        #[serde(default = "found")]
        #[param(minimum = 1, maximum = 100, default = 10)]
        limit: u32,
    }

    /// A message to keep verbatim, or no longer.
    PinRequest derives [ToSchema] {
        /// A message: `m17`.
        id: String,
        #[serde(default = "yes")]
        #[schema(default = true)]
        pinned: bool,
    }

    /// A copy under another name.
    ForkRequest derives [ToSchema] {
        /// The name of the copy.
        to: String,
        /// Copy only the messages before this one (`m17`). Default: all.
        before: Option<String>,
    }

    /// Continue from an earlier place.
    RewindRequest derives [ToSchema] {
        /// Continue from just before this message: `m17`.
        to: String,
    }

    /// A sub-agent that is about to start.
    SpawnRequest derives [ToSchema] {
        /// `explorer` gets 10 messages, any other role 20, besides the system text.
        role: String,
    }

    /// A sub-agent that ended.
    EndedRequest derives [ToSchema] {
        /// Your name for the sub-agent.
        subagent_id: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(value_type = Vec<Object>)]
        messages: Vec<Value>,
        result: Option<String>,
    }

    /// A call of the tool `context_expand`.
    ExpandRequest derives [ToSchema] {
        /// The model's argument `id`: a message (`m17`) or a summary (`n3`).
        id: String,
    }
}

fn yes() -> bool {
    true
}

fn found() -> u32 {
    10
}

impl AppendRequest {
    /// Each message as JSON text.
    pub fn texts(&self) -> Result<Vec<String>, Invalid> {
        if !(1..=MESSAGES_MAX).contains(&self.messages.len()) {
            return Err(Invalid::at("messages", "give 1 to 1000 messages"));
        }
        Ok(texts(&self.messages))
    }
}

impl FindQuery {
    pub fn limit(&self) -> Result<usize, Invalid> {
        if self.query.trim().is_empty() {
            return Err(Invalid::at("query", "must not be empty"));
        }
        if (1..=FOUND_MAX).contains(&self.limit) {
            Ok(self.limit as usize)
        } else {
            Err(Invalid::at("limit", "must be between 1 and 100"))
        }
    }
}

/// Each message or tool as JSON text.
pub fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(Value::to_string).collect()
}

/// The agent of a request.
pub fn agent(agent_id: Option<&str>) -> Result<Option<Name>, Invalid> {
    agent_id.map(|id| scope::name("agent_id", id)).transpose()
}

/// The window of a request, in tokens.
pub fn window(tokens: Option<u32>) -> Result<Option<usize>, Invalid> {
    match tokens {
        Some(tokens) if tokens < WINDOW_MIN => Err(Invalid::at("window_tokens", "must be at least 256")),
        tokens => Ok(tokens.map(|tokens| tokens as usize)),
    }
}

/// Conversations of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ConversationsQuery {
    /// The user. Without it: the token's user, else the configured `proxy.owner`.
    pub user_id: Option<String>,
    pub app_id: Option<String>,
    pub project_id: Option<String>,
    #[serde(default = "listed")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: u32,
}

fn listed() -> u32 {
    100
}

impl OfConversation for ConversationsQuery {
    /// The request has no conversation; this checks its limit too.
    fn at(&self, home: &Scope) -> Result<ConversationAt, Invalid> {
        let at = ConversationAt {
            scope: scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)?,
            user: scope::maybe_user(self.user_id.as_deref())?,
            conversation: SessionId::new(""),
        };
        if !(1..=1_000).contains(&self.limit) {
            return Err(Invalid::at("limit", "must be between 1 and 1000"));
        }
        Ok(at)
    }
}

/// Dialect of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ToolsQuery {
    #[serde(default)]
    #[param(inline)]
    pub dialect: Dialect,
}
