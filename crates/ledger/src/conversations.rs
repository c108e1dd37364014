//! Logs of conversations: records by position, items by number, word search by a scan of all texts.
//!
//! Owns: the rows of `Conversations`. Never: the meaning of a body.
//!
//! Texts are packed on the caller's side of the queue, because all callers share the writer's time.

use std::ops::Range;

use async_trait::async_trait;
use model::{Owner, Scope, SessionId, SessionKey};
use ports::{Conversations, LedgerError, NewRecord, Record};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::SqliteLedger;
use crate::deferred::blocking;
use crate::failure::{Failure, LedgerResult};
use crate::packing::{Packer, Unpacker, fold};
use crate::port::port;
use crate::row::{count, counted, kind_number, make_scope, owner_at, session_key};
use crate::statement::Statements as _;
use crate::{objects, sweep};

pub(crate) const CONVERSATION: &str = "SELECT conversations.id, records, owner_kind, owner
    FROM scopes JOIN conversations ON conversations.scope = scopes.id
    WHERE app = ?1 AND project = ?2 AND name = ?3";

pub(crate) const READ: &str = "SELECT position, item, body FROM records
    WHERE conversation = ?1 AND position >= ?2 ORDER BY position LIMIT ?3";

pub(crate) const ITEMS: &str = "SELECT position, item, body FROM records
    WHERE conversation = ?1 AND item >= ?2 AND item < ?3 ORDER BY item";

/// Reads the index of items and their texts, and never a body.
pub(crate) const TEXTS: &str = "SELECT item, text FROM records JOIN texts ON texts.record = records.seq
    WHERE conversation = ?1 AND item IS NOT NULL ORDER BY item DESC";

pub(crate) const BY_PREFIX: &str = "SELECT name, owner_kind, owner
    FROM scopes JOIN conversations ON conversations.scope = scopes.id
    WHERE app = ?1 AND project = ?2 AND name >= ?3 AND name < ?4 ORDER BY name DESC LIMIT ?5";

/// Reads only the index of positions.
pub(crate) const NEWEST: &str = "SELECT app, project, name, owner_kind, owner
    FROM (SELECT conversation, MAX(seq) AS last FROM records GROUP BY conversation ORDER BY last DESC LIMIT ?1)
    JOIN conversations ON conversations.id = conversation
    JOIN scopes ON scopes.id = conversations.scope ORDER BY last DESC";

/// Limit of item numbers: the end of a range of them fits into a column too.
const ITEM_END: i64 = 1 << 62;

struct ConversationRow {
    id: i64,
    records: i64,
    owner: (i64, String),
}

/// A record as its columns.
struct Packed {
    item: Option<i64>,
    /// Case-folded; none if there is nothing to search.
    text: Option<Value>,
    body: Value,
}

fn conversation(connection: &Connection, key: &SessionKey) -> LedgerResult<Option<ConversationRow>> {
    let names = [
        key.scope.app.as_str(),
        key.scope.project.as_str(),
        key.session.as_str(),
    ];
    connection.one(CONVERSATION, names, |row| {
        Ok(ConversationRow {
            id: row.get(0)?,
            records: row.get(1)?,
            owner: (row.get(2)?, row.get(3)?),
        })
    })
}

fn pack(records: Vec<NewRecord>) -> LedgerResult<Vec<Packed>> {
    let mut packer = Packer::new()?;
    let packed = records.into_iter().map(|record| {
        let item = record.item.map(count);
        if item.is_some_and(|item| item >= ITEM_END) {
            return Err(Failure::Row("an item's number of more than 62 bits".to_owned()));
        }
        let is_found = item.is_some() && !record.text.is_empty();
        let text = is_found.then(|| packer.pack(fold(&record.text))).transpose()?;
        Ok(Packed {
            item,
            text,
            body: packer.pack(record.body)?,
        })
    });
    packed.collect()
}

/// Packs records on a blocking thread, since the time grows with their size.
async fn packed(records: Vec<NewRecord>) -> LedgerResult<Vec<Packed>> {
    blocking(|| pack(records)).await?
}

fn append(
    connection: &Connection,
    key: &SessionKey,
    owner: &Owner,
    (at, append_key): (u64, Option<&str>),
    records: &[Packed],
) -> LedgerResult<u64> {
    let owner = (kind_number(owner.kind), owner.id.as_str());
    let (id, length) = match conversation(connection, key)? {
        Some(found) if (found.owner.0, found.owner.1.as_str()) != owner => return Err(Failure::OtherOwner),
        Some(found) => (found.id, found.records),
        None => (make(connection, key, owner)?, 0),
    };
    if let Some(append_key) = append_key {
        let sql = "SELECT records FROM append_keys WHERE conversation = ?1 AND key = ?2";
        let seen = connection.first(sql, (id, append_key))?;
        if let Some(length) = seen {
            return Ok(counted(length));
        }
    }
    if count(at) != length {
        return Err(Failure::Conflict);
    }
    let length = extend(connection, id, length, records)?;
    if let Some(append_key) = append_key {
        let sql = "INSERT INTO append_keys (conversation, key, records) VALUES (?1, ?2, ?3)";
        connection.run(sql, (id, append_key, length))?;
    }
    Ok(counted(length))
}

fn make(connection: &Connection, key: &SessionKey, owner: (i64, &str)) -> LedgerResult<i64> {
    let scope = make_scope(connection, &key.scope)?;
    let sql = "INSERT INTO conversations (scope, name, owner_kind, owner) VALUES (?1, ?2, ?3, ?4)";
    let values = (scope, key.session.as_str(), owner.0, owner.1);
    connection.insert(sql, values)
}

/// Adds records after the first `length`; returns the new number of records.
fn extend(connection: &Connection, conversation: i64, length: i64, records: &[Packed]) -> LedgerResult<i64> {
    for (position, record) in (length..).zip(records) {
        insert(connection, conversation, position, record)?;
    }
    let length = length + count(records.len());
    let sql = "UPDATE conversations SET records = ?2 WHERE id = ?1";
    connection.run(sql, (conversation, length))?;
    Ok(length)
}

fn insert(connection: &Connection, conversation: i64, position: i64, record: &Packed) -> LedgerResult<()> {
    if let Some(item) = record.item {
        let sql = "SELECT 1 FROM records WHERE conversation = ?1 AND item = ?2";
        if connection.has(sql, (conversation, item))? {
            return Err(Failure::Conflict);
        }
    }
    let sql = "INSERT INTO records (conversation, position, item, body) VALUES (?1, ?2, ?3, ?4)";
    let seq = connection.insert(sql, (conversation, position, record.item, &record.body))?;
    if let Some(text) = &record.text {
        connection.run("INSERT INTO texts (record, text) VALUES (?1, ?2)", (seq, text))?;
    }
    Ok(())
}

fn replace(
    connection: &Connection,
    key: &SessionKey,
    at: u64,
    replaced: &[(u64, Packed)],
    appended: &[Packed],
) -> LedgerResult<u64> {
    let Some(found) = conversation(connection, key)?.filter(|found| found.records == count(at)) else {
        return Err(Failure::Conflict);
    };
    // All rows are deleted before the first insert, so an item may change its position.
    for (position, _) in replaced {
        let sql = "DELETE FROM records WHERE conversation = ?1 AND position = ?2";
        if connection.changed(sql, (found.id, count(*position)))? == 0 {
            return Err(Failure::Conflict);
        }
    }
    for (position, record) in replaced {
        insert(connection, found.id, count(*position), record)?;
    }
    let length = extend(connection, found.id, found.records, appended)?;
    if !replaced.is_empty() {
        sweep::erase_bytes(connection)?;
    }
    Ok(counted(length))
}

fn fork(connection: &Connection, from: &SessionKey, records: u64, to: &SessionKey) -> LedgerResult<()> {
    let Some(found) = conversation(connection, from)?.filter(|found| found.records >= count(records)) else {
        return Err(Failure::Conflict);
    };
    if conversation(connection, to)?.is_some() {
        return Err(Failure::Conflict);
    }
    let copy = make(connection, to, (found.owner.0, &found.owner.1))?;
    let steps = [
        "INSERT INTO records (conversation, position, item, body)
           SELECT ?2, position, item, body FROM records
           WHERE conversation = ?1 AND position < ?3 ORDER BY position",
        "INSERT INTO texts (record, text)
           SELECT copy.seq, text FROM records AS original
             JOIN texts ON texts.record = original.seq
             JOIN records AS copy ON copy.conversation = ?2 AND copy.position = original.position
           WHERE original.conversation = ?1 AND original.position < ?3 ORDER BY copy.seq",
    ];
    for sql in steps {
        connection.run(sql, (found.id, copy, count(records)))?;
    }
    extend(connection, copy, count(records), &[])?;
    Ok(())
}

fn newest(connection: &Connection, limit: usize) -> LedgerResult<Vec<(SessionKey, Owner)>> {
    connection.all(NEWEST, [count(limit)], |row| {
        Ok((session_key(row, 0)?, owner_at(row, 3)?))
    })
}

fn by_prefix(
    connection: &Connection,
    scope: &Scope,
    beginning: &str,
    limit: usize,
) -> LedgerResult<Vec<(SessionId, Owner)>> {
    let end = format!("{beginning}{}", char::MAX);
    let (app, project) = (scope.app.as_str(), scope.project.as_str());
    connection.all(BY_PREFIX, (app, project, beginning, end, count(limit)), |row| {
        let name = SessionId::new(row.get::<_, String>(0)?);
        Ok((name, owner_at(row, 1)?))
    })
}

fn delete(connection: &Connection, key: &SessionKey) -> LedgerResult<bool> {
    let Some(found) = conversation(connection, key)? else {
        return Ok(false);
    };
    connection.run("DELETE FROM conversations WHERE id = ?1", [found.id])?;
    sweep::erase_bytes(connection)?;
    Ok(true)
}

/// The records of a conversation between two bounds of a statement.
fn records(
    connection: &Connection,
    sql: &str,
    key: &SessionKey,
    [from, to]: [i64; 2],
) -> LedgerResult<Vec<Record>> {
    let Some(found) = conversation(connection, key)? else {
        return Ok(Vec::new());
    };
    let mut unpacker = Unpacker::new()?;
    connection.all(sql, [found.id, from, to], |row| {
        Ok(Record {
            position: row.get::<_, i64>(0)?.cast_unsigned(),
            item: row.get::<_, Option<i64>>(1)?.map(i64::cast_unsigned),
            body: unpacker.unpack(row.get_ref(2)?)?.to_owned(),
        })
    })
}

fn items(connection: &Connection, key: &SessionKey, items: Range<u64>) -> LedgerResult<Vec<Record>> {
    records(connection, ITEMS, key, [count(items.start), count(items.end)])
}

fn find(connection: &Connection, key: &SessionKey, words: &str, limit: usize) -> LedgerResult<Vec<u64>> {
    let words: Vec<String> = words.split_whitespace().map(fold).collect();
    let mut found = Vec::new();
    let Some(conversation) = conversation(connection, key)?.filter(|_| !words.is_empty()) else {
        return Ok(found);
    };
    let mut unpacker = Unpacker::new()?;
    let mut statement = connection.prepare_cached(TEXTS)?;
    let mut rows = statement.query([conversation.id])?;
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        let text = unpacker.unpack(row.get_ref(1)?)?;
        if words.iter().all(|word| text.contains(word.as_str())) {
            found.push(row.get::<_, i64>(0)?.cast_unsigned());
        }
    }
    Ok(found)
}

port! { Conversations {
    read read[key: SessionKey](from: u64, limit: usize) -> Vec<Record>
        = |c| records(c, READ, &key, [count(from), count(limit)]);
    read item[key: SessionKey](item: u64) -> Option<Record>
        = |c| Ok(items(c, &key, item..item.saturating_add(1))?.pop());
    read items[key: SessionKey](wanted: Range<u64>) -> Vec<Record> = |c| items(c, &key, wanted);
    read by_prefix[scope: Scope, beginning: str](limit: usize) -> Vec<(SessionId, Owner)>
        = |c| by_prefix(c, &scope, &beginning, limit);
    read find[key: SessionKey, words: str](limit: usize) -> Vec<u64> = |c| find(c, &key, &words, limit);
    read newest[](limit: usize) -> Vec<(SessionKey, Owner)> = |c| newest(c, limit);
    erase delete[key: SessionKey]() -> bool = |c| delete(c, &key);
    write record_objects[scope: Scope, owner: Owner](ids: Vec<String>) -> ()
        = |c| objects::record(c, &scope, &owner, &ids);
    read owned_objects[scope: Scope, owner: Owner](ids: Vec<String>) -> Vec<String>
        = |c| objects::owned(c, &scope, &owner, ids);
}
    async fn append(
        &self,
        conversation: &SessionKey,
        owner: &Owner,
        at: u64,
        key: Option<&str>,
        records: Vec<NewRecord>,
    ) -> Result<u64, LedgerError> {
        let (conversation, owner) = (conversation.clone(), owner.clone());
        let key = key.map(str::to_owned);
        let records = packed(records).await?;
        let work = move |c: &Connection| append(c, &conversation, &owner, (at, key.as_deref()), &records);
        self.database.write(work).await
    }

    async fn replace(
        &self,
        conversation: &SessionKey,
        at: u64,
        replaced: Vec<(u64, NewRecord)>,
        appended: Vec<NewRecord>,
    ) -> Result<u64, LedgerError> {
        let key = conversation.clone();
        let (positions, replaced): (Vec<u64>, Vec<NewRecord>) = replaced.into_iter().unzip();
        let replaced: Vec<_> = positions.into_iter().zip(packed(replaced).await?).collect();
        let appended = packed(appended).await?;
        let work = move |c: &Connection| replace(c, &key, at, &replaced, &appended);
        self.database.erase(work).await
    }

    async fn fork(&self, from: &SessionKey, records: u64, to: &SessionId) -> Result<(), LedgerError> {
        let (from, to) = (from.clone(), to.clone());
        let to = SessionKey::new(from.scope.clone(), to);
        let work = move |c: &Connection| fork(c, &from, records, &to);
        self.database.write(work).await
    }
}
