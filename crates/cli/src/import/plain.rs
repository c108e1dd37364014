//! Chat JSONL: one message a line.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufRead;

use model::{Role, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use transcript::mended;

use super::shape::{self, ImportedMessage};
use super::{Defaults, ImportItem, ImportedConversation, Sink, Skipped, message, table};
use crate::error::Failure;

/// Maximum number of messages in one batch.
const BATCH_MESSAGES_MAX: usize = 500;

#[derive(Debug, Deserialize)]
struct PlainLine {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default, alias = "time", alias = "created_at", alias = "date")]
    timestamp: Value,
    #[serde(
        default,
        deserialize_with = "word",
        alias = "sender",
        alias = "user_id",
        alias = "speaker"
    )]
    sender_id: Option<String>,
    #[serde(default, alias = "name")]
    sender_name: Option<String>,
    #[serde(
        default,
        deserialize_with = "word",
        alias = "session",
        alias = "conversation_id"
    )]
    session_id: Option<String>,
    #[serde(default, deserialize_with = "word", alias = "id")]
    message_id: Option<String>,
    #[serde(default)]
    tool_calls: Value,
    tool_call_id: Option<String>,
}

/// A text, or a number as one.
fn word<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    Ok(table::string(&Value::deserialize(value)?))
}

/// Reads line by line. A broken line ends the import with its number; the lines before it are imported.
pub(super) fn read(stream: &mut dyn BufRead, defaults: &Defaults, sink: Sink<'_>) -> Result<(), Failure> {
    let mut waiting: BTreeMap<String, Vec<(i64, PlainLine)>> = BTreeMap::new();
    let mut ids = Ids::default();
    let mut count = 0;
    let mut broken = None;
    for (number, line) in (1i64..).zip(stream.lines()) {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                broken = Some(format!("line {number}: {error}"));
                break;
            }
        };
        let text = line.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        match mended::parse::<PlainLine>(text) {
            Ok(mut line) => {
                let session = line.session_id.clone().unwrap_or_else(|| defaults.name.clone());
                line.message_id = line.message_id.map(|id| ids.own(&session, id, &line.content));
                waiting.entry(session).or_default().push((number, line));
                count += 1;
            }
            Err(error) => {
                broken = Some(format!("line {number}: {error}"));
                break;
            }
        }
        if count == BATCH_MESSAGES_MAX {
            hand_on(std::mem::take(&mut waiting), defaults, sink)?;
            count = 0;
        }
    }
    hand_on(waiting, defaults, sink)?;
    match broken {
        None => Ok(()),
        Some(reason) => Err(Failure::usage(reason).hint(
            "a line is one object with `role` and `content`; all lines before it were remembered, and importing the \
             file again adds only what is new",
        )),
    }
}

/// Some files call by one id what are several messages, as when it is the conversation's: all of them are kept.
#[derive(Debug, Default)]
struct Ids {
    /// By session and id, the contents that it was given to.
    contents: BTreeMap<(String, String), Vec<u64>>,
}

impl Ids {
    /// The id itself for the first content that has it, and one with a number for each other.
    fn own(&mut self, session: &str, id: String, content: &Value) -> String {
        let mut hasher = DefaultHasher::new();
        content.to_string().hash(&mut hasher);
        let content = hasher.finish();
        let contents = self.contents.entry((session.to_owned(), id.clone())).or_default();
        let place = contents
            .iter()
            .position(|known| *known == content)
            .unwrap_or_else(|| {
                contents.push(content);
                contents.len() - 1
            });
        if place == 0 {
            id
        } else {
            format!("{id}~{}", place + 1)
        }
    }
}

fn hand_on(
    waiting: BTreeMap<String, Vec<(i64, PlainLine)>>,
    defaults: &Defaults,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    for (session, lines) in waiting {
        let session = defaults.session(&session);
        let mut messages = Vec::new();
        let mut local = 0;
        for (number, line) in lines {
            let moment = shape::moment(&line.timestamp, &defaults.zone);
            if let Some(why) = moment.problem() {
                let what = format!("line {number}");
                sink(ImportItem::Skipped(Skipped { what, why }))?;
                continue;
            }
            local += usize::from(matches!(moment, shape::ReadTime::Local(_)));
            messages.extend(said(number, line, moment.time(), defaults).and_then(message));
        }
        shape::note_local(local, defaults, sink)?;
        sink(ImportItem::Conversation(ImportedConversation {
            is_log: false,
            session,
            title: None,
            messages,
        }))?;
    }
    Ok(())
}

/// Content of a line; none for system prompts.
fn said(
    number: i64,
    line: PlainLine,
    time: Option<Timestamp>,
    defaults: &Defaults,
) -> Option<ImportedMessage> {
    let role = match line.role.as_str() {
        "human" => Role::User,
        "ai" | "model" => Role::Assistant,
        "function" => Role::Tool,
        other => Role::parse(other)?,
    };
    let undated = || defaults.now.plus_millis(number);
    let tool_call_id = match role {
        Role::Tool => Some(line.tool_call_id.unwrap_or_else(|| format!("line-{number}"))),
        _ => None,
    };
    Some(ImportedMessage {
        client_id: line.message_id.unwrap_or_else(|| format!("line-{number}")),
        role,
        sender: line
            .sender_id
            .as_deref()
            .and_then(shape::name)
            .unwrap_or_else(|| defaults.sender(role)),
        sender_name: line.sender_name.or(line.sender_id),
        time: time.unwrap_or_else(undated),
        content: shape::content(&line.content),
        tool_calls: shape::tool_calls(&line.tool_calls),
        tool_call_id,
    })
}
