//! Statements of a connection in one call each.
//!
//! Owns: that each is prepared once. Never: what it says.

use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::failure::LedgerResult;

/// Statements that stay prepared.
pub(crate) trait Statements {
    /// Runs a statement; the number of changed rows.
    fn run(&self, sql: &str, params: impl Params) -> LedgerResult<usize>;

    /// Reads the first row, if there is one.
    fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> LedgerResult<Option<T>>;

    /// Reads every row.
    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> LedgerResult<T>,
    ) -> LedgerResult<Vec<T>>;
}

impl Statements for Connection {
    fn run(&self, sql: &str, params: impl Params) -> LedgerResult<usize> {
        Ok(self.prepare_cached(sql)?.execute(params)?)
    }

    fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> LedgerResult<Option<T>> {
        Ok(self.prepare_cached(sql)?.query_row(params, read).optional()?)
    }

    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> LedgerResult<T>,
    ) -> LedgerResult<Vec<T>> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(row)?);
        }
        Ok(all)
    }
}
