//! Statements of a connection in one call each.
//!
//! Owns: that each is prepared once. Never: what it says.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};

use crate::failure::LedgerResult;

/// Statements that stay prepared.
pub(crate) trait Statements {
    fn prepared(&self, sql: &str) -> LedgerResult<CachedStatement<'_>>;

    /// Runs a statement; the number of changed rows.
    fn run(&self, sql: &str, params: impl Params) -> LedgerResult<usize> {
        Ok(self.prepared(sql)?.execute(params)?)
    }

    /// Reads the first row, if there is one.
    fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> LedgerResult<Option<T>> {
        Ok(self.prepared(sql)?.query_row(params, read).optional()?)
    }

    /// Reads every row.
    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> LedgerResult<T>,
    ) -> LedgerResult<Vec<T>> {
        let mut statement = self.prepared(sql)?;
        let mut rows = statement.query(params)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(row)?);
        }
        Ok(all)
    }

    /// Reads the number in every row.
    fn numbers(&self, sql: &str, params: impl Params) -> LedgerResult<Vec<i64>> {
        self.all(sql, params, |row| Ok(row.get(0)?))
    }
}

impl Statements for Connection {
    fn prepared(&self, sql: &str) -> LedgerResult<CachedStatement<'_>> {
        Ok(self.prepare_cached(sql)?)
    }
}
