//! Messages that an agent's log repeats from another session.
//!
//! Owns: finding the original of a copied message. Never: deleted messages (`words`).

use std::collections::{BTreeMap, BTreeSet};

use model::{Message, MessageId, SessionKey, Timestamp};
use ports::NewMessage;
use rusqlite::Connection;

use crate::failure::LedgerResult;
use crate::row::{SessionRows, USER, message_at};
use crate::statement::Statements as _;

/// Quipu's ids of one day share a beginning, so this needs no index by time.
pub(crate) const OF_A_DAY: &str = "SELECT seq, time FROM messages
    WHERE scope = ?1 AND id BETWEEN ?2 AND ?2 || '~' AND session <> ?3
      AND EXISTS (SELECT 1 FROM speakers WHERE speakers.session = messages.session AND kind = ?4 AND name = ?5)";

pub(crate) const PAYLOAD: &str = "SELECT payload FROM events WHERE seq = ?1";

/// For each message the one that it repeats, if its log is a user's and another session of that user has it.
pub(crate) fn originals(
    connection: &Connection,
    place: SessionRows,
    session: &SessionKey,
    messages: &[NewMessage],
) -> LedgerResult<Vec<Option<MessageId>>> {
    let mut others = others(connection, place, session, messages)?;
    let originals = messages.iter().map(|new| {
        let of_then = others
            .get_mut(&new.message.time)
            .filter(|_| new.log_of.is_some())?;
        let at = of_then
            .iter()
            .position(|other| other.without_names() == new.message.without_names())?;
        // Each is the original of only one message: a message that is twice in the log is stored twice.
        Some(of_then.swap_remove(at).id)
    });
    Ok(originals.collect())
}

/// Messages at these times in the other sessions of the log's user, by time.
fn others(
    connection: &Connection,
    place: SessionRows,
    session: &SessionKey,
    messages: &[NewMessage],
) -> LedgerResult<BTreeMap<Timestamp, Vec<Message>>> {
    let logged = || {
        messages
            .iter()
            .filter_map(|new| Some((new.log_of.as_ref()?, &new.message)))
    };
    let times: BTreeSet<i64> = logged().map(|(_, message)| message.time.millis()).collect();
    let days: BTreeSet<_> = logged().map(|(user, message)| (user, day(&message.id))).collect();
    let mut others: BTreeMap<_, Vec<Message>> = BTreeMap::new();
    for (user, day) in days {
        let wanted = (place.scope, day, place.session, USER, user.as_str());
        let of_a_day = connection.all(OF_A_DAY, wanted, |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (seq, _) in of_a_day.into_iter().filter(|(_, time)| times.contains(time)) {
            let seq: i64 = seq;
            for message in connection.all(PAYLOAD, [seq], |row| message_at(row, 0, session.clone()))? {
                others.entry(message.time).or_default().push(message);
            }
        }
    }
    Ok(others)
}

/// The beginning of an id that all ids of its day share.
fn day(id: &MessageId) -> &str {
    let id = id.as_str();
    id.rfind('_').map_or("", |at| &id[..=at])
}
