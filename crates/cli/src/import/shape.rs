//! The common form of all formats, and conversions that several formats need.

use model::{Name, Role, Timestamp, ToolCall, Zone};
use serde_json::Value;

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

/// A name from any text: characters that an id cannot contain become `-`.
pub(super) fn name(text: &str) -> Option<Name> {
    let clean: String = text
        .trim()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "_.@+-".contains(c) {
                c
            } else {
                '-'
            }
        })
        .take(model::id::ID_CHARS_MAX)
        .collect();
    Name::parse(clean.trim_matches('-')).ok()
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

/// A call of a tool.
pub(super) fn call(id: &str, name: Option<&str>, arguments: String) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: name.unwrap_or("tool").to_owned(),
        arguments,
    }
}

/// Numbers below this are seconds, above it milliseconds: it is the year 5138 in one and 1973 in the other.
const SECONDS_MAX: f64 = 1e11;

/// A time in any notation of the formats; 0 and earlier times mean unknown.
pub(super) fn time(value: &Value, zone: &Zone) -> Option<Timestamp> {
    read(value, zone).filter(|time| time.millis() > 0)
}

fn read(value: &Value, zone: &Zone) -> Option<Timestamp> {
    match value {
        Value::Number(number) => {
            let number = number.as_f64()?;
            let millis = if number.abs() < SECONDS_MAX {
                number * 1000.0
            } else {
                number
            };
            #[expect(clippy::cast_possible_truncation, reason = "`from_millis` draws it in")]
            Some(Timestamp::from_millis(millis.round() as i64))
        }
        Value::String(text) => match text.trim().parse::<f64>() {
            Ok(number) => read(&Value::from(number), zone),
            Err(_) => zone.parse(text).ok(),
        },
        _ => None,
    }
}

/// Text, or the text of one typed part or a list of them; other content is named.
pub(super) fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => fields
            .get("text")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        Value::Array(parts) => {
            let parts = parts.iter().map(|part| match part {
                Value::String(text) => text.clone(),
                Value::Object(fields) => {
                    match (fields.get("text"), fields.get("type").and_then(Value::as_str)) {
                        (Some(Value::String(text)), _) => text.clone(),
                        (_, Some(kind)) => format!("[{}]", kind.trim_end_matches("_url")),
                        _ => String::new(),
                    }
                }
                _ => String::new(),
            });
            parts
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        }
        _ => String::new(),
    }
}

/// An OpenAI message's tool calls.
pub(super) fn tool_calls(value: &Value) -> Vec<ToolCall> {
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
