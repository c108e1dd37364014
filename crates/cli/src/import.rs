//! Conversations from files: each format becomes messages that the engine can store.
//!
//! Owns: reading foreign formats, one conversation at a time; a broken conversation does not stop the rest. Never: storing
//! memories, or guessing at content.
//!
//! Reading order: `sources` (the files of a path), `table` (the tests that detect a format), `document` (JSON of any format),
//! `notes` and `whatsapp` (text to the same kind of value), `reshape` (special cases of programs), `talk` (a conversation by the
//! table); the formats with code of their own: `agent`, `everos`, `plain`; `shape` below all.

mod agent;
mod document;
mod everos;
mod notes;
mod plain;
mod reshape;
mod shape;
mod sources;
mod table;
mod talk;
mod whatsapp;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gateway::wire::MessageItem;
use gateway::wire::message::MESSAGE_ID_CHARS_MAX;
use model::text::Fnv;
use model::{Name, Role, Scope, SessionId, SessionKey, Timestamp, Zone};
use parking_lot::Mutex;

use crate::api::Api;
use crate::args::DatesArg;
use crate::error::Failure;
pub(crate) use everos::is_everos;
use shape::ImportedMessage;
pub(crate) use sources::{ImportFile, sources};

/// One conversation of a file.
#[derive(Debug)]
pub(crate) struct ImportedConversation {
    pub(crate) session: SessionKey,
    /// Title from its owner or its client.
    pub(crate) title: Option<String>,
    pub(crate) messages: Vec<MessageItem>,
    /// Each message has its own time, and the conversation may begin with a copy of another one: an agent's log, or a chat that
    /// branched off.
    pub(crate) is_log: bool,
}

/// A part of a file that cannot be read; the rest of the file still is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) what: String,
    pub(crate) why: String,
}

/// One result of reading a file.
#[derive(Debug)]
pub(crate) enum ImportItem {
    Conversation(ImportedConversation),
    Skipped(Skipped),
    /// A count of records that were left out or changed.
    Noted(String, usize),
    /// A file of a folder or an archive without conversations, or with the conversations of another file: its name, and the
    /// reason if Quipu knows the format.
    LeftOut(String, Option<String>),
}

/// Values from the caller for data that a file lacks.
#[derive(Debug, Clone)]
pub(crate) struct Defaults {
    pub(crate) scope: Scope,
    /// The user of messages with the role "user".
    pub(crate) user: Name,
    /// Time of messages without a time: the time of the import.
    pub(crate) now: Timestamp,
    pub(crate) zone: Zone,
    /// Order of day and month, for files that do not show it.
    pub(crate) dates: Option<DatesArg>,
    /// The file's name, for a session without an id.
    pub(crate) name: String,
    /// The file has conversations of several people, which stay apart.
    pub(crate) is_shared: bool,
    /// The agent sessions that this import has read.
    pub(crate) logs: Logs,
}

/// By session id: a hash of each message's author and text, and the message's time.
pub(crate) type Logs = Arc<Mutex<BTreeMap<String, Vec<(u64, Timestamp)>>>>;

/// Receives each result; an error stops the reading.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(ImportItem) -> Result<(), Failure>;

/// A file during its reading, with the defaults for missing data and the receiver of its content.
pub(crate) struct Reading<'a> {
    source: &'a ImportFile,
    defaults: Defaults,
    sink: Sink<'a>,
}

impl Reading<'_> {
    fn skip(&mut self, what: String, why: String) -> Result<(), Failure> {
        (self.sink)(ImportItem::Skipped(Skipped { what, why }))
    }

    fn note(&mut self, what: impl Into<String>, count: usize) -> Result<(), Failure> {
        (self.sink)(ImportItem::Noted(what.into(), count))
    }
}

/// Reads one file up to its end or its first error; `read_bytes` grows with the bytes read.
pub(crate) fn read(
    source: &ImportFile,
    defaults: &Defaults,
    read_bytes: &Arc<AtomicU64>,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let mut reading = Reading {
        source,
        defaults: defaults.clone(),
        sink,
    };
    let before = read_bytes.load(Ordering::Relaxed);
    let outcome = source.open(read_bytes, &mut |stream| {
        let begins = stream.fill_buf().map_err(|error| unreadable(source, &error))?;
        if !begins.starts_with(ZSTD) {
            return read_stream(stream, &mut reading);
        }
        let inner = zstd::Decoder::with_buffer(stream).map_err(|error| unreadable(source, &error))?;
        read_stream(&mut BufReader::new(inner), &mut reading)
    });
    read_bytes.store(before + source.bytes, Ordering::Relaxed);
    match outcome {
        Err(failure) if !source.is_named => match failure.error.downcast_ref() {
            Some(document::NoFormat { text, is_known }) => {
                let why = is_known.then(|| text.clone());
                (reading.sink)(ImportItem::LeftOut(source.file_name(), why))
            }
            None => Err(failure),
        },
        outcome => outcome,
    }
}

fn unreadable(source: &ImportFile, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read {source}: {error}"))
}

fn read_stream(stream: &mut dyn BufRead, reading: &mut Reading<'_>) -> Result<(), Failure> {
    let source = reading.source;
    let failed = |error: std::io::Error| unreadable(source, &error);
    let begins = stream.fill_buf().map_err(failed)?;
    if begins.starts_with(DATABASE) {
        return document::database(reading);
    }
    let first = document::first_byte(stream).map_err(failed)?;
    let mut lines = stream.fill_buf().map_err(failed)?.split(|byte| *byte == b'\n');
    let line = lines.next().unwrap_or_default();
    let is_chat = whatsapp::is_head(&String::from_utf8_lossy(line));
    match first {
        Some(b'[' | b'{' | b'"') if !is_chat => document::read(stream, reading),
        _ => document::text(stream, reading),
    }
}

/// First bytes of an SQLite database.
const DATABASE: &[u8] = b"SQLite format 3\0";
/// First bytes of a file that zstd compressed; Codex compresses old sessions.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// One message of a conversation; `None` without content.
fn message(said: ImportedMessage) -> Option<MessageItem> {
    if said.content.trim().is_empty() && said.tool_calls.is_empty() {
        return None;
    }
    let (sender, time) = (said.sender.as_str(), said.time.millis());
    Some(MessageItem {
        sender_name: said.sender_name,
        tool_calls: (!said.tool_calls.is_empty()).then(|| said.tool_calls.iter().map(Into::into).collect()),
        tool_call_id: said.tool_call_id,
        message_id: Some(short(said.client_id)),
        ..MessageItem::text(sender, said.role.into(), time, said.content)
    })
}

/// An id that the API accepts: a long id is cut and gets a hash of the whole id.
fn short(id: String) -> String {
    if (1..=MESSAGE_ID_CHARS_MAX).contains(&id.chars().count()) {
        return id;
    }
    // The hash is the same in every version of the program, so that a second import recognises the messages of the first.
    let number = Fnv::of(id.as_bytes());
    let beginning: String = id.chars().take(MESSAGE_ID_CHARS_MAX - 17).collect();
    format!("{beginning}-{number:016x}")
}

impl Defaults {
    /// The defaults of an import that begins now, for one user.
    pub(crate) fn new(api: &Api, scope: Scope, user: Name) -> Self {
        Self {
            scope,
            user,
            now: api.clock.now(),
            zone: api.zone.clone(),
            dates: None,
            name: String::new(),
            is_shared: false,
            logs: Logs::default(),
        }
    }

    /// The usual sender of a role's messages.
    fn sender(&self, role: Role) -> Name {
        match role {
            Role::User => self.user.clone(),
            Role::Assistant => shape::fixed("assistant"),
            Role::Tool => shape::fixed("tool"),
        }
    }

    fn session(&self, text: &str) -> SessionKey {
        let session = SessionId::parse(&short(text.to_owned())).unwrap_or_else(|_| SessionId::new("import"));
        SessionKey::new(self.scope.clone(), session)
    }
}

#[cfg(test)]
mod tests;
