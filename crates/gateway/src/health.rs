//! System status in the types of the wire.
//!
//! Owns: what a caller of one tenant can see of it. Never: judging (`Status::problems` does).

use memory::Status;
use model::Timestamp;
use model::text::counted;
use ports::IndexHealth;
use ports::runs::RunStats;

use crate::wire::HealthData;
use crate::wire::health::{
    BrokenFileItem, Capabilities, CascadeHealth, HealthStatus, IndexHealthItem, ModelAnswers, QueueHealth,
    Rebuilding, RunGauge, TaskGauge,
};

/// System status, with the number of conversations near their limit. Files are named only to callers that can see every
/// tenant; `now` gives the age of the queue.
pub(crate) fn health(
    status: &Status,
    runs: Option<RunStats>,
    near_limit: usize,
    now: Timestamp,
    sees_all: bool,
) -> HealthData {
    let mut problems = if sees_all {
        status.problems()
    } else {
        nameless_problems(status)
    };
    let dead_letters = runs.map_or(0, |runs| runs.dead_letters);
    if dead_letters > 0 {
        problems.push(format!(
            "{} failed permanently: see `quipu runs` for the reason, retry with `quipu trigger NAME`",
            counted(dead_letters, "background run", "background runs")
        ));
    }
    let files = status.broken_files.iter().filter(|_| sees_all);
    HealthData {
        status: if problems.is_empty() {
            HealthStatus::Ok
        } else {
            HealthStatus::Degraded
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        capabilities: Capabilities {
            llm: status.chat_model.is_some(),
            embed: true,
            rerank: false,
            multimodal_llm: false,
            parser: false,
        },
        disabled_features: ["rerank", "multimodal_llm", "parser"].map(str::to_owned).to_vec(),
        cascade: cascade(status, &problems),
        memorize_queue: queue(status, &problems, now),
        tasks: TaskGauge {
            queued: status.jobs.queued,
            processing: status.jobs.processing,
            failed: status.jobs.failed,
            stuck: status.stuck,
        },
        runs: runs.map(|runs| RunGauge {
            queued: runs.queued,
            running: runs.running,
            failed: runs.failed,
            dead_letters: runs.dead_letters,
        }),
        index: index(status),
        broken_files: files
            .map(|file| BrokenFileItem {
                path: file.path.as_ref().to_owned(),
                problem: file.problem.clone(),
            })
            .collect(),
        problems,
        open_sessions: status.open_sessions,
        buffered_messages: status.buffered_messages,
        files: status.files,
        unread_files: status.unread_files,
        embedder: status.embedder.clone(),
        chat_model: status.chat_model.clone(),
        model_answers: model_answers(status),
        redacted: status.redacted,
        newest_ledger_copy: status.newest_copy.map(|day| day.to_string()),
        near_limit,
        rebuilding: status.rebuilding.map(|(done, total)| Rebuilding { done, total }),
    }
}

fn cascade(status: &Status, problems: &[String]) -> CascadeHealth {
    let unusable = matches!(status.index, IndexHealth::NeedsRebuild { .. });
    let healthy = status.broken_files.is_empty() && !unusable;
    CascadeHealth {
        healthy,
        reasons: if healthy { Vec::new() } else { problems.to_vec() },
        pending: status.jobs.queued + status.jobs.processing,
        failed_permanent: status.broken_files.len(),
        failed_retryable: 0,
        drain_consecutive_failures: 0,
        unrecoverable_total: 0,
        optimize_failure_streak: 0,
        prune_stale_seconds: 0.0,
        index_rows: [("memories".to_owned(), status.index_stats.rows)].into(),
        index_emptied: unusable,
    }
}

fn queue(status: &Status, problems: &[String], now: Timestamp) -> QueueHealth {
    let accepting = status.disk.refusal.is_none();
    let healthy = status.jobs.failed == 0 && accepting;
    let age = |at: Timestamp| (now.millis() - at.millis()).max(0) as f64 / 1_000.0;
    QueueHealth {
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

fn model_answers(status: &Status) -> ModelAnswers {
    let answers = status.model_answers;
    ModelAnswers {
        facts: answers.facts,
        left_out: answers.left_out,
        unusable: answers.unusable,
    }
}

fn index(status: &Status) -> IndexHealthItem {
    IndexHealthItem {
        health: match &status.index {
            IndexHealth::Ready => "ready".to_owned(),
            IndexHealth::Fresh => "fresh".to_owned(),
            IndexHealth::NeedsRebuild { reason } => reason.clone(),
        },
        rows: status.index_stats.rows,
        fragments: status.index_stats.fragments,
        unindexed_rows: status.index_stats.unindexed_rows,
        bytes_on_disk: status.index_stats.bytes_on_disk,
        generation: status.index_stats.generation,
    }
}

/// The same without paths, which name other tenants' users.
fn nameless_problems(status: &Status) -> Vec<String> {
    let files = status.broken_files.len();
    let mut problems = Status {
        broken_files: Vec::new(),
        copy_trouble: None,
        disk: status.disk.nameless(),
        ..status.clone()
    }
    .problems();
    if files > 0 {
        problems.push(format!("{files} files cannot be read"));
    }
    if status.copy_trouble.is_some() {
        problems.push("cannot make the daily copy of the ledger; retrying".to_owned());
    }
    problems
}
