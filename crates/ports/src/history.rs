//! The history of the vault as a port: what each entry and each other file was, who changed it, when and why.
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
    /// Not a run: a person, through a door or in the files, or another program in the files.
    Person,
    /// Quipu, in the background.
    Run {
        run: Run,
        /// The run that this one undoes.
        undoes: Option<RunId>,
    },
}

impl By {
    /// The run, if it is one.
    pub fn run(&self) -> Option<&Run> {
        match self {
            Self::Person => None,
            Self::Run { run, .. } => Some(run),
        }
    }
}

/// What has versions: an entry of a file, or a file that is no list of entries.
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
    /// Differs where the text differs.
    pub digest: u64,
    pub bytes: u64,
    /// None if it is not kept: it is too long, it is no text, or it was not asked for.
    pub text: Option<String>,
}

/// Longer texts are known by digest and size alone.
const TEXT_BYTES_MAX: usize = 1 << 20;

impl VersionText {
    /// A text that differs from others where its digest does.
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
    /// Whose it is, if the file is of an owner.
    pub owner: Option<(Scope, Owner)>,
    pub session: Option<SessionId>,
    /// The state that it replaces, as it was found; none if it was not there.
    pub before: Option<VersionText>,
    /// None if it goes.
    pub after: Option<VersionText>,
}

/// A recorded state of an entry or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub id: VersionId,
    pub key: VersionKey,
    pub owner: Option<(Scope, Owner)>,
    pub session: Option<SessionId>,
    /// The change that made it; none of a state that was found when its history began.
    pub change: Option<Arc<HistoryChange>>,
    /// Whether it is not known yet if the file has it.
    pub is_unsettled: bool,
    /// The digest of the state that it replaced.
    pub before: Option<u64>,
    pub after: Option<VersionText>,
}

/// A change: what one author did at one time, or a run in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryChange {
    pub id: ChangeId,
    pub at: Timestamp,
    pub by: By,
    /// An undo whose follow-up is not done yet.
    pub is_open: bool,
}

/// Which changes to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeQuery {
    /// Undos whose follow-up is not done yet.
    Open,
    /// Those that undo a run.
    Undoing(RunId),
}

/// Whose versions to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Touching {
    /// Anybody's, also those of files of no owner.
    #[default]
    All,
    /// Those of one scope.
    Scope(Scope),
    /// Those of an owner.
    Owner(Scope, Owner),
}

/// Which versions to read, in the order in which they were recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionQuery {
    /// Those of the newest changes, or of the newest before one, at most so many; without their text, and without
    /// unsettled ones.
    Newest(Touching, Option<ChangeId>, usize),
    /// Those of a change; without unsettled ones.
    Change(ChangeId),
    /// Those of a run.
    Run(RunId),
    /// All of some keys.
    Keys(Vec<VersionKey>),
    /// All of a file and its entries.
    File(VaultPath),
    /// All that somebody has; without their text.
    Touching(Touching),
    /// The same, with their text.
    Texts(Touching),
    /// Those of which it is not known yet if the file has them.
    Unsettled,
}

/// The change that versions belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeTarget {
    /// One that was announced; a new one is made if it is gone meanwhile.
    pub known: Option<ChangeId>,
    pub by: By,
    pub at: Timestamp,
}

/// A change that was announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    pub change: ChangeId,
    /// In the order of the versions given.
    pub versions: Vec<VersionId>,
}

/// The history of a vault, in the ledger.
///
/// Invariants: a version is recorded before the file has it. The `before` of a version is the digest of the version
/// before it, if there is one: where the file was found otherwise, what was found becomes a version of its own, by
/// [`By::Person`]. An unsettled version that the file turns out not to have is deleted.
#[async_trait]
pub trait History: Send + Sync + std::fmt::Debug {
    /// Records versions that are about to be written. Those in `settled` are in their files by now.
    async fn announce(
        &self,
        target: ChangeTarget,
        versions: Vec<NewVersion>,
        settled: Vec<VersionId>,
    ) -> Result<Announced, LedgerError>;
    /// Settles versions: their files have them.
    async fn settle(&self, versions: Vec<VersionId>) -> Result<(), LedgerError>;
    /// Compares what was found with what is recorded. What differs becomes a change of a person, whose number is
    /// returned. Of what has no version, `before` is the state that is known from elsewhere.
    async fn find(&self, found: Vec<NewVersion>, at: Timestamp) -> Result<Option<ChangeId>, LedgerError>;
    /// Begins a run that undoes another; it is open.
    async fn begin_undo(&self, by: By, at: Timestamp) -> Result<ChangeId, LedgerError>;
    /// Closes an undo whose follow-up is done; one without versions is deleted.
    async fn close(&self, change: ChangeId) -> Result<(), LedgerError>;
    /// Changes, in the order of their numbers.
    async fn changes(&self, query: &ChangeQuery) -> Result<Vec<HistoryChange>, LedgerError>;
    /// Versions.
    async fn versions(&self, query: &VersionQuery) -> Result<Vec<Version>, LedgerError>;
    /// Deletes versions, and changes that have no other.
    async fn delete(&self, versions: Vec<VersionId>) -> Result<(), LedgerError>;
    /// Returns when no file of the ledger contains text of deleted versions. If the process dies first, the next start does it.
    async fn erased(&self) -> Result<(), LedgerError>;
    /// The files beside memory, as they were when they were last compared.
    async fn others(&self) -> Result<Vec<FileStat>, LedgerError>;
    /// Replaces those.
    async fn put_others(&self, stats: Vec<FileStat>) -> Result<(), LedgerError>;
    /// Deletes some of those: their paths are text too, and [`Self::erased`] takes them out of the files.
    async fn drop_others(&self, paths: Vec<VaultPath>) -> Result<(), LedgerError>;
}
