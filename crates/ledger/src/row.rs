//! Values and their rows: the contents of a message's event, and the codes in columns.
//!
//! Owns: the stored form of messages, versioned with the schema. Never: statements of one port alone.

use std::borrow::Cow;
use std::sync::Arc;

use model::{
    Content, Message, MessageId, Name, Owner, OwnerKind, Part, PartKind, Role, Scope, SessionId, SessionKey,
    Timestamp, ToolCall,
};
use rusqlite::{Connection, Row};
use serde::{Deserialize, Deserializer, Serialize};
use serde_with::skip_serializing_none;

use crate::failure::{Failure, LedgerResult};
use crate::statement::Statements as _;

/// Kind of a message's event in its session's log.
pub(crate) const MESSAGE: &str = "message";

/// A message as the payload of its event. Absent and empty fields are left out; text is stored as it arrived.
#[skip_serializing_none]
#[derive(Serialize, Deserialize)]
struct StoredMessage<'a> {
    id: String,
    sender: String,
    sender_name: Option<String>,
    role: String,
    time: i64,
    content: StoredContent<'a>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<StoredCall>,
    tool_call_id: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<StoredPart<'a>>),
}

/// A part of a message, borrowed for writing or owned after reading.
#[derive(Serialize, Deserialize)]
struct StoredPart<'a>(
    #[serde(serialize_with = "PartFields::serialize", deserialize_with = "part_of")] Cow<'a, Part>,
);

#[skip_serializing_none]
#[derive(Serialize, Deserialize)]
#[serde(remote = "Part")]
struct PartFields {
    #[serde(with = "StoredKind")]
    kind: PartKind,
    text: Option<String>,
    uri: Option<String>,
    base64: Option<String>,
    ext: Option<String>,
    name: Option<String>,
    /// JSON text inside a JSON string, so that its spelling survives.
    extras_json: Option<String>,
}

fn part_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'static, Part>, D::Error> {
    PartFields::deserialize(deserializer).map(Cow::Owned)
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PartKind", rename_all = "snake_case")]
enum StoredKind {
    Text,
    Image,
    Audio,
    Doc,
    Pdf,
    Html,
    Email,
}

#[derive(Serialize, Deserialize)]
struct StoredCall(#[serde(with = "CallFields")] ToolCall);

#[derive(Serialize, Deserialize)]
#[serde(remote = "ToolCall")]
struct CallFields {
    id: String,
    name: String,
    arguments: String,
}

/// The payload of a message's event.
pub(crate) fn payload_of(message: Message) -> LedgerResult<String> {
    let said = StoredMessage {
        id: message.id.as_str().to_owned(),
        sender: message.sender.as_str().to_owned(),
        sender_name: message.sender_name,
        role: message.role.as_str().to_owned(),
        time: message.time.millis(),
        content: match &*message.content {
            Content::Text(text) => StoredContent::Text(text.into()),
            Content::Parts(parts) => {
                StoredContent::Parts(parts.iter().map(|part| StoredPart(Cow::Borrowed(part))).collect())
            }
        },
        tool_calls: message.tool_calls.into_iter().map(StoredCall).collect(),
        tool_call_id: message.tool_call_id,
    };
    Ok(serde_json::to_string(&said)?)
}

/// The message in a column that holds the payload of its event.
pub(crate) fn message_at(row: &Row<'_>, column: usize, session: SessionKey) -> LedgerResult<Message> {
    let said: StoredMessage<'_> = serde_json::from_str(text_at(row, column)?)?;
    Ok(Message {
        id: MessageId::new(said.id),
        session,
        sender: name_of(&said.sender)?,
        sender_name: said.sender_name,
        role: Role::parse(&said.role).ok_or(Failure::Row(said.role))?,
        time: Timestamp::from_millis(said.time),
        content: Arc::new(match said.content {
            StoredContent::Text(text) => Content::Text(text.into_owned()),
            StoredContent::Parts(parts) => {
                Content::Parts(parts.into_iter().map(|part| part.0.into_owned()).collect())
            }
        }),
        tool_calls: said.tool_calls.into_iter().map(|call| call.0).collect(),
        tool_call_id: said.tool_call_id,
    })
}

fn name_of(text: &str) -> LedgerResult<Name> {
    Name::parse(text).map_err(|error| Failure::Row(error.to_string()))
}

pub(crate) const USER: i64 = 0;
const AGENT: i64 = 1;
const LIBRARY: i64 = 2;

/// The code of an owner's kind in columns.
pub(crate) fn kind_number(kind: OwnerKind) -> i64 {
    match kind {
        OwnerKind::User => USER,
        OwnerKind::Agent => AGENT,
        OwnerKind::Library => LIBRARY,
    }
}

/// An owner from the two columns that start at `first`: kind, name.
pub(crate) fn owner_at(row: &Row<'_>, first: usize) -> LedgerResult<Owner> {
    let kind = match row.get(first)? {
        USER => OwnerKind::User,
        AGENT => OwnerKind::Agent,
        LIBRARY => OwnerKind::Library,
        other => return Err(Failure::Row(format!("no kind of owner: {other}"))),
    };
    Ok(Owner {
        kind,
        id: name_at(row, first + 1)?,
    })
}

/// The sender of a message as an owner: people are users, models and tools are agents.
pub(crate) fn speaker_of(message: &Message) -> (i64, String) {
    let kind = match message.role {
        Role::User => USER,
        Role::Assistant | Role::Tool => AGENT,
    };
    (kind, message.sender.as_str().to_owned())
}

/// The row id of a scope, if it has a row.
pub(crate) fn scope_row(connection: &Connection, scope: &Scope) -> LedgerResult<Option<i64>> {
    let sql = "SELECT id FROM scopes WHERE app = ?1 AND project = ?2";
    connection.first(sql, [scope.app.as_str(), scope.project.as_str()])
}

/// The row id of a session, if it has a row.
pub(crate) fn session_row(connection: &Connection, key: &SessionKey) -> LedgerResult<Option<i64>> {
    let sql = "SELECT sessions.id FROM scopes JOIN sessions ON sessions.scope = scopes.id
        WHERE app = ?1 AND project = ?2 AND name = ?3";
    let (app, project) = (key.scope.app.as_str(), key.scope.project.as_str());
    connection.first(sql, [app, project, key.session.as_str()])
}

/// The row ids of a session and its scope, created if they are new.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionRows {
    pub scope: i64,
    pub session: i64,
}

/// The row id of a scope, created if it is new.
pub(crate) fn make_scope(connection: &Connection, scope: &Scope) -> LedgerResult<i64> {
    let sql = "INSERT INTO scopes (app, project) VALUES (?1, ?2)";
    match scope_row(connection, scope)? {
        Some(row) => Ok(row),
        None => connection.insert(sql, [scope.app.as_str(), scope.project.as_str()]),
    }
}

pub(crate) fn place_of(connection: &Connection, key: &SessionKey) -> LedgerResult<SessionRows> {
    let scope = make_scope(connection, &key.scope)?;
    let sql = "INSERT INTO sessions (scope, name) VALUES (?1, ?2)";
    let session = match session_row(connection, key)? {
        Some(session) => session,
        None => connection.insert(sql, (scope, key.session.as_str()))?,
    };
    Ok(SessionRows { scope, session })
}

fn text_at<'a>(row: &'a Row<'_>, column: usize) -> LedgerResult<&'a str> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

pub(crate) fn name_at(row: &Row<'_>, column: usize) -> LedgerResult<Name> {
    name_of(text_at(row, column)?)
}

/// A scope from the two columns that start at `first`: app, project.
pub(crate) fn scope_at(row: &Row<'_>, first: usize) -> LedgerResult<Scope> {
    let project = name_at(row, first + 1)?;
    Ok(Scope::new(name_at(row, first)?, project))
}

/// A session's key from the three columns that start at `first`: app, project, name.
pub(crate) fn session_key(row: &Row<'_>, first: usize) -> LedgerResult<SessionKey> {
    let name = SessionId::new(text_at(row, first + 2)?);
    Ok(SessionKey::new(scope_at(row, first)?, name))
}

/// A count, a size or a position as a column value; one that is too large matches no row.
pub(crate) fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A number from a column.
pub(crate) fn counted<N: TryFrom<i64> + Default>(column: i64) -> N {
    N::try_from(column).unwrap_or_default()
}
