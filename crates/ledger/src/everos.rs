//! What an `EverOS` root keeps of its conversations: the messages of memcells, and those not yet in one.
//!
//! Owns: the queries on its `system.db`, and reading any other `SQLite` file by a query of who imports it. It is opened for reading alone. Never: what the rows mean (who imports them knows).

use std::path::Path;

use ports::LedgerError;
use rusqlite::{Connection, OpenFlags};

use crate::failure::{Failure, LedgerResult};

/// Some messages of one session, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub app: String,
    pub project: String,
    pub session: String,
    /// The ids of the messages: a JSON array.
    pub ids: String,
    /// A JSON object whose `items` are the messages.
    pub payload: String,
}

/// Memcells hold their messages whole; a message that waits for one is told in the same form.
const KEPT: &str = "
    SELECT app_id, project_id, session_id, message_ids_json, payload_json, timestamp AS said FROM memcell
    UNION ALL
    SELECT app_id, project_id, session_id, json_array(message_id), json_object('items', json_array(json_object(
        'kind', CASE WHEN tool_call_id IS NOT NULL THEN 'tool_result' WHEN tool_calls_json IS NOT NULL THEN 'tool_call'
          ELSE 'text' END,
        'role', role, 'sender_id', sender_id, 'sender_name', sender_name, 'content', text,
        'tool_calls', json(tool_calls_json), 'tool_call_id', tool_call_id,
        'timestamp', CAST(round((julianday(timestamp) - 2440587.5) * 86400000) AS INTEGER)))), timestamp
      FROM unprocessed_buffer
    ORDER BY app_id, project_id, session_id, said";

/// Hands over the first column of each row of a query on any `SQLite` file, until `take` says that it is enough.
pub fn values(path: &Path, query: &str, take: &mut dyn FnMut(String) -> bool) -> Result<(), LedgerError> {
    Ok(texts(path, query, take)?)
}

fn texts(path: &Path, query: &str, take: &mut dyn FnMut(String) -> bool) -> LedgerResult<()> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(Failure::Sql)?;
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()?
        && take(row.get(0)?)
    {}
    Ok(())
}

/// Hands over what the file keeps, session after session, until `take` says that it is enough.
pub fn read(path: &Path, take: &mut dyn FnMut(Kept) -> bool) -> Result<(), LedgerError> {
    Ok(rows(path, take)?)
}

fn rows(path: &Path, take: &mut dyn FnMut(Kept) -> bool) -> LedgerResult<()> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(Failure::Sql)?;
    let mut statement = connection.prepare(KEPT)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let kept = Kept {
            app: row.get(0)?,
            project: row.get(1)?,
            session: row.get(2)?,
            ids: row.get(3)?,
            payload: row.get(4)?,
        };
        if !take(kept) {
            break;
        }
    }
    Ok(())
}
