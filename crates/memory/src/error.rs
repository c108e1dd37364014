//! Errors of the use cases.
//!
//! Owns: the cases that a caller can tell apart. Never: the text of a door.

use extract::AnswerProblem;
use ports::{
    ChatError, EmbedError, IndexError, LedgerError, NoRoom, ReadError, RunId, VaultError, VaultPath,
};

/// Errors of the use cases.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The thing does not exist.
    #[error("{what} `{id}` does not exist")]
    NotFound { what: &'static str, id: String },
    /// The request cannot be served as it is.
    #[error("{0}")]
    Invalid(String),
    /// The request has more text than one item of memory may have.
    #[error("{0}")]
    TooLarge(String),
    /// The state of the thing does not allow the request.
    #[error("{0}")]
    Unfit(String),
    /// The session or the system has too much unfinished work; try again later.
    #[error("too many unfinished tasks ({pending}): try again in a moment")]
    Saturated { pending: usize },
    /// The engine is shutting down.
    #[error("quipu is shutting down")]
    Stopping,
    /// A fault of the program, which continues; the log gets the panic's message.
    #[error("the task panicked: {0}")]
    Panicked(String),
    #[error("ledger operation failed")]
    Ledger(#[from] LedgerError),
    #[error("vault operation failed")]
    Vault(#[from] VaultError),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error("index operation failed")]
    Index(#[from] IndexError),
    #[error("embedding failed")]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl EngineError {
    pub(crate) fn invalid(problem: &str) -> Self {
        Self::Invalid(problem.to_owned())
    }

    pub(crate) fn not_found(what: &'static str, id: &impl ToString) -> Self {
        let id = id.to_string();
        Self::NotFound { what, id }
    }

    /// Why the disk took no write, if that is the cause.
    pub fn no_room(&self) -> Option<NoRoom> {
        NoRoom::of(self)
    }
}

/// Errors of the history. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
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
    /// The text before the run is not kept.
    #[error("cannot undo `{run}`: the history does not have the text that `{path}` had before")]
    Unkept { run: RunId, path: VaultPath },
}

/// Why there is no result from the model.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// No model is configured.
    #[error("there is no chat model")]
    NoModel,
    /// It may answer later.
    #[error("the chat model did not answer")]
    Unavailable(#[source] ChatError),
    /// It will never answer this.
    #[error("the chat model refused")]
    Refused(#[source] ChatError),
    /// All of its answers were unusable.
    #[error("the chat model's answers are unusable")]
    Unusable(#[source] AnswerProblem),
}

/// Why an attempt failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Model(#[from] Trouble),
    /// A part of the segment was deleted during extraction.
    #[error("the segment changed while it was written; it is written again")]
    Changed,
    #[error("the job panicked: {0}")]
    Panic(String),
}

impl From<LedgerError> for JobError {
    fn from(error: LedgerError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<VaultError> for JobError {
    fn from(error: VaultError) -> Self {
        Self::Engine(error.into())
    }
}
