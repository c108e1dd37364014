//! Deleted words, whatever session or id sends them again.
//!
//! Owns: their keyed digests. Never: the words themselves, or the proof that a message is sent again
//! (`model::marks`).

use model::marks::{SaidMessage, SentMessage, sent_again};
use model::{Message, MessageId, SessionKey};
use ports::NewMessage;
use rusqlite::{Connection, Params};
use sha2::{Digest, Sha256};

use crate::failure::LedgerResult;
use crate::row::{SessionRows, message_at, payload_of, session_key};
use crate::statement::Statements as _;

pub(crate) const PREVIOUS: &str = "SELECT payload FROM events JOIN messages ON messages.seq = events.seq
    WHERE events.session = ?1 AND ordinal < ?2 ORDER BY ordinal DESC LIMIT 1";

pub(crate) const NEXT: &str = "SELECT payload FROM events JOIN messages ON messages.seq = events.seq
    WHERE events.session = ?1 AND ordinal > ?2 ORDER BY ordinal LIMIT 1";

pub(crate) const EQUAL: &str = "SELECT id FROM messages JOIN events ON events.seq = messages.seq
    WHERE messages.session = ?1 AND content = ?2 AND ordinal < ?3 ORDER BY messages.seq LIMIT 1";

/// Enough of a digest to distinguish the messages of a session.
const CONTENT_BYTES: usize = 16;

/// A hash that starts with the root's own secret.
struct KeyedDigests(Sha256);

impl KeyedDigests {
    fn with_key(connection: &Connection) -> LedgerResult<Self> {
        let key: Vec<u8> = connection.value("SELECT key FROM digest_key", [])?;
        Ok(Self(Sha256::new_with_prefix(key)))
    }

    fn digest(&self, bytes: &[u8]) -> Vec<u8> {
        self.0.clone().chain_update(bytes).finalize().to_vec()
    }

    fn digests_of(&self, message: &Message) -> SaidMessage {
        SaidMessage::of(message, |bytes| self.digest(bytes))
    }

    fn sent<'a>(&self, message: &'a Message, client_id: Option<&'a str>) -> SentMessage<'a> {
        SentMessage {
            said: self.digests_of(message),
            client_id,
            session: message.session.session.as_str(),
            time: message.time,
        }
    }
}

/// Records the words of a message that is about to be deleted, while its neighbours still exist.
pub(crate) fn note(connection: &Connection, seq: i64) -> LedgerResult<()> {
    let digests = KeyedDigests::with_key(connection)?;
    let sql =
        "SELECT app, project, sessions.name, sessions.scope, events.session, ordinal, client_id, payload
        FROM events JOIN messages ON messages.seq = events.seq
        JOIN sessions ON sessions.id = events.session JOIN scopes ON scopes.id = sessions.scope
        WHERE events.seq = ?1";
    let found = connection.one(sql, [seq], |row| {
        let key = session_key(row, 0)?;
        let said = message_at(row, 7, key.clone())?;
        let place: (i64, i64) = (row.get(4)?, row.get(5)?);
        Ok((
            key,
            row.get::<_, i64>(3)?,
            place,
            row.get::<_, Option<String>>(6)?,
            said,
        ))
    })?;
    let Some((key, scope, place, client_id, said)) = found else {
        return Ok(());
    };
    let one = digests.sent(&said, client_id.as_deref());
    let mut marks = one.marks();
    if let Some(previous) = message(connection, PREVIOUS, place, &key)? {
        marks.push(one.said.mark_after(&digests.digests_of(&previous)));
    }
    if let Some(next) = message(connection, NEXT, place, &key)? {
        marks.push(one.said.mark_before(&digests.digests_of(&next)));
    }
    for mark in marks {
        let sql = "INSERT INTO forgotten_words (scope, digest) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        connection.run(sql, (scope, digests.digest(&mark)))?;
    }
    Ok(())
}

/// For each message, whether it was deleted from its scope and is now sent again to a session that ends
/// before `ordinal`.
pub(crate) fn again(
    connection: &Connection,
    (place, ordinal): (SessionRows, i64),
    session: &SessionKey,
    messages: &[NewMessage],
) -> LedgerResult<Vec<bool>> {
    if !connection.has("SELECT 1 FROM forgotten_words WHERE scope = ?1", [place.scope])? {
        return Ok(vec![false; messages.len()]);
    }
    let digests = KeyedDigests::with_key(connection)?;
    let sent = messages
        .iter()
        .map(|new| digests.sent(&new.message, new.client_id.as_deref()));
    let sent: Vec<SentMessage<'_>> = sent.collect();
    let before = message(connection, PREVIOUS, (place.session, ordinal), session)?;
    let before = before.map(|before| digests.digests_of(&before));
    let sql = "SELECT 1 FROM forgotten_words WHERE scope = ?1 AND digest = ?2";
    sent_again(before.as_ref(), &sent, |mark| {
        connection.has(sql, (place.scope, digests.digest(&mark)))
    })
}

/// Deletes the record that a message was deleted.
pub(crate) fn strike(connection: &Connection, scope: i64, new: &NewMessage) -> LedgerResult<()> {
    let digests = KeyedDigests::with_key(connection)?;
    for mark in digests.sent(&new.message, new.client_id.as_deref()).marks() {
        let sql = "DELETE FROM forgotten_words WHERE scope = ?1 AND digest = ?2";
        connection.run(sql, (scope, digests.digest(&mark)))?;
    }
    Ok(())
}

/// The message of a session before `ordinal` without a client id and with this content.
pub(crate) fn equal(
    connection: &Connection,
    (place, ordinal): (SessionRows, i64),
    content: &[u8],
) -> LedgerResult<Option<MessageId>> {
    let known = (place.session, content, ordinal);
    let id: Option<String> = connection.first(EQUAL, known)?;
    Ok(id.map(MessageId::new))
}

/// A digest of everything a client sent with a message except the id that the client chose.
pub(crate) fn content(connection: &Connection, new: &NewMessage) -> LedgerResult<Vec<u8>> {
    let stands_for = match &new.repeat_key {
        Some(key) => key.clone(),
        None => payload_of(new.message.without_names())?,
    };
    let mut digest = KeyedDigests::with_key(connection)?.digest(stands_for.as_bytes());
    digest.truncate(CONTENT_BYTES);
    Ok(digest)
}

fn message(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    session: &SessionKey,
) -> LedgerResult<Option<Message>> {
    connection.one(sql, params, |row| message_at(row, 0, session.clone()))
}
