//! Conversations from files: what each format says, as messages that the engine can remember.
//!
//! Owns: reading foreign formats, one conversation at a time, so that a file broken half-way still gives everything
//! before the break. Never: remembering, or guessing at content.

mod array;
mod chatgpt;
mod claude;
mod locomo;
mod openai;
mod plain;
mod shape;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{Name, Scope, SessionId, SessionKey, Timestamp, Zone};
use wire::message::MESSAGE_ID_CHARS_MAX;
use wire::{MessageContent, MessageItem};

use crate::args::FormatArg;
use crate::error::Failure;
use shape::Said;

/// A conversation as read.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) session: SessionKey,
    pub(crate) messages: Vec<MessageItem>,
}

/// What a file does not say and the caller does.
#[derive(Debug, Clone)]
pub(crate) struct Defaults {
    pub(crate) scope: Scope,
    /// Who "user" is.
    pub(crate) user: Name,
    /// When something undated was said: the time of the import.
    pub(crate) now: Timestamp,
    pub(crate) zone: Zone,
    /// The file's name, for a session that has none.
    pub(crate) name: String,
}

/// Takes one conversation; an error ends the reading.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Conversation) -> Result<(), Failure>;

/// Reads a file to its end, or to where it breaks; `read_bytes` tells how far it is.
pub(crate) fn read(
    path: &Path,
    format: FormatArg,
    defaults: &Defaults,
    read_bytes: &Arc<AtomicU64>,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let file = File::open(path).map_err(|error| {
        Failure::usage(format!("cannot read `{}`: {error}", path.display()))
            .hint("give the path of a file that exists and can be read")
    })?;
    if path.is_dir() {
        return Err(Failure::usage(format!("`{}` is a folder", path.display()))
            .hint("give the file itself, or an export's zip archive"));
    }
    let counted = Counted {
        inner: file,
        bytes: read_bytes.clone(),
    };
    let is_zip = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
    if !is_zip {
        return read_stream(&mut BufReader::new(counted), path, format, defaults, sink);
    }
    let archive = File::open(path).map_err(anyhow::Error::from)?;
    let mut archive = zip::ZipArchive::new(archive).map_err(|error| {
        Failure::usage(format!(
            "`{}` is not a readable zip archive: {error}",
            path.display()
        ))
    })?;
    let name = archive
        .file_names()
        .flatten()
        .find(|name| name == "conversations.json" || name.ends_with("/conversations.json"))
        .map(std::borrow::Cow::into_owned)
        .ok_or_else(|| {
            Failure::usage(format!("`{}` has no `conversations.json`", path.display()))
                .hint("give the archive as ChatGPT or Claude made it")
        })?;
    let entry = archive.by_name(&name).map_err(anyhow::Error::from)?;
    read_stream(&mut BufReader::new(entry), path, format, defaults, sink)
}

fn read_stream(
    stream: &mut dyn BufRead,
    path: &Path,
    format: FormatArg,
    defaults: &Defaults,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let format = match format {
        FormatArg::Auto => detect(stream, path)?,
        given => given,
    };
    match format {
        FormatArg::Jsonl => plain::read(stream, defaults, sink),
        FormatArg::Openai => openai::read(stream, defaults, sink),
        FormatArg::Chatgpt => array::each(stream, |found| chatgpt::conversation(found, defaults), sink),
        FormatArg::Claude => array::each(stream, |found| claude::conversation(found, defaults), sink),
        FormatArg::Locomo | FormatArg::Auto => {
            array::each(stream, |found| locomo::conversation(&found, defaults), sink)
        }
    }
}

/// How much of a file's beginning is looked at to tell its format.
const LOOK_BYTES: usize = 64 * 1024;

/// Tells the format from the words that only it has near its beginning.
fn detect(stream: &mut dyn BufRead, path: &Path) -> Result<FormatArg, Failure> {
    let head = stream.fill_buf().map_err(anyhow::Error::from)?;
    let head = String::from_utf8_lossy(&head[..head.len().min(LOOK_BYTES)]).into_owned();
    let has = |word: &str| head.contains(word);
    let first = head.trim_start_matches('\u{feff}').trim_start().chars().next();
    let format =
        if first == Some('[') && has("\"dia_id\"") || has("\"session_1_date_time\"") || has("\"evidence\"") {
            FormatArg::Locomo
        } else if has("\"chat_messages\"") {
            FormatArg::Claude
        } else if has("\"mapping\"") {
            FormatArg::Chatgpt
        } else if first == Some('[') || (first == Some('{') && has("\"messages\"")) {
            FormatArg::Openai
        } else if first == Some('{') {
            FormatArg::Jsonl
        } else {
            return Err(
                Failure::usage(format!("cannot tell what `{}` is", path.display()))
                    .hint("say it with --format jsonl|openai|chatgpt|claude|locomo"),
            );
        };
    Ok(format)
}

/// One message of a conversation; none when nothing was said.
fn message(said: Said) -> Option<MessageItem> {
    if said.content.trim().is_empty() && said.tool_calls.is_empty() {
        return None;
    }
    Some(MessageItem {
        sender_id: said.sender.as_str().to_owned(),
        sender_name: said.sender_name,
        role: said.role.into(),
        timestamp: said.time.millis(),
        content: MessageContent::Text(said.content),
        tool_calls: (!said.tool_calls.is_empty()).then(|| said.tool_calls.iter().map(Into::into).collect()),
        tool_call_id: said.tool_call_id,
        message_id: Some(short(said.client_id)),
    })
}

/// An id that the API takes; one that is too long keeps its beginning, and a number made of all of it.
fn short(id: String) -> String {
    if (1..=MESSAGE_ID_CHARS_MAX).contains(&id.chars().count()) {
        return id;
    }
    // FNV-1a: the same in every version of the program, so that a second import knows the first.
    let number = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |number, byte| {
        (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let beginning: String = id.chars().take(MESSAGE_ID_CHARS_MAX - 17).collect();
    format!("{beginning}-{number:016x}")
}

impl Defaults {
    fn session(&self, text: &str) -> SessionKey {
        let text: String = text.chars().take(model::id::ID_CHARS_MAX).collect();
        let session = SessionId::parse(&text).unwrap_or_else(|_| SessionId::new("import"));
        SessionKey {
            scope: self.scope.clone(),
            session,
        }
    }
}

/// A reader that says how far it is.
struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
