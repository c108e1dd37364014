//! Settings of the engine; every number has a name, a unit and a default.

use std::time::Duration;

use model::{Scope, Zone};

/// The engine's settings, as `quipu.toml` gives them.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySettings {
    /// The zone that dates are shown, filed and understood in.
    pub zone: Zone,
    /// A pause this long ends a segment.
    pub gap_minutes: u32,
    /// A buffer is cut at this many messages at the latest.
    pub messages_max: usize,
    /// A buffer is cut at about this many tokens at the latest.
    pub tokens_max: usize,
    /// Memory that recently used owners' rows may take.
    pub hot_bytes_max: usize,
    /// An owner with more rows than this is searched through the index's own candidates.
    pub hot_rows_max: usize,
    /// How many jobs run at a time.
    pub workers: usize,
    /// A failed job is tried this often in all before it is given up and reported.
    pub attempts_max: u32,
    /// Unfinished tasks that one session may have before an asynchronous add is refused.
    pub session_pending_max: usize,
    /// Time without a message after which a session is idle and its buffer is cut.
    pub idle_after: Duration,
    /// How long a search waits for the reranker; then it keeps its first order.
    pub rerank_wait: Duration,
    /// How long finished tasks can be asked for.
    pub task_retention_hours: u32,
    /// Secrets are removed from messages before anything is written.
    pub redacts: bool,
    /// Changes of the vault are recorded in its history, if it has one. Deleted memories leave the history in any case.
    pub records_history: bool,
    /// Tenants in which users search each other's memory too.
    pub shared: Vec<Scope>,
    /// Questions are all that is asked: the vault is looked at once, and what waits to be cut or written waits for another process.
    pub asks_only: bool,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            zone: Zone::utc(),
            gap_minutes: 30,
            messages_max: 50,
            tokens_max: 8_192,
            hot_bytes_max: 256 << 20,
            hot_rows_max: 50_000,
            workers: 64,
            attempts_max: 8,
            session_pending_max: 50,
            idle_after: Duration::from_mins(15),
            rerank_wait: Duration::from_secs(5),
            task_retention_hours: 168,
            redacts: true,
            records_history: true,
            shared: Vec::new(),
            asks_only: false,
        }
    }
}
