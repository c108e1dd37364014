//! Why a statement did not do its work, inside this crate.
//!
//! Owns: the way from `SQLite`'s errors to the port's. Never: shown to a caller.

use std::sync::Arc;

use ports::{LedgerError, NoRoom};
use rusqlite::ErrorCode;

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
    /// The transaction that the work was part of could not be committed, or what it deleted could not be erased.
    #[error("the ledger could not finish the write")]
    Commit(#[source] Arc<Failure>),
    /// `SQLite` gave the transaction up in the middle.
    #[error("sqlite rolled the transaction back")]
    RolledBack(Option<NoRoom>),
    /// A value does not fit into a row, or a row is none that this program wrote.
    #[error("a row and its value do not match: {0}")]
    Row(String),
    /// The file system refused.
    #[error("cannot open the ledger's files")]
    Io(#[from] std::io::Error),
    /// Copies stay that have deleted text.
    #[error(
        "cannot remove the daily copies of the ledger, which have the deleted text: delete `ledger.daily` in the root"
    )]
    Copies(#[source] std::io::Error),
    /// A reader held the log for longer than the writer waits.
    #[error("a reader keeps the log of the ledger busy; try again")]
    LogInUse,
    /// As [`LedgerError::InUse`].
    #[error("another process uses the ledger")]
    InUse,
    /// As [`LedgerError::NewerVersion`].
    #[error("the ledger has version {found}, this program knows {known}")]
    NewerVersion { found: u32, known: u32 },
    /// A database that this program did not make.
    #[error(
        "`ledger.sqlite` is another program's database, and nothing in it was changed; choose another root"
    )]
    Foreign,
    /// The writer is gone; it ended with the ledger or with a panic.
    #[error("the ledger's writer has stopped")]
    Stopped,
}

pub(crate) type LedgerResult<T> = Result<T, Failure>;

impl Failure {
    /// Whether the disk is full or read-only.
    pub(crate) fn no_room(&self) -> Option<NoRoom> {
        match self {
            Self::Sql(error) => match error.sqlite_error_code()? {
                ErrorCode::DiskFull => Some(NoRoom::Full),
                ErrorCode::ReadOnly => Some(NoRoom::ReadOnly),
                _ => None,
            },
            Self::Io(error) | Self::Copies(error) => NoRoom::of_io(error),
            Self::Commit(cause) => cause.no_room(),
            Self::RolledBack(why) => *why,
            _ => None,
        }
    }

    /// Whether such a disk may be the cause: SQLite cannot make or grow the files beside the database, and says no more.
    pub(crate) fn may_be_for_room(&self) -> bool {
        let code = match self {
            Self::Sql(error) => error.sqlite_error_code(),
            _ => None,
        };
        self.no_room().is_some() || matches!(code, Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure))
    }
}

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
            Failure::InUse => Self::InUse,
            Failure::NewerVersion { found, known } => Self::NewerVersion { found, known },
            other => match other.no_room() {
                Some(why) => Self::Store(Box::new(why.because(other))),
                None => Self::Store(Box::new(other)),
            },
        }
    }
}
