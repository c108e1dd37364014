//! The objects that a model server stores, with their owners.
//!
//! Owns: the rows of the objects' ids. Never: the objects.

use model::{Owner, Scope};
use ports::OBJECTS_MAX;
use rusqlite::Connection;

use crate::failure::LedgerResult;
use crate::row::{count, kind_number, make_scope, scope_row};
use crate::statement::Statements as _;

pub(crate) const OWNED: &str =
    "SELECT 1 FROM objects WHERE scope = ?1 AND owner_kind = ?2 AND owner = ?3 AND id = ?4";

pub(crate) fn record(
    connection: &Connection,
    scope: &Scope,
    owner: &Owner,
    ids: &[String],
) -> LedgerResult<()> {
    let scope = make_scope(connection, scope)?;
    let (kind, name) = (kind_number(owner.kind), owner.id.as_str());
    for id in ids {
        let sql = "INSERT INTO objects (scope, owner_kind, owner, id) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
        connection.run(sql, (scope, kind, name, id))?;
    }
    let sql = "DELETE FROM objects WHERE scope = ?1 AND owner_kind = ?2 AND owner = ?3 AND seq <=
        (SELECT seq FROM objects WHERE scope = ?1 AND owner_kind = ?2 AND owner = ?3
         ORDER BY seq DESC LIMIT 1 OFFSET ?4)";
    connection.run(sql, (scope, kind, name, count(OBJECTS_MAX)))
}

pub(crate) fn owned(
    connection: &Connection,
    scope: &Scope,
    owner: &Owner,
    ids: Vec<String>,
) -> LedgerResult<Vec<String>> {
    let Some(scope) = scope_row(connection, scope)? else {
        return Ok(Vec::new());
    };
    let mut owned = Vec::with_capacity(ids.len());
    for id in ids {
        let wanted = (scope, kind_number(owner.kind), owner.id.as_str(), &id);
        if connection.has(OWNED, wanted)? {
            owned.push(id);
        }
    }
    Ok(owned)
}

/// Deletes the ids recorded for an owner.
pub(crate) fn delete(connection: &Connection, scope: &Scope, owner: &Owner) -> LedgerResult<()> {
    if let Some(scope) = scope_row(connection, scope)? {
        let sql = "DELETE FROM objects WHERE scope = ?1 AND owner_kind = ?2 AND owner = ?3";
        connection.run(sql, (scope, kind_number(owner.kind), owner.id.as_str()))?;
    }
    Ok(())
}
