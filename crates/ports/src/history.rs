//! The vault's own history as a port: what changed, when, by whom and why, and the way back.
//!
//! Owns: what a history promises. Never: deciding when something is recorded, or what is forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use model::{EntryId, Owner, Scope, Timestamp};

use crate::vault::VaultPath;

/// The id of a recorded change: hexadecimal; its beginning will do where no other begins so.
pub type ChangeId = Arc<str>;

/// The id of a background run, `r_…`: printable text without spaces.
pub type RunId = Arc<str>;

/// Why the history could not do it. Nothing was changed, unless the error is of the disk.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The folder has a git repository that Quipu did not make, and never touches.
    #[error("`{path}` is a git repository that Quipu did not make: move it away, and Quipu makes its own")]
    NotOurs { path: String },
    /// A person's git is at work in the folder; another try may succeed.
    #[error("git is at work in the vault: {what}")]
    Busy { what: String },
    /// There is no such change.
    #[error("the history has no change `{id}`")]
    NoChange { id: String },
    /// No change was made by such a run.
    #[error("the history has no run `{run}`")]
    NoRun { run: RunId },
    /// The run is taken back already; taking back the one that did brings it again.
    #[error("`{run}` is taken back already, by `{by}`")]
    Undone { run: RunId, by: RunId },
    /// What the run changed was changed again since: take that back first, or edit these files by hand.
    #[error("`{run}` cannot be taken back, because later changes touch the same entries of {}", paths.join(", "))]
    Conflict { run: RunId, paths: Vec<VaultPath> },
    /// A run's id is no printable text without spaces.
    #[error("`{run}` is no id of a run")]
    BadRun { run: RunId },
    /// The repository cannot be read or written. Memory is whole without it: moved away, it begins anew.
    #[error("the history in `{path}` is damaged")]
    Damaged {
        path: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The disk failed, is full, or may not be written to; another try finishes what was begun.
    #[error("cannot write or read `{path}`")]
    Io {
        path: String,
        #[source]
        source: std::io::Error,
    },
}

/// A background run, as told in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    /// What ran: a strategy's name.
    pub strategy: String,
    /// Why it ran, for people; kept as one line.
    pub reason: String,
}

/// Whose changes are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    /// A person who edited files, called as git is told to call them, else `hand`.
    Person,
    /// Quipu, in the background.
    Run(Run),
}

/// What a change takes of all that differs on disk; the rest is left to the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Part {
    /// Everything.
    #[default]
    All,
    /// Whole files.
    Files(BTreeSet<VaultPath>),
    /// Entries of files, as they stand there now. What else was changed in such a file is not taken, but that all of it
    /// is left where the two cannot be told apart.
    Entries(BTreeMap<VaultPath, BTreeSet<EntryId>>),
}

/// Who made a recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// A person, by editing files or with git.
    Person { name: String },
    /// Quipu, in the background.
    Run {
        run: Run,
        /// The run that this one took back.
        undoes: Option<RunId>,
    },
    /// Quipu, where a purge made the history begin anew.
    Purge,
}

/// A recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    pub id: ChangeId,
    /// To the second.
    pub at: Timestamp,
    pub by: By,
    /// One line that tells what changed, made from the difference itself.
    pub subject: String,
    /// Sorted. A name that is no UTF-8 is shown as well as may be.
    pub files: Vec<VaultPath>,
}

/// A purge that is owed for something that is forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Debt {
    /// A number that no other debt has.
    pub id: u64,
    /// The folder in which it stood; all of the vault when empty.
    pub below: VaultPath,
    /// When it was asked for.
    pub at: Timestamp,
}

impl Debt {
    /// Whether something stands below the folder.
    pub fn concerns(&self, path: &str) -> bool {
        let rest = path.strip_prefix(&*self.below);
        self.below.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Which changes a log shows: those that touch what this names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Touching {
    /// Anything.
    #[default]
    All,
    /// A file, or something below a folder.
    Path(VaultPath),
    /// The files of an owner.
    Owner(Scope, Owner),
    /// The files of a scope, and no other file: what its tenant may see.
    Alone(Scope),
}

/// The history of a vault, as a git repository in its folder that a person may use too. Calls are serialised, across
/// processes too. What is recorded is what stands on disk: files whose names begin with `.`, `#` or `~` are left
/// out, links are kept as links. Times are the caller's.
#[async_trait]
pub trait History: Send + Sync + std::fmt::Debug {
    /// Records what of a part changed on disk since the last change as one, none if nothing did. Record the person's
    /// changes before a run starts, and the run's when it ends.
    ///
    /// Errors: [`HistoryError::BadRun`], [`HistoryError::Busy`].
    async fn commit(
        &self,
        author: &Author,
        part: &Part,
        at: Timestamp,
    ) -> Result<Option<RecordedChange>, HistoryError>;
    /// The newest changes first, at most `limit`.
    async fn log(&self, touching: &Touching, limit: usize) -> Result<Vec<RecordedChange>, HistoryError>;
    /// What a change changed as a unified diff; without an id, what is not recorded yet.
    ///
    /// Errors: [`HistoryError::NoChange`].
    async fn diff(&self, id: Option<&str>) -> Result<String, HistoryError>;
    /// Takes back what a run changed, and nothing else, as a change of its own by the run `by`, whose id is new and which can
    /// be taken back as well. What is not recorded yet is recorded first, as the person's. None if later changes had taken back
    /// all of it.
    ///
    /// Errors: [`HistoryError::NoRun`], [`HistoryError::Undone`], [`HistoryError::Conflict`],
    /// [`HistoryError::BadRun`], [`HistoryError::Busy`].
    async fn undo(&self, run: &str, by: &Run, at: Timestamp) -> Result<Option<RecordedChange>, HistoryError>;
    /// Stores what is recorded in less space, where that is worth the time. It changes no answer, and other calls wait for it.
    async fn tidy(&self, at: Timestamp) -> Result<(), HistoryError>;
    /// The folder of a scope, or of one owner in it.
    fn folder_of(&self, scope: &Scope, owner: Option<&Owner>) -> VaultPath;
    /// Makes the history of some folders begin anew with what stands there: `Ok` means that nothing from before is in any
    /// file of the repository. Changes of other files keep their ids, differences and runs; a change of both keeps the
    /// others. To be called after something was forgotten. What fails is owed, also to the next process.
    ///
    /// Errors: [`HistoryError::Busy`].
    async fn purge(&self, debts: &[Debt]) -> Result<(), HistoryError>;
    /// Writes down that a purge is owed, before something is forgotten: also a process that dies before its own purge leaves
    /// nothing behind. It waits for no other call.
    async fn owe_purge(&self, debt: &Debt) -> Result<(), HistoryError>;
    /// Strikes a debt out: nothing was forgotten.
    async fn forgive(&self, debt: &Debt) -> Result<(), HistoryError>;
    /// The debts that are written down.
    async fn owed(&self) -> Result<Vec<Debt>, HistoryError>;
}
