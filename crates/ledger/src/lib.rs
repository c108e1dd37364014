//! The ledger in `SQLite`: event logs, buffers, memcells, jobs with leases, the file-change ledger,
//! conversations, and background runs.
//!
//! Owns: the database file, its schema and its durability; the only crate that names `SQLite`. Never:
//! choosing the cuts of a conversation, or the work of a job. `docs/internals/ledger.md` describes the tables
//! and their invariants.
//!
//! Reading order: [`writer`] (one thread, one commit for all waiting callers), [`readers`], [`deferred`] (a full
//! or read-only disk), [`schema`], [`row`] (values and rows), [`port`] (a method of a port), [`transcripts`],
//! [`open`] and [`titles`], [`sweep`] and [`scrub`] (forgetting, in rows and in bytes), [`forgotten`] and
//! [`forgotten_words`] (deletions that last), [`carried`] (exports), [`jobs`], [`changes`], [`history`],
//! [`conversations`] and [`packing`], [`objects`], [`runs`]; [`backup`] copies the file, [`copies`] each day,
//! [`foreign`] reads another program's.

mod backup;
mod carried;
mod changes;
mod conversations;
mod copied;
mod copies;
mod deferred;
mod failure;
pub mod foreign;
mod forgotten;
mod forgotten_words;
mod history;
mod jobs;
mod objects;
mod open;
mod packing;
mod port;
mod readers;
mod row;
mod runs;
mod schema;
mod scrub;
mod statement;
mod sweep;
mod titles;
mod transcripts;
mod writer;

#[cfg(test)]
mod tests;

#[cfg(unix)]
use std::fs::Permissions;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ports::LedgerError;

use copies::Copies;
use deferred::DeferredWriter;

/// Quipu has one writer; the timeout covers a tool that a person runs on the file, and a moment of recovery.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The ledger ports on one database file. Dropping it finishes the queued work and frees the file.
#[derive(Debug)]
pub struct SqliteLedger {
    copies: Arc<Copies>,
    database: DeferredWriter,
}

impl SqliteLedger {
    /// Whether a process has the ledger at `path` open.
    pub fn is_open(path: &Path) -> bool {
        let lock = File::open(path.with_extension("lock"));
        // A shared lock does not block other processes that only check.
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Whether the file is another program's database. Creates no file next to it.
    pub fn is_foreign(path: &Path) -> bool {
        let is_foreign = |ledger| matches!(schema::check(&ledger), Err(failure::Failure::Foreign));
        !Self::is_open(path) && readers::frozen(path).is_ok_and(is_foreign)
    }

    /// Opens the ledger at `path`, as in `<root>/ledger.db`, and creates or upgrades it if needed. One
    /// process may have it open; the lock is `ledger.lock` next to it. On a full or read-only disk it can be
    /// read; a write fails until the disk accepts it.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        let copies = Arc::new(Copies::of(path));
        let database = DeferredWriter::open(path, copies.clone())?;
        Ok(Self { copies, database })
    }
}

/// Only the owner of the memory may read the files, also those that an earlier version left readable to
/// others. SQLite gives its files next to the database the database's mode.
#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let mut options = File::options();
    drop(options.create(true).append(true).mode(0o600).open(path)?);
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        let file = Path::new(&file);
        let is_open = |about: std::fs::Metadata| about.permissions().mode() & 0o077 != 0;
        if file.metadata().is_ok_and(is_open) {
            std::fs::set_permissions(file, Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> io::Result<()> {
    Ok(())
}
