//! Room on a disk, and why a write found none.
//!
//! Owns: the difference between a full and a read-only disk. Never: asking a file system; the vault does.

use std::error::Error;
use std::io::{self, ErrorKind};

/// Why a disk takes no writes.
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
    /// The reason, if an error or one of its causes is an [`io::Error`] that says so. Every adapter keeps such a cause.
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

    /// The same without the causes of an error.
    pub fn of_io(error: &io::Error) -> Option<Self> {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some(Self::Full),
            ErrorKind::ReadOnlyFilesystem => Some(Self::ReadOnly),
            _ => None,
        }
    }

    /// The error that [`Self::of`] reads, with its cause.
    pub fn because(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
        let kind = match self {
            Self::Full => ErrorKind::StorageFull,
            Self::ReadOnly => ErrorKind::ReadOnlyFilesystem,
        };
        io::Error::new(kind, cause)
    }
}

/// What a file system says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// A folder on it.
    pub path: String,
    /// Bytes that this process may still write.
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
