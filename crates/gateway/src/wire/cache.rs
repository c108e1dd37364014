//! `/cache`: prompt-cache use of requests to model servers, with reasons for misses.
//!
//! Owns: its JSON form. Never: measuring.

use macro_rules_attribute::apply;
use std::collections::BTreeMap;

use model::Zone;
use proxy::measure::{Measured, Totals};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wire::fields::{filled, query};

/// Conversation and tenant of a request for measurements.
#[apply(query!)]
#[derive(Default)]
pub struct CacheQuery {
    /// Id of the conversation, from the header `x-quipu-conversation`. Default: the newest conversations.
    pub conversation: Option<String>,
    tenant: Query,
}

/// Sums by server, and the newest requests by conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CacheData {
    /// Over all tenants: empty for a token of one.
    pub upstreams: Vec<UpstreamItem>,
    pub conversations: Vec<ConversationItem>,
}

/// The sums of one model server since the start. Tokens as it counts them.
#[apply(filled!)]
#[from(totals: &Totals, upstream: String)]
pub struct UpstreamItem {
    #[value(upstream)]
    pub upstream: String,
    pub requests: u64,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    pub evaluated_tokens: u64,
    /// Cached tokens as a share of the prompt tokens for which the server reports both.
    pub hit_ratio: Option<f64>,
    /// Requests that extended the one before, among those that had one.
    pub extension_ratio: Option<f64>,
    #[value(totals.first_token_p50_ms)]
    pub first_token_ms_p50: Option<u64>,
    #[value(totals.first_token_p99_ms)]
    pub first_token_ms_p99: Option<u64>,
    /// Requests by the result for the prefix: `extension`, or the reason of the miss.
    #[value(totals.classes.iter().map(|(class, count)| ((*class).to_owned(), *count)).collect())]
    pub classes: BTreeMap<String, u64>,
}

/// The newest requests of a conversation, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationItem {
    pub conversation: String,
    pub upstream: String,
    pub requests: Vec<RequestItem>,
}

/// One request.
#[apply(filled!)]
#[from(request: &Measured, zone: &Zone)]
pub struct RequestItem {
    #[value(zone.render(request.at))]
    pub at: String,
    pub status: u16,
    pub prompt_tokens: u64,
    pub cached_tokens: Option<u64>,
    #[value(request.cached_tokens.map(|cached| request.prompt_tokens.saturating_sub(cached)))]
    pub evaluated_tokens: Option<u64>,
    pub completion_tokens: u64,
    pub first_token_ms: Option<u64>,
    pub total_ms: u64,
    /// Tokens that the server could have reused.
    pub expected_tokens: Option<u64>,
    #[value(request.class.map(|class| class.word().to_owned()))]
    pub class: Option<String>,
    /// Reasons why the request did not extend the one before, if Quipu decided that.
    #[value(request.reasons.iter().map(|reason| reason.as_str().to_owned()).collect())]
    pub reasons: Vec<String>,
    pub injected_tokens: u64,
}

/// The reason of a prefix reset, or another class, in words. An unknown class is returned unchanged.
pub fn reason_in_words(class: &str) -> &str {
    match class {
        "first" | "opened" => "the first request",
        "extension" => "extends the last request",
        "branched" => "another branch of the conversation",
        "model" | "model_changed" => "another model",
        "system" | "system_changed" => "the system prompt changed",
        "tools" | "tools_changed" => "the tools changed",
        "regenerated" => "an answer was asked for again",
        "edited" | "message_user" => "a user's message changed",
        "message_assistant" => "an assistant's message changed",
        "message_tool" => "a tool's message changed",
        "message_system" => "a system message changed",
        "message_other" => "a message changed",
        "assistant_echo" | "echo_rewritten" => "the client changed the model's last reply",
        "truncated" => "the client left messages out",
        "compaction" => "compacted",
        "engine" => "the context engine changed the view",
        "tail_injection" => "the injected text of the last turn is gone or changed",
        "slot_stolen" => "another request took the slot",
        "evicted" => "the model server dropped its cache, or was restarted",
        "template_drop" => {
            "the chat template rewrote earlier text, or the model can only go back to a checkpoint"
        }
        other => other,
    }
}
