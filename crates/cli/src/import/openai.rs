//! OpenAI messages: an array of them, an object with `messages`, or one such object a line.

use serde_json::Value;

use super::shape::{self, ListShape};
use super::{Reading, table};
use crate::error::Failure;

const SHAPE: ListShape = ListShape {
    kind: "message",
    first: 0,
    senders: "name",
};

/// Hands over the conversation of a value, the number of which the file's order gives.
pub(super) fn read(
    number: usize,
    value: &Value,
    reading: &mut Reading<'_>,
) -> Result<Result<(), String>, Failure> {
    let defaults = &reading.defaults;
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
    let messages = (0..).zip(messages);
    let messages = messages.map(|(at, told)| (at, table::string(&told["id"]), told));
    shape::list(&SHAPE, session, shape::title(&value["title"]), messages, reading).map(Ok)
}
