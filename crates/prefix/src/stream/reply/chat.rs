//! Answers to `chat/completions`.
//!
//! Owns: the message of the first choice, assembled from deltas or complete. Never: arguments of calls, which are in
//! `calls`.

use serde_json::{Map, Value};
use transcript::json;

use super::calls::ReplyCalls;
use super::{ReplyOutcome, ReplyReader, first_choice};
use crate::stream::usage::Tally;

/// Fields in which servers put reasoning; a client echoes it in the same field.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// A message so far.
#[derive(Debug, Default)]
pub(super) struct Chat {
    /// Whether a delta has arrived, even an empty one.
    began: bool,
    refusal: String,
    reasoning: Map<String, Value>,
    calls: ReplyCalls,
    tally: Tally,
    /// The message of a whole body.
    whole: Option<String>,
}

impl ReplyReader for Chat {
    fn event(&mut self, _: &str, json: &Value, _: &str, outcome: &mut ReplyOutcome) {
        self.tally.openai(json);
        if let Some(delta) = first_choice(json).and_then(|(_, choice)| choice["delta"].as_object()) {
            self.delta(delta, outcome);
        }
    }

    fn body(&mut self, json: &Value, text: &str, outcome: &mut ReplyOutcome) {
        self.tally.openai(json);
        let Some((at, choice)) = first_choice(json) else {
            return;
        };
        let message = &choice["message"];
        outcome.text = content_text(&message["content"]);
        self.refusal = content_text(&message["refusal"]);
        let choices = json::field(text, "choices").and_then(json::parsed);
        let choice = choices.and_then(|choices| choices.elements().into_iter().nth(at));
        let whole = choice.and_then(|choice| json::field(choice.text(), "message"));
        self.whole = whole.filter(|_| message.is_object()).map(str::to_owned);
    }

    fn close(&mut self, outcome: &mut ReplyOutcome) {
        outcome.usage = self.tally.usage();
        if self.began {
            self.whole = Some(self.message(&outcome.text));
        }
        outcome.message = self.whole.take();
        outcome.text.push_str(&self.refusal);
    }
}

impl Chat {
    /// Reads the parts of a delta that have a known shape.
    fn delta(&mut self, delta: &Map<String, Value>, outcome: &mut ReplyOutcome) {
        self.began = true;
        for (name, value) in delta {
            match (name.as_str(), value) {
                ("content", Value::String(piece)) => outcome.text.push_str(piece),
                ("refusal", Value::String(piece)) => self.refusal.push_str(piece),
                ("tool_calls", Value::Array(calls)) => calls.iter().for_each(|call| self.calls.push(call)),
                (name, value) if REASONING.contains(&name) => self.reason(name, value),
                _ => {}
            }
        }
    }

    fn reason(&mut self, name: &str, piece: &Value) {
        let held = match piece {
            Value::String(piece) if piece.is_empty() => return,
            Value::String(_) => self.reasoning.entry(name).or_insert_with(|| Value::from("")),
            Value::Array(_) => self
                .reasoning
                .entry(name)
                .or_insert_with(|| Value::Array(Vec::new())),
            _ => return,
        };
        match (held, piece) {
            (Value::String(held), Value::String(piece)) => held.push_str(piece),
            (Value::Array(held), Value::Array(pieces)) => {
                for piece in pieces {
                    detail(held, piece);
                }
            }
            _ => {}
        }
    }

    fn message(&mut self, text: &str) -> String {
        let silent = text.is_empty() && (!self.calls.is_empty() || !self.refusal.is_empty());
        let content = if silent { Value::Null } else { Value::from(text) };
        let mut message = Map::new();
        message.insert("role".to_owned(), Value::from("assistant"));
        message.insert("content".to_owned(), content);
        message.append(&mut self.reasoning);
        if !self.refusal.is_empty() {
            message.insert("refusal".to_owned(), Value::from(self.refusal.as_str()));
        }
        if !self.calls.is_empty() {
            message.insert("tool_calls".to_owned(), self.calls.json());
        }
        Value::Object(message).to_string()
    }
}

/// Adds a piece of `reasoning_details`: a continuation is joined to the last piece, as servers expect it back.
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

/// The text of a content that is a string or a list of parts.
fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
