//! The ledger as three ports: transcripts (logs, buffers, segments), jobs with leases, and the file-change ledger. A
//! call that returns `Ok` has its result on disk.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use model::{
    Cell, CellId, Date, DocId, DocKey, EntryId, Message, MessageId, Name, Owner, Scope, SessionId,
    SessionKey, Timestamp,
};

use crate::vault::{FileStat, VaultPath};

/// Errors of the ledger.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The data changed after the caller read it: read again.
    #[error("the session changed meanwhile")]
    Conflict,
    /// The conversation belongs to another owner.
    #[error("the conversation belongs to another owner")]
    OtherOwner,
    /// The file is of a newer Quipu.
    #[error("the ledger has version {found}, this program knows {known}: use a newer quipu")]
    NewerVersion { found: u32, known: u32 },
    /// Another process serves this root.
    #[error("another quipu process is using this root")]
    InUse,
    /// The store failed; another try may succeed. [`NoRoom::of`] tells whether the disk is full or read-only.
    ///
    /// [`NoRoom::of`]: crate::NoRoom::of
    #[error("the ledger store failed")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A message to accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// With its id; the id is ignored if `client_id` is known.
    pub message: Message,
    /// The client's own id, unique in its session; makes a retry idempotent.
    pub client_id: Option<String>,
    /// Accepts the message even if it was deleted before; later appends accept it too.
    pub accept_forgotten: bool,
    /// The user of the agent whose log contains the message. Such a log copies messages of the session it
    /// continues: a message of another session of the user with the same sender, role, time and content is
    /// the same message.
    pub log_of: Option<Name>,
    /// Replaces time and content in the comparison of messages, if the client sent neither time nor id: equal
    /// for repeats of one message in a session. It is deleted with the message.
    pub repeat_key: Option<String>,
}

impl NewMessage {
    /// A message with the client's own id, if there is one, and no other option.
    pub fn new(message: Message, client_id: Option<String>) -> Self {
        Self {
            message,
            client_id,
            accept_forgotten: false,
            log_of: None,
            repeat_key: None,
        }
    }
}

/// Result for one message of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Its id; unused if the message is left out.
    pub id: MessageId,
    /// The message was there before. Either session and client id are the same; or the stored message has no
    /// client id, and session, sender, role, time and content are the same, or session and
    /// [`NewMessage::repeat_key`]; or [`NewMessage::log_of`] makes it a copy.
    pub duplicate: bool,
    /// For a duplicate: a sweep deleted it, and the append leaves it out.
    pub forgotten: bool,
    /// A sweep deleted it, and the append stores it again on request.
    pub restored: bool,
}

/// Result of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendOutcome {
    /// One for each message, in order.
    pub accepted: Vec<Accepted>,
    /// Number of messages in the session's buffer now, including those in the cut.
    pub buffered: usize,
    /// Whether the cut of this append was made.
    pub is_cut: bool,
}

/// A cut of a buffer in the same commit as the append that completes it. The caller knows the buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct CutWithAppend {
    pub cut: Cut,
    /// Required number of messages in the buffer before the append.
    pub buffered_before: usize,
}

/// One cut of a session's buffer. Everything in it commits together or not at all.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    pub session: SessionKey,
    /// The segments; their messages leave the buffer. Each message must be in it, else
    /// [`LedgerError::Conflict`].
    pub cells: Vec<Cell>,
    /// The jobs that will write the cells' Markdown.
    pub jobs: Vec<NewJob>,
}

/// Number of buffered messages and sessions, over all scopes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Buffered {
    /// Sessions whose buffer is not empty.
    pub sessions: usize,
    pub messages: usize,
}

/// The part of a scope's ledger that an export contains: with it, another ledger stores no message twice and
/// no deleted one again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Carried {
    /// Client ids of messages.
    pub client_ids: BTreeMap<MessageId, String>,
    /// Digests of deleted messages and titles: 64 hex digits each, in order. They reveal nothing of the
    /// message, its session or its id.
    pub forgotten: BTreeSet<String>,
}

/// A segment of another ledger with its memory written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenCell {
    pub id: CellId,
    pub session: SessionKey,
    pub owner: Owner,
    pub messages: Vec<NewMessage>,
}

/// Text to delete from the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sweep {
    /// A whole session: log, buffer, segments, jobs, and the conversation of that name.
    Session(SessionKey),
    /// Everything that names the owner in this scope: as owner of a segment or of a conversation, or as
    /// sender.
    Owner(Scope, Owner),
    /// The same in one session only.
    OwnerInSession(SessionKey, Owner),
    /// A whole scope.
    Scope(Scope),
    /// Single messages.
    Messages(Scope, Vec<MessageId>),
}

/// Result of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub messages: usize,
    pub cells: usize,
    /// The deleted segments, so that memories based only on them can be deleted too.
    pub cell_ids: Vec<CellId>,
    /// Live conversations of a session or an owner.
    pub conversations: usize,
}

/// Event logs, buffers and segments. Invariant: an accepted message is in its session's buffer or in exactly
/// one segment, until a sweep removes it. An append leaves out a message that a sweep deleted from the scope,
/// in any session. It recognises the message by its session and client id, or by
/// [`model::marks::sent_again`]. The append accepts it on request, in its own commit. A sweep of the whole
/// scope ends this.
#[async_trait]
pub trait Transcripts: Send + Sync + std::fmt::Debug {
    /// Accepts messages of one session: log and buffer in one commit, all or none.
    async fn append(
        &self,
        session: &SessionKey,
        messages: Vec<NewMessage>,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError>;
    /// The same, with a cut of the buffer in the same commit. The cut is made only if the buffer held the expected number of
    /// messages before, no message is a duplicate, and each message of the cut is in the buffer; the messages are accepted
    /// in any case.
    async fn append_and_cut(
        &self,
        messages: Vec<NewMessage>,
        cut: CutWithAppend,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError>;
    /// Sets the title of a session; deleted with the session. An empty title deletes it. A session whose
    /// title was deleted accepts another only with `accept_forgotten`.
    async fn entitle(
        &self,
        session: &SessionKey,
        title: String,
        accept_forgotten: bool,
    ) -> Result<(), LedgerError>;
    /// A session's title, if it has one.
    async fn title(&self, session: &SessionKey) -> Result<Option<String>, LedgerError>;
    /// A session's buffer, in order of time, then of arrival.
    async fn buffer(&self, session: &SessionKey) -> Result<Vec<Message>, LedgerError>;
    /// Turns part of a buffer into segments, with their jobs.
    async fn cut(&self, cut: Cut) -> Result<(), LedgerError>;
    /// A segment with its messages.
    async fn cell(&self, id: &CellId) -> Result<Option<Cell>, LedgerError>;
    /// The segments that exist among these ids, in the order of the ids.
    async fn cells(&self, ids: &[CellId]) -> Result<Vec<Cell>, LedgerError>;
    /// The segments of its session that were cut after a segment and whose jobs are not done.
    async fn unwritten_after(&self, id: &CellId) -> Result<Vec<CellId>, LedgerError>;
    /// An owner's messages that no finished segment job covers: buffered, or cut and not yet written. A buffered
    /// message belongs to every user who speaks in its session.
    async fn tail(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Message>, LedgerError>;
    /// The messages of these ids that still exist, in order of time.
    async fn messages(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Message>, LedgerError>;
    /// Number of messages in [`Transcripts::tail`] of each user that has any.
    async fn waiting(&self) -> Result<BTreeMap<(Scope, Owner), usize>, LedgerError>;
    /// The client ids of some messages, and the digests of everything that sweeps deleted from the scope.
    async fn carried(&self, scope: &Scope, ids: &[MessageId]) -> Result<Carried, LedgerError>;
    /// Adopts the messages and deletions that another ledger carried. It skips a message if its id or client
    /// id is known, and a segment if another session has its id. Later appends leave out the other ledger's
    /// deletions. A second call changes nothing.
    async fn adopt(
        &self,
        scope: &Scope,
        cells: Vec<WrittenCell>,
        forgotten: BTreeSet<String>,
    ) -> Result<(), LedgerError>;
    /// Number of sessions with a buffer, and of messages in the buffers.
    async fn buffered(&self) -> Result<Buffered, LedgerError>;
    /// Sessions with a buffer, each with the time of its last append, the earliest first.
    async fn open_sessions(&self, limit: usize) -> Result<Vec<(SessionKey, Timestamp)>, LedgerError>;
    /// Deletes the sweep's target for good.
    async fn sweep(&self, sweep: Sweep) -> Result<Forgotten, LedgerError>;
}

/// A job's id: 32 hex digits, the request's id if a request created it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(pub String);

model::worded! {
    /// Kind of a job.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum JobKind {
        /// Writes one segment's memories to the vault and the index. Subject: the segment's id.
        WriteCell = "write_cell",
        /// Checks a session's buffer for boundaries. Subject: the session.
        MemoryAdd = "memory_add",
        /// Cuts all of a session's buffer. Subject: the session.
        MemoryFlush = "memory_flush",
    }
}

model::worded! {
    /// State of a job.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum JobState {
        /// Waiting for its time.
        Queued = "queued",
        /// Leased to a worker.
        Processing = "processing",
        /// Done.
        Success = "success",
        /// Failed in its last attempt; kept and reported until a person retries or deletes it.
        Failed = "failed",
    }
}

/// A job to queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    pub id: JobId,
    pub kind: JobKind,
    pub session: SessionKey,
    /// Subject of the job: a segment's id for `WriteCell`, else empty.
    pub subject: String,
    pub run_at: Timestamp,
}

/// A job as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub id: JobId,
    pub kind: JobKind,
    pub session: SessionKey,
    pub subject: String,
    pub state: JobState,
    /// Number of claims so far, this one included.
    pub attempt: u32,
    pub error: Option<String>,
    pub created: Timestamp,
    pub finished: Option<Timestamp>,
}

/// The failure of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFailure {
    pub error: String,
    /// Time of the next attempt; none gives up.
    pub retry_at: Option<Timestamp>,
}

/// Filter of jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskQuery {
    pub scope: Scope,
    pub session: Option<SessionId>,
    pub state: Option<JobState>,
    pub kinds: Vec<JobKind>,
    /// Only jobs created at this time or later.
    pub made_from: Option<Timestamp>,
    /// Only jobs created before this time.
    pub made_before: Option<Timestamp>,
    /// From 1.
    pub page: usize,
    pub page_size: usize,
}

/// One page of jobs, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPage {
    pub total: usize,
    pub jobs: Vec<Job>,
}

/// Number of jobs by state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobStats {
    pub queued: usize,
    pub processing: usize,
    pub failed: usize,
    /// Creation time of the oldest waiting job.
    pub oldest_queued: Option<Timestamp>,
}

/// Durable work. A claim leases a job; a lease that ran out, or that a dead process held, can be claimed
/// again. Times are the worker's own: they follow its clock that never goes back.
#[async_trait]
pub trait Jobs: Send + Sync + std::fmt::Debug {
    /// Queues jobs; a job with a known id is ignored.
    async fn enqueue(&self, jobs: Vec<NewJob>, now: Timestamp) -> Result<(), LedgerError>;
    /// Leases up to `limit` due jobs, oldest first; of each session, only the oldest unfinished one. If that
    /// job writes a segment for the first time, up to `behind` jobs of the same kind that wait directly after
    /// it are leased too, and follow it in the answer.
    async fn claim(
        &self,
        limit: usize,
        behind: usize,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<Job>, LedgerError>;
    /// Releases leases without a failure; the attempts stay counted.
    async fn hand_back(&self, ids: &[JobId], now: Timestamp) -> Result<(), LedgerError>;
    /// Extends leases without counting an attempt. A job without a lease is ignored.
    async fn renew(&self, ids: &[JobId], lease_until: Timestamp) -> Result<(), LedgerError>;
    /// Marks claimed jobs done, all in one commit.
    async fn complete(&self, ids: &[JobId], now: Timestamp) -> Result<(), LedgerError>;
    /// Records a failed attempt.
    async fn fail(&self, id: &JobId, failure: JobFailure, now: Timestamp) -> Result<(), LedgerError>;
    /// Queues a failed job of a scope again, after the waiting jobs of its session and with its attempts
    /// counted from zero; its last error stays until it runs. False if there is no such job, or it has not
    /// failed.
    async fn retry(&self, scope: &Scope, id: &JobId, now: Timestamp) -> Result<bool, LedgerError>;
    /// Releases every lease at once: at start, when no worker of this root can be alive. No job then waits
    /// beyond `latest`, so a machine's clock that was set back delays no job for long.
    async fn release_all(&self, latest: Timestamp) -> Result<usize, LedgerError>;
    /// A page of jobs of one scope.
    async fn page(&self, query: &TaskQuery) -> Result<TaskPage, LedgerError>;
    /// One job of one scope.
    async fn job(&self, scope: &Scope, id: &JobId) -> Result<Option<Job>, LedgerError>;
    /// Counts over all scopes.
    async fn stats(&self) -> Result<JobStats, LedgerError>;
}

/// Number of daily copies that a ledger keeps.
pub const COPIES_MAX: usize = 7;

/// Data that the ledger keeps for a limited time: finished work, and daily copies of itself.
///
/// A call that deletes text for good, such as a sweep that removes something, removes every earlier copy
/// before it returns. If it cannot, it fails, and each later call tries again.
#[async_trait]
pub trait Retention: Send + Sync + std::fmt::Debug {
    /// Removes the jobs and the background runs that succeeded before this time; returns their number.
    async fn drop_finished(&self, before: Timestamp) -> Result<usize, LedgerError>;
    /// The sessions of all tenants with a last append before this time.
    async fn quiet_sessions(&self, before: Timestamp) -> Result<Vec<SessionKey>, LedgerError>;
    /// The days of the copies, the oldest first.
    async fn copies(&self) -> Result<Vec<Date>, LedgerError>;
    /// Makes the copy of a day, completely or not at all, in place of an earlier one of that day, and removes
    /// all but the [`COPIES_MAX`] newest. False if text was deleted meanwhile; then there is no new copy.
    /// Other calls do not wait for it.
    async fn copy(&self, day: Date) -> Result<bool, LedgerError>;
}

/// One entry of a file as last indexed: enough to detect the changes of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMark {
    pub entry: EntryId,
    /// Changes with any part of the entry, an inline key included.
    pub digest: u64,
    /// The index rows that this file holds for the entry.
    pub docs: Vec<DocId>,
    /// Another file holds a row of the entry. If that file loses the row, this one takes it over.
    pub is_shared: bool,
}

/// A vault file as last indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    pub stat: FileStat,
    pub scope: Scope,
    pub owner: Owner,
    pub marks: Vec<FileMark>,
    /// Why the file is quarantined, or which part was unreadable; none if the file is fine.
    pub problem: Option<String>,
}

/// An append to a vault file, recorded once the index shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAppend {
    /// The stat of the file just before; none if the file was new.
    pub before: Option<FileStat>,
    /// The file after the append, with the marks of the appended entries.
    pub after: FileRecord,
}

/// A file that `status` and `/health` must report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenFile {
    pub path: VaultPath,
    pub problem: String,
}

/// The file-change ledger: the state of each vault file that the index shows.
#[async_trait]
pub trait FileChanges: Send + Sync + std::fmt::Debug {
    /// The stats of every recorded file.
    async fn stats(&self) -> Result<Vec<FileStat>, LedgerError>;
    /// A file's recorded stat.
    async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, LedgerError>;
    /// A file with its marks.
    async fn record(&self, path: &VaultPath) -> Result<Option<FileRecord>, LedgerError>;
    /// Records a file's state; replaces the earlier record.
    async fn put(&self, record: FileRecord) -> Result<(), LedgerError>;
    /// Records appends: the new stat, and more marks. An append that does not follow the recorded state
    /// changes nothing, since the record would then miss marks of the file.
    async fn extend(&self, appends: Vec<FileAppend>) -> Result<(), LedgerError>;
    /// Number of recorded files.
    async fn count(&self) -> Result<usize, LedgerError>;
    /// The rows of an owner's facts in every project of an app.
    async fn facts(&self, app: &Name, owner: &Owner) -> Result<Vec<DocKey>, LedgerError>;
    /// The files with a shared mark, of one owner or of all, in the order in which they were first recorded.
    async fn sharing(&self, of: Option<(&Scope, &Owner)>) -> Result<Vec<VaultPath>, LedgerError>;
    /// The users that have files in a tenant, in order.
    async fn users(&self, scope: &Scope) -> Result<Vec<Owner>, LedgerError>;
    /// Deletes the records of files.
    async fn drop_paths(&self, paths: &[VaultPath]) -> Result<(), LedgerError>;
    /// Files with a problem.
    async fn broken(&self) -> Result<Vec<BrokenFile>, LedgerError>;
}
