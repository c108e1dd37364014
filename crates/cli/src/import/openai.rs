//! OpenAI messages: an array of them, an object with `messages`, or one such object a line.

use model::Role;
use serde_json::Value;

use super::shape::{self, ImportedMessage};
use super::{Defaults, ImportItem, ImportedConversation, Sink, Skipped, message, table};
use crate::error::Failure;

/// Hands over the conversation of a value, the number of which the file's order gives.
pub(super) fn read(
    number: usize,
    value: &Value,
    defaults: &Defaults,
    sink: Sink<'_>,
) -> Result<Result<(), String>, Failure> {
    let messages = match value {
        Value::Array(messages) => Some(messages),
        Value::Object(fields) => fields.get("messages").and_then(Value::as_array),
        _ => None,
    };
    let Some(messages) = messages else {
        return Ok(Err("it has no `messages`".to_owned()));
    };
    let own = ["session_id", "conversation_id", "id"]
        .iter()
        .find_map(|key| table::string(value.get(key)?));
    let session = match own {
        Some(own) => defaults.session(&own),
        None if number == 1 => defaults.session(&defaults.name),
        None => defaults.session(&format!("{}-{number}", defaults.name)),
    };
    let is_local = |told: &&Value| matches!(moment(told, defaults), shape::ReadTime::Local(_));
    shape::note_local(messages.iter().filter(is_local).count(), defaults, sink)?;
    let mut said = Vec::new();
    for (at, told) in (0i64..).zip(messages) {
        match self::said(at, told, defaults) {
            Ok(one) => said.extend(one.and_then(message)),
            Err(why) => sink(ImportItem::Skipped(Skipped {
                what: format!("message {}", at + 1),
                why,
            }))?,
        }
    }
    let conversation = ImportedConversation {
        is_log: false,
        session,
        title: shape::title(&value["title"]),
        messages: said,
    };
    sink(ImportItem::Conversation(conversation)).map(Ok)
}

fn moment(message: &Value, defaults: &Defaults) -> shape::ReadTime {
    ["timestamp", "created_at", "create_time"]
        .iter()
        .find_map(|key| Some(shape::moment(message.get(key)?, &defaults.zone)))
        .unwrap_or(shape::ReadTime::Missing)
}

/// Content of a message; none for system and developer prompts.
fn said(at: i64, message: &Value, defaults: &Defaults) -> Result<Option<ImportedMessage>, String> {
    let role = match message["role"].as_str() {
        Some("function") => Some(Role::Tool),
        other => other.and_then(Role::parse),
    };
    let Some(role) = role else { return Ok(None) };
    let name = message["name"].as_str();
    let time = moment(message, defaults);
    if let Some(why) = time.problem() {
        return Err(why);
    }
    let tool_call_id = match role {
        Role::Tool => Some(
            message["tool_call_id"]
                .as_str()
                .map_or_else(|| format!("call-{at}"), str::to_owned),
        ),
        _ => None,
    };
    Ok(Some(ImportedMessage {
        client_id: table::string(&message["id"]).unwrap_or_else(|| format!("message-{at}")),
        role,
        sender: name
            .and_then(shape::name)
            .unwrap_or_else(|| defaults.sender(role)),
        sender_name: name.map(str::to_owned),
        time: time.time().unwrap_or_else(|| defaults.now.plus_millis(at)),
        content: shape::content(&message["content"]),
        tool_calls: shape::tool_calls(&message["tool_calls"]),
        tool_call_id,
    }))
}
