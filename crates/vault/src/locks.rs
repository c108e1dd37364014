//! One writer to a file at a time, in this process and on this machine.
//!
//! Owns: `.locks/` in the vault, a fixed number of empty files that the paths share. Never: a lock held while waiting
//! for another.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};

/// Number of files that can be written at once.
const LOCKS: u64 = 16;

/// The locks of one vault.
#[derive(Debug)]
pub(crate) struct Locks(Vec<Arc<Mutex<File>>>);

/// The lock within the process; [`ProcessTurn::lock`] adds the machine's.
#[derive(Debug)]
pub(crate) struct ProcessTurn(OwnedMutexGuard<File>);

/// The right to write; ends when dropped.
#[derive(Debug)]
pub(crate) struct Locked(OwnedMutexGuard<File>);

impl Locks {
    /// Opens the lock files in a folder of the vault.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let open = |n| {
            options
                .open(folder.join(format!("{n:x}")))
                .map(|file| Arc::new(Mutex::new(file)))
        };
        (0..LOCKS).map(open).collect::<io::Result<_>>().map(Self)
    }

    /// Waits for the process's lock of a path.
    pub(crate) async fn turn(&self, path: &str) -> ProcessTurn {
        ProcessTurn(self.of(path).lock_owned().await)
    }

    /// The same, blocking.
    pub(crate) fn blocking_turn(&self, path: &str) -> ProcessTurn {
        ProcessTurn(self.of(path).blocking_lock_owned())
    }

    fn of(&self, path: &str) -> Arc<Mutex<File>> {
        // The hash is written out here: every version of the program must choose the same lock for a path.
        let hash = path
            .bytes()
            .fold(0u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        let n = usize::try_from(hash % LOCKS).expect("a small number");
        self.0[n].clone()
    }
}

impl ProcessTurn {
    /// Waits, blocking, until no other process writes.
    pub(crate) fn lock(self) -> io::Result<Locked> {
        self.0.lock()?;
        Ok(Locked(self.0))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // The system releases the lock when the file is closed, at the latest.
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "cannot release a lock of the vault");
        }
    }
}
