//! OpenAI messages: an array of them, an object with `messages`, or one such object a line.

use std::io::BufRead;

use model::Role;
use serde_json::Value;

use super::shape::{self, ImportedMessage};
use super::{Defaults, ImportItem, ImportedConversation, Sink, message};
use crate::error::Failure;

/// Reads every value of the stream.
pub(super) fn read(stream: &mut dyn BufRead, defaults: &Defaults, sink: Sink<'_>) -> Result<(), Failure> {
    let values = serde_json::Deserializer::from_reader(stream).into_iter::<Value>();
    for (number, value) in (1..).zip(values) {
        let value = value.map_err(|error| {
            Failure::usage(format!("the file is broken: {error}"))
                .hint("conversations before that place were imported; a second import adds only new messages")
        })?;
        let messages = match &value {
            Value::Array(messages) => Some(messages),
            Value::Object(fields) => fields.get("messages").and_then(Value::as_array),
            _ => None,
        };
        let messages = messages.ok_or_else(|| {
            Failure::usage(format!("value {number} has no `messages`"))
                .hint("give an array of messages, or objects with a `messages` array")
        })?;
        let own = ["session_id", "conversation_id", "id"]
            .iter()
            .find_map(|key| value.get(key)?.as_str());
        let session = match own {
            Some(own) => defaults.session(own),
            None if number == 1 => defaults.session(&defaults.name),
            None => defaults.session(&format!("{}-{number}", defaults.name)),
        };
        let said = (0i64..)
            .zip(messages)
            .filter_map(|(at, message)| said(at, message, defaults));
        let messages = said.filter_map(message).collect();
        sink(ImportItem::Conversation(ImportedConversation {
            is_log: false,
            session,
            title: shape::title(&value["title"]),
            messages,
        }))?;
    }
    Ok(())
}

/// Content of a message; none for system and developer prompts.
fn said(at: i64, message: &Value, defaults: &Defaults) -> Option<ImportedMessage> {
    let role = match message["role"].as_str()? {
        "function" => Role::Tool,
        other => Role::parse(other)?,
    };
    let name = message["name"].as_str();
    let time = ["timestamp", "created_at", "create_time"]
        .iter()
        .find_map(|key| shape::time(message.get(key)?, &defaults.zone));
    let tool_call_id = match role {
        Role::Tool => Some(
            message["tool_call_id"]
                .as_str()
                .map_or_else(|| format!("call-{at}"), str::to_owned),
        ),
        _ => None,
    };
    Some(ImportedMessage {
        client_id: message["id"]
            .as_str()
            .map_or_else(|| format!("message-{at}"), str::to_owned),
        role,
        sender: name
            .and_then(shape::name)
            .unwrap_or_else(|| defaults.sender(role)),
        sender_name: name.map(str::to_owned),
        time: time.unwrap_or_else(|| defaults.now.plus_millis(at)),
        content: shape::content(&message["content"]),
        tool_calls: shape::tool_calls(&message["tool_calls"]),
        tool_call_id,
    })
}
