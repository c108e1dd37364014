//! Errors of statements, inside this crate.
//!
//! Owns: the conversion of `SQLite`'s errors into the port's. Never: an error that callers see.

use std::sync::Arc;

use ports::{LedgerError, NoRoom};
use rusqlite::ErrorCode;

/// An error of work on a connection.
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
    /// The commit of the transaction failed, or deleted text could not be erased.
    #[error("the ledger could not finish the write")]
    Commit(#[source] Arc<Failure>),
    /// `SQLite` rolled the transaction back in the middle.
    #[error("sqlite rolled the transaction back")]
    RolledBack(Option<NoRoom>),
    /// A value does not fit into a row, or this program did not write the row.
    #[error("a row and its value do not match: {0}")]
    Row(String),
    /// The file system refused.
    #[error("cannot open the ledger's files")]
    Io(#[from] std::io::Error),
    /// Copies with deleted text remain.
    #[error(
        "cannot remove the daily copies of the ledger, which have the deleted text: delete `ledger.daily` in the root"
    )]
    Copies(#[source] std::io::Error),
    /// A reader used the log for longer than the writer waits.
    #[error("a reader keeps the log of the ledger busy; try again")]
    LogInUse,
    /// As [`LedgerError::InUse`].
    #[error("another process uses the ledger")]
    InUse,
    /// As [`LedgerError::NewerVersion`].
    #[error("the ledger has version {found}, this program knows {known}")]
    NewerVersion { found: u32, known: u32 },
    /// Another program made the database.
    #[error(
        "`ledger.sqlite` is another program's database, and nothing in it was changed; choose another root"
    )]
    Foreign,
    /// The writer thread ended, with the ledger or with a panic.
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

    /// Whether a full or read-only disk may be the cause: SQLite cannot create or grow the files next to the
    /// database, and gives no other reason.
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
