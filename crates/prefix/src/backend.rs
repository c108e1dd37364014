//! Kinds of backends: the cache of each kind and the extra fields it accepts, as data.
//!
//! Owns: the kinds, their profiles, the extras of a request. Never: a request's own fields, probing ([`Kind`] is the
//! answer of a probe; `locate` decides with and without one).

mod learn;
mod locate;

use transcript::json::quoted;

use crate::digest::Feed;

pub use learn::RefusedExtras;
pub use locate::{Locality, decide, locality};

model::worded! {
    /// A kind of backend, with its name in a configuration.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Kind {
        LlamaCpp = "llama.cpp",
        LmStudio = "lmstudio",
        Ollama = "ollama",
        Vllm = "vllm",
        Sglang = "sglang",
        OpenAi = "openai",
        Anthropic = "anthropic",
        Gemini = "gemini",
        DeepSeek = "deepseek",
        Mistral = "mistral",
        XAi = "xai",
        Fireworks = "fireworks",
        OpenRouter = "openrouter",
        Cerebras = "cerebras",
        /// A loopback or private address that no probe has named.
        UnknownLocal = "local",
        /// Any other address: it gets only the standard fields.
        UnknownHosted = "hosted",
    }
}

/// The part of a prompt that a backend caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheModel {
    /// Any common beginning: full attention in a slot.
    Rewindable,
    /// Whole blocks of `tokens`, from `tokens_min` on.
    Blocks { tokens: usize, tokens_min: usize },
}

/// Place of the number of reused tokens: a path in the answer's usage, with `.` between names.
pub type UsagePath = &'static str;

/// Which extra a backend understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Affinity {
    None,
    /// `session_id` and `cache_prompt`; `id_slot` if the caller has assigned one.
    Slots,
    /// `cache_salt`, one for each tenant.
    Salt,
    /// `prompt_cache_key`.
    Key,
    /// A header.
    Header(&'static str),
    /// `cache_control` on blocks.
    Marks,
}

/// Properties of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    pub kind: Kind,
    /// Whether it shares a machine with the user, so that side jobs disturb it.
    pub local: bool,
    /// The part of a prompt that it caches.
    pub cache: CacheModel,
    affinity: Affinity,
    /// None if the usage does not contain it.
    pub cached_tokens: Option<UsagePath>,
    /// Seconds without a request after which the cache is dropped; none if only other requests displace it.
    pub idle_seconds: Option<u32>,
}

const OPENAI_USAGE: Option<UsagePath> = Some("prompt_tokens_details.cached_tokens");

impl Kind {
    /// Whether the cache of the kind and the meaning of its token counts are known.
    pub fn is_known(self) -> bool {
        !matches!(self, Self::UnknownLocal | Self::UnknownHosted)
    }

    /// Its properties.
    pub fn profile(self) -> Profile {
        let blocks = |tokens, tokens_min| CacheModel::Blocks { tokens, tokens_min };
        let local = |cache, affinity, cached_tokens, idle_seconds| {
            (true, cache, affinity, cached_tokens, idle_seconds)
        };
        let hosted = |cache, affinity, cached_tokens| (false, cache, affinity, cached_tokens, Some(300));
        let rewindable = CacheModel::Rewindable;
        let (local, cache, affinity, cached_tokens, idle_seconds) = match self {
            Self::LlamaCpp => local(rewindable, Affinity::Slots, OPENAI_USAGE, None),
            Self::LmStudio | Self::UnknownLocal => local(rewindable, Affinity::Slots, None, None),
            Self::Ollama => local(rewindable, Affinity::None, None, Some(300)),
            Self::Vllm => local(blocks(16, 16), Affinity::Salt, OPENAI_USAGE, None),
            Self::Sglang => local(rewindable, Affinity::None, OPENAI_USAGE, None),
            Self::OpenAi => hosted(blocks(128, 1_024), Affinity::Key, OPENAI_USAGE),
            Self::Anthropic => hosted(blocks(1, 1_024), Affinity::Marks, Some("cache_read_input_tokens")),
            Self::Gemini => hosted(blocks(1, 1_024), Affinity::None, Some("cachedContentTokenCount")),
            Self::DeepSeek => hosted(blocks(64, 64), Affinity::None, Some("prompt_cache_hit_tokens")),
            Self::Mistral => hosted(rewindable, Affinity::Key, None),
            Self::XAi => hosted(rewindable, Affinity::Header("x-grok-conv-id"), OPENAI_USAGE),
            Self::Fireworks => hosted(rewindable, Affinity::Header("x-session-affinity"), None),
            Self::Cerebras => hosted(blocks(128, 128), Affinity::None, OPENAI_USAGE),
            Self::OpenRouter => hosted(rewindable, Affinity::Header("x-session-id"), OPENAI_USAGE),
            Self::UnknownHosted => hosted(rewindable, Affinity::None, OPENAI_USAGE),
        };
        Profile {
            kind: self,
            local,
            cache,
            affinity,
            cached_tokens,
            idle_seconds,
        }
    }
}

/// Conversation and owner of a request, for extras.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Session<'a> {
    pub tenant: &'a str,
    /// None for a call outside of conversations: a title, a summary. Such a call gets no extra.
    pub conversation: Option<&'a str>,
    /// The slot that the caller has assigned, on a probed llama.cpp with as many slots as conversations.
    pub slot: Option<u32>,
    /// A header for the conversation's key: with it a load balancer keeps a conversation on one replica.
    pub header: Option<&'a str>,
    /// Value of `prompt_cache_retention`.
    pub retention: Option<&'a str>,
}

/// One extra of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extra {
    /// A field at the top of the body; `json` is its value's JSON text.
    Field { name: &'static str, json: String },
    /// An HTTP header.
    Header { name: String, value: String },
    /// `cache_control` on blocks, added by [`crate::mark`].
    Marks,
}

impl Extra {
    pub fn name(&self) -> &str {
        match self {
            Self::Field { name, .. } => name,
            Self::Header { name, .. } => name,
            Self::Marks => "cache_control",
        }
    }
}

impl Profile {
    /// Whether the client's latest bytes are sent instead of the frozen ones: its markers move from turn to turn.
    pub fn markers_move(&self) -> bool {
        self.affinity == Affinity::Marks
    }

    /// Fields to send besides the client's own, in a fixed order, without those that the backend has refused.
    pub fn extras(&self, session: Session<'_>, refused: &RefusedExtras) -> Vec<Extra> {
        let Some(conversation) = session.conversation else {
            return Vec::new();
        };
        let field = |name, json| Extra::Field { name, json };
        let key = || cache_key(session.tenant, conversation);
        let header = |name: &str| Extra::Header {
            name: name.to_owned(),
            value: key(),
        };
        let mut extras = match self.affinity {
            Affinity::None => Vec::new(),
            Affinity::Marks => vec![Extra::Marks],
            Affinity::Slots => {
                let slot = session.slot.filter(|_| self.kind == Kind::LlamaCpp);
                let mut extras = vec![
                    field("session_id", quoted(conversation)),
                    field("cache_prompt", "true".to_owned()),
                ];
                extras.extend(slot.map(|slot| field("id_slot", slot.to_string())));
                extras
            }
            Affinity::Salt => vec![field("cache_salt", quoted(&cache_key(session.tenant, "")))],
            Affinity::Key => vec![field("prompt_cache_key", quoted(&key()))],
            Affinity::Header(name) => vec![header(name)],
        };
        let retention = session.retention.map(quoted);
        extras.extend(retention.map(|text| field("prompt_cache_retention", text)));
        extras.extend(session.header.map(header));
        extras
            .into_iter()
            .filter(|extra| !refused.0.contains(extra.name()))
            .collect()
    }

    /// Places of `cache_control`, at most four: after the tools or the system text, on the last message, on the last
    /// message of the previous request, and, if more than 20 blocks are between those two, on one in between. `blocks`
    /// counts the content blocks of each message; `sent` is the number of messages in the last request. Empty for a
    /// backend without such marks, and if the client has set its own.
    pub fn marks(&self, head: Option<Mark>, blocks: &[usize], sent: usize, client_marks: bool) -> Vec<Mark> {
        if self.affinity != Affinity::Marks || client_marks {
            return Vec::new();
        }
        let mut marks: Vec<Mark> = head.into_iter().collect();
        let Some(last) = blocks.len().checked_sub(1) else {
            return marks;
        };
        if let Some(before) = sent.checked_sub(1).filter(|before| *before < last) {
            marks.push(Mark::Message(before));
            let between: usize = blocks[before + 1..=last].iter().sum();
            let mut back = 0;
            let within = |index: &usize| {
                back += blocks[*index];
                back > LOOKBACK_BLOCKS_MAX
            };
            let far = (before + 1..=last).rev().find(within);
            marks.extend(far.filter(|_| between > LOOKBACK_BLOCKS_MAX).map(Mark::Message));
        }
        marks.push(Mark::Message(last));
        marks.dedup();
        marks
    }
}

const LOOKBACK_BLOCKS_MAX: usize = 20;

/// A place for `cache_control`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The last tool.
    Tools,
    /// The last block of the system field.
    System,
    /// The last block of a message.
    Message(usize),
}

/// The name of a conversation for a hosted cache: stable for a conversation, different for two tenants, and without
/// readable content.
fn cache_key(tenant: &str, conversation: &str) -> String {
    let mut feed = Feed::new("cache key");
    feed.field(b't', tenant.as_bytes());
    feed.field(b'c', conversation.as_bytes());
    let mut key = feed.digest().to_string();
    key.truncate(32);
    key
}
