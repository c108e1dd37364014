//! The calls of a chat's stream.
//!
//! Owns: the call that a delta belongs to. Never: reading arguments; they stay unchanged.

use serde_json::{Value, json};

/// The calls so far, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct ReplyCalls(Vec<ReplyCall>);

#[derive(Debug, Default)]
struct ReplyCall {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl ReplyCalls {
    /// Takes one element of a delta's `tool_calls`, if it is one.
    pub(super) fn push(&mut self, delta: &Value) {
        let function = &delta["function"];
        if !function.is_object() && !delta["id"].is_string() {
            return;
        }
        let id = delta["id"].as_str().unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default();
        let call = self.place(delta["index"].as_u64(), id, name);
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        // Names arrive whole, in pieces, or whole again with each delta.
        if call.name != name {
            call.name.push_str(name);
        }
        match &function["arguments"] {
            Value::Null => {}
            Value::String(piece) => call.arguments.push_str(piece),
            whole => call.arguments = whole.to_string(),
        }
    }

    /// The call that a delta continues, or a new one. Servers that send whole calls may omit the index or repeat it, so
    /// a second id with a name begins another call. An id alone does not, because some servers send a new one with
    /// every delta.
    fn place(&mut self, index: Option<u64>, id: &str, name: &str) -> &mut ReplyCall {
        let found = match index {
            Some(index) => self.0.iter().rposition(|call| call.index == index),
            None if !id.is_empty() => self.0.iter().rposition(|call| call.id == id),
            None if !name.is_empty() => None,
            None => self.0.len().checked_sub(1),
        };
        let is_other =
            |call: &ReplyCall| !name.is_empty() && !id.is_empty() && !call.id.is_empty() && call.id != id;
        let at = found.filter(|at| !is_other(&self.0[*at])).unwrap_or_else(|| {
            let next = u64::try_from(self.0.len()).unwrap_or(u64::MAX);
            self.0.push(ReplyCall {
                index: index.unwrap_or(next),
                ..ReplyCall::default()
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `tool_calls` as a request has them, by index.
    pub(super) fn json(&mut self) -> Value {
        self.0.sort_by_key(|call| call.index);
        let calls = self.0.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        calls.collect()
    }
}
