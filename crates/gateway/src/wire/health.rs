//! `/health`: the state of the whole system.
//!
//! Owns: its JSON form. Never: judging; the engine finds the problems.

use std::collections::BTreeMap;

use macro_rules_attribute::apply;
use memory::Status;
use model::Timestamp;
use ports::runs::RunStats;
use ports::{BrokenFile, IndexHealth, IndexStats, JobStats};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wire::fields::filled;

/// System status. The answer is 200 even if something is wrong; see `status` and `problems`.
#[apply(filled!)]
#[from(status: &Status, problems: Vec<String>, runs: Option<RunStats>, near_limit: usize, now: Timestamp, sees_all: bool)]
pub struct HealthData {
    #[value(if problems.is_empty() { HealthStatus::Ok } else { HealthStatus::Degraded })]
    pub status: HealthStatus,
    #[value(env!("CARGO_PKG_VERSION").to_owned())]
    pub version: String,
    #[value(Capabilities::of(status.chat_model.is_some()))]
    pub capabilities: Capabilities,
    #[value(["rerank", "multimodal_llm", "parser"].map(str::to_owned).to_vec())]
    pub disabled_features: Vec<String>,
    /// Sync from Markdown to the index.
    #[value(CascadeHealth::of(status, &problems))]
    pub cascade: CascadeHealth,
    /// Writing of messages to Markdown.
    #[value(QueueHealth::of(status, &problems, now))]
    pub memorize_queue: QueueHealth,
    /// Quipu: problems, each with its remedy; empty if there are none.
    #[value(problems)]
    pub problems: Vec<String>,
    /// Quipu: unfinished and failed tasks of all tenants, including those that write memories.
    #[value(TaskGauge::of(&status.jobs, status.stuck))]
    pub tasks: TaskGauge,
    /// Quipu: background runs of all tenants; none if the server has no background strategies.
    #[value(runs.as_ref().map(RunGauge::of))]
    pub runs: Option<RunGauge>,
    /// Quipu: size of the index now.
    #[value(IndexHealthItem::of(&status.index_stats, &status.index))]
    pub index: IndexHealthItem,
    /// Quipu: files that could not be read; all others are served.
    #[value(status.broken_files.iter().filter(|_| sees_all).map(BrokenFileItem::of).collect())]
    pub broken_files: Vec<BrokenFileItem>,
    /// Quipu: sessions with messages that are not in an episode yet, and the number of these messages.
    pub open_sessions: usize,
    pub buffered_messages: usize,
    /// Quipu: Markdown files as last synchronised.
    pub files: usize,
    /// Quipu: changed files that searches do not have yet.
    #[serde(default)]
    pub unread_files: usize,
    pub embedder: String,
    pub chat_model: Option<String>,
    /// Quipu: what came of the chat model's answers about conversations since the start.
    #[value(ModelAnswers::of(&status.model_answers))]
    #[serde(default)]
    pub model_answers: ModelAnswers,
    /// Quipu: secrets that were removed from messages since the start.
    #[serde(default)]
    pub redacted: usize,
    /// Quipu: day of the newest daily copy of the ledger.
    #[value(status.newest_copy.map(|day| day.to_string()))]
    #[schema(format = Date)]
    pub newest_ledger_copy: Option<String>,
    /// Quipu: conversations in memory whose view has more than 75 % of its limit: the next turns compact them.
    #[value(near_limit)]
    #[serde(default)]
    pub near_limit: usize,
    /// Quipu: a running rebuild or re-embedding.
    #[value(status.rebuilding.map(|(done, total)| Rebuilding { done, total }))]
    pub rebuilding: Option<Rebuilding>,
}

/// What came of a chat model's answers about conversations.
#[apply(filled!)]
#[from(answers: &memory::ModelAnswers)]
#[derive(Copy, Default)]
pub struct ModelAnswers {
    /// Facts that the messages bear out.
    pub facts: usize,
    /// Statements that Quipu left out because no message bears them out.
    pub left_out: usize,
    /// Questions to which no answer could be used: the rules extracted instead.
    pub unusable: usize,
}

/// Overall status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HealthStatus {
    Ok,
    Degraded,
}

/// Capabilities of the configured models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the wire has these five flags")]
pub struct Capabilities {
    pub llm: bool,
    pub embed: bool,
    pub rerank: bool,
    pub multimodal_llm: bool,
    pub parser: bool,
}

impl Capabilities {
    fn of(llm: bool) -> Self {
        Self {
            llm,
            embed: true,
            ..Self::default()
        }
    }
}

/// Sync from Markdown to the index. Counters that are always 0 are here for clients that read them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
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

impl CascadeHealth {
    fn of(status: &Status, problems: &[String]) -> Self {
        let unusable = matches!(status.index, IndexHealth::NeedsRebuild { .. });
        let healthy = status.broken_files.is_empty() && !unusable;
        Self {
            healthy,
            reasons: if healthy { Vec::new() } else { problems.to_vec() },
            pending: status.jobs.queued + status.jobs.processing,
            failed_permanent: status.broken_files.len(),
            index_rows: [("memories".to_owned(), status.index_stats.rows)].into(),
            index_emptied: unusable,
            ..Self::default()
        }
    }
}

/// Writing of messages to Markdown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueueHealth {
    pub healthy: bool,
    pub reasons: Vec<String>,
    pub loop_alive: bool,
    pub accepting: bool,
    pub pending: usize,
    pub oldest_pending_age_s: Option<f64>,
    pub failed: usize,
    /// Restarts of a background loop after a failure, since the start.
    pub loop_restarts: usize,
    /// Time of the last restart.
    pub last_loop_error_at: Option<String>,
}

impl QueueHealth {
    fn of(status: &Status, problems: &[String], now: Timestamp) -> Self {
        let accepting = status.disk.refusal.is_none();
        let healthy = status.jobs.failed == 0 && accepting;
        let age = |at: Timestamp| (now.millis() - at.millis()).max(0) as f64 / 1_000.0;
        Self {
            healthy,
            reasons: if healthy { Vec::new() } else { problems.to_vec() },
            loop_alive: true,
            accepting,
            pending: status.jobs.queued + status.jobs.processing,
            oldest_pending_age_s: status.jobs.oldest_queued.map(age),
            failed: status.jobs.failed,
            loop_restarts: status.loop_panics,
            last_loop_error_at: status.last_loop_panic.map(|at| at.to_string()),
        }
    }
}

/// Number of tasks by status.
#[apply(filled!)]
#[from(jobs: &JobStats, stuck: usize)]
#[derive(Copy, Default)]
pub struct TaskGauge {
    pub queued: usize,
    pub processing: usize,
    /// Failed permanently; see `tasks/{task_id}/retry`.
    pub failed: usize,
    /// Queued tasks that need room on the disk or a repaired file; Quipu retries them for ever.
    #[value(stuck)]
    pub stuck: usize,
}

/// Number of background runs by status.
#[apply(filled!)]
#[from(runs: &RunStats)]
#[derive(Copy, Default)]
pub struct RunGauge {
    /// Without the next runs of schedules.
    pub queued: usize,
    pub running: usize,
    /// Another attempt will follow.
    pub failed: usize,
    /// Failed permanently; see `runs`.
    pub dead_letters: usize,
}

/// Size of the index.
#[apply(filled!)]
#[from(stats: &IndexStats, health: &IndexHealth)]
pub struct IndexHealthItem {
    /// `ready`, `fresh`, or the reason for a rebuild.
    #[value(match health {
        IndexHealth::Ready => "ready".to_owned(),
        IndexHealth::Fresh => "fresh".to_owned(),
        IndexHealth::NeedsRebuild { reason } => reason.clone(),
    })]
    pub health: String,
    pub rows: u64,
    pub fragments: u64,
    /// Rows that the full-text index does not cover yet; searches find them anyway.
    pub unindexed_rows: u64,
    pub bytes_on_disk: u64,
    pub generation: u64,
}

/// A file that could not be read.
#[apply(filled!)]
#[from(file: &BrokenFile)]
pub struct BrokenFileItem {
    #[value(file.path.to_string())]
    pub path: String,
    pub problem: String,
}

/// Progress of a rebuild.
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
