//! Statements of a connection in one call each.
//!
//! Owns: that each is prepared once. Never: the text of a statement.

use rusqlite::types::FromSql;
use rusqlite::{CachedStatement, Connection, Params, Row};

use crate::failure::LedgerResult;

/// Statements that stay prepared.
pub(crate) trait Statements {
    fn prepared(&self, sql: &str) -> LedgerResult<CachedStatement<'_>>;

    /// Runs a statement.
    fn run(&self, sql: &str, params: impl Params) -> LedgerResult<()> {
        self.changed(sql, params).map(drop)
    }

    /// Runs a statement; returns the number of changed rows.
    fn changed(&self, sql: &str, params: impl Params) -> LedgerResult<usize> {
        Ok(self.prepared(sql)?.execute(params)?)
    }

    /// Inserts a row; returns its id.
    fn insert(&self, sql: &str, params: impl Params) -> LedgerResult<i64> {
        Ok(self.prepared(sql)?.insert(params)?)
    }

    /// Whether there is a row.
    fn has(&self, sql: &str, params: impl Params) -> LedgerResult<bool> {
        Ok(self.prepared(sql)?.exists(params)?)
    }

    /// Reads the row of a statement that always has one.
    fn only<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> LedgerResult<T> {
        Ok(self.prepared(sql)?.query_row(params, read)?)
    }

    /// Reads the value of a statement that always has one.
    fn value<T: FromSql>(&self, sql: &str, params: impl Params) -> LedgerResult<T> {
        self.only(sql, params, |row| row.get(0))
    }

    /// Reads the value in the first row, if there is one.
    fn first<T: FromSql>(&self, sql: &str, params: impl Params) -> LedgerResult<Option<T>> {
        self.one(sql, params, |row| Ok(row.get(0)?))
    }

    /// Reads the first row, if there is one.
    fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> LedgerResult<T>,
    ) -> LedgerResult<Option<T>> {
        let mut statement = self.prepared(sql)?;
        let mut rows = statement.query(params)?;
        rows.next()?.map(read).transpose()
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
