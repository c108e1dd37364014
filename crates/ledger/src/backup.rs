//! A copy of the ledger, also while another process has it open.
//!
//! Owns: that the copy is complete and is one state of the database. Never: the place of a backup, or its
//! other files.

use std::path::Path;

use ports::{LedgerError, NoRoom};
use rusqlite::{Connection, OpenFlags};

use crate::failure::{Failure, LedgerResult};
use crate::{BUSY_TIMEOUT, SqliteLedger, make_private, readers};

impl SqliteLedger {
    /// Writes a copy of the ledger at `from` to `to`, a new file: everything committed before the call, and
    /// nothing deleted. The process that has the ledger open continues meanwhile.
    pub fn copy(from: &Path, to: &Path) -> Result<(), LedgerError> {
        Ok(copy(from, to)?)
    }

    /// Adds the ledger's newer versions to a copy, unsettled: memory files copied meanwhile may have them.
    pub fn copy_newer_history(from: &Path, copy: &Path) -> Result<(), LedgerError> {
        Ok(copy_newer_history(from, copy)?)
    }

    /// Reads a copy from end to end; the error describes the damage.
    pub fn check(copy: &Path) -> Result<(), LedgerError> {
        Ok(check(copy)?)
    }
}

pub(crate) fn copy(from: &Path, to: &Path) -> LedgerResult<()> {
    make_private(to)?;
    let name = to
        .to_str()
        .ok_or_else(|| Failure::Row("the name of the copy is not UTF-8".to_owned()))?;
    let into = |connection: &Connection| -> LedgerResult<()> {
        connection.execute("VACUUM INTO ?1", [name])?;
        Ok(())
    };
    match opened(from).and_then(|connection| into(&connection)) {
        // SQLite needs files next to a database, and a read-only disk accepts none. Without a lock on the
        // ledger nobody writes there.
        Err(failure) if failure.may_be_for_room() && !matches!(failure.no_room(), Some(NoRoom::Full)) => {
            if SqliteLedger::is_open(from) {
                return Err(Failure::InUse);
            }
            let frozen = readers::frozen(from).and_then(|connection| into(&connection));
            frozen.map_err(|_| failure)
        }
        copied => copied,
    }
}

/// Ids of changes and versions only rise, and a row changes only when it is settled.
const NEWER_HISTORY: &str = "BEGIN IMMEDIATE;
    INSERT INTO main.changes SELECT * FROM live.changes WHERE id > (SELECT coalesce(max(id), 0) FROM main.changes);
    INSERT OR IGNORE INTO main.versioned_files (path, app, project, owner_kind, owner)
      SELECT path, app, project, owner_kind, owner FROM live.versioned_files;
    INSERT INTO main.versions
      SELECT new.id, file.id, entry, change, session, before, after, bytes, body, 1
      FROM live.versions AS new JOIN live.versioned_files AS there ON there.id = new.file
      JOIN main.versioned_files AS file ON file.path = there.path
      WHERE new.id > (SELECT coalesce(max(id), 0) FROM main.versions);
    COMMIT;";

fn copy_newer_history(from: &Path, copy: &Path) -> LedgerResult<()> {
    let connection = opened(copy)?;
    // A ledger of an earlier version has no history.
    if !connection.table_exists(Some("main"), "versions")? {
        return Ok(());
    }
    match connection
        .execute("ATTACH ?1 AS live", [from.to_str()])
        .map_err(Failure::from)
    {
        // A ledger on a read-only disk has no newer versions.
        Err(failure) if failure.may_be_for_room() => Ok(()),
        attached => {
            attached?;
            Ok(connection.execute_batch(NEWER_HISTORY)?)
        }
    }
}

fn opened(from: &Path) -> LedgerResult<Connection> {
    // Read-only does not suffice: if the process with the open ledger is gone, SQLite may have to recover the
    // log first.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(from, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

pub(crate) fn check(copy: &Path) -> LedgerResult<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(copy, flags)?;
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        Ok(())
    } else {
        Err(Failure::Row(found))
    }
}
