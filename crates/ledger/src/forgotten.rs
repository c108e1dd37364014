//! Messages and titles that a sweep deleted and an append leaves out.
//!
//! Owns: the digests of deleted client ids and titles. Never: the ids or titles themselves.

use rusqlite::Connection;
use sha2::{Digest, Sha256};

use crate::failure::LedgerResult;
use crate::forgotten_words;
use crate::row::SessionRows;
use crate::statement::Statements as _;

/// Records the words and client ids of messages that are about to be deleted together.
pub(crate) fn note(connection: &Connection, messages: impl IntoIterator<Item = i64>) -> LedgerResult<()> {
    let sql = "SELECT sessions.scope, sessions.name, client_id
        FROM messages JOIN sessions ON sessions.id = messages.session
        WHERE seq = ?1 AND client_id IS NOT NULL";
    for seq in messages {
        forgotten_words::note(connection, seq)?;
        connection.one(sql, [seq], |row| {
            let (name, client_id): (String, String) = (row.get(1)?, row.get(2)?);
            insert(connection, row.get(0)?, &digest(&name, Some(&client_id)))
        })?;
    }
    Ok(())
}

/// Records that a session lost its title, if it has one.
pub(crate) fn note_title(connection: &Connection, session: i64) -> LedgerResult<()> {
    let sql = "SELECT scope, name FROM sessions WHERE id = ?1 AND title IS NOT NULL";
    let titled: Option<(i64, String)> =
        connection.one(sql, [session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match titled {
        Some((scope, name)) => insert(connection, scope, &digest(&name, None)),
        None => Ok(()),
    }
}

/// Whether a message with this client id was deleted from a session.
pub(crate) fn has_message(
    connection: &Connection,
    scope: i64,
    session: &str,
    client_id: Option<&str>,
) -> LedgerResult<bool> {
    Ok(client_id.is_some() && is_noted(connection, scope, session, client_id)?)
}

/// Whether a client id of a session was deleted; without a client id, whether its title was.
pub(crate) fn is_noted(
    connection: &Connection,
    scope: i64,
    session: &str,
    client_id: Option<&str>,
) -> LedgerResult<bool> {
    let sql = "SELECT 1 FROM forgotten WHERE scope = ?1 AND digest = ?2";
    connection.has(sql, (scope, digest(session, client_id)))
}

/// Deletes the record that a client id of a session was deleted; without a client id, that its title was.
pub(crate) fn strike(
    connection: &Connection,
    scope: i64,
    session: &str,
    client_id: Option<&str>,
) -> LedgerResult<()> {
    let sql = "DELETE FROM forgotten WHERE scope = ?1 AND digest = ?2";
    connection.run(sql, (scope, digest(session, client_id)))
}

/// Removes the row of a session that an append created and left empty: its next ordinal is still 0.
pub(crate) fn drop_empty(connection: &Connection, place: SessionRows, ordinal: i64) -> LedgerResult<()> {
    if ordinal > 0 {
        return Ok(());
    }
    let sql = "DELETE FROM sessions WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM events WHERE session = ?1)
        AND NOT EXISTS (SELECT 1 FROM jobs WHERE session = ?1)";
    connection.run(sql, [place.session])
}

fn insert(connection: &Connection, scope: i64, digest: &[u8; 32]) -> LedgerResult<()> {
    let sql = "INSERT INTO forgotten (scope, digest) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    connection.run(sql, (scope, digest))
}

/// The length separates a session's name from the text after it.
fn digest(session: &str, client_id: Option<&str>) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((session.len() as u64).to_le_bytes());
    hash.update(session);
    hash.update([u8::from(client_id.is_some())]);
    hash.update(client_id.unwrap_or_default());
    hash.finalize().into()
}
