//! `/health`: how the system is, in one look.
//!
//! Owns: its JSON form. Never: judging; the engine says what is wrong.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How the system is. The answer is 200 even when something is wrong; `status` and `problems` tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HealthData {
    pub status: HealthStatus,
    pub version: String,
    pub capabilities: Capabilities,
    pub disabled_features: Vec<String>,
    /// The way from Markdown to the index.
    pub cascade: CascadeHealth,
    /// The way from messages to Markdown.
    pub memorize_queue: QueueHealth,
    /// Quipu: what is wrong and what to do; empty when all is well.
    pub problems: Vec<String>,
    /// Quipu: unfinished and failed tasks of all tenants, those that write memories included.
    pub tasks: TaskGauge,
    /// Quipu: background runs of all tenants; none where nothing is run in the background.
    #[serde(default)]
    pub runs: Option<RunGauge>,
    /// Quipu: what the index holds now.
    pub index: IndexHealthItem,
    /// Quipu: files that could not be read; all others are served.
    pub broken_files: Vec<BrokenFileItem>,
    /// Quipu: sessions with messages that no episode tells yet, and how many.
    pub open_sessions: usize,
    pub buffered_messages: usize,
    /// Quipu: Markdown files as last synchronised.
    pub files: usize,
    pub embedder: String,
    pub chat_model: Option<String>,
    /// Quipu: secrets that were taken out of messages since the start.
    #[serde(default)]
    pub redacted: usize,
    /// Quipu: a rebuild or re-embedding that is under way.
    pub rebuilding: Option<Rebuilding>,
}

/// Well or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HealthStatus {
    Ok,
    Degraded,
}

/// What the configured models can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the wire has these five flags")]
pub struct Capabilities {
    pub llm: bool,
    pub embed: bool,
    pub rerank: bool,
    pub multimodal_llm: bool,
    pub parser: bool,
}

/// The way from Markdown to the index. Counters that are always 0 are here for clients that read them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CascadeHealth {
    pub healthy: bool,
    pub reasons: Vec<String>,
    pub pending: usize,
    /// Files that could not be read.
    pub failed_permanent: usize,
    /// Always 0.
    pub failed_retryable: usize,
    /// Always 0.
    pub drain_consecutive_failures: usize,
    /// Always 0.
    pub unrecoverable_total: usize,
    /// Always 0.
    pub optimize_failure_streak: usize,
    /// Always 0.
    pub prune_stale_seconds: f64,
    /// Rows now, not at the start.
    pub index_rows: BTreeMap<String, u64>,
    /// The index must be rebuilt from the Markdown.
    pub index_emptied: bool,
}

/// The way from messages to Markdown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueueHealth {
    pub healthy: bool,
    pub reasons: Vec<String>,
    pub loop_alive: bool,
    pub accepting: bool,
    pub pending: usize,
    pub oldest_pending_age_s: Option<f64>,
    pub failed: usize,
    /// How often a background loop failed and began again since the start.
    pub loop_restarts: usize,
    /// When it last did.
    pub last_loop_error_at: Option<String>,
}

/// How many tasks stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskGauge {
    pub queued: usize,
    pub processing: usize,
    /// Given up; see `tasks/{task_id}/retry`.
    pub failed: usize,
    /// Of those queued: they wait for a disk to have room or a file to be mended, and are tried for ever.
    pub stuck: usize,
}

/// How many background runs stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunGauge {
    /// Without those that a schedule will call for.
    pub queued: usize,
    pub running: usize,
    /// Another attempt will follow.
    pub failed: usize,
    /// Given up; see `runs`.
    pub dead_letters: usize,
}

/// What the index holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IndexHealthItem {
    /// `ready`, `fresh`, or why it must be rebuilt.
    pub health: String,
    pub rows: u64,
    pub fragments: u64,
    /// Rows that the full-text index does not cover yet; they are searched all the same.
    pub unindexed_rows: u64,
    pub bytes_on_disk: u64,
    pub generation: u64,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrokenFileItem {
    pub path: String,
    pub problem: String,
}

/// How far a rebuild is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Rebuilding {
    pub done: usize,
    pub total: usize,
}

/// `/health/live` and `/health/ready`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Probe {
    pub status: HealthStatus,
}
