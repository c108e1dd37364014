//! Locks for a process that copies a vault's files while other processes write to them.
//!
//! Owns: that a file is copied between two writes, never in the middle of one. Never: the choice of files, or
//! their destination.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::locks::Locks;
use crate::vault::LOCKS;

/// The locks of the vault in a folder.
#[derive(Debug)]
pub struct FileTurns(Option<Locks>);

impl FileTurns {
    /// The locks of a vault; none if it has no lock files or its disk is read-only, since then nobody writes.
    pub fn open(vault: &Path) -> io::Result<Self> {
        match Locks::open(&vault.join(LOCKS)) {
            Ok(locks) => Ok(Self(Some(locks))),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ReadOnlyFilesystem) => {
                Ok(Self(None))
            }
            Err(error) => Err(error),
        }
    }

    /// Waits, blocking, until no process writes to a file of the vault. The result blocks writes until it is dropped.
    pub fn wait(&self, path: &str) -> io::Result<impl Sized + use<>> {
        let lock = self.0.as_ref().map(|locks| locks.blocking_turn(path).lock());
        lock.transpose()
    }
}
