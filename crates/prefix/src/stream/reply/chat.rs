//! Answers to `chat/completions`.
//!
//! Owns: the message of the first choice, assembled from deltas or complete. Never: arguments of calls, which are in
//! `calls`.

use serde_json::{Map, Value};

use super::calls::ReplyCalls;
use super::{ReplyOutcome, ReplyReader, first_choice, keep};
use crate::stream::json;
use crate::stream::usage::Tally;

/// Where servers put thoughts; a client echoes them under the name they came with.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// A message so far.
#[derive(Debug, Default)]
pub(super) struct Chat {
    /// A delta came, be it an empty one.
    began: bool,
    refusal: String,
    reasoning: Map<String, Value>,
    calls: ReplyCalls,
    tally: Tally,
    /// The message of a whole body.
    whole: Option<String>,
}

impl ReplyReader for Chat {
    fn event(&mut self, _: &str, json: &Value, _: &str, outcome: &mut ReplyOutcome) -> bool {
        self.tally.openai(json);
        let Some((_, choice)) = first_choice(json) else {
            return json["choices"].is_array() || json["usage"].is_object();
        };
        keep(&mut outcome.finish, &choice["finish_reason"]);
        match &choice["delta"] {
            Value::Null => true,
            Value::Object(delta) => self.delta(delta, outcome),
            _ => false,
        }
    }

    fn body(&mut self, json: &Value, text: &str, outcome: &mut ReplyOutcome) -> bool {
        self.tally.openai(json);
        let Some((at, choice)) = first_choice(json) else {
            return false;
        };
        keep(&mut outcome.finish, &choice["finish_reason"]);
        let message = &choice["message"];
        outcome.text = words(&message["content"]);
        self.refusal = words(&message["refusal"]);
        outcome.calls = message["tool_calls"].as_array().map_or(0, Vec::len);
        let choices = json::elements(json::field(text, "choices").unwrap_or_default());
        let whole = choices.get(at).and_then(|choice| json::field(choice, "message"));
        self.whole = whole.filter(|_| message.is_object()).map(str::to_owned);
        self.whole.is_some()
    }

    fn close(&mut self, outcome: &mut ReplyOutcome) {
        outcome.usage = self.tally.usage();
        if self.began {
            outcome.calls = self.calls.len();
            self.whole = Some(self.message(&outcome.text));
        }
        outcome.message = self.whole.take();
        outcome.text.push_str(&self.refusal);
    }
}

impl Chat {
    /// Takes a delta; false if a part of it has no shape that is known.
    fn delta(&mut self, delta: &Map<String, Value>, outcome: &mut ReplyOutcome) -> bool {
        self.began = true;
        let mut understood = true;
        for (name, value) in delta {
            understood &= match (name.as_str(), value) {
                (_, Value::Null) => true,
                ("content", Value::String(piece)) => {
                    outcome.text.push_str(piece);
                    true
                }
                ("refusal", Value::String(piece)) => {
                    self.refusal.push_str(piece);
                    true
                }
                ("tool_calls", Value::Array(calls)) => {
                    calls.iter().filter(|call| !self.calls.push(call)).count() == 0
                }
                ("content" | "refusal" | "tool_calls", _) => false,
                (name, value) if REASONING.contains(&name) => self.reason(name, value),
                _ => true,
            };
        }
        understood
    }

    fn reason(&mut self, name: &str, piece: &Value) -> bool {
        let held = match piece {
            Value::String(piece) if piece.is_empty() => return true,
            Value::String(_) => self.reasoning.entry(name).or_insert_with(|| Value::from("")),
            Value::Array(_) => self
                .reasoning
                .entry(name)
                .or_insert_with(|| Value::Array(Vec::new())),
            _ => return false,
        };
        match (held, piece) {
            (Value::String(held), Value::String(piece)) => held.push_str(piece),
            (Value::Array(held), Value::Array(pieces)) => {
                for piece in pieces {
                    detail(held, piece);
                }
            }
            _ => return false,
        }
        true
    }

    fn message(&mut self, text: &str) -> String {
        let silent = text.is_empty() && (self.calls.len() > 0 || !self.refusal.is_empty());
        let content = if silent { Value::Null } else { Value::from(text) };
        let mut message = Map::new();
        message.insert("role".to_owned(), Value::from("assistant"));
        message.insert("content".to_owned(), content);
        message.append(&mut self.reasoning);
        if !self.refusal.is_empty() {
            message.insert("refusal".to_owned(), Value::from(self.refusal.as_str()));
        }
        if self.calls.len() > 0 {
            message.insert("tool_calls".to_owned(), self.calls.json());
        }
        Value::Object(message).to_string()
    }
}

/// Adds a piece of `reasoning_details`: one that goes on with the last is joined to it, as its readers expect it back.
fn detail(held: &mut Vec<Value>, piece: &Value) {
    let (Some(Value::Object(last)), Value::Object(fields)) = (held.last_mut(), piece) else {
        held.push(piece.clone());
        return;
    };
    let same = |name: &str| last.get(name) == fields.get(name);
    let grows = ["text", "summary"]
        .into_iter()
        .any(|name| fields.contains_key(name));
    if !(grows && same("type") && same("index")) {
        held.push(piece.clone());
        return;
    }
    for (name, value) in fields {
        match (last.get_mut(name), value) {
            (Some(Value::String(held)), Value::String(more))
                if ["text", "summary"].contains(&name.as_str()) =>
            {
                held.push_str(more);
            }
            (None | Some(Value::Null), value) => {
                last.insert(name.clone(), value.clone());
            }
            _ => {}
        }
    }
}

/// The words of a content that is a string or a list of parts.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
