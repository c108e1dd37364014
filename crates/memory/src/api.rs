//! Requests and results of the engine. No behaviour.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::text::counted;
use model::{
    Date, Doc, Entry, EntryId, EntryKind, Filter, Message, Owner, OwnerKind, Page, Scope, SessionId,
    SessionKey, Timestamp,
};
use ports::{
    Accepted, BrokenFile, By, Carried, ChangeId, IndexHealth, IndexStats, JobId, JobStats, NewMessage, RunId,
    VaultPath,
};
use recall::{Hit, Method};

use crate::base::disk::DiskState;

/// Messages of one session to add.
#[derive(Debug, Clone, PartialEq)]
pub struct Add {
    pub session: SessionKey,
    /// The engine gives each message its id and this session. A client's own id goes into `client_id` and is never
    /// visible outside its session. [`Added::accepted`] returns the id of each message; `sources` of every memory
    /// contain these ids. A deleted message is left out unless it asks to be accepted.
    pub messages: Vec<NewMessage>,
    /// The session's title; later episodes made by rules take it as their subject. A blank title changes nothing. A
    /// deleted title comes back only with a message that accepts deleted text.
    pub title: Option<String>,
    /// Only accept the messages; do not look for boundaries now.
    pub defer_extraction: bool,
    /// Look for boundaries in a background task of this id, and answer at once.
    pub task: Option<JobId>,
}

/// Status of an add or a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorizeStatus {
    /// The messages are in the buffer, which waits for more.
    Accumulated,
    /// At least one segment was cut; its Markdown is written, or certainly will be.
    Extracted,
    /// A background task does the work.
    Queued,
}

/// The answer to an add; everything in it is on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Added {
    pub accepted: Vec<Accepted>,
    pub status: MemorizeStatus,
    /// Unfinished adds and flushes of this session, this one included; 0 unless it was queued.
    pub pending: usize,
    /// Secrets that were removed from the messages before they were written.
    pub redacted: usize,
}

/// Ends the segment in a session's buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct Flush {
    pub session: SessionKey,
    /// Do it in a background task of this id.
    pub task: Option<JobId>,
    /// Answer only when all memories of the session are in the vault and the index.
    pub wait: bool,
}

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    pub scope: Scope,
    pub owner: Owner,
    pub query: String,
    pub method: Method,
    /// Maximum number of memories; 1 to 100.
    pub memories_max: usize,
    /// Maximum number of verbatim messages; 0 leaves them out.
    pub messages_max: usize,
    pub filter: Option<Filter>,
    /// Search the memories that were valid at this time.
    pub as_of: Option<Timestamp>,
    /// The date that relative expressions in the query are resolved against; now when none.
    pub asked_at: Option<Timestamp>,
    /// 0 to 1.
    pub score_min: f32,
    /// Cut the result to about this many tokens.
    pub tokens_max: Option<usize>,
    /// Also search the user's memory outside of any project, and the facts that hold for the user in all projects.
    pub with_person: bool,
    /// Let the reranker order the best hits; none: if the method is hybrid and there is a reranker.
    pub rerank: Option<bool>,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Memories, best first; an episode carries its best facts.
    pub memories: Vec<Hit>,
    /// Verbatim messages, best first.
    pub messages: Vec<Hit>,
    /// With a top-level session filter: that session's messages that are not in an episode yet.
    pub unprocessed: Vec<Message>,
    /// The span that a time expression was resolved to.
    pub span: Option<(Timestamp, Timestamp)>,
    /// The method used: keyword if the embedding model did not answer.
    pub method: Method,
    /// Parts that the search had to do without.
    pub warnings: Vec<String>,
    /// The chat model's further queries.
    pub queries: Vec<String>,
}

/// Sort key of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortBy {
    #[default]
    Time,
    UpdatedAt,
}

/// Whether a memory still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Current,
    /// Another memory took its place, or its validity ended.
    Superseded,
}

/// A page of an owner's memories.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    pub scope: Scope,
    pub owner: Owner,
    pub kind: EntryKind,
    pub filter: Option<Filter>,
    /// Only memories that were known at this time; `standing` is judged at it too.
    pub as_of: Option<Timestamp>,
    pub standing: Option<Standing>,
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
            as_of: None,
            standing: None,
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

/// Amount of an owner's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holding {
    pub files: usize,
    /// Entries in them.
    pub entries: usize,
    pub bytes: u64,
    /// Messages that are in no file yet.
    pub waiting: usize,
}

/// Target of a deletion.
#[derive(Debug, Clone, PartialEq)]
pub enum Forget {
    /// Everything of one session, for every owner.
    Session(SessionKey),
    /// Everything of an owner.
    Owner(Scope, Owner),
    /// An owner's part of one session; the others' memory of it stays.
    OwnerInSession(SessionKey, Owner),
    /// Single entries of an owner, the messages that are in no other memory, and all memories made from both.
    Entries(Scope, Owner, Vec<EntryId>),
    /// The messages and memories of an owner that contain some words.
    Words(WordsTarget),
}

/// Target of a deletion by words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordsTarget {
    pub scope: Scope,
    pub owner: Owner,
    /// A message or a memory that contains all of these as whole words is deleted.
    pub words: String,
    /// Ids of messages and memories that stay. A kept memory keeps its source messages.
    pub keep: BTreeSet<String>,
    /// Ids of messages to delete although they do not contain the words.
    pub also: BTreeSet<String>,
}

impl Forget {
    /// The tenant of the target.
    pub fn scope(&self) -> &Scope {
        match self {
            Self::Session(session) | Self::OwnerInSession(session, _) => &session.scope,
            Self::Owner(scope, _) | Self::Entries(scope, ..) => scope,
            Self::Words(target) => &target.scope,
        }
    }

    /// The owner of the target; none if it is everyone's.
    pub fn owner(&self) -> Option<&Owner> {
        match self {
            Self::Session(_) => None,
            Self::Owner(_, owner) | Self::OwnerInSession(_, owner) | Self::Entries(_, owner, _) => {
                Some(owner)
            }
            Self::Words(target) => Some(&target.owner),
        }
    }

    /// Whether memory of this owner is the target.
    pub(crate) fn concerns(&self, owner: &Owner) -> bool {
        self.owner()
            .map_or(owner.kind != OwnerKind::Library, |target| target == owner)
    }

    /// Whether the request targets a row of an owner that it concerns. A deletion by words targets no row by itself:
    /// the words are looked for in the files.
    pub(crate) fn names(&self, doc: &Doc) -> bool {
        match self {
            Self::Owner(..) => true,
            Self::Session(session) | Self::OwnerInSession(session, _) => {
                doc.session.as_ref() == Some(&session.session)
            }
            Self::Entries(_, _, ids) => ids.iter().any(|id| id.as_str() == &*doc.key.id),
            Self::Words(_) => false,
        }
    }
}

/// Result of a deletion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgot {
    /// All deleted entries, including those that go with the targets.
    pub entries: usize,
    pub messages: usize,
    pub conversations: usize,
    /// Memories that lost some of their messages.
    pub rewritten: usize,
    /// Requested ids that do not exist.
    pub missing: Vec<EntryId>,
    /// The history that an earlier version kept was deleted too, as a whole.
    pub old_history: bool,
    /// Daily copies of the ledger that were removed because they contained deleted text.
    pub copies: usize,
    /// Owners that lost something.
    pub owners: BTreeSet<Owner>,
    pub left: Vec<Leftover>,
}

/// Something that a deletion leaves, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    pub what: String,
    pub why: String,
}

impl Leftover {
    /// A thing, and the reason.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        let (what, why) = (what.into(), why.into());
        Self { what, why }
    }
}

/// The result that a deletion would have now.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeletionPreview {
    /// The entries to delete, those of agents included.
    pub entries: Vec<Arc<Doc>>,
    /// How many of the first `entries` the request targets; the others were made from these.
    pub named: usize,
    /// The verbatim messages to delete from the files, in order of time.
    pub messages: Vec<Arc<Doc>>,
    /// For a deletion by words: the messages directly before and after these in their sessions, which stay and do not
    /// contain the words.
    pub beside: Vec<Arc<Doc>>,
    /// Memories that lose some of their messages and stay, in their new form.
    pub rewritten: Vec<Arc<Doc>>,
    /// Lines of the owner's pages to delete, and titles that contain the words.
    pub lines: Vec<String>,
    /// Messages of the entries to delete that stay in the same owner's memory.
    pub own_stays: Vec<Arc<Doc>>,
    /// The same person's messages in the memory of others, which stay.
    pub stays: Vec<Staying>,
}

/// Messages that a deletion leaves in another owner's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Staying {
    pub owner: Owner,
    /// The session to forget to delete these messages too.
    pub session: Option<SessionId>,
    /// In order of time, never empty.
    pub messages: Vec<Arc<Doc>>,
}

/// All memory of an owner.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnedMemory {
    pub entries: Vec<Entry>,
    pub pages: Vec<(Page, String)>,
    /// Ids of all memories that strategies ever made.
    pub made: BTreeSet<String>,
    /// Messages that are in no episode yet.
    pub messages: Vec<Message>,
    /// Client ids of all these messages, and the marks of messages deleted from the tenant.
    pub carried: Carried,
    /// Files that could not be read in full.
    pub broken: Vec<VaultPath>,
}

/// Result of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Imported entries and pages.
    pub memories: usize,
    pub new_memories: usize,
    /// Entries and pages that differ from the stored ones, which stay as they are.
    pub kept_memories: usize,
    pub messages: usize,
    pub new_messages: usize,
}

/// A finding of an audit, and the run that wrote the entry, if the history knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    pub finding: crate::findings::Finding,
    pub run: Option<RunId>,
}

/// A recorded change of the memory files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    pub id: ChangeId,
    pub at: Timestamp,
    pub by: By,
    /// One line that summarises the change.
    pub subject: String,
    /// Sorted.
    pub files: Vec<VaultPath>,
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
    /// For a fact: whether it holds only in its project, or for its owner everywhere.
    pub project_only: Option<bool>,
}

/// A change of an owner's derived memories.
#[derive(Debug, Clone, PartialEq)]
pub struct Curate {
    pub scope: Scope,
    pub owner: Owner,
    /// Entries to store; each replaces the entry with its id.
    pub put: Vec<Entry>,
    /// Entries to remove; an unknown id is not an error.
    pub remove: Vec<EntryId>,
}

/// A change of an owner's page.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplacePage {
    pub scope: Scope,
    pub owner: Owner,
    pub page: Page,
    /// The text that the caller read; none if there was no page.
    pub before: Option<String>,
    pub text: String,
}

/// System status.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub index: IndexHealth,
    pub index_stats: IndexStats,
    pub jobs: JobStats,
    /// Waiting jobs that need room on the disk or a repaired file.
    pub stuck: usize,
    /// Restarts of a background loop after a panic since the start, and the time of the last one.
    pub loop_panics: usize,
    pub last_loop_panic: Option<Timestamp>,
    pub broken_files: Vec<BrokenFile>,
    /// Sessions with a buffer, and their messages.
    pub open_sessions: usize,
    pub buffered_messages: usize,
    /// Vault files and entries as last synchronised.
    pub files: usize,
    /// Changed files that are not searchable yet.
    pub unread_files: usize,
    pub embedder: String,
    /// The chat model that extracts, if one is configured.
    pub chat_model: Option<String>,
    /// Counts of its answers since the start.
    pub model_answers: ModelAnswers,
    /// Secrets that were removed from messages since the start.
    pub redacted: usize,
    /// The day of the newest daily copy of the ledger.
    pub newest_copy: Option<Date>,
    /// Why the last attempt to copy the ledger failed.
    pub copy_trouble: Option<String>,
    /// A running rebuild or re-embedding: rows done, rows in total.
    pub rebuilding: Option<(usize, usize)>,
    /// Whether the disk takes writes.
    pub disk: DiskState,
}

/// Counts of a chat model's answers about conversations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelAnswers {
    /// Facts that the messages support.
    pub facts: usize,
    /// Statements that were left out because no message supports them.
    pub left_out: usize,
    /// Questions without a usable answer: the rules extracted instead.
    pub unusable: usize,
}

impl Status {
    /// The problems, each with its remedy; empty if there are none.
    pub fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = self.disk.problem().into_iter().collect();
        if let IndexHealth::NeedsRebuild { reason } = &self.index {
            problems.push(format!(
                "the index must be rebuilt ({reason}): run `quipu rebuild`"
            ));
        }
        if self.jobs.failed > 0 {
            problems.push(format!(
                "{} failed permanently: see `quipu status --tasks` for the reason, retry with `quipu runs retry`",
                counted(self.jobs.failed, "task", "tasks")
            ));
        }
        if self.stuck > 0 {
            problems.push(format!(
                "{} blocked, and Quipu retries: repair the files below, or free disk space",
                counted(self.stuck, "task is", "tasks are")
            ));
        }
        if let Some(trouble) = &self.copy_trouble {
            problems.push(format!(
                "cannot make the daily copy of the ledger: {trouble}; Quipu retries"
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

/// Result of a sync or a rebuild.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synced {
    pub files: usize,
    pub entries_added: usize,
    pub entries_changed: usize,
    pub entries_removed: usize,
    pub broken: usize,
}
