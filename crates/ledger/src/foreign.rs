//! Any `SQLite` file of another program, read by a query of who imports it.
//!
//! Owns: opening it, for reading alone. Never: the query, or what the rows mean.

use std::path::Path;

use ports::LedgerError;
use rusqlite::{Connection, OpenFlags};

use crate::failure::{Failure, LedgerResult};

/// Hands over the first column of each row, until `take` says that it is enough.
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
