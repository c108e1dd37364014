//! Room on a disk, and why a write found none.
//!
//! Owns: the difference between a full and a read-only disk. Never: queries to a file system; the vault makes
//! them.

use std::error::Error;
use std::io::{self, ErrorKind};

/// Why a disk accepts no writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// No space, no file or no quota is left.
    #[error("the disk is full")]
    Full,
    /// The file system is mounted read-only.
    #[error("the disk is read-only")]
    ReadOnly,
}

impl NoRoom {
    /// The reason, if an error or one of its causes is an [`io::Error`] with that meaning. Every adapter
    /// keeps such a cause.
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(why) = error.downcast_ref::<io::Error>().and_then(Self::of_io) {
                return Some(why);
            }
            cause = error.source();
        }
        None
    }

    /// The same for the error alone, without its causes.
    pub fn of_io(error: &io::Error) -> Option<Self> {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some(Self::Full),
            ErrorKind::ReadOnlyFilesystem => Some(Self::ReadOnly),
            _ => None,
        }
    }

    /// An error that [`Self::of`] recognises, with its cause.
    pub fn because(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
        let kind = match self {
            Self::Full => ErrorKind::StorageFull,
            Self::ReadOnly => ErrorKind::ReadOnlyFilesystem,
        };
        io::Error::new(kind, cause)
    }
}

/// A file system's own report of its room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// A folder on it.
    pub path: String,
    /// Bytes that this process can still write.
    pub free_bytes: u64,
    pub total_bytes: u64,
    pub is_read_only: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] Box<dyn Error + Send + Sync>);

    #[test]
    fn a_reason_is_found_at_any_depth_and_no_other_error_is_one() {
        for why in [NoRoom::Full, NoRoom::ReadOnly] {
            let deep = Outer(Box::new(Outer(Box::new(why.because("inner")))));
            assert_eq!(NoRoom::of(&deep), Some(why));
        }
        let quota = io::Error::from(ErrorKind::QuotaExceeded);
        assert_eq!(NoRoom::of(&Outer(Box::new(quota))), Some(NoRoom::Full));
        let other = io::Error::from(ErrorKind::PermissionDenied);
        assert_eq!(NoRoom::of(&Outer(Box::new(other))), None);
    }
}
