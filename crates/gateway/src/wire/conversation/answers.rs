//! Answers of `context/…`.
//!
//! Owns: their fields. Never: a request.

use context::event::Node;
use context::ladder::Attempt;
use macro_rules_attribute::apply;
use model::Zone;
use ports::context_engine::EngineInfo;
use proxy::conversation::report::{Stats, ViewMessage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transcript::ItemId;
use utoipa::ToSchema;

use crate::wire::fields::filled;

/// The ids of appended messages, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AppendData {
    pub ids: Vec<String>,
}

/// A request for your model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AssembleData {
    /// Send exactly these, in this order. In the dialect `openai` the system text is the first.
    #[schema(value_type = Vec<Object>)]
    pub messages: Vec<Value>,
    /// The system text, in dialects that have a field for it.
    pub system: Option<String>,
    #[schema(value_type = Vec<Object>)]
    pub tools: Vec<Value>,
    /// Tokens of the messages with what memory added, without system text and tools.
    pub tokens: usize,
    /// Maximum tokens of the messages.
    pub limit_tokens: usize,
    /// Whether this request compacted the view.
    pub compacted: bool,
    /// Reasons why the request does not extend the last one; empty if it does, so that the server's cache stays valid.
    pub reasons: Vec<String>,
    /// The ids of the memories that were added.
    pub memory_ids: Vec<String>,
    /// The context is nearly full.
    pub warning: Option<String>,
}

/// The id of a recorded reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AfterTurnData {
    pub id: String,
}

/// Result of a compaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CompactData {
    pub tokens_before: usize,
    pub tokens_after: usize,
    /// Each step that was tried.
    pub steps: Vec<StepItem>,
}

/// One step of a compaction.
#[apply(filled!)]
#[from(attempt: &Attempt)]
pub struct StepItem {
    /// `mask`, `compact`, `fold`, `strip` or `bare`.
    #[value(attempt.plan.effort.as_str().to_owned())]
    pub effort: String,
    /// Saved tokens; none if the step would have saved too little.
    #[value(attempt.gain)]
    pub saved_tokens: Option<usize>,
}

/// The figures of a conversation.
#[apply(filled!)]
#[from(stats: &Stats, engine: EngineInfo, zone: &Zone)]
pub struct ContextStatsData {
    pub model: String,
    /// Name of the context engine that makes the view.
    #[value(engine.id)]
    pub engine: String,
    /// The engine compacts by itself.
    #[value(engine.owns_compaction)]
    pub owns_compaction: bool,
    /// Tokens of the view.
    pub tokens: usize,
    /// Tokens of system text and tools in the last request.
    pub head_tokens: usize,
    #[value(stats.limit)]
    pub limit_tokens: Option<usize>,
    #[value(stats.window)]
    pub window_tokens: Option<usize>,
    /// Tokens of the view at which a request compacts it.
    #[value(stats.compacts_at)]
    pub compacts_at_tokens: Option<usize>,
    /// Percent of the limit.
    #[value(stats.share.map(|share| share * 100.0))]
    pub used_percent: Option<f64>,
    pub is_near_limit: bool,
    pub is_critical: bool,
    /// Messages in view, summaries included.
    pub messages: usize,
    pub messages_ever: u64,
    #[value(stats.metrics.frontier_items_peak)]
    pub messages_peak: usize,
    #[value(stats.metrics.nodes)]
    pub summaries: usize,
    #[value(stats.metrics.nodes_tokens)]
    pub summaries_tokens: usize,
    #[value(stats.metrics.compactions)]
    pub compactions: usize,
    #[value(stats.metrics.masks)]
    pub masked_results: usize,
    #[value(stats.metrics.saved_tokens)]
    pub saved_tokens: usize,
    /// Time in the configured zone; none before the first compaction since the start.
    #[value(stats.last_compaction.map(|at| zone.render(at)))]
    pub last_compaction: Option<String>,
    /// Each step that the last compaction tried.
    #[value(stats.last_attempts.iter().map(StepItem::of).collect())]
    pub last_steps: Vec<StepItem>,
    /// Number of prefix resets, and the reason of the last one.
    pub epoch: u64,
    #[value(stats.reasons.iter().map(|reason| reason.as_str().to_owned()).collect())]
    pub reasons: Vec<String>,
    /// Warnings that hold now.
    pub warnings: usize,
    /// Faults of a plug-in context engine, the newest last.
    #[value(stats.faults.iter().map(ToString::to_string).collect())]
    pub engine_faults: Vec<String>,
}

/// Reports that were dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CleanupData {
    /// Steps of the last compaction.
    pub steps_removed: usize,
    /// Tokens that they had saved.
    pub saved_tokens: usize,
}

/// Whether enough of the window is left for a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GuardData {
    /// `ok`, `warn` or `block`.
    pub verdict: String,
    pub window_tokens: usize,
    pub used_tokens: usize,
    pub remaining_tokens: i64,
    /// Window to plan for: smaller than the real one, because a token count for another vocabulary can be a fifth too
    /// low.
    pub safe_tokens: usize,
    /// Source of the window: a request (`sessionConfig`), the upstream's setting (`modelsConfig`), the server or the model's name
    /// (`model`), or none of them (`default`).
    pub source: String,
    /// Changes since the last check: `warning`, `blocked`, `threshold-crossed`.
    pub events: Vec<String>,
    pub used_percent: f64,
    pub message: Option<String>,
}

/// The view: the messages that the model sees of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ViewData {
    pub messages: Vec<ViewItem>,
}

/// One message of the view.
#[apply(filled!)]
#[from(shown: &ViewMessage)]
pub struct ViewItem {
    /// `m17` for a message, `n3` for a summary.
    pub id: String,
    /// `system`, `user`, `assistant` or `tool`.
    #[value(shown.role.to_owned())]
    pub role: String,
    pub tokens: usize,
    #[value(shown.is_pinned)]
    pub pinned: bool,
    /// Its words, calls and results.
    pub text: String,
}

/// What memory added to a conversation, as the model sees it now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GivenData {
    /// Text beside the system text, the same in each request: core memory.
    pub head: String,
    /// Text in single messages, the oldest first.
    pub turns: Vec<GivenItem>,
}

/// What memory added to one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GivenItem {
    /// The message: `m17`.
    pub id: String,
    /// The number of memories in the text.
    pub memories: usize,
    pub text: String,
}

/// The ids of conversations, the last by name first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConversationsData {
    pub conversations: Vec<String>,
}

/// The summaries in view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ArchivesData {
    pub archives: Vec<ArchiveItem>,
}

/// One summary.
#[apply(filled!)]
#[from(node: &Node)]
pub struct ArchiveItem {
    /// `n3`.
    #[value(node.id.to_string())]
    pub id: String,
    /// Ranges of the messages that the summary replaces: `m0-m16`.
    #[value(node.covers.iter().map(range).collect())]
    pub covers: Vec<String>,
    pub tokens_before: usize,
    pub tokens_after: usize,
    /// `threshold`, `idle`, `manual` or `overflow`.
    #[value(node.reason.as_str().to_owned())]
    pub reason: String,
    /// Text that the model sees in their place.
    pub text: String,
}

fn range((first, last): &(ItemId, ItemId)) -> String {
    if first == last {
        return first.to_string();
    }
    format!("{first}-{last}")
}

/// Originals, oldest first; of a search, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OriginalsData {
    pub messages: Vec<OriginalItem>,
}

/// One original.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OriginalItem {
    pub id: String,
    /// As it was sent.
    #[schema(value_type = Object)]
    pub message: Value,
}

/// Done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DoneData {
    pub conversation_id: String,
}

/// The messages that a sub-agent starts with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SpawnData {
    #[schema(value_type = Vec<Object>)]
    pub messages: Vec<Value>,
}

/// Tools to offer to your model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolsData {
    #[schema(value_type = Vec<Object>)]
    pub tools: Vec<Value>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExpandData {
    /// Give this to the model as the tool's result.
    pub text: String,
}
