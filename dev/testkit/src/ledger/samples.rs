//! Short constructors of sessions, messages, memcells, jobs and file records.
//!
//! Owns: sample values. Never: behaviour.

use model::{
    AppId, Cell, CellId, Content, CutReason, EntryId, Message, MessageId, Name, Owner, Part, PartKind,
    ProjectId, Role, Scope, SessionId, SessionKey, Timestamp, ToolCall,
};
use ports::{Cut, FileMark, FileRecord, FileStat, JobId, JobKind, NewJob, NewMessage};

/// A name.
pub fn name(text: &str) -> Name {
    Name::parse(text).expect("a sample's name is valid")
}

/// The scope of that app.
pub fn scope(app: &str) -> Scope {
    Scope::new(
        AppId::parse(app).expect("valid"),
        ProjectId::parse("p").expect("valid"),
    )
}

/// A session of that app.
pub fn session(app: &str, id: &str) -> SessionKey {
    SessionKey {
        scope: scope(app),
        session: SessionId::parse(id).expect("a sample's session is valid"),
    }
}

/// This many milliseconds after 1970.
pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A user's message; its text contains its id.
pub fn says(session: &SessionKey, user: &str, id: &str, millis: i64) -> Message {
    Message {
        id: MessageId::new(id),
        session: session.clone(),
        sender: name(user),
        sender_name: None,
        role: Role::User,
        time: at(millis),
        content: Content::Text(format!("the text of {id}")).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    }
}

/// The agent's reply, like [`says`].
pub fn replies(session: &SessionKey, agent: &str, id: &str, millis: i64) -> Message {
    Message {
        role: Role::Assistant,
        ..says(session, agent, id, millis)
    }
}

/// A message with a value in every field, and text that stores often corrupt.
pub fn full(session: &SessionKey, id: &str, millis: i64) -> Message {
    let part = |kind, text: Option<&str>| Part {
        kind,
        text: text.map(str::to_owned),
        uri: Some("file:///tmp/a b.png".to_owned()),
        base64: Some("AAEC/+==".to_owned()),
        ext: Some("png".to_owned()),
        name: Some("a 'quoted' \"name\"".to_owned()),
        extras_json: Some("{ \"z\": 1.10,\n  \"a\":\"\\u0000\", \"z\": 1e400 }".to_owned()),
    };
    Message {
        sender_name: Some("Zoë 🦙".to_owned()),
        content: Content::Parts(vec![
            part(PartKind::Text, Some("nul \0 crlf \r\n sep \u{2028} end\n")),
            part(PartKind::Image, None),
            Part {
                uri: None,
                base64: None,
                ext: None,
                name: None,
                extras_json: None,
                ..part(PartKind::Email, Some(""))
            },
        ])
        .into(),
        tool_calls: vec![ToolCall {
            id: "call-1".to_owned(),
            name: "grep".to_owned(),
            arguments: "{\"not\": json \0".to_owned(),
        }],
        tool_call_id: Some("call-0".to_owned()),
        ..replies(session, "bot", id, millis)
    }
}

/// A message to accept without a client id.
pub fn new(message: Message) -> NewMessage {
    NewMessage::new(message, None)
}

/// A message to accept with a client id.
pub fn with_client_id(message: Message, client_id: &str) -> NewMessage {
    NewMessage::new(message, Some(client_id.to_owned()))
}

/// The same, to accept even if it was deleted before.
pub fn accepting(new: NewMessage) -> NewMessage {
    NewMessage {
        accept_forgotten: true,
        ..new
    }
}

/// A memcell of those messages, owned by those users.
pub fn cell(id: &str, messages: &[Message], users: &[&str]) -> Cell {
    Cell {
        id: CellId::new(id),
        session: messages[0].session.clone(),
        messages: messages.to_vec(),
        owners: users.iter().map(|user| Owner::user(name(user))).collect(),
        reason: CutReason::Topic,
    }
}

/// A cut into those memcells, each with the job `job-<id>` that writes it.
pub fn cut(cells: Vec<Cell>) -> Cut {
    let session = cells[0].session.clone();
    let jobs = cells
        .iter()
        .map(|cell| NewJob {
            subject: cell.id.to_string(),
            ..job(&format!("job-{}", cell.id), JobKind::WriteCell, &session)
        })
        .collect();
    Cut { session, cells, jobs }
}

/// A job that is due at once.
pub fn job(id: &str, kind: JobKind, session: &SessionKey) -> NewJob {
    NewJob {
        id: JobId(id.to_owned()),
        kind,
        session: session.clone(),
        subject: String::new(),
        run_at: at(0),
    }
}

/// A user's file with those entries.
pub fn file(path: &str, bytes: u64, entries: &[(&str, u64)]) -> FileRecord {
    FileRecord {
        stat: FileStat {
            path: path.into(),
            bytes,
            modified_ns: 1_772_442_000_123_456_789,
        },
        scope: scope("a"),
        owner: Owner::user(name("ann")),
        marks: entries
            .iter()
            .map(|(entry, digest)| mark(entry, *digest))
            .collect(),
        problem: None,
    }
}

/// An entry with that digest and two rows.
pub fn mark(entry: &str, digest: u64) -> FileMark {
    FileMark {
        entry: EntryId::new(entry),
        digest,
        docs: vec![entry.into(), format!("{entry}-turn-0").into()],
        is_shared: false,
    }
}
