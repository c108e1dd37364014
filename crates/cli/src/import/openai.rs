//! OpenAI messages: an array of them, an object with `messages`, or one such object a line.

use serde_json::Value;

use super::{Defaults, ImportItem, ImportedConversation, Sink, Skipped, message, shape, table};
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
    let (mut said, mut local) = (Vec::new(), 0);
    for (at, told) in (0i64..).zip(messages) {
        match shape::said(
            ("message", at, "name"),
            told,
            table::string(&told["id"]),
            defaults,
        ) {
            Ok(one) => {
                local += usize::from(one.as_ref().is_some_and(|(_, is_local)| *is_local));
                said.extend(one.and_then(|(one, _)| message(one)));
            }
            Err(why) => sink(ImportItem::Skipped(Skipped {
                what: format!("message {}", at + 1),
                why,
            }))?,
        }
    }
    shape::note_local(local, defaults, sink)?;
    let conversation = ImportedConversation {
        is_log: false,
        session,
        title: shape::title(&value["title"]),
        messages: said,
    };
    sink(ImportItem::Conversation(conversation)).map(Ok)
}
