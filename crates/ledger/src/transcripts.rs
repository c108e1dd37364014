//! Logs, buffers and memcells.
//!
//! Owns: accepting, cutting and reading messages. Never: forgetting them (`sweep`).
//!
//! A message is one row whose `cell` is empty while it is buffered: it cannot be in two places, nor in none.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use model::{Cell, CellId, CutReason, Message, MessageId, Owner, Scope, SessionId, SessionKey, Timestamp};
use ports::{
    Accepted, AppendOutcome, Buffered, Carried, Cut, CutWithAppend, Forgotten, LedgerError, NewMessage,
    Sweep, Transcripts, WrittenCell,
};
use rusqlite::Connection;

use crate::failure::{Failure, LedgerResult};
use crate::port::port;
use crate::row::{
    MESSAGE, SessionRows, USER, count, counted, kind_number, message_at, owner_at, payload_of, place_of,
    scope_row, session_key, session_row, speaker_of,
};
use crate::statement::Statements as _;
use crate::{SqliteLedger, carried, copied, forgotten, forgotten_words, jobs, open, sweep, titles, writer};

pub(crate) const BUFFER: &str = "SELECT events.payload FROM messages JOIN events ON events.seq = messages.seq
    WHERE messages.session = ?1 AND messages.cell IS NULL ORDER BY messages.time, messages.seq";

pub(crate) const CELL_MESSAGES: &str =
    "SELECT events.payload FROM messages JOIN events ON events.seq = messages.seq
    WHERE messages.cell = ?1 ORDER BY messages.time, messages.seq";

/// Both halves start from open messages, so an owner without any costs two lookups, however large the ledger
/// is.
pub(crate) const TAIL: &str = "SELECT sessions.name, events.payload FROM (
      SELECT messages.seq, messages.time, messages.session
        FROM speakers JOIN messages ON messages.session = speakers.session AND messages.cell IS NULL
        WHERE speakers.scope = ?1 AND speakers.kind = ?2 AND speakers.name = ?3 AND speakers.open = 1
          AND speakers.kind = ?4
      UNION
      SELECT messages.seq, messages.time, messages.session
        FROM cell_owners JOIN messages ON messages.cell = cell_owners.cell
        WHERE cell_owners.scope = ?1 AND cell_owners.kind = ?2 AND cell_owners.name = ?3
          AND cell_owners.written = 0
    ) AS tail
    JOIN events ON events.seq = tail.seq JOIN sessions ON sessions.id = tail.session
    ORDER BY tail.time, tail.seq";

pub(crate) const BY_ID: &str = "SELECT messages.time, messages.seq, sessions.name, events.payload
    FROM messages JOIN events ON events.seq = messages.seq JOIN sessions ON sessions.id = messages.session
    WHERE messages.scope = ?1 AND messages.id = ?2";

pub(crate) const CELL: &str = "SELECT seq, reason, app, project, name
    FROM cells JOIN sessions ON sessions.id = cells.session JOIN scopes ON scopes.id = sessions.scope
    WHERE cells.id = ?1";

pub(crate) const UNWRITTEN_AFTER: &str = "SELECT next.id FROM cells JOIN cells AS next ON next.session = cells.session AND next.seq > cells.seq
    WHERE cells.id = ?1 AND EXISTS (SELECT 1 FROM cell_owners WHERE cell = next.seq AND written = 0) ORDER BY next.seq";
pub(crate) const CELL_OWNERS: &str = "SELECT kind, name FROM cell_owners WHERE cell = ?1 ORDER BY place";

/// The outcome of the append, and the number of messages in the buffer before it.
fn append(
    connection: &Connection,
    session: &SessionKey,
    messages: Vec<NewMessage>,
    now: Timestamp,
) -> LedgerResult<(AppendOutcome, usize)> {
    let place = place_of(connection, session)?;
    let sql = "SELECT next_ordinal, buffered FROM sessions WHERE id = ?1";
    let (mut ordinal, buffered): (i64, i64) =
        connection.only(sql, [place.session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (first_ordinal, name) = (ordinal, session.session.as_str());
    let again = forgotten_words::again(connection, (place, ordinal), session, &messages)?;
    let copied = copied::originals(connection, place, session, &messages)?;
    let mut accepted = Vec::with_capacity(messages.len());
    for ((new, is_again), original) in messages.into_iter().zip(again).zip(copied) {
        let client_id = new.client_id.as_deref();
        let content = forgotten_words::content(connection, &new)?;
        let named = match client_id {
            Some(client_id) => first_of(connection, place, client_id)?,
            None => None,
        };
        let seen = match named {
            None => forgotten_words::equal(connection, (place, first_ordinal), &content)?,
            named => named,
        };
        let seen = seen.or(original);
        let was_forgotten =
            seen.is_none() && (is_again || forgotten::has_message(connection, place.scope, name, client_id)?);
        let restored = was_forgotten && new.accept_forgotten;
        if restored {
            if client_id.is_some() {
                forgotten::strike(connection, place.scope, name, client_id)?;
            }
            forgotten_words::strike(connection, place.scope, &new)?;
        }
        let forgotten = was_forgotten && !restored;
        let duplicate = seen.is_some() || forgotten;
        let id = seen.unwrap_or_else(|| new.message.id.clone());
        if !duplicate {
            insert(connection, place, ordinal, new, content)?;
            ordinal += 1;
        }
        accepted.push(Accepted {
            id,
            duplicate,
            forgotten,
            restored,
        });
    }
    let new = ordinal - first_ordinal;
    forgotten::drop_empty(connection, place, ordinal)?;
    if new > 0 {
        let sql =
            "UPDATE sessions SET next_ordinal = ?2, buffered = buffered + ?3, touched = ?4 WHERE id = ?1";
        connection.run(sql, (place.session, ordinal, new, now.millis()))?;
        if buffered == 0 {
            set_open(connection, place.session, true)?;
        }
    }
    let outcome = AppendOutcome {
        buffered: counted(buffered + new),
        is_cut: false,
        accepted,
    };
    Ok((outcome, counted(buffered)))
}

fn append_and_cut(
    connection: &Connection,
    messages: Vec<NewMessage>,
    with: CutWithAppend,
    now: Timestamp,
) -> LedgerResult<AppendOutcome> {
    let (mut outcome, before) = append(connection, &with.cut.session, messages, now)?;
    let is_new = outcome.accepted.iter().all(|accepted| !accepted.duplicate);
    if is_new && before == with.buffered_before {
        outcome.is_cut = cut_if_it_fits(connection, with.cut)?;
    }
    Ok(outcome)
}

/// Makes the cut if it fits the buffer, else changes nothing; returns whether it was made.
fn cut_if_it_fits(connection: &Connection, wanted: Cut) -> LedgerResult<bool> {
    let statement = |sql| connection.run(sql, []);
    statement("SAVEPOINT cut")?;
    let is_cut = match cut(connection, wanted) {
        Ok(()) => true,
        Err(Failure::Conflict) => {
            statement("ROLLBACK TO cut")?;
            false
        }
        Err(failure) => return Err(failure),
    };
    statement("RELEASE cut")?;
    Ok(is_cut)
}

/// The stored message with a client id, if there is one.
fn first_of(connection: &Connection, place: SessionRows, client_id: &str) -> LedgerResult<Option<MessageId>> {
    let sql = "SELECT id FROM messages WHERE session = ?1 AND client_id = ?2";
    let id: Option<String> = connection.first(sql, (place.session, client_id))?;
    Ok(id.map(MessageId::new))
}

pub(crate) fn insert(
    connection: &Connection,
    place: SessionRows,
    ordinal: i64,
    new: NewMessage,
    content: Vec<u8>,
) -> LedgerResult<()> {
    let NewMessage {
        message, client_id, ..
    } = new;
    let content = client_id.is_none().then_some(content);
    let (id, time) = (message.id.clone(), message.time.millis());
    let (kind, speaker) = speaker_of(&message);
    let payload = payload_of(message)?;
    let mut event = connection
        .prepare_cached("INSERT INTO events (session, ordinal, kind, payload) VALUES (?1, ?2, ?3, ?4)")?;
    event.raw_bind_parameter(1, place.session)?;
    event.raw_bind_parameter(2, ordinal)?;
    event.raw_bind_parameter(3, MESSAGE)?;
    // SQLite has a copy of the payload, so ours is freed before the row is inserted.
    event.raw_bind_parameter(4, payload)?;
    event.raw_execute()?;
    let seq = connection.last_insert_rowid();
    let sql =
        "INSERT INTO messages (seq, scope, session, id, client_id, time, speaker_kind, speaker, content)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let values = (
        seq,
        place.scope,
        place.session,
        id.as_str(),
        client_id,
        time,
        kind,
        &speaker,
        content,
    );
    connection.run(sql, values)?;
    let sql = "INSERT INTO speakers (session, kind, name, scope, open) VALUES (?1, ?2, ?3, ?4, 1)
        ON CONFLICT DO NOTHING";
    connection.run(sql, (place.session, kind, speaker, place.scope))
}

/// Sets whether the session is open. A search finds a session by its speakers only while its buffer is not
/// empty.
pub(crate) fn set_open(connection: &Connection, session: i64, open: bool) -> LedgerResult<()> {
    let sql = "UPDATE speakers SET open = ?2 WHERE session = ?1 AND open <> ?2";
    connection.run(sql, (session, open))
}

fn cut(connection: &Connection, cut: Cut) -> LedgerResult<()> {
    if session_row(connection, &cut.session)?.is_none() {
        return Err(Failure::Conflict);
    }
    let place = place_of(connection, &cut.session)?;
    for cell in &cut.cells {
        insert_cell(connection, place, cell)?;
    }
    let taken: usize = cut.cells.iter().map(|cell| cell.messages.len()).sum();
    let sql = "UPDATE sessions SET buffered = buffered - ?2 WHERE id = ?1 RETURNING buffered";
    let buffered: i64 = connection.value(sql, (place.session, count(taken)))?;
    if buffered == 0 {
        set_open(connection, place.session, false)?;
    }
    for job in cut.jobs {
        let created = job.run_at;
        jobs::insert(connection, job, created)?;
    }
    Ok(())
}

fn insert_cell(connection: &Connection, place: SessionRows, cell: &Cell) -> LedgerResult<()> {
    let sql = "INSERT INTO cells (id, session, reason) VALUES (?1, ?2, ?3)";
    let row = connection.insert(sql, (cell.id.as_str(), place.session, cell.reason.as_str()))?;
    for (i, owner) in cell.owners.iter().enumerate() {
        let sql = "INSERT INTO cell_owners (cell, place, scope, kind, name) VALUES (?1, ?2, ?3, ?4, ?5)";
        let (kind, name) = (kind_number(owner.kind), owner.id.as_str());
        connection.run(sql, (row, count(i), place.scope, kind, name))?;
    }
    for message in &cell.messages {
        let sql =
            "UPDATE messages SET cell = ?1 WHERE scope = ?2 AND id = ?3 AND session = ?4 AND cell IS NULL";
        let taken = (row, place.scope, message.id.as_str(), place.session);
        if connection.changed(sql, taken)? != 1 {
            return Err(Failure::Conflict);
        }
    }
    Ok(())
}

/// The messages of one session, from the payloads of a statement.
fn messages_of(
    connection: &Connection,
    sql: &str,
    row: i64,
    session: &SessionKey,
) -> LedgerResult<Vec<Message>> {
    connection.all(sql, [row], |row| message_at(row, 0, session.clone()))
}

fn unwritten_after(connection: &Connection, id: &CellId) -> LedgerResult<Vec<CellId>> {
    connection.all(UNWRITTEN_AFTER, [id.as_str()], |row| {
        Ok(CellId::new(row.get::<_, String>(0)?))
    })
}

fn cell(connection: &Connection, id: &CellId) -> LedgerResult<Option<Cell>> {
    connection.one(CELL, [id.as_str()], |found| {
        let row: i64 = found.get(0)?;
        let reason: String = found.get(1)?;
        let session = session_key(found, 2)?;
        Ok(Cell {
            id: id.clone(),
            messages: messages_of(connection, CELL_MESSAGES, row, &session)?,
            session,
            owners: connection.all(CELL_OWNERS, [row], |owner| owner_at(owner, 0))?,
            reason: CutReason::parse(&reason).ok_or(Failure::Row(reason))?,
        })
    })
}

fn tail(connection: &Connection, scope: &Scope, owner: &Owner) -> LedgerResult<Vec<Message>> {
    let Some(scope_row) = scope_row(connection, scope)? else {
        return Ok(Vec::new());
    };
    let whose = (scope_row, kind_number(owner.kind), owner.id.as_str(), USER);
    connection.all(TAIL, whose, |row| {
        let session = SessionKey::new(scope.clone(), SessionId::new(row.get::<_, String>(0)?));
        message_at(row, 1, session)
    })
}

fn messages(connection: &Connection, scope: &Scope, ids: &[MessageId]) -> LedgerResult<Vec<Message>> {
    let Some(scope_row) = scope_row(connection, scope)? else {
        return Ok(Vec::new());
    };
    let ids: BTreeSet<&str> = ids.iter().map(MessageId::as_str).collect();
    let mut found: Vec<(i64, i64, Message)> = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(connection.all(BY_ID, (scope_row, id), |row| {
            let session = SessionKey::new(scope.clone(), SessionId::new(row.get::<_, String>(2)?));
            Ok((row.get(0)?, row.get(1)?, message_at(row, 3, session)?))
        })?);
    }
    found.sort_by_key(|(time, seq, _)| (*time, *seq));
    Ok(found.into_iter().map(|(_, _, message)| message).collect())
}

fn buffer(connection: &Connection, session: &SessionKey) -> LedgerResult<Vec<Message>> {
    match session_row(connection, session)? {
        Some(row) => messages_of(connection, BUFFER, row, session),
        None => Ok(Vec::new()),
    }
}

port! { Transcripts {
    write append_and_cut[](messages: Vec<NewMessage>, cut: CutWithAppend, now: Timestamp) -> AppendOutcome
        = |c| append_and_cut(c, messages, cut, now);
    read title[session: SessionKey]() -> Option<String> = |c| titles::title(c, &session);
    read buffer[session: SessionKey]() -> Vec<Message> = |c| buffer(c, &session);
    write cut[](wanted: Cut) -> () = |c| cut(c, wanted);
    read cell[id: CellId]() -> Option<Cell> = |c| cell(c, &id);
    read cells[ids: [CellId]]() -> Vec<Cell> = |c| ids.iter().filter_map(|id| cell(c, id).transpose()).collect();
    read unwritten_after[id: CellId]() -> Vec<CellId> = |c| unwritten_after(c, &id);
    read tail[scope: Scope, owner: Owner]() -> Vec<Message> = |c| tail(c, &scope, &owner);
    read messages[scope: Scope, ids: [MessageId]]() -> Vec<Message> = |c| messages(c, &scope, &ids);
    read waiting[]() -> BTreeMap<(Scope, Owner), usize> = |c| open::waiting(c);
    read carried[scope: Scope, ids: [MessageId]]() -> Carried = |c| carried::carried(c, &scope, &ids);
    write adopt[scope: Scope](cells: Vec<WrittenCell>, forgotten: BTreeSet<String>) -> ()
        = |c| carried::adopt(c, &scope, cells, &forgotten);
    read buffered[]() -> Buffered = |c| open::buffered(c);
    read open_sessions[](limit: usize) -> Vec<(SessionKey, Timestamp)> = |c| open::sessions(c, limit);
    erase sweep[](wanted: Sweep) -> Forgotten = |c| sweep::sweep(c, &wanted);
}
    async fn append(
        &self,
        session: &SessionKey,
        messages: Vec<NewMessage>,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError> {
        let session = session.clone();
        let bytes: usize = messages.iter().map(|new| new.message.bytes()).sum();
        let work = move |c: &Connection| Ok(append(c, &session, messages, now)?.0);
        self.database.write(move |c| writer::of_bytes(c, bytes, work)).await
    }

    async fn entitle(
        &self,
        session: &SessionKey,
        title: String,
        accept_forgotten: bool,
    ) -> Result<(), LedgerError> {
        let session = session.clone();
        let erases = title.is_empty();
        let work = move |c: &Connection| titles::entitle(c, &session, &title, accept_forgotten);
        self.database.call(work, erases).await
    }
}
