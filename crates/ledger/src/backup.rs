//! A copy of the ledger, also of one that another process has open.
//!
//! Owns: that the copy is one state of the database, and whole. Never: where a backup goes, or what else is in it.

use std::path::Path;

use ports::LedgerError;
use rusqlite::{Connection, OpenFlags};

use crate::failure::{Failure, LedgerResult};
use crate::{BUSY_TIMEOUT, SqliteLedger, make_private};

impl SqliteLedger {
    /// Writes a copy of the ledger at `from` to `to`, a new file: everything that was committed before the call, and
    /// nothing that was deleted. The process that has the ledger open goes on meanwhile.
    pub fn copy(from: &Path, to: &Path) -> Result<(), LedgerError> {
        Ok(copy(from, to)?)
    }

    /// Reads a copy from end to end; the error says what is wrong with it.
    pub fn check(copy: &Path) -> Result<(), LedgerError> {
        Ok(check(copy)?)
    }
}

fn copy(from: &Path, to: &Path) -> LedgerResult<()> {
    make_private(to)?;
    // Not for reading alone: without the process that had it open, the log may have to be taken in first.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(from, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let to = to
        .to_str()
        .ok_or_else(|| Failure::Row("the name of the copy is not UTF-8".to_owned()))?;
    connection.execute("VACUUM INTO ?1", [to])?;
    Ok(())
}

fn check(copy: &Path) -> LedgerResult<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(copy, flags)?;
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        Ok(())
    } else {
        Err(Failure::Row(found))
    }
}
