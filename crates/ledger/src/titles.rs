//! The titles of sessions.
//!
//! Owns: setting and deleting them. Never: the form of a title.

use model::SessionKey;
use rusqlite::Connection;

use crate::failure::LedgerResult;
use crate::row::{make_scope, place_of, session_row};
use crate::statement::Statements as _;
use crate::{forgotten, sweep};

pub(crate) fn entitle(
    connection: &Connection,
    session: &SessionKey,
    title: &str,
    accept_forgotten: bool,
) -> LedgerResult<()> {
    let scope = make_scope(connection, &session.scope)?;
    if accept_forgotten {
        forgotten::strike(connection, scope, session.session.as_str(), None)?;
    } else if forgotten::is_noted(connection, scope, session.session.as_str(), None)? {
        return Ok(());
    }
    if title.is_empty() {
        return untitle(connection, session);
    }
    let place = place_of(connection, session)?;
    let sql = "UPDATE sessions SET title = ?2 WHERE id = ?1 AND title IS NOT ?2";
    connection.run(sql, (place.session, title))
}

fn untitle(connection: &Connection, session: &SessionKey) -> LedgerResult<()> {
    let Some(session) = session_row(connection, session)? else {
        return Ok(());
    };
    forgotten::note_title(connection, session)?;
    connection.run("UPDATE sessions SET title = NULL WHERE id = ?1", [session])?;
    sweep::erase_bytes(connection)
}

pub(crate) fn title(connection: &Connection, session: &SessionKey) -> LedgerResult<Option<String>> {
    let Some(session) = session_row(connection, session)? else {
        return Ok(None);
    };
    connection.value("SELECT title FROM sessions WHERE id = ?1", [session])
}
