//! Items as chat messages with ids, and an engine's messages as items again.
//!
//! Owns: the ids of one call, the mapping of returned messages to items of the call, the form of a changed message.
//! Invariant: an item that comes back unchanged is the same `Arc`, so that it keeps the client's bytes. Never: judging
//! the list.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use ports::context_engine::EngineFault;
use serde_json::{Map, Value};
use transcript::dialect::{self, Dialect};
use transcript::{Block, Image, Item};

use super::protocol::failed;

/// Parts of a chat message's `content`.
const CHAT_PARTS: [&str; 7] = [
    "text", "image_url", "input_audio", "file", "refusal", "audio_url", "video_url",
];
/// Parts of a `content` that only Anthropic's messages have.
const ANTHROPIC_PARTS: [&str; 6] = [
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "image",
    "document",
];

/// The messages of one call.
#[derive(Debug)]
pub(super) struct SentMessages<'a> {
    items: &'a [Arc<Item>],
    /// In the order of the items, each with its id.
    messages: Vec<Value>,
    /// Origin of each message, by its index.
    places: Vec<MessageOrigin>,
    /// A message's index by its id.
    by_id: BTreeMap<String, usize>,
    /// The dialect of the conversation's client.
    dialect: Dialect,
}

/// Origin of a message.
#[derive(Debug, Clone, Copy)]
struct MessageOrigin {
    item: usize,
    part: usize,
    /// Number of messages that form the item.
    parts: usize,
}

/// An item of an answer.
#[derive(Debug)]
pub(super) struct Restored {
    pub(super) item: Arc<Item>,
    /// The index of the call's item that it comes from, changed or not.
    source: Option<usize>,
}

impl<'a> SentMessages<'a> {
    pub(super) fn new(items: &'a [Arc<Item>]) -> Self {
        let mut raws = items.iter().filter_map(|item| item.raw.as_deref());
        let mut sent = Self {
            items,
            messages: Vec::new(),
            places: Vec::new(),
            by_id: BTreeMap::new(),
            dialect: raws.find_map(foreign).unwrap_or(Dialect::OpenAi),
        };
        for (index, item) in items.iter().enumerate() {
            let written = written(item, sent.dialect);
            let parts = written.len();
            for (part, mut message) in written.into_iter().enumerate() {
                let id = if parts == 1 {
                    format!("m{index}")
                } else {
                    format!("m{index}.{part}")
                };
                message.insert("id".to_owned(), Value::String(id.clone()));
                sent.by_id.insert(id, sent.messages.len());
                sent.messages.push(Value::Object(message));
                sent.places.push(MessageOrigin {
                    item: index,
                    part,
                    parts,
                });
            }
        }
        sent
    }

    pub(super) fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// Another item of the conversation as one message without an id.
    pub(super) fn one(&self, item: &Item) -> Value {
        written(item, self.dialect)
            .pop()
            .map_or(Value::Null, Value::Object)
    }

    /// The items of an answer's messages.
    pub(super) fn restored(&self, answered: Vec<Value>) -> Result<Vec<Restored>, EngineFault> {
        let returned: Vec<Returned> = (answered.into_iter().enumerate())
            .map(|(index, message)| self.returned(index, message))
            .collect::<Result<_, _>>()?;
        let mut restored = Vec::new();
        let mut at = 0;
        while let Some(first) = returned.get(at) {
            let whole = first
                .place
                .and_then(|place| Some((place.item, all_parts(place, &returned[at..])?)));
            if let Some((source, parts)) = whole {
                restored.push(Restored {
                    item: self.joined(source, parts)?,
                    source: Some(source),
                });
                at += parts.len();
            } else {
                restored.push(Restored {
                    item: Arc::new(self.item(first)?),
                    source: None,
                });
                at += 1;
            }
        }
        Ok(restored)
    }

    /// A message with its place in the call. A message with only an id stands for the call's message of that id.
    fn returned(&self, index: usize, message: Value) -> Result<Returned, EngineFault> {
        let Value::Object(message) = message else {
            return Err(failed(format!(
                "messages[{index}] of its answer is not an object"
            )));
        };
        let id = message.get("id").and_then(Value::as_str);
        let known = id.and_then(|id| self.by_id.get(id)).copied();
        let Some(known) = known else {
            return Ok(Returned {
                index,
                message,
                place: None,
                is_changed: true,
            });
        };
        let old = &self.messages[known];
        let is_id_alone = message.len() == 1;
        let message = Value::Object(message);
        let is_changed = !is_id_alone && !is_same(old, &message);
        let message = if is_changed { message } else { old.clone() };
        Ok(Returned {
            index,
            message: message.as_object().cloned().unwrap_or_default(),
            place: Some(self.places[known]),
            is_changed,
        })
    }

    /// The item of the call, or a new one in its place if a part of it changed.
    fn joined(&self, source: usize, parts: &[Returned]) -> Result<Arc<Item>, EngineFault> {
        if parts.iter().all(|part| !part.is_changed) {
            return Ok(Arc::clone(&self.items[source]));
        }
        if let [one] = parts {
            return Ok(Arc::new(self.item(one)?));
        }
        let mut blocks = Vec::new();
        for part in parts {
            blocks.extend(self.item(part)?.blocks);
        }
        Ok(Arc::new(Item::made(self.items[source].role, blocks)))
    }

    /// The item of a message, as if Quipu had made it.
    fn item(&self, returned: &Returned) -> Result<Item, EngineFault> {
        let mut message = returned.message.clone();
        message.remove("id");
        let has = |key: &str| message.get(key).is_some_and(Value::is_object);
        let is_function = message.get("role").is_some_and(|role| role == "function");
        if is_function || has("function_call") || has("audio") {
            return Err(failed(format!(
                "messages[{}] of its answer changes a message with `function_call`, `audio` or role `function`; \
                 return such a message unchanged",
                returned.index
            )));
        }
        let text = Value::Object(message).to_string();
        let item = dialect::read_message(Dialect::OpenAi, &text).map_err(|error| {
            failed(format!(
                "messages[{}] of its answer is not a chat message: {error}",
                returned.index
            ))
        })?;
        let blocks = item.blocks.into_iter();
        Ok(Item {
            blocks: blocks
                .map(|block| pictured(block, Dialect::OpenAi, self.dialect))
                .collect(),
            raw: None,
            ..item
        })
    }
}

/// The messages of a whole item, if the list begins with them all, in order.
fn all_parts(first: MessageOrigin, list: &[Returned]) -> Option<&[Returned]> {
    let parts = list.get(..first.parts)?;
    let is_next = |(part, returned): (usize, &Returned)| {
        returned
            .place
            .is_some_and(|place| place.item == first.item && place.part == part)
    };
    parts.iter().enumerate().all(is_next).then_some(parts)
}

/// A message of an answer.
struct Returned {
    /// Its position in the answer.
    index: usize,
    message: Map<String, Value>,
    place: Option<MessageOrigin>,
    is_changed: bool,
}

/// The items of an answer to an ingest: each must be in its place.
pub(super) fn one_for_each(restored: Vec<Restored>, given: usize) -> Result<Vec<Arc<Item>>, EngineFault> {
    let in_place =
        |(index, restored): (usize, &Restored)| restored.source.is_none_or(|source| source == index);
    if restored.len() != given || !restored.iter().enumerate().all(in_place) {
        return Err(failed(format!(
            "`ingest` got {given} messages and answered with {} in its own order; answer with each message in its place, \
             or without `messages`",
            restored.len()
        )));
    }
    Ok(restored.into_iter().map(|restored| restored.item).collect())
}

/// The chat messages of an item, at least one. If the client's own text is a chat message, it is used.
fn written(item: &Item, dialect: Dialect) -> Vec<Map<String, Value>> {
    let raw = item.raw.as_deref().and_then(|raw| serde_json::from_str(raw).ok());
    let texts = match raw {
        Some(Value::Object(own)) if is_chat_message(&own) => {
            if !item.edited {
                return vec![own];
            }
            dialect::write(Dialect::OpenAi, std::slice::from_ref(item))
        }
        _ => return canonical(item, dialect),
    };
    objects(&texts).unwrap_or_else(|| canonical(item, dialect))
}

/// The item's blocks as chat messages, from any dialect.
fn canonical(item: &Item, dialect: Dialect) -> Vec<Map<String, Value>> {
    let blocks = item.blocks.iter().cloned();
    let blocks = blocks.map(|block| pictured(block, dialect, Dialect::OpenAi));
    let plain = Item::made(item.role, blocks.collect());
    let texts = dialect::write(Dialect::OpenAi, &[plain]);
    // A block's own JSON text may contain half of a surrogate pair, which other parsers refuse.
    let mut messages = objects(&texts).unwrap_or_else(|| {
        let text = Item::text(item.role, item.prose());
        objects(&dialect::write(Dialect::OpenAi, &[text])).unwrap_or_default()
    });
    // The plain form of a result does not show that the call failed.
    for (message, outcome) in messages.iter_mut().zip(item.outcomes()) {
        if outcome.failed {
            message.insert("is_error".to_owned(), Value::Bool(true));
        }
    }
    messages
}

fn objects(texts: &[String]) -> Option<Vec<Map<String, Value>>> {
    let objects = texts.iter().map(|text| serde_json::from_str(text).ok());
    objects
        .collect::<Option<Vec<_>>>()
        .filter(|objects| !objects.is_empty())
}

/// Converts a picture to another dialect. A picture that the dialect cannot hold, and any other block, stays
/// as it is.
fn pictured(block: Block, from: Dialect, to: Dialect) -> Block {
    let Block::Image(Image { raw }) = block else {
        return block;
    };
    let made = dialect::picture(&raw, from, to);
    Block::Image(Image {
        raw: made.unwrap_or(raw),
    })
}

fn is_chat_message(message: &Map<String, Value>) -> bool {
    let is_part = |part: &Value| {
        part["type"]
            .as_str()
            .is_some_and(|kind| CHAT_PARTS.contains(&kind))
    };
    let has_content = match message.get("content") {
        None | Some(Value::Null | Value::String(_)) => true,
        Some(Value::Array(parts)) => parts.iter().all(is_part),
        Some(_) => false,
    };
    message.get("role").is_some_and(Value::is_string) && !message.contains_key("type") && has_content
}

/// The dialect of a text that is not a chat message, if the text shows it.
fn foreign(raw: &str) -> Option<Dialect> {
    let message: Map<String, Value> = serde_json::from_str(raw).ok()?;
    let kind = message.get("type").and_then(Value::as_str);
    let parts = message
        .get("content")
        .and_then(Value::as_array)
        .map(Vec::as_slice);
    let mut kinds = parts
        .unwrap_or_default()
        .iter()
        .filter_map(|part| part["type"].as_str());
    let is_of_responses = |kind: &str| kind.starts_with("input_") || kind.starts_with("output_");
    if is_chat_message(&message) {
        None
    } else if kind.is_some_and(|kind| kind != "message") || kinds.clone().any(is_of_responses) {
        Some(Dialect::OpenAiResponses)
    } else {
        let is_of_anthropic = kinds.any(|kind| ANTHROPIC_PARTS.contains(&kind));
        is_of_anthropic.then_some(Dialect::Anthropic)
    }
}

/// Whether two values are equal: a null member can be missing, and `1.0` equals `1`.
fn is_same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let is_kept = |(key, old): (&String, &Value)| match new.get(key) {
                Some(new) => is_same(old, new),
                None => old.is_null(),
            };
            let is_known = |(key, new): (&String, &Value)| old.contains_key(key) || new.is_null();
            old.iter().all(is_kept) && new.iter().all(is_known)
        }
        (Value::Array(old), Value::Array(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| is_same(old, new))
        }
        (Value::Number(old), Value::Number(new)) => old == new || old.as_f64() == new.as_f64(),
        _ => old == new,
    }
}
