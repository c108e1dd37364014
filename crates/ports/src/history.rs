//! The history of the vault as a port: each state of each entry and other file, with author, time and reason.
//!
//! Owns: the guarantees of a history. Never: the decision when to record, or which versions are deleted.

use std::sync::Arc;

use async_trait::async_trait;
use model::{EntryId, Owner, Scope, SessionId, Timestamp};

use crate::ledger::LedgerError;
use crate::vault::{FileStat, VaultPath};

/// The number of a change. Later changes have greater numbers, and none is used again.
pub type ChangeId = u64;

/// The number of a version.
pub type VersionId = u64;

/// The id of a background run, `r_…`: printable text without spaces.
pub type RunId = Arc<str>;

/// A background run, as the history records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    /// Name of the strategy.
    pub strategy: String,
    /// Why it ran, for people.
    pub reason: String,
}

/// Author of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// Not a run: a person, through Quipu or in the files, or another program in the files.
    Person,
    /// Quipu, in the background.
    Run {
        run: Run,
        /// The run that this one undoes.
        undoes: Option<RunId>,
    },
}

impl By {
    /// The run, if the author is one.
    pub fn run(&self) -> Option<&Run> {
        match self {
            Self::Person => None,
            Self::Run { run, .. } => Some(run),
        }
    }
}

/// An object with versions: an entry of a file, or a file that is no list of entries.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionKey {
    pub path: VaultPath,
    pub entry: Option<EntryId>,
}

impl VersionKey {
    /// An entry of a memory file.
    pub fn of_entry(path: &VaultPath, entry: &EntryId) -> Self {
        Self {
            path: path.clone(),
            entry: Some(entry.clone()),
        }
    }

    /// A whole file.
    pub fn of_file(path: VaultPath) -> Self {
        Self { path, entry: None }
    }
}

/// One state of an entry or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionText {
    /// Differs if the text differs.
    pub digest: u64,
    pub bytes: u64,
    /// None if the text is not stored or not requested: it is too long, or not UTF-8.
    pub text: Option<String>,
}

/// Longer texts are known only by digest and size.
const TEXT_BYTES_MAX: usize = 1 << 20;

impl VersionText {
    /// A state with its text. Different texts must have different digests.
    pub fn new(digest: u64, text: String) -> Self {
        Self {
            digest,
            bytes: text.len() as u64,
            text: (text.len() <= TEXT_BYTES_MAX).then_some(text),
        }
    }
}

/// A new state of an entry or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVersion {
    pub key: VersionKey,
    /// Owner of the file, if it has one.
    pub owner: Option<(Scope, Owner)>,
    pub session: Option<SessionId>,
    /// The state that it replaces, as found in the file; none if there was none.
    pub before: Option<VersionText>,
    /// None for a deletion.
    pub after: Option<VersionText>,
}

/// A recorded state of an entry or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub id: VersionId,
    pub key: VersionKey,
    pub owner: Option<(Scope, Owner)>,
    pub session: Option<SessionId>,
    /// The change that made it; none for a state from before its history began.
    pub change: Option<Arc<HistoryChange>>,
    /// Whether it is still unknown if the file has this version.
    pub is_unsettled: bool,
    /// The digest of the replaced state.
    pub before: Option<u64>,
    pub after: Option<VersionText>,
}

/// A change: one author's work at one time, or a whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryChange {
    pub id: ChangeId,
    pub at: Timestamp,
    pub by: By,
    /// An undo with unfinished follow-up.
    pub is_open: bool,
}

/// Filter of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeQuery {
    /// Undos with unfinished follow-up.
    Open,
    /// Changes that undo a run.
    Undoing(RunId),
}

/// Owner filter of versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Touching {
    /// All, also versions of files without an owner.
    #[default]
    All,
    /// Versions of one scope.
    Scope(Scope),
    /// Versions of an owner.
    Owner(Scope, Owner),
}

/// Filter of versions. They are returned in the order in which they were recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionQuery {
    /// The versions of the newest changes, or of the newest before one, up to a number of changes; without
    /// their text, and without unsettled ones.
    Newest(Touching, Option<ChangeId>, usize),
    /// The versions of a change; without unsettled ones.
    Change(ChangeId),
    /// The versions of a run.
    Run(RunId),
    /// All versions of some keys.
    Keys(Vec<VersionKey>),
    /// All versions of a file and its entries.
    File(VaultPath),
    /// All versions of an owner or a scope; without their text.
    Touching(Touching),
    /// The same, with their text.
    Texts(Touching),
    /// Versions that their files may not have.
    Unsettled,
}

/// The change that versions belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeTarget {
    /// An announced change; a new one is made if it was deleted meanwhile.
    pub known: Option<ChangeId>,
    pub by: By,
    pub at: Timestamp,
}

/// An announced change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    pub change: ChangeId,
    /// In the order of the announced versions.
    pub versions: Vec<VersionId>,
}

/// The history of a vault, in the ledger.
///
/// Invariants: a version is recorded before it is written to its file. The `before` of a version is the
/// digest of the version before it, if there is one. If the file was found in another state, that state
/// becomes a version of its own, by [`By::Person`]. An unsettled version that its file does not have is
/// deleted.
#[async_trait]
pub trait History: Send + Sync + std::fmt::Debug {
    /// Records versions that are about to be written. The versions in `settled` are in their files by now.
    async fn announce(
        &self,
        target: ChangeTarget,
        versions: Vec<NewVersion>,
        settled: Vec<VersionId>,
    ) -> Result<Announced, LedgerError>;
    /// Settles versions: their files have them.
    async fn settle(&self, versions: Vec<VersionId>) -> Result<(), LedgerError>;
    /// Compares found states with the recorded ones. Differences become a change of a person; returns its id.
    /// For a key without versions, `before` is its earlier state, known from elsewhere.
    async fn find(&self, found: Vec<NewVersion>, at: Timestamp) -> Result<Option<ChangeId>, LedgerError>;
    /// Begins a run that undoes another; it is open.
    async fn begin_undo(&self, by: By, at: Timestamp) -> Result<ChangeId, LedgerError>;
    /// Closes an undo with finished follow-up; deletes it if it has no versions.
    async fn close(&self, change: ChangeId) -> Result<(), LedgerError>;
    /// Changes, in the order of their numbers.
    async fn changes(&self, query: &ChangeQuery) -> Result<Vec<HistoryChange>, LedgerError>;
    /// Versions.
    async fn versions(&self, query: &VersionQuery) -> Result<Vec<Version>, LedgerError>;
    /// Deletes versions, and changes that have no others.
    async fn delete(&self, versions: Vec<VersionId>) -> Result<(), LedgerError>;
    /// Returns when no file of the ledger contains text of deleted versions. If the process dies first, the next start does it.
    async fn erased(&self) -> Result<(), LedgerError>;
    /// The last compared stats of files that are no memory.
    async fn others(&self) -> Result<Vec<FileStat>, LedgerError>;
    /// Replaces these stats.
    async fn put_others(&self, stats: Vec<FileStat>) -> Result<(), LedgerError>;
    /// Deletes some of these stats: their paths are text too, and [`Self::erased`] erases them from the
    /// ledger's files.
    async fn drop_others(&self, paths: Vec<VaultPath>) -> Result<(), LedgerError>;
}
