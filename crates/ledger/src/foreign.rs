//! Any `SQLite` file of another program, read by a query of its importer.
//!
//! Owns: opening it read-only. Never: the query, or the meaning of the rows.

use std::path::Path;

use ports::LedgerError;
use rusqlite::{Connection, OpenFlags};

use crate::failure::{Failure, LedgerResult};

/// Passes the first column of each row to `take`, while `take` returns true.
pub fn values(path: &Path, query: &str, take: &mut dyn FnMut(String) -> bool) -> Result<(), LedgerError> {
    Ok(texts(path, query, take)?)
}

fn texts(path: &Path, query: &str, take: &mut dyn FnMut(String) -> bool) -> LedgerResult<()> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(Failure::Sql)?;
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()?
        && take(row.get(0)?)
    {}
    Ok(())
}
