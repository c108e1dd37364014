//! A background strategy, the input of its runs, and their result.
//!
//! Owns: the contract between the offline engine and its strategies. Never: a strategy.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use model::Owner;
use ports::runs::{MemoryEvent, Run, Threshold};
use ports::{Chat, ChatError, Clock, Ids};
use tokio_util::sync::CancellationToken;

/// Owner and subject of an event, for one strategy. Runs of one strategy with equal ones are the same work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// A strategy runs at most once at a time for one owner.
    pub owner: Option<Owner>,
    /// A segment or a cluster; empty for the owner's whole memory.
    pub subject: String,
}

/// When a strategy runs by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Triggers {
    /// Starts only after this time without another event for the same work.
    pub idle: Option<Duration>,
    /// Starts only after this number of events for the same work; with `idle`, the last of them begins the quiet time.
    pub threshold: Option<Threshold>,
    /// Cron expression of five fields in the configured zone, for runs about everything.
    pub cron: Option<Cow<'static, str>>,
}

/// One kind of background work. A run can be aborted at any await and started again, also after a crash, so a repeated
/// run must have the effect of one.
#[async_trait]
pub trait Strategy: Send + Sync + std::fmt::Debug {
    /// The strategy's name, which never changes: runs are stored under it.
    fn name(&self) -> &'static str;
    /// When the strategy runs, in addition to the events that cause work.
    fn triggers(&self) -> Triggers {
        Triggers::default()
    }
    /// The work that an event causes; none for events that the strategy ignores.
    fn about(&self, event: &MemoryEvent) -> Option<About>;
    /// One attempt at a run.
    async fn run(&self, context: &RunContext) -> Result<RunOutcome, Failure>;
}

/// Result of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunOutcome {
    /// One line for people that quotes no memory.
    pub change: String,
    /// Events caused by the run; emitted before the run counts as done.
    pub events: Vec<MemoryEvent>,
}

impl RunOutcome {
    /// A change that causes no event.
    pub(crate) fn of(change: String) -> Self {
        let events = Vec::new();
        Self { change, events }
    }
}

/// Errors of an attempt.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Another attempt may succeed.
    #[error("{0}")]
    Retry(String),
    /// Another attempt would fail too.
    #[error("{0}")]
    GiveUp(String),
}

/// A model whose daily tokens are used up stays so for every attempt, so a strategy does by rules what it can before it
/// fails.
impl From<ChatError> for Failure {
    fn from(error: ChatError) -> Self {
        match error {
            ChatError::Refused { .. } => Self::GiveUp(error.to_string()),
            ChatError::Unavailable { .. } | ChatError::OverBudget { .. } => Self::Retry(error.to_string()),
        }
    }
}

/// Input of an attempt.
#[derive(Debug, Clone)]
pub struct RunContext {
    pub run: Run,
    /// The model, with its cost counted; refuses with [`ChatError::OverBudget`] if the day's tokens are used up.
    pub chat: Option<Arc<dyn Chat>>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub(crate) stop: CancellationToken,
    pub(crate) superseded: Arc<AtomicBool>,
}

impl RunContext {
    /// Whether more events for the same work came since this run was claimed. A run for them already waits: this one
    /// may end early, or finish the work that it saw at its start.
    pub fn superseded(&self) -> bool {
        self.superseded.load(Ordering::SeqCst)
    }

    /// Waits for the signal to end. An attempt that continues is aborted soon after, and does not count.
    pub async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    /// Whether the signal to end was given.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }
}
