//! Background runs as durable work, the events that cause them, and their cost.
//!
//! Owns: the guarantees of a store of runs, and the events. Never: the work of a strategy, or when one is due.
//!
//! Due times are times of the dispatcher's own clock, which never goes back.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use model::{Cell, Date, EntryId, Owner, Scope, SessionId, Timestamp};

use crate::history::RunId;
use crate::ledger::LedgerError;

/// The work of a run. Two requests for the same work share one waiting run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Work {
    /// The strategy's name.
    pub strategy: String,
    pub scope: Scope,
    pub owner: Option<Owner>,
    /// A segment, a cluster or an owner, as the strategy names it; empty if the work concerns everything.
    pub subject: String,
}

model::worded! {
    /// The trigger of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Cause {
        Event = "event",
        /// Due after a quiet time without an event; each event restarts the time.
        Idle = "idle",
        Cron = "cron",
        /// A number of events was reached.
        Counter = "counter",
        /// A person triggered it.
        Manual = "manual",
    }
}

model::worded! {
    /// State of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum RunState {
        /// Waiting for its time.
        Queued = "queued",
        /// Leased to a dispatcher.
        Running = "running",
        /// Done.
        Success = "success",
        /// The last attempt failed; the next one waits for its time.
        Failed = "failed",
        /// Failed permanently; kept and reported until the same work succeeds or is deleted.
        DeadLetter = "dead_letter",
    }
}

impl RunState {
    /// Whether the run waits for its time.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Queued | Self::Failed)
    }
}

/// Cost of model calls and attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    pub calls: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// Time that attempts took.
    pub millis: u64,
}

impl Cost {
    /// Prompt and completion together.
    pub fn tokens(self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

/// The number of requests for work before a run is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold {
    /// Number of requests since the last run was queued.
    pub count: u32,
    /// Minimum time since the last run.
    pub cooldown: Duration,
}

/// A run to queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// Printable text without spaces, `r_…`.
    pub id: RunId,
    pub work: Work,
    /// The session that caused it, if any; the run is deleted with that session.
    pub session: Option<SessionId>,
    pub cause: Cause,
    /// Reason for people: one line that quotes no memory.
    pub reason: String,
    pub run_at: Timestamp,
    /// If set, the request is only counted until the threshold is reached.
    pub threshold: Option<Threshold>,
}

/// A run as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub work: Work,
    /// None also if several sessions caused it.
    pub session: Option<SessionId>,
    pub cause: Cause,
    pub reason: String,
    pub state: RunState,
    /// Number of claims that were not handed back, including this one.
    pub attempt: u32,
    /// When the next attempt is due; while it runs, when its lease ends.
    pub run_at: Timestamp,
    pub created: Timestamp,
    /// When the last attempt began.
    pub started: Option<Timestamp>,
    pub finished: Option<Timestamp>,
    /// Of all attempts.
    pub cost: Cost,
    /// Result for people: one line that quotes no memory. Empty until the run succeeds.
    pub change: String,
    /// Error of the last attempt.
    pub error: Option<String>,
}

/// Filter of the runs to claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub limit: usize,
    /// Strategies whose runs may be claimed, whatever their cause.
    pub strategies: Vec<String>,
    /// Strategies whose runs may be claimed if a person triggered them.
    pub by_hand: Vec<String>,
    pub now: Timestamp,
    pub lease_until: Timestamp,
}

/// Result of a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claimed {
    pub runs: Vec<Run>,
    /// When the next claimable run is due, if no running one ends before; none if none waits.
    pub next: Option<Timestamp>,
}

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It succeeded. Dead letters of the same work are deleted.
    Done { change: String },
    /// It failed and is tried again at this time.
    Retry { error: String, at: Timestamp },
    /// It failed for good.
    GiveUp { error: String },
    /// It was interrupted through no fault of its own; the attempt does not count, and the run is due again
    /// at once.
    HandBack,
}

/// Filter of runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunQuery {
    /// None for every tenant.
    pub scope: Option<Scope>,
    pub strategy: Option<String>,
    pub state: Option<RunState>,
    /// Only runs with these ids; empty for all.
    pub ids: Vec<RunId>,
    /// From 1.
    pub page: usize,
    pub page_size: usize,
}

/// One page of runs, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunPage {
    pub total: usize,
    pub runs: Vec<Run>,
}

/// Number of runs by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunStats {
    /// Waiting for their first attempt, without the next run of a schedule.
    pub queued: usize,
    pub running: usize,
    /// Waiting for another attempt.
    pub failed: usize,
    pub dead_letters: usize,
}

/// Durable background runs. A claim leases a run; each strategy runs at most once at a time for one owner. The next
/// start releases a dead process's leases. The sweeps of [`crate::Transcripts`] delete runs too: those of a scope, of
/// an owner, and those that only the swept session caused.
#[async_trait]
pub trait Runs: Send + Sync + std::fmt::Debug {
    /// Queues runs in one commit; returns for each the id of the waiting run, none if it was only counted.
    ///
    /// Waiting work absorbs the new run: an idle one moves to the later time, unless a person triggered it;
    /// any other cause brings it forward, but a failed one keeps its time, unless a person triggers it now.
    /// Running work does not absorb: the new run waits after it. A run with a known id is ignored.
    async fn enqueue(&self, runs: Vec<NewRun>, now: Timestamp) -> Result<Vec<Option<RunId>>, LedgerError>;
    /// Leases due runs, longest due first. Of one strategy, scope and owner, it leases only one, and none
    /// while another runs. Runs that a person triggered come first.
    async fn claim(&self, claim: Claim) -> Result<Claimed, LedgerError>;
    /// Ends an attempt of `millis` milliseconds; does nothing if its lease is gone.
    async fn finish(
        &self,
        id: &RunId,
        verdict: Verdict,
        millis: u64,
        now: Timestamp,
    ) -> Result<(), LedgerError>;
    /// Adds to the cost of a run and of a day.
    async fn charge(&self, id: &RunId, day: Date, cost: Cost) -> Result<(), LedgerError>;
    /// Cost of a day so far.
    async fn spent(&self, day: Date) -> Result<Cost, LedgerError>;
    /// At start, when no dispatcher of this root can be alive: releases every lease, and makes every run except cron
    /// runs due at `latest` at the latest. So a clock that was set back does not delay a run for long.
    async fn release_all(&self, now: Timestamp, latest: Timestamp) -> Result<usize, LedgerError>;
    /// A page of runs.
    async fn page(&self, query: &RunQuery) -> Result<RunPage, LedgerError>;
    /// Counts over all scopes.
    async fn stats(&self) -> Result<RunStats, LedgerError>;
}

/// A change of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryEvent {
    /// An owner's episode is in the vault and found by search, with its facts.
    EpisodeWritten {
        scope: Scope,
        owner: Owner,
        session: SessionId,
        /// The segment, so that a strategy can decide at once whether it has work.
        cell: Arc<Cell>,
        episode: EntryId,
    },
    /// A case that an agent learnt from its work is in the vault.
    CaseWritten {
        scope: Scope,
        owner: Owner,
        session: SessionId,
        case: EntryId,
    },
    /// A person answered about a statement in a review.
    Reviewed { scope: Scope, owner: Owner },
}

impl MemoryEvent {
    pub fn scope(&self) -> &Scope {
        match self {
            Self::EpisodeWritten { scope, .. }
            | Self::CaseWritten { scope, .. }
            | Self::Reviewed { scope, .. } => scope,
        }
    }

    /// Owner of the memory that changed.
    pub fn owner(&self) -> &Owner {
        match self {
            Self::EpisodeWritten { owner, .. }
            | Self::CaseWritten { owner, .. }
            | Self::Reviewed { owner, .. } => owner,
        }
    }

    /// The session in which the change began, if any.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::EpisodeWritten { session, .. } | Self::CaseWritten { session, .. } => Some(session),
            Self::Reviewed { .. } => None,
        }
    }
}

/// Description for people: one line that quotes no memory.
impl std::fmt::Display for MemoryEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::EpisodeWritten { episode, .. } => write!(f, "episode {episode} was written"),
            Self::CaseWritten { case, .. } => write!(f, "case {case} was written"),
            Self::Reviewed { .. } => f.write_str("a review was answered"),
        }
    }
}

/// Receiver of events.
#[async_trait]
pub trait Events: Send + Sync + std::fmt::Debug {
    /// Receives events; `Ok` means that the runs they cause are on disk. The same event can come more than once.
    async fn emit(&self, events: Vec<MemoryEvent>) -> Result<(), LedgerError>;
}
