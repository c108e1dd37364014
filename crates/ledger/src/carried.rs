//! Messages and deletions that an export carries from one ledger to another.
//!
//! Owns: reading and adopting them. Never: the memories themselves.

use std::collections::BTreeSet;

use model::{CutReason, MessageId, Scope};
use ports::{Carried, NewMessage, WrittenCell};
use rusqlite::Connection;

use crate::failure::LedgerResult;
use crate::row::{SessionRows, kind_number, make_scope, place_of, scope_row};
use crate::statement::Statements as _;
use crate::{forgotten, forgotten_words, sweep, transcripts};

pub(crate) const CLIENT_ID: &str =
    "SELECT client_id FROM messages WHERE scope = ?1 AND id = ?2 AND client_id IS NOT NULL";

pub(crate) const FORGOTTEN: &str = "SELECT lower(hex(digest)) FROM forgotten WHERE scope = ?1";

pub(crate) fn carried(connection: &Connection, scope: &Scope, ids: &[MessageId]) -> LedgerResult<Carried> {
    let mut carried = Carried::default();
    let Some(scope) = scope_row(connection, scope)? else {
        return Ok(carried);
    };
    for id in ids {
        let client_id = connection.first(CLIENT_ID, (scope, id.as_str()))?;
        carried
            .client_ids
            .extend(client_id.map(|client_id| (id.clone(), client_id)));
    }
    let digests = connection.all(FORGOTTEN, [scope], |row| Ok(row.get(0)?))?;
    carried.forgotten.extend(digests);
    Ok(carried)
}

pub(crate) fn adopt(
    connection: &Connection,
    scope: &Scope,
    cells: Vec<WrittenCell>,
    forgotten: &BTreeSet<String>,
) -> LedgerResult<()> {
    for cell in cells {
        adopt_cell(connection, cell)?;
    }
    let scope = make_scope(connection, scope)?;
    for digest in forgotten {
        let sql = "INSERT INTO forgotten (scope, digest) VALUES (?1, unhex(?2)) ON CONFLICT DO NOTHING";
        connection.run(sql, (scope, digest))?;
    }
    Ok(())
}

fn adopt_cell(connection: &Connection, cell: WrittenCell) -> LedgerResult<()> {
    let place = place_of(connection, &cell.session)?;
    let sql = "INSERT INTO cells (id, session, reason) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    connection.run(sql, (cell.id.as_str(), place.session, CutReason::Flush.as_str()))?;
    let sql = "SELECT seq FROM cells WHERE id = ?1 AND session = ?2";
    let row: Option<i64> = connection.first(sql, (cell.id.as_str(), place.session))?;
    let sql = "SELECT next_ordinal, buffered > 0 FROM sessions WHERE id = ?1";
    let (mut ordinal, is_open): (i64, bool) =
        connection.only(sql, [place.session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if let Some(row) = row {
        for new in cell.messages {
            if !has(connection, place, &new)? {
                put(connection, place, (row, ordinal), new)?;
                ordinal += 1;
            }
        }
        let owner = (kind_number(cell.owner.kind), cell.owner.id.as_str());
        let sql = "INSERT INTO cell_owners (cell, place, scope, kind, name, written)
            SELECT ?1, coalesce(max(place), -1) + 1, ?2, ?3, ?4, 1 FROM cell_owners WHERE cell = ?1
            HAVING NOT coalesce(max(kind = ?3 AND name = ?4), 0)";
        connection.run(sql, (row, place.scope, owner.0, owner.1))?;
        sweep::drop_if_empty(connection, row)?;
    }
    let sql = "UPDATE sessions SET next_ordinal = ?2 WHERE id = ?1";
    connection.run(sql, (place.session, ordinal))?;
    transcripts::set_open(connection, place.session, is_open)?;
    forgotten::drop_empty(connection, place, ordinal)
}

fn has(connection: &Connection, place: SessionRows, new: &NewMessage) -> LedgerResult<bool> {
    let sql = "SELECT 1 FROM messages WHERE (scope = ?1 AND id = ?2) OR (session = ?3 AND client_id = ?4)";
    let id = new.message.id.as_str();
    connection.has(sql, (place.scope, id, place.session, &new.client_id))
}

/// Stores a message of a segment.
fn put(
    connection: &Connection,
    place: SessionRows,
    (cell, ordinal): (i64, i64),
    new: NewMessage,
) -> LedgerResult<()> {
    let id = new.message.id.clone();
    let content = forgotten_words::content(connection, &new)?;
    transcripts::insert(connection, place, ordinal, new, content)?;
    let sql = "UPDATE messages SET cell = ?1 WHERE scope = ?2 AND id = ?3";
    connection.run(sql, (cell, place.scope, id.as_str()))
}
