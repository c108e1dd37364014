//! Forgetting: the rows that a sweep deletes, and the rows that depend on them.
//!
//! Owns: the meaning of each sweep in rows. Never: other deletions, or leftover bytes in the files (`scrub`).
//!
//! Whole sessions and scopes are deleted by cascade. For single messages and owners, the sweep first finds
//! the doomed messages; then it settles each session that lost some: it deletes empty memcells and sessions,
//! and derives the other columns again.

use std::collections::BTreeSet;

use model::{CellId, MessageId, Owner, OwnerKind, Scope, SessionId};
use ports::{Forgotten, JobKind, Sweep};
use rusqlite::Connection;

use crate::failure::LedgerResult;
use crate::row::{USER, counted, kind_number, scope_row, session_row};
use crate::statement::Statements as _;
use crate::{forgotten, jobs, objects, runs, transcripts};

pub(crate) fn sweep(connection: &Connection, sweep: &Sweep) -> LedgerResult<Forgotten> {
    let changes_before = connection.total_changes();
    let conversations = delete_conversations(connection, sweep)?;
    delete_runs(connection, sweep)?;
    if let Sweep::Owner(scope, owner) = sweep {
        objects::delete(connection, scope, owner)?;
    }
    let forgotten = Forgotten {
        conversations,
        ..delete(connection, sweep)?
    };
    if connection.total_changes() > changes_before {
        erase_bytes(connection)?;
    }
    Ok(forgotten)
}

/// Requests that the rows deleted by this commit be erased from the files as well; the request must be one
/// that erases.
pub(crate) fn erase_bytes(connection: &Connection) -> LedgerResult<()> {
    connection.run("INSERT INTO erasures DEFAULT VALUES", [])
}

/// The row id of a scope, a session and an owner.
type SweepTarget<'a> = (i64, Option<&'a str>, Option<&'a Owner>);

/// The scope, session and owner of a sweep; none for a whole scope, since its rows go by cascade, and for
/// single messages.
fn target_of<'a>(connection: &Connection, sweep: &'a Sweep) -> LedgerResult<Option<SweepTarget<'a>>> {
    let (scope, session, owner) = match sweep {
        Sweep::Session(key) => (&key.scope, Some(&key.session), None),
        Sweep::Owner(scope, owner) => (scope, None, Some(owner)),
        Sweep::OwnerInSession(key, owner) => (&key.scope, Some(&key.session), Some(owner)),
        Sweep::Scope(_) | Sweep::Messages(..) => return Ok(None),
    };
    let scope = scope_row(connection, scope)?;
    Ok(scope.map(|scope| (scope, session.map(SessionId::as_str), owner)))
}

/// Deletes the conversations of a sweep. A scope's conversations go with the scope.
fn delete_conversations(connection: &Connection, sweep: &Sweep) -> LedgerResult<usize> {
    let Some((scope, session, owner)) = target_of(connection, sweep)? else {
        return Ok(0);
    };
    let owner = owner.map(|owner| (kind_number(owner.kind), owner.id.as_str()));
    let sql = match (session, owner) {
        (Some(_), None) => {
            "DELETE FROM conversations WHERE scope = ?1 AND name = ?4 AND ?2 IS NULL AND ?3 IS NULL"
        }
        _ => {
            "DELETE FROM conversations WHERE scope = ?1 AND owner_kind = ?2 AND owner = ?3
               AND (?4 IS NULL OR name = ?4)"
        }
    };
    let (kind, owner) = owner.unzip();
    connection.changed(sql, (scope, kind, owner, session))
}

/// Deletes the background runs of a sweep and the owner's counters. A scope's go with the scope.
fn delete_runs(connection: &Connection, sweep: &Sweep) -> LedgerResult<()> {
    let Some((scope, session, owner)) = target_of(connection, sweep)? else {
        return Ok(());
    };
    let owner = owner.map(|owner| (kind_number(owner.kind), owner.id.as_str()));
    let (kind, name) = owner.unzip();
    let found = match session {
        Some(_) => "scope = ?1 AND session = ?2 AND (?3 IS NULL OR owner_kind = ?3 AND owner = ?4)",
        None => "scope = ?1 AND ?2 IS NULL AND owner_kind = ?3 AND owner = ?4",
    };
    let sql = format!("DELETE FROM runs WHERE {found}");
    let deleted = connection.changed(&sql, (scope, session, kind, name))?;
    if session.is_none() {
        let sql = "DELETE FROM run_counters WHERE scope = ?1 AND owner_kind = ?2 AND owner = ?3";
        connection.run(sql, (scope, kind, name))?;
    }
    if deleted > 0 {
        runs::set_heads(connection)?;
    }
    Ok(())
}

fn delete(connection: &Connection, sweep: &Sweep) -> LedgerResult<Forgotten> {
    match sweep {
        Sweep::Session(key) => match session_row(connection, key)? {
            Some(session) => {
                let all = "SELECT seq FROM messages WHERE session = ?1";
                forgotten::note(connection, connection.numbers(all, [session])?)?;
                forgotten::note_title(connection, session)?;
                delete_with_rows(connection, &SESSION, session)
            }
            None => Ok(Forgotten::default()),
        },
        Sweep::Scope(scope) => match scope_row(connection, scope)? {
            Some(scope) => delete_with_rows(connection, &SCOPE, scope),
            None => Ok(Forgotten::default()),
        },
        Sweep::Owner(scope, owner) => match scope_row(connection, scope)? {
            Some(scope) => erase(connection, &doomed_with(connection, scope, owner, None)?),
            None => Ok(Forgotten::default()),
        },
        Sweep::OwnerInSession(key, owner) => {
            match scope_row(connection, &key.scope)?.zip(session_row(connection, key)?) {
                Some((scope, session)) => {
                    erase(connection, &doomed_with(connection, scope, owner, Some(session))?)
                }
                None => Ok(Forgotten::default()),
            }
        }
        Sweep::Messages(scope, ids) => erase(connection, &doomed_ids(connection, scope, ids)?),
    }
}

/// The statements that delete a whole session or scope, each with its row id as the only parameter.
struct SweepStatements {
    messages: &'static str,
    cells: &'static str,
    delete: &'static str,
}

const SESSION: SweepStatements = SweepStatements {
    messages: "SELECT count(*) FROM events JOIN messages ON messages.seq = events.seq WHERE events.session = ?1",
    cells: "SELECT id FROM cells WHERE session = ?1 ORDER BY id",
    delete: "DELETE FROM sessions WHERE id = ?1",
};

const SCOPE: SweepStatements = SweepStatements {
    messages: "SELECT count(*) FROM messages WHERE scope = ?1",
    cells: "SELECT cells.id FROM sessions JOIN cells ON cells.session = sessions.id
            WHERE sessions.scope = ?1 ORDER BY cells.id",
    delete: "DELETE FROM scopes WHERE id = ?1",
};

fn delete_with_rows(connection: &Connection, whole: &SweepStatements, row: i64) -> LedgerResult<Forgotten> {
    let messages = connection.value(whole.messages, [row])?;
    let cell_ids = connection.all(whole.cells, [row], |row| {
        Ok(CellId::new(row.get::<_, String>(0)?))
    })?;
    connection.run(whole.delete, [row])?;
    Ok(Forgotten {
        messages: counted(messages),
        cells: cell_ids.len(),
        cell_ids,
        conversations: 0,
    })
}

fn doomed_ids(connection: &Connection, scope: &Scope, ids: &[MessageId]) -> LedgerResult<BTreeSet<i64>> {
    let mut doomed = BTreeSet::new();
    if let Some(scope) = scope_row(connection, scope)? {
        for id in ids {
            let sql = "SELECT seq FROM messages WHERE scope = ?1 AND id = ?2";
            doomed.extend(connection.numbers(sql, (scope, id.as_str()))?);
        }
    }
    Ok(doomed)
}

/// Removes the owner from every memcell, or only from those of the given session, and returns the messages to
/// delete: the owner's own, those of memcells without another owner, and buffered ones of sessions without
/// another speaking user.
fn doomed_with(
    connection: &Connection,
    scope: i64,
    owner: &Owner,
    within: Option<i64>,
) -> LedgerResult<BTreeSet<i64>> {
    let named = (scope, kind_number(owner.kind), owner.id.as_str());
    let mut doomed = BTreeSet::new();
    let sessions = "SELECT session FROM speakers WHERE scope = ?1 AND kind = ?2 AND name = ?3";
    let mut sessions = connection.numbers(sessions, named)?;
    sessions.retain(|session| within.is_none_or(|within| *session == within));
    for session in sessions {
        let own = "SELECT messages.seq FROM events JOIN messages ON messages.seq = events.seq
                   WHERE events.session = ?1 AND speaker_kind = ?2 AND speaker = ?3";
        doomed.extend(connection.numbers(own, (session, named.1, named.2))?);
        let others = "SELECT 1 FROM speakers WHERE session = ?1 AND kind = ?2 AND name <> ?3 LIMIT 1";
        if owner.kind == OwnerKind::User && !connection.has(others, (session, USER, named.2))? {
            let buffered = "SELECT seq FROM messages WHERE session = ?1 AND cell IS NULL";
            doomed.extend(connection.numbers(buffered, [session])?);
        }
    }
    let cells = "SELECT DISTINCT cell FROM cell_owners JOIN cells ON cells.seq = cell
                 WHERE scope = ?1 AND kind = ?2 AND name = ?3 AND (?4 IS NULL OR session = ?4)";
    for cell in connection.numbers(cells, (named.0, named.1, named.2, within))? {
        let sql = "DELETE FROM cell_owners WHERE cell = ?1 AND kind = ?2 AND name = ?3";
        connection.run(sql, (cell, named.1, named.2))?;
        let owners = "SELECT 1 FROM cell_owners WHERE cell = ?1 LIMIT 1";
        if !connection.has(owners, [cell])? {
            doomed.extend(connection.numbers("SELECT seq FROM messages WHERE cell = ?1", [cell])?);
        }
    }
    Ok(doomed)
}

fn erase(connection: &Connection, doomed: &BTreeSet<i64>) -> LedgerResult<Forgotten> {
    forgotten::note(connection, doomed.iter().copied())?;
    let mut sessions = BTreeSet::new();
    let mut cells = BTreeSet::new();
    for seq in doomed {
        let sql = "SELECT session, cell FROM messages WHERE seq = ?1";
        let (session, cell): (i64, Option<i64>) =
            connection.only(sql, [seq], |row| Ok((row.get(0)?, row.get(1)?)))?;
        sessions.insert(session);
        cells.extend(cell);
        connection.run("DELETE FROM events WHERE seq = ?1", [seq])?;
    }
    let mut cell_ids = Vec::new();
    for cell in cells {
        cell_ids.extend(drop_if_empty(connection, cell)?);
    }
    for session in sessions {
        settle(connection, session)?;
    }
    cell_ids.sort();
    Ok(Forgotten {
        messages: doomed.len(),
        cells: cell_ids.len(),
        cell_ids,
        conversations: 0,
    })
}

/// Deletes a memcell that lost all its messages, with the job that writes it.
pub(crate) fn drop_if_empty(connection: &Connection, cell: i64) -> LedgerResult<Option<CellId>> {
    let sql = "DELETE FROM cells WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM messages WHERE cell = ?1)
        RETURNING id, session";
    let dropped: Option<(String, i64)> = connection.one(sql, [cell], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some((id, session)) = dropped else {
        return Ok(None);
    };
    let sql = "DELETE FROM jobs WHERE session = ?1 AND kind = ?2 AND subject = ?3";
    connection.run(sql, (session, JobKind::WriteCell.as_str(), &id))?;
    Ok(Some(CellId::new(id)))
}

/// Updates a session's derived columns, or deletes the session if its log is empty.
fn settle(connection: &Connection, session: i64) -> LedgerResult<()> {
    let has_events = "SELECT 1 FROM events WHERE session = ?1 LIMIT 1";
    if !connection.has(has_events, [session])? {
        forgotten::note_title(connection, session)?;
        return connection.run("DELETE FROM sessions WHERE id = ?1", [session]);
    }
    // Buffered answers keep the users they were given to, if no message of any user is left.
    let sql = "DELETE FROM speakers WHERE session = ?1 AND NOT EXISTS (
        SELECT 1 FROM events JOIN messages ON messages.seq = events.seq
        WHERE events.session = ?1 AND speaker_kind = speakers.kind AND speaker = speakers.name)
      AND NOT (kind = ?2 AND EXISTS (SELECT 1 FROM messages WHERE session = ?1 AND cell IS NULL)
        AND NOT EXISTS (SELECT 1 FROM events JOIN messages ON messages.seq = events.seq
          WHERE events.session = ?1 AND speaker_kind = ?2))";
    connection.run(sql, (session, USER))?;
    let sql = "UPDATE sessions SET buffered =
          (SELECT count(*) FROM messages WHERE session = ?1 AND cell IS NULL)
        WHERE id = ?1 RETURNING buffered";
    let buffered: i64 = connection.value(sql, [session])?;
    transcripts::set_open(connection, session, buffered > 0)?;
    jobs::set_head(connection, session)
}
