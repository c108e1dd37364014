//! What is run in the background: a strategy, what it is given, what it gives back.
//!
//! Owns: the contract between the offline engine and its strategies. Never: a strategy.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use model::Owner;
use ports::runs::{Event, Run, Threshold};
use ports::{Chat, ChatError, Clock, Ids};
use tokio_util::sync::CancellationToken;

/// Whom and what an event concerns, for one strategy. Runs of one strategy about the same are the same work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Of one strategy and owner, one run goes at a time.
    pub owner: Option<Owner>,
    /// A memcell, a cluster; empty for all of the owner's.
    pub subject: String,
}

/// When a strategy runs, besides when a person asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Triggers {
    /// Only after no further event about the same for so long.
    pub idle: Option<Duration>,
    /// Only after so many events about the same; with `idle`, the last of them begins the quiet time.
    pub threshold: Option<Threshold>,
    /// At these times, about everything: five fields, in the configured zone.
    pub cron: Option<Cow<'static, str>>,
}

/// Something that is done in the background. A run may be cut short at any await and begun again, after a crash too, so
/// what it does twice must be as if done once.
#[async_trait]
pub trait Strategy: Send + Sync + std::fmt::Debug {
    /// Its name, which never changes: runs are stored under it.
    fn name(&self) -> &'static str;
    /// When it runs.
    fn triggers(&self) -> Triggers;
    /// What an event concerns; none for events that it does not answer.
    fn about(&self, event: &Event) -> Option<About>;
    /// One attempt at a run.
    async fn run(&self, context: &RunContext) -> Result<Outcome, Failure>;
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// For people: one line that quotes no memory.
    pub change: String,
    /// What happened by it; told before the run counts as done.
    pub events: Vec<Event>,
}

/// Why an attempt failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Another attempt may succeed.
    #[error("{0}")]
    Retry(String),
    /// Another attempt would fail too.
    #[error("{0}")]
    GiveUp(String),
}

/// A model that is used up for today is used up for every attempt: a strategy does by rules what it can before it fails.
impl From<ChatError> for Failure {
    fn from(error: ChatError) -> Self {
        match error {
            ChatError::Refused { .. } => Self::GiveUp(error.to_string()),
            ChatError::Unavailable { .. } | ChatError::OverBudget { .. } => Self::Retry(error.to_string()),
        }
    }
}

/// What an attempt is given.
#[derive(Debug, Clone)]
pub struct RunContext {
    pub run: Run,
    /// The model, whose cost is counted; refuses with [`ChatError::OverBudget`] when the day's tokens are used up.
    pub chat: Option<Arc<dyn Chat>>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub(crate) stop: CancellationToken,
    pub(crate) superseded: Arc<AtomicBool>,
}

impl RunContext {
    /// Whether more has happened to the same since this run was claimed. A run for it waits already: this one may end
    /// early, or finish what it saw at its start.
    pub fn superseded(&self) -> bool {
        self.superseded.load(Ordering::SeqCst)
    }

    /// Waits for the sign to end. An attempt that goes on is cut short soon after, and does not count.
    pub async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    /// Whether the sign to end was given.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }
}
