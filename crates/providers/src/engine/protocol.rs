//! The JSON of a call and of its answer.
//!
//! Owns: protocol 1: names, shapes, bounds, and how much of an engine's text a fault quotes. Never: messages
//! (`messages`), bytes on a pipe.

use ports::context_engine::{EngineFault, TurnMeta};
use serde_json::{Map, Value, json};

const PROTOCOL: u64 = 1;
/// Maximum bytes of a call or an answer.
pub(super) const BYTES_MAX: usize = 64 << 20;
/// Maximum characters of an engine's text in a fault.
const QUOTE_CHARS_MAX: usize = 200;

model::worded! {
    /// A hook by its name in the protocol.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Hook {
        Bootstrap = "bootstrap",
        Ingest = "ingest",
        Assemble = "assemble",
        Compact = "compact",
        AfterTurn = "after_turn",
        PrepareSubagentSpawn = "prepare_subagent_spawn",
        OnSubagentEnded = "on_subagent_ended",
    }
}

/// One call of a hook.
#[derive(Debug)]
pub(super) struct HookCall<'a> {
    pub(super) hook: Hook,
    pub(super) turn: &'a TurnMeta,
    pub(super) messages: &'a [Value],
    /// Members of this hook only.
    pub(super) members: Value,
}

impl HookCall<'_> {
    /// The JSON text on one line, without the line feed.
    pub(super) fn body(&self, id: u64) -> Result<Vec<u8>, EngineFault> {
        let mut body = json!({
            "protocol": PROTOCOL,
            "id": id,
            "hook": self.hook.as_str(),
            "conversation": self.turn.conversation,
            "model": self.turn.model,
            "turn": self.turn.turn,
            "limit_tokens": self.turn.limit_tokens,
            "messages": self.messages,
        });
        if let (Value::Object(body), Value::Object(members)) = (&mut body, &self.members) {
            body.extend(members.clone());
        }
        let body = body.to_string().into_bytes();
        if body.len() > BYTES_MAX {
            return Err(failed(format!(
                "the call would be longer than {} MiB; Quipu does not send it",
                BYTES_MAX >> 20
            )));
        }
        Ok(body)
    }
}

/// An engine's answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct EngineAnswer {
    pub(super) messages: Option<Vec<Value>>,
    pub(super) engine_id: Option<String>,
    pub(super) owns_compaction: Option<bool>,
}

impl EngineAnswer {
    pub(super) fn read(mut answer: Map<String, Value>) -> Result<Self, EngineFault> {
        if let Some(error) = error(&answer) {
            return Err(failed(format!("it answered with an error: {}", quote(&error))));
        }
        let mut take = |key: &str| answer.get_mut(key).map(Value::take).unwrap_or_default();
        let messages = match take("messages") {
            Value::Null => None,
            Value::Array(messages) => Some(messages),
            _ => return Err(failed("`messages` of its answer is not a list")),
        };
        let engine = take("engine");
        let engine_id = engine["id"].as_str().filter(|id| !id.is_empty());
        Ok(Self {
            messages,
            engine_id: engine_id.map(str::to_owned),
            owns_compaction: engine["owns_compaction"].as_bool(),
        })
    }
}

/// The error in an answer. Typed languages write `null` or an empty text if there is none.
pub(super) fn error(answer: &Map<String, Value>) -> Option<String> {
    let error = answer.get("error").filter(|error| !error.is_null())?;
    let said = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
    Some(said).filter(|said| !said.is_empty())
}

/// The id of an answer and the answer, or why the text is malformed.
pub(super) fn parsed(text: &[u8]) -> Result<(u64, Map<String, Value>), String> {
    let shown = || {
        quote(&String::from_utf8_lossy(
            &text[..text.len().min(4 * QUOTE_CHARS_MAX)],
        ))
    };
    let answer: Map<String, Value> = serde_json::from_slice(text)
        .map_err(|error| format!("is not a JSON object ({error}): `{}`", shown()))?;
    match answer.get("id").and_then(Value::as_u64) {
        Some(id) => Ok((id, answer)),
        None => Err(format!("has no `id`: `{}`; repeat the `id` of the call", shown())),
    }
}

/// The first characters of an engine's text, on one line.
pub(super) fn quote(said: &str) -> String {
    crate::http::or_nothing(model::excerpt(said, QUOTE_CHARS_MAX))
}

pub(super) fn failed(reason: impl Into<String>) -> EngineFault {
    EngineFault::Failed(reason.into())
}
