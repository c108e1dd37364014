//! Settings of the engine; every number has a name, a unit and a default.

use std::time::Duration;

use model::{Scope, Zone};

model::defaults! {
    /// The engine's settings, as `quipu.toml` gives them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MemorySettings {
        /// Time zone for displaying, filing and understanding dates.
        pub zone: Zone = Zone::utc(),
        /// A pause this long ends a segment.
        pub gap_minutes: u32 = 30,
        /// A buffer is cut at the latest at this many messages.
        pub messages_max: usize = 50,
        /// A buffer is cut at the latest at about this many tokens.
        pub tokens_max: usize = 8_192,
        /// Memory that the rows of recently used owners may take, in bytes.
        pub hot_bytes_max: usize = 256 << 20,
        /// An owner with more rows than this is searched through the index's own candidates.
        pub hot_rows_max: usize = 100_000,
        /// How many jobs run at a time.
        pub workers: usize = 64,
        /// Maximum number of attempts of a job before it is given up and reported.
        pub attempts_max: u32 = 8,
        /// Unfinished tasks that one session may have before an asynchronous add is refused.
        pub session_pending_max: usize = 50,
        /// Time without a message after which a session is idle and its buffer is cut.
        pub idle_after: Duration = Duration::from_mins(15),
        /// How long a search waits for the reranker; then it keeps its first order.
        pub rerank_wait: Duration = Duration::from_secs(5),
        /// How long finished tasks can be queried.
        pub task_retention_hours: u32 = 168,
        /// A session without a new message for this many days is forgotten; 0: never.
        pub keep_days: u32,
        /// The chat model describes pictures and sounds in messages.
        pub describes_media: bool,
        /// Secrets are removed from messages before anything is written.
        pub redacts: bool = true,
        /// Changes of the vault are recorded in its history, if it has one. Deleted memories leave the history in any case.
        pub records_history: bool = true,
        /// Tenants in which users search each other's memory too.
        pub shared: Vec<Scope>,
        /// The process only answers searches: it scans the vault once, and leaves buffers and jobs to another process.
        pub asks_only: bool,
    }
}
