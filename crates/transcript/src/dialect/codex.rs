//! A rollout of Codex: records in envelopes, or bare items as older versions wrote them.
//!
//! Owns: choosing the records of the conversation. A compaction's record is not one: the replaced items are in the
//! file. Never: the form of an item (`parts`).

use super::read::{SourceText, kind_of};
use super::{Dialect, Transcript, Unreadable};
use crate::json::{Object, Value};

/// Whether an object is an item of the Responses API that cannot be a message of another dialect.
pub(super) fn is_item(object: &Object<'_>) -> bool {
    let Some(kind) = object.string("type") else {
        return false;
    };
    if object.has("role") {
        let content = object.elements("content");
        let kinds = content
            .iter()
            .filter_map(|element| element.object().string("type"));
        return kind == "message"
            && kinds
                .into_iter()
                .any(|kind| matches!(kind.as_str(), "input_text" | "output_text" | "input_image"));
    }
    kind == "reasoning" || kind.ends_with("_call") || kind.ends_with("_output")
}

/// Whether a record is one that only Codex writes.
pub(super) fn is_record(object: &Object<'_>) -> bool {
    object
        .get("payload")
        .is_some_and(|payload| payload.is_object() && object.has("type"))
        || is_item(object)
}

pub(super) fn read<'a>(
    source: SourceText<'a>,
    values: &[Value<'a>],
    objects: &[Object<'a>],
) -> Result<Transcript, Unreadable> {
    let mut transcript = Transcript::new(Dialect::Codex);
    for (index, (value, object)) in values.iter().zip(objects).enumerate() {
        let kind = kind_of(object);
        let payload = object.get("payload").filter(Value::is_object);
        match (payload, kind.as_str()) {
            (Some(payload), "response_item") => {
                transcript.items.push(source.message(
                    transcript.dialect,
                    payload,
                    &format!("[{index}].payload"),
                )?);
            }
            (Some(payload), _) => {
                if matches!(kind.as_str(), "turn_context" | "session_meta") {
                    transcript.model = payload.object().string("model").or(transcript.model);
                }
                transcript.skip(&kind);
            }
            (None, _) if is_item(object) || object.has("role") => {
                transcript
                    .items
                    .push(source.message(transcript.dialect, *value, &format!("[{index}]"))?);
            }
            (None, _) => transcript.skip(&kind),
        }
    }
    source.some_items(transcript, values)
}
