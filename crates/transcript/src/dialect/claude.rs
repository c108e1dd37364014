//! A session of Claude Code: a record a line, the model's messages streamed as a record per block.
//!
//! Owns: choosing the records of the conversation, and joining streamed records. The file's order is kept: it also
//! contains abandoned branches. Never: the form of a message (`parts`).

use std::collections::{HashMap, HashSet};

use super::read::{SourceText, kind_of};
use super::{Dialect, Family, Transcript, Unreadable, parts};
use crate::Item;
use crate::json::{Object, Value, spliced};

/// Whether a record is one that only Claude Code writes.
pub(super) fn is_record(object: &Object<'_>) -> bool {
    let speaks = matches!(object.string("type").as_deref(), Some("user" | "assistant"));
    speaks && object.get("message").is_some_and(|message| message.is_object())
}

pub(super) fn read<'a>(
    source: SourceText<'a>,
    values: &[Value<'a>],
    objects: &[Object<'a>],
) -> Result<Transcript, Unreadable> {
    let mut transcript = Transcript::new(Dialect::ClaudeCode);
    let mut seen: HashSet<String> = HashSet::new();
    let mut streams: Vec<Stream<'_>> = Vec::new();
    // Messages that a later record may continue, by their id. A person's message ends them.
    let mut open: HashMap<String, usize> = HashMap::new();
    for (index, object) in objects.iter().enumerate() {
        let message = object.get("message").filter(|_| is_record(object));
        let Some(message) = message else {
            transcript.skip(&kind_of(object));
            continue;
        };
        if object.is_true("isSidechain") {
            transcript.skip("side chain");
            continue;
        }
        if object.string("uuid").is_some_and(|uuid| !seen.insert(uuid)) {
            transcript.skip("record that was written before");
            continue;
        }
        let item = source.message(transcript.dialect, message, &format!("[{index}].message"))?;
        let inner = message.object();
        let model = inner.string("model").filter(|model| model != "<synthetic>");
        transcript.model = model.or(transcript.model);
        if item.asks() {
            open.clear();
        }
        let id = inner
            .string("id")
            .filter(|_| object.string("type").as_deref() == Some("assistant"));
        if let Some(&at) = id.as_ref().and_then(|id| open.get(id)) {
            streams[at].messages.push(message);
            continue;
        }
        if let Some(id) = id {
            open.insert(id, streams.len());
        }
        let messages = vec![message];
        streams.push(Stream { messages, item });
    }
    transcript.items = streams.into_iter().map(Stream::joined).collect();
    source.some_items(transcript, values)
}

/// The records of one message.
struct Stream<'a> {
    messages: Vec<Value<'a>>,
    /// The item of the first record.
    item: Item,
}

impl Stream<'_> {
    /// The message with the blocks of all its records, in the frame of the last record, because only that one has the
    /// final usage.
    fn joined(self) -> Item {
        let [_, _, ..] = self.messages.as_slice() else {
            return self.item;
        };
        let mut framed = self.messages.iter().rev().filter_map(|message| {
            let content = message.object().get("content")?;
            (!content.is_null()).then_some((message, content))
        });
        let Some((frame, content)) = framed.next() else {
            return self.item;
        };
        let elements: Vec<String> = self.messages.iter().flat_map(elements).collect();
        let start = frame.span().start;
        let place = content.span().start - start..content.span().end - start;
        let joined = spliced(frame.text(), vec![(place, format!("[{}]", elements.join(",")))]);
        let Ok(parts) = parts::read(Value::of(&joined), Family::Anthropic) else {
            return self.item;
        };
        parts.item(&joined)
    }
}

fn elements(message: &Value<'_>) -> Vec<String> {
    let Some(content) = message.object().get("content") else {
        return Vec::new();
    };
    match content.string() {
        Some(text) if text.is_empty() => Vec::new(),
        Some(_) => vec![format!("{{\"type\":\"text\",\"text\":{}}}", content.text())],
        None => content.element_texts().collect(),
    }
}
