//! The vault's history as a port: each change with time, author and reason, and undo.
//!
//! Owns: the guarantees of a history. Never: the decision when to record, or which memories are deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use model::{EntryId, Owner, Scope, Timestamp};

use crate::vault::VaultPath;

/// The id of a recorded change: hexadecimal; a unique beginning of it is accepted too.
pub type ChangeId = Arc<str>;

/// The id of a background run, `r_…`: printable text without spaces.
pub type RunId = Arc<str>;

/// Errors of the history. Except for an error of the disk, nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The folder has a git repository that Quipu did not make, and never touches.
    #[error("`{path}` is a git repository that Quipu did not make: move it away, then Quipu makes its own")]
    NotOurs { path: String },
    /// A person's git is at work in the folder; another try may succeed.
    #[error("git is working in the vault: {what}")]
    Busy { what: String },
    /// There is no such change.
    #[error("the history has no change `{id}`")]
    NoChange { id: String },
    /// No change was made by such a run.
    #[error("the history has no run `{run}`")]
    NoRun { run: RunId },
    /// The run is already undone; an undo of that undo restores it.
    #[error("`{by}` already undid `{run}`")]
    Undone { run: RunId, by: RunId },
    /// Later changes touch the same entries: undo them first, or edit these files by hand.
    #[error("cannot undo `{run}`: later changes touch the same entries of {}", paths.join(", "))]
    Conflict { run: RunId, paths: Vec<VaultPath> },
    /// A run's id is not printable text without spaces.
    #[error("`{run}` is not the id of a run")]
    BadRun { run: RunId },
    /// The repository cannot be read or written. Memory is complete without it: if it is moved away, a new history
    /// begins.
    #[error("the history in `{path}` is damaged")]
    Damaged {
        path: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The disk failed, is full, or is not writable; a retry finishes the operation.
    #[error("cannot write or read `{path}`")]
    Io {
        path: String,
        #[source]
        source: std::io::Error,
    },
}

/// A background run, as the history records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    /// Name of the strategy.
    pub strategy: String,
    /// Why it ran, for people; kept as one line.
    pub reason: String,
}

/// Author of the changes to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    /// A person who edited files, with the name in git's configuration, else `hand`.
    Person,
    /// Quipu, in the background.
    Run(Run),
}

/// The part of all differences on disk that a change records; the rest is left to the next change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CommitPart {
    /// Everything.
    #[default]
    All,
    /// Whole files.
    Files(BTreeSet<VaultPath>),
    /// Entries of files, with their text on disk. Other differences in such a file are not recorded, except where the
    /// two cannot be separated.
    Entries(BTreeMap<VaultPath, BTreeSet<EntryId>>),
}

/// Author of a recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// A person, by editing files or with git.
    Person { name: String },
    /// Quipu, in the background.
    Run {
        run: Run,
        /// The run that this one undid.
        undoes: Option<RunId>,
    },
    /// Quipu, when a purge restarted the history.
    Purge,
}

/// A recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    pub id: ChangeId,
    /// To the second.
    pub at: Timestamp,
    pub by: By,
    /// One line that summarises the change, made from its diff.
    pub subject: String,
    /// Sorted. A name that is not UTF-8 is shown with replacement characters.
    pub files: Vec<VaultPath>,
}

/// A purge that is owed for deleted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Debt {
    /// A number that no other debt has.
    pub id: u64,
    /// The folder of the deleted text; the whole vault if empty.
    pub below: VaultPath,
    /// Time of the deletion.
    pub at: Timestamp,
}

impl Debt {
    /// Whether the path is in the debt's folder.
    pub fn concerns(&self, path: &str) -> bool {
        let rest = path.strip_prefix(&*self.below);
        self.below.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Filter of a log: the changes that touch these files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Touching {
    /// Anything.
    #[default]
    All,
    /// A file, or something below a folder.
    Path(VaultPath),
    /// The files of an owner.
    Owner(Scope, Owner),
    /// The files of a scope, and no other file: those that its tenant can see.
    Alone(Scope),
}

/// The history of a vault, as a git repository in its folder that a person can use too. Calls are serialised, also
/// across processes. A record contains the files on disk. Files whose names begin with `.`, `#` or `~` are left out;
/// links are kept as links. The caller gives all times.
#[async_trait]
pub trait History: Send + Sync + std::fmt::Debug {
    /// Records the differences on disk in a part since the last change as one change; none if there are none. Record the person's
    /// changes before a run starts, and the run's when it ends.
    ///
    /// Errors: [`HistoryError::BadRun`], [`HistoryError::Busy`].
    async fn commit(
        &self,
        author: &Author,
        part: &CommitPart,
        at: Timestamp,
    ) -> Result<Option<RecordedChange>, HistoryError>;
    /// The newest changes first, at most `limit`.
    async fn log(&self, touching: &Touching, limit: usize) -> Result<Vec<RecordedChange>, HistoryError>;
    /// The unified diff of a change; without an id, of the changes not recorded yet.
    ///
    /// Errors: [`HistoryError::NoChange`].
    async fn diff(&self, id: Option<&str>) -> Result<String, HistoryError>;
    /// Undoes the changes of a run, and nothing else. The undo is a change of its own by the run `by`, whose id is new;
    /// it can be undone as well. Changes not recorded yet are recorded first, as the person's. None if later changes
    /// left nothing to undo.
    ///
    /// Errors: [`HistoryError::NoRun`], [`HistoryError::Undone`], [`HistoryError::Conflict`],
    /// [`HistoryError::BadRun`], [`HistoryError::Busy`].
    async fn undo(&self, run: &str, by: &Run, at: Timestamp) -> Result<Option<RecordedChange>, HistoryError>;
    /// Stores the history in less space, if that is worth the time. It changes no answer, and other calls wait for it.
    async fn tidy(&self, at: Timestamp) -> Result<(), HistoryError>;
    /// The folder of a scope, or of one owner in it.
    fn folder_of(&self, scope: &Scope, owner: Option<&Owner>) -> VaultPath;
    /// Restarts the history of some folders with their files on disk. `Ok` means that no file of the repository
    /// contains older text of these folders. Changes of other files keep their ids, differences and runs; a change of
    /// both keeps the others. Call it after a deletion. A failed purge stays owed, also to the next process.
    ///
    /// Errors: [`HistoryError::Busy`].
    async fn purge(&self, debts: &[Debt]) -> Result<(), HistoryError>;
    /// Records that a purge is owed, before a deletion, so that a process that dies before its own purge leaves nothing
    /// behind. It waits for no other call.
    async fn owe_purge(&self, debt: &Debt) -> Result<(), HistoryError>;
    /// Removes a debt: nothing was deleted.
    async fn forgive(&self, debt: &Debt) -> Result<(), HistoryError>;
    /// The recorded debts.
    async fn owed(&self) -> Result<Vec<Debt>, HistoryError>;
}
