//! What the doors ask of the engine and what they get: requests, results, errors. No behaviour.

use std::sync::Arc;

use model::{Entry, EntryId, EntryKind, Filter, Message, Owner, Page, Scope, SessionKey, Timestamp};
use ports::{
    Accepted, BrokenFile, EmbedError, HistoryError, IndexError, IndexHealth, IndexStats, JobId, JobStats,
    LedgerError, NewMessage, RunId, VaultError,
};
use recall::{Hit, Method};

/// Messages of one session to be remembered.
#[derive(Debug, Clone, PartialEq)]
pub struct Add {
    pub session: SessionKey,
    /// The engine gives each message its id and this session; a client's own id goes into `client_id` and is never
    /// seen outside its session. [`Added::accepted`] says which id each message has, and `sources` of every memory
    /// name these ids.
    pub messages: Vec<NewMessage>,
    /// Only accept them; do not look for boundaries now.
    pub defer_extraction: bool,
    /// Look for boundaries in a background task of this id, and answer at once.
    pub task: Option<JobId>,
    /// Answer only when everything of the session that could be written is in the vault and the index.
    pub wait: bool,
}

/// What became of an add or a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorizeStatus {
    /// In the buffer, waiting for more.
    Accumulated,
    /// At least one memcell was cut; its Markdown is written, or will be whatever happens.
    Extracted,
    /// A background task does it.
    Queued,
}

/// The answer to an add; everything in it is on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Added {
    pub accepted: Vec<Accepted>,
    pub status: MemorizeStatus,
    /// Unfinished adds and flushes of this session, this one included; 0 unless it was queued.
    pub pending: usize,
    /// Secrets that were taken out of the messages before they were written.
    pub redacted: usize,
}

/// Cuts everything a session has in its buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct Flush {
    pub session: SessionKey,
    /// Do it in a background task of this id.
    pub task: Option<JobId>,
    /// As in [`Add::wait`].
    pub wait: bool,
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    pub scope: Scope,
    pub owner: Owner,
    pub query: String,
    pub method: Method,
    /// How many memories at most; 1 to 100.
    pub memories_max: usize,
    /// How many verbatim messages at most; 0 leaves them out.
    pub messages_max: usize,
    pub filter: Option<Filter>,
    /// Answer with what held then.
    pub as_of: Option<Timestamp>,
    /// The date that relative expressions in the query are resolved against; now when none.
    pub asked_at: Option<Timestamp>,
    /// 0 to 1.
    pub score_min: f32,
    /// Cut the answer to about this many tokens.
    pub tokens_max: Option<usize>,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Memories, best first; an episode carries its best facts.
    pub memories: Vec<Hit>,
    /// Verbatim messages, best first.
    pub messages: Vec<Hit>,
    /// With a top-level session filter: that session's messages that no episode tells yet.
    pub unprocessed: Vec<Message>,
    /// The span that a time expression was resolved to.
    pub span: Option<(Timestamp, Timestamp)>,
    /// The method that was used: keyword when the embedding model did not answer.
    pub method: Method,
}

/// What to sort a listing by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortBy {
    #[default]
    Time,
    UpdatedAt,
}

/// A page of an owner's memories.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    pub scope: Scope,
    pub owner: Owner,
    pub kind: EntryKind,
    pub filter: Option<Filter>,
    pub sort_by: SortBy,
    pub descending: bool,
    /// From 1.
    pub page: usize,
    pub page_size: usize,
}

impl List {
    /// Every memory of a kind, the newest first.
    pub fn all(scope: Scope, owner: Owner, kind: EntryKind) -> Self {
        Self {
            scope,
            owner,
            kind,
            filter: None,
            sort_by: SortBy::Time,
            descending: true,
            page: 1,
            page_size: usize::MAX,
        }
    }
}

/// A page of memories; hits without a query have score 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    pub total: usize,
    pub hits: Vec<Hit>,
}

/// What to forget.
#[derive(Debug, Clone, PartialEq)]
pub enum Forget {
    /// Everything of one session, for every owner.
    Session(SessionKey),
    /// Everything of an owner.
    Owner(Scope, Owner),
    /// An owner's part of one session; the others' memory of it stays.
    OwnerInSession(SessionKey, Owner),
    /// Single entries of an owner, the messages that nothing else tells, and whatever was made of both.
    Entries(Scope, Owner, Vec<EntryId>),
}

impl Forget {
    pub(crate) fn scope(&self) -> &Scope {
        match self {
            Self::Session(session) | Self::OwnerInSession(session, _) => &session.scope,
            Self::Owner(scope, _) | Self::Entries(scope, ..) => scope,
        }
    }
}

/// What was forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgot {
    pub entries: usize,
    pub messages: usize,
    /// Asked for and not there.
    pub missing: Vec<EntryId>,
}

/// What an audit found, and which run wrote it, if the history knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    pub finding: crate::findings::Finding,
    pub run: Option<RunId>,
}

/// A change of one entry's text.
#[derive(Debug, Clone, PartialEq)]
pub struct EditEntry {
    pub scope: Scope,
    pub owner: Owner,
    pub id: EntryId,
    pub subject: Option<String>,
    pub summary: Option<String>,
    pub body: Option<String>,
}

/// What an owner's derived memories should become.
#[derive(Debug, Clone, PartialEq)]
pub struct Curate {
    pub scope: Scope,
    pub owner: Owner,
    /// Each takes the place of what stands under its id.
    pub put: Vec<Entry>,
    /// One that is not there is no error.
    pub remove: Vec<EntryId>,
}

/// What an owner's page should become.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplacePage {
    pub scope: Scope,
    pub owner: Owner,
    pub page: Page,
    /// What was read; none when there was no page.
    pub before: Option<String>,
    pub text: String,
}

/// How the system is.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub index: IndexHealth,
    pub index_stats: IndexStats,
    pub jobs: JobStats,
    /// Of the waiting ones, those that wait for a disk to have room or a file to be mended.
    pub stuck: usize,
    /// How often a background loop panicked and began again since the start, and when it last did.
    pub loop_panics: usize,
    pub last_loop_panic: Option<Timestamp>,
    pub broken_files: Vec<BrokenFile>,
    /// Sessions with a buffer, and their messages.
    pub open_sessions: usize,
    pub buffered_messages: usize,
    /// Vault files and entries as last synchronised.
    pub files: usize,
    pub embedder: String,
    /// The chat model that extracts, if one is configured.
    pub chat_model: Option<String>,
    /// Secrets that were taken out of messages since the start.
    pub redacted: usize,
    /// Why the vault's history cannot be written.
    pub history_trouble: Option<String>,
    /// A rebuild or re-embedding that is under way: rows done, rows in all.
    pub rebuilding: Option<(usize, usize)>,
}

impl Status {
    /// What is wrong, in words that say what to do; empty when all is well.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let IndexHealth::NeedsRebuild { reason } = &self.index {
            problems.push(format!(
                "the index must be rebuilt ({reason}): run `quipu rebuild`"
            ));
        }
        if self.jobs.failed > 0 {
            problems.push(format!(
                "{} tasks failed for good: `quipu status --tasks` says why, `quipu retry` tries them again",
                self.jobs.failed
            ));
        }
        if self.stuck > 0 {
            problems.push(format!(
                "{} tasks cannot be done now and are tried again by themselves: mend the files below, or free the disk",
                self.stuck
            ));
        }
        if let Some(trouble) = &self.history_trouble {
            problems.push(format!(
                "the vault's history cannot be written, memory goes on without it, and it is tried again: {trouble}"
            ));
        }
        problems.extend(
            self.broken_files
                .iter()
                .map(|file| format!("{}: {}", file.path, file.problem)),
        );
        problems
    }
}

/// What a sync or a rebuild did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synced {
    pub files: usize,
    pub entries_added: usize,
    pub entries_changed: usize,
    pub entries_removed: usize,
    pub broken: usize,
}

/// How far a long piece of work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub total: usize,
}

/// Who wants to hear how far it is.
pub type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// Why a use case failed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// What was asked for is not there.
    #[error("{what} `{id}` does not exist")]
    NotFound { what: &'static str, id: String },
    /// The request cannot be served as it is.
    #[error("{0}")]
    Invalid(String),
    /// What was asked for cannot be done to it as it stands.
    #[error("{0}")]
    Unfit(String),
    /// The session or the system has too much unfinished work; try again later.
    #[error("too much is waiting already ({pending} tasks): try again in a moment")]
    Saturated { pending: usize },
    /// The engine is shutting down.
    #[error("quipu is shutting down")]
    Stopping,
    /// A fault of the program, which goes on; what it said is for the log.
    #[error("the work ended with a panic: {0}")]
    Panicked(String),
    #[error("the ledger could not do it")]
    Ledger(#[from] LedgerError),
    #[error("the vault could not do it")]
    Vault(#[from] VaultError),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error("the index could not do it")]
    Index(#[from] IndexError),
    #[error("the embedding model could not do it")]
    Embed(#[from] EmbedError),
}
