//! Messages without a memory file, over all tenants.
//!
//! Owns: finding their sessions and users, and counting. Never: the messages themselves.

use std::collections::BTreeMap;

use model::{Owner, Scope, SessionKey, Timestamp};
use ports::Buffered;
use rusqlite::Connection;

use crate::failure::LedgerResult;
use crate::row::{USER, count, counted, name_at, scope_at, session_key};
use crate::statement::Statements as _;

pub(crate) const BUFFERED: &str =
    "SELECT count(*), coalesce(sum(buffered), 0) FROM sessions WHERE buffered > 0";

pub(crate) const WAITING: &str = "SELECT app, project, waiting.name, count(*) FROM (
      SELECT speakers.scope, speakers.name
        FROM messages CROSS JOIN speakers ON speakers.session = messages.session
        WHERE messages.cell IS NULL AND speakers.kind = ?1
      UNION ALL
      SELECT cell_owners.scope, cell_owners.name
        FROM cell_owners JOIN messages ON messages.cell = cell_owners.cell
        WHERE cell_owners.kind = ?1 AND written = 0
    ) AS waiting
    CROSS JOIN scopes ON scopes.id = waiting.scope GROUP BY waiting.scope, waiting.name";

pub(crate) const OPEN: &str = "SELECT app, project, name, touched
    FROM sessions JOIN scopes ON scopes.id = sessions.scope
    WHERE buffered > 0 ORDER BY touched LIMIT ?1";

const QUIET: &str = "SELECT app, project, name
    FROM sessions JOIN scopes ON scopes.id = sessions.scope
    WHERE touched > 0 AND touched < ?1 ORDER BY touched";

pub(crate) fn waiting(connection: &Connection) -> LedgerResult<BTreeMap<(Scope, Owner), usize>> {
    let waiting = connection.all(WAITING, [USER], |row| {
        let owner = Owner::user(name_at(row, 2)?);
        Ok(((scope_at(row, 0)?, owner), counted(row.get(3)?)))
    })?;
    Ok(waiting.into_iter().collect())
}

pub(crate) fn buffered(connection: &Connection) -> LedgerResult<Buffered> {
    connection.only(BUFFERED, [], |row| {
        Ok(Buffered {
            sessions: counted(row.get(0)?),
            messages: counted(row.get(1)?),
        })
    })
}

pub(crate) fn sessions(connection: &Connection, limit: usize) -> LedgerResult<Vec<(SessionKey, Timestamp)>> {
    connection.all(OPEN, [count(limit)], |row| {
        Ok((session_key(row, 0)?, Timestamp::from_millis(row.get(3)?)))
    })
}

/// Sessions with a last append before that time.
pub(crate) fn quiet(connection: &Connection, before: Timestamp) -> LedgerResult<Vec<SessionKey>> {
    connection.all(QUIET, [before.millis()], |row| session_key(row, 0))
}
