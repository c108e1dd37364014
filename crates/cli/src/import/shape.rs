//! The structures that all formats share, and conversions that several formats need.

use model::text::Fnv;
use model::{Name, Role, SessionKey, Timestamp, ToolCall, Zone};
use serde_json::Value;

use super::table::{FormatRow, first, string, word};
use super::{Defaults, ImportItem, ImportedConversation, Reading, message};
use crate::error::Failure;

/// One message.
#[derive(Debug)]
pub(super) struct ImportedMessage {
    pub(super) client_id: String,
    pub(super) role: Role,
    pub(super) sender: Name,
    pub(super) sender_name: Option<String>,
    pub(super) time: Timestamp,
    pub(super) content: String,
    pub(super) tool_calls: Vec<ToolCall>,
    pub(super) tool_call_id: Option<String>,
}

impl ImportedMessage {
    /// A message of text only.
    pub(super) fn new(client_id: String, role: Role, sender: Name, time: Timestamp, content: String) -> Self {
        Self {
            client_id,
            role,
            sender,
            sender_name: None,
            time,
            content,
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }
}

/// A name from any text: characters that an id cannot contain become `-`.
pub(super) fn name(text: &str) -> Option<Name> {
    let is_taken = |c: char| c.is_ascii_alphanumeric() || "_.@+-".contains(c);
    let clean = text.trim().chars().map(|c| if is_taken(c) { c } else { '-' });
    let clean: String = clean.take(model::id::ID_CHARS_MAX).collect();
    Name::parse(clean.trim_matches('-')).ok()
}

/// The id of a speaker known only by name: different names get different ids, in any script.
pub(super) fn speaker(text: &str) -> Name {
    let plain = name(text);
    match plain {
        Some(plain) if text.is_ascii() => plain,
        plain => {
            let plain = plain.as_ref().map_or("speaker", Name::as_str);
            let number = Fnv::of(text.as_bytes());
            let plain: String = plain.chars().take(model::id::ID_CHARS_MAX - 17).collect();
            fixed(&format!("{plain}-{number:016x}"))
        }
    }
}

/// The name of a role's usual sender.
pub(super) fn fixed(text: &str) -> Name {
    Name::parse(text).expect("a name of this program's own")
}

/// Titles that clients use for untitled conversations.
const NO_TITLES: [&str; 4] = [
    "new chat",
    "new conversation",
    "untitled",
    "untitled conversation",
];

/// A conversation's title in one line, if it has one.
pub(super) fn title(value: &Value) -> Option<String> {
    let words: Vec<&str> = value.as_str()?.split_whitespace().collect();
    let title = words.join(" ");
    (!title.is_empty() && !NO_TITLES.contains(&title.to_lowercase().as_str())).then_some(title)
}

/// A message's time as its file gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReadTime {
    Missing,
    At(Timestamp),
    /// A local time, read in the configured zone.
    Local(Timestamp),
    /// A text that is not a time.
    Unread(String),
}

impl ReadTime {
    pub(super) fn time(&self) -> Option<Timestamp> {
        match self {
            Self::At(time) | Self::Local(time) => Some(*time),
            Self::Missing | Self::Unread(_) => None,
        }
    }

    /// The reason for leaving out a message with this time; `None` if the message is kept.
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Unread(text) => Some(format!(
                "the time {text} is not understood: write it as 2026-03-02T10:00:00Z"
            )),
            _ => None,
        }
    }
}

/// Units of time: a number from the first value up has this unit; the second value is the unit's count in a millisecond.
const UNITS: [(f64, f64); 3] = [(1e17, 1e6), (1e14, 1e3), (1e10, 1.0)];

/// A time in any notation of the formats; 0 and earlier times mean unknown.
pub(super) fn moment(value: &Value, zone: &Zone) -> ReadTime {
    match value {
        Value::Null => ReadTime::Missing,
        Value::Number(number) => number.as_f64().map_or(ReadTime::Missing, of_number),
        Value::String(text) if text.trim().is_empty() => ReadTime::Missing,
        Value::String(text) => match text.trim().parse::<f64>() {
            Ok(number) => of_number(number),
            Err(_) => of_text(text, zone),
        },
        Value::Object(fields) => match fields.get("$date").or_else(|| fields.get("$numberLong")) {
            Some(inner) => moment(inner, zone),
            None => ReadTime::Unread(value.to_string()),
        },
        other => ReadTime::Unread(other.to_string()),
    }
}

fn of_number(number: f64) -> ReadTime {
    let unit = UNITS.iter().find(|(least, _)| number >= *least);
    let millis = unit.map_or(number * 1000.0, |(_, per_milli)| number / per_milli);
    if !millis.is_finite() || millis.round() <= 0.0 {
        return ReadTime::Missing;
    }
    #[expect(clippy::cast_possible_truncation, reason = "`from_millis` draws it in")]
    ReadTime::At(Timestamp::from_millis(millis.round() as i64))
}

fn of_text(text: &str, zone: &Zone) -> ReadTime {
    // A time with an offset is the same in every zone.
    let far = Zone::named("Pacific/Kiritimati").unwrap_or_default();
    match (zone.parse(text), far.parse(text), Zone::utc().parse(text)) {
        (Ok(time), Ok(_), Ok(_)) if time.millis() <= 0 => ReadTime::Missing,
        (Ok(time), Ok(other), Ok(third)) if time == other && time == third => ReadTime::At(time),
        (Ok(time), ..) => ReadTime::Local(time),
        (Err(_), ..) => ReadTime::Unread(format!("\"{text}\"")),
    }
}

/// Hands over the conversation of a value with OpenAI messages; `number` is the value's position in the file.
pub(super) fn conversation(
    row: &FormatRow,
    number: usize,
    value: &Value,
    reading: &mut Reading<'_>,
) -> Result<Result<(), String>, Failure> {
    let messages = value.get("messages").unwrap_or(value).as_array();
    let Some(messages) = messages else {
        return Ok(Err("it has no `messages`".to_owned()));
    };
    let file = &reading.defaults.name;
    let session = word(value, row.key("id")).unwrap_or_else(|| match number {
        1 => file.clone(),
        _ => format!("{file}-{number}"),
    });
    let session = reading.defaults.session(&session);
    let messages = (0..).zip(messages);
    let messages = messages.map(|(at, told)| (at, string(&told["id"]), told));
    list(row, session, title(&value["title"]), messages, reading).map(Ok)
}

/// Hands over a conversation of messages, each with its number and id; notes how many times had no zone, and the zone used.
pub(super) fn list<'a>(
    row: &FormatRow,
    session: SessionKey,
    title: Option<String>,
    list: impl Iterator<Item = (i64, Option<String>, &'a Value)>,
    reading: &mut Reading<'_>,
) -> Result<(), Failure> {
    let (mut messages, mut local) = (Vec::new(), 0);
    for (number, id, told) in list {
        match said(row, number, told, id, &reading.defaults) {
            Ok(None) => {}
            Ok(Some((said, is_local))) => {
                local += usize::from(is_local);
                messages.extend(message(said));
            }
            // Positions are shown from 1, like line numbers.
            Err(why) => {
                let place = number + i64::from(!row.has("lines"));
                reading.skip(format!("{} {place}", row.key("kind")), why)?;
            }
        }
    }
    if local > 0 {
        let zone = reading.defaults.zone.name();
        reading.note(format!("times without a zone, read in {zone}"), local)?;
    }
    (reading.sink)(ImportItem::Conversation(ImportedConversation {
        is_log: false,
        session,
        title,
        messages,
    }))
}

/// A message of a list, and whether its time has no zone; `None` for a system prompt. `number` replaces a missing id, and orders
/// messages without a time.
fn said(
    row: &FormatRow,
    number: i64,
    message: &Value,
    id: Option<String>,
    defaults: &Defaults,
) -> Result<Option<(ImportedMessage, bool)>, String> {
    let role = match message["role"].as_str() {
        Some("human") => Some(Role::User),
        Some("ai" | "model") => Some(Role::Assistant),
        Some("function") => Some(Role::Tool),
        other => other.and_then(Role::parse),
    };
    let Some(role) = role else { return Ok(None) };
    let times = first(message, "timestamp|time|created_at|create_time|date");
    let time = times.first();
    let time = time.map_or(ReadTime::Missing, |time| moment(time, &defaults.zone));
    if let Some(why) = time.problem() {
        return Err(why);
    }
    let place = || format!("{}-{number}", row.key("kind"));
    let sender = word(message, row.key("name"));
    let name = sender.as_deref().and_then(name);
    let said = ImportedMessage {
        client_id: id.unwrap_or_else(place),
        role,
        sender: name.unwrap_or_else(|| defaults.sender(role)),
        sender_name: word(message, "sender_name|name").or(sender),
        time: time.time().unwrap_or_else(|| defaults.now.plus_millis(number)),
        content: content(&message["content"]),
        tool_calls: tool_calls(&message["tool_calls"]),
        tool_call_id: (role == Role::Tool).then(|| word(message, "tool_call_id").unwrap_or_else(place)),
    };
    Ok(Some((said, matches!(time, ReadTime::Local(_)))))
}

/// Text, or the text of one typed part or of a list of parts; other content appears by name.
fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) => value["text"].as_str().unwrap_or_default().to_owned(),
        Value::Array(parts) => {
            let parts = parts.iter().filter_map(|part| {
                let text = part.as_str().or_else(|| part.get("text")?.as_str());
                let kind = || part.get("type")?.as_str();
                let name = || Some(format!("[{}]", kind()?.trim_end_matches("_url")));
                text.map(str::to_owned).or_else(name)
            });
            let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
            parts.join("\n")
        }
        _ => String::new(),
    }
}

/// An OpenAI message's tool calls.
fn tool_calls(value: &Value) -> Vec<ToolCall> {
    let calls = value.as_array().into_iter().flatten();
    calls
        .filter_map(|call| {
            Some(ToolCall {
                id: call.get("id")?.as_str()?.to_owned(),
                name: call["function"].get("name")?.as_str()?.to_owned(),
                arguments: match &call["function"]["arguments"] {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                },
            })
        })
        .collect()
}
