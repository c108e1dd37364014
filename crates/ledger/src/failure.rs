//! Why a statement did not do its work, inside this crate.
//!
//! Owns: the way from `SQLite`'s errors to the port's. Never: shown to a caller.

use std::sync::Arc;

use ports::LedgerError;

/// What a piece of work on a connection may end with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// As [`LedgerError::Conflict`].
    #[error("the session changed; read it again")]
    Conflict,
    /// As [`LedgerError::OtherOwner`].
    #[error("the conversation belongs to another owner")]
    OtherOwner,
    /// `SQLite` refused.
    #[error("sqlite failed")]
    Sql(#[from] rusqlite::Error),
    /// The transaction that the work was part of could not be committed.
    #[error("the commit failed")]
    Commit(#[source] Arc<Failure>),
    /// `SQLite` gave the transaction up in the middle.
    #[error("sqlite rolled the transaction back")]
    RolledBack,
    /// A value does not fit into a row, or a row is none that this program wrote.
    #[error("a row and its value do not match: {0}")]
    Row(String),
    /// The file system refused.
    #[error("cannot open the ledger's files")]
    Io(#[from] std::io::Error),
    /// A reader held the log for longer than the writer waits.
    #[error("a reader keeps the log of the ledger busy; try again")]
    LogInUse,
    /// The writer is gone; it ended with the ledger or with a panic.
    #[error("the ledger's writer has stopped")]
    Stopped,
}

pub(crate) type LedgerResult<T> = Result<T, Failure>;

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Row(error.to_string())
    }
}

impl From<Failure> for LedgerError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Conflict => Self::Conflict,
            Failure::OtherOwner => Self::OtherOwner,
            other => Self::Store(Box::new(other)),
        }
    }
}
