//! The canonical form of a message: which JSON texts mean the same message.
//!
//! Owns: the canonical form of a message. Never: the sent bytes; those stay as the client wrote them.
//!
//! The canonical form is a digest of, in this order:
//! - the role; `developer` is `system`, `function` is `tool`;
//! - a user's `name`, and the id of the call that a tool's result answers;
//! - the content: neighbouring texts are one text, a string is a list of one text; pictures and other parts count as JSON
//!   without key order, nulls and `cache_control`; a tool result counts with its call's id;
//! - the calls: id, name, and arguments as JSON where they are JSON, else as trimmed text.
//!
//! Everything else can differ between two requests: nulls, `refusal`, `annotations`. An assistant's text can lose a
//! leading `<think>…</think>`, its outer white space and its carriage returns, because clients change replies in this
//! way; any other text is compared unchanged. Hidden parts (reasoning in any of its fields, signatures) have a digest
//! of their own: clients drop them, but two different hidden parts belong to two messages.

use serde_json::Value;
use transcript::{Role, mended};

use crate::digest::{Digest, Feed};

/// The content of a message for matching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// None for a role that no dialect has, and for a text that is not a message.
    pub role: Option<Role>,
    /// Equal for two texts that are the same message.
    pub digest: Digest,
    /// Its reasoning and signatures; none for a message without.
    pub hidden: Option<Digest>,
    /// A person's turn: a user's message with more content than tool results.
    pub asks: bool,
    /// An item with reasoning only.
    pub thinks: bool,
}

/// Reads one message of any dialect from its exact JSON text. A text that is no JSON object equals only itself.
pub fn read(message: &str) -> Meaning {
    if let Ok(message @ Value::Object(_)) = mended::parse(message) {
        return of_object(&message);
    }
    let mut feed = Feed::new("text");
    feed.field(b'x', message.trim().as_bytes());
    let digest = feed.digest();
    Meaning {
        role: None,
        digest,
        hidden: None,
        asks: false,
        thinks: false,
    }
}

/// Number of system messages at the beginning of a list.
pub fn leading_system(messages: &[&str]) -> usize {
    let is_system = |message: &&&str| read(message).role == Some(Role::System);
    messages.iter().take_while(is_system).count()
}

/// The digest of any JSON text (a tool, a system field), independent of white space, key order, nulls and
/// `cache_control`.
pub fn value_digest(text: &str) -> Digest {
    let mut feed = Feed::new("value");
    match serde_json::from_str(text) {
        Ok(value) => json(&mut feed, &value),
        Err(_) => feed.field(b'x', text.trim().as_bytes()),
    }
    feed.digest()
}

fn of_object(message: &Value) -> Meaning {
    let word = message["role"].as_str();
    let kind = message["type"].as_str().unwrap_or_default();
    let role = match (word, kind) {
        (Some("system" | "developer"), _) => Some(Role::System),
        (Some("user"), _) => Some(Role::User),
        (Some("assistant"), _) | (None, "reasoning" | "item_reference") => Some(Role::Assistant),
        (Some("tool" | "function"), _) => Some(Role::Tool),
        (None, kind) if kind.ends_with("_call") => Some(Role::Assistant),
        (None, kind) if kind.ends_with("_call_output") => Some(Role::Tool),
        _ => None,
    };
    let mut reader = CanonReader {
        feed: Feed::new("message"),
        role,
        text: String::new(),
        hidden: None,
        asks: false,
    };
    match role {
        Some(role) => reader.feed.field(b'r', &[role as u8]),
        None => reader.feed.field(b'u', word.unwrap_or(kind).as_bytes()),
    }
    if let Some(name) = message["name"].as_str().filter(|_| role == Some(Role::User)) {
        reader.feed.field(b'n', name.as_bytes());
    }
    if let Some(id) = message["tool_call_id"].as_str() {
        reader.feed.field(b'i', id.as_bytes());
    }
    reader.reasoning(message);
    reader.content(&message["content"]);
    reader.calls(message);
    if word.is_none() {
        reader.part(message);
    }
    reader.end_text();
    Meaning {
        role,
        digest: reader.feed.digest(),
        hidden: reader.hidden.map(Feed::digest),
        asks: reader.asks && role == Some(Role::User),
        thinks: word.is_none() && kind == "reasoning",
    }
}

struct CanonReader {
    feed: Feed,
    role: Option<Role>,
    text: String,
    hidden: Option<Feed>,
    asks: bool,
}

impl Meaning {
    /// Whether this message of a client is the known one: the visible parts are equal, and so are the hidden parts, if
    /// the client sends them.
    pub(crate) fn echoes(&self, known: &Self) -> bool {
        self.digest == known.digest && (self.hidden.is_none() || self.hidden == known.hidden)
    }
}

impl CanonReader {
    fn hide(&mut self, part: &Value) {
        let is_empty = match part {
            Value::String(text) => text.trim().is_empty(),
            Value::Array(list) => list.is_empty(),
            part => part.is_null(),
        };
        if is_empty {
            return;
        }
        let feed = self.hidden.get_or_insert_with(|| Feed::new("hidden"));
        match part {
            Value::String(text) => feed.field(b'h', text.trim().as_bytes()),
            part => json(feed, part),
        }
    }

    /// Reasoning in fields of a message; servers and clients use different names.
    fn reasoning(&mut self, message: &Value) {
        let names = ["reasoning_content", "reasoning", "thinking"].into_iter();
        let is_text = |value: &&Value| value.as_str().is_some_and(|text| !text.is_empty());
        let mut texts = names.filter_map(|name| message.get(name).filter(is_text));
        if let Some(said) = texts.next().or_else(|| message.get("reasoning_details")) {
            self.hide(said);
        }
    }

    fn content(&mut self, content: &Value) {
        match content {
            Value::Null => {}
            Value::String(text) => self.say(text),
            Value::Array(parts) => parts.iter().for_each(|part| self.part(part)),
            other => self.other(other),
        }
    }

    fn part(&mut self, part: &Value) {
        let said = |key: &str| word(&part[key]);
        match said("type") {
            "text" | "input_text" | "output_text" => self.say(said("text")),
            "refusal" => self.say(said("refusal")),
            "thinking" | "redacted_thinking" | "reasoning" => {
                let names = [
                    "thinking",
                    "signature",
                    "data",
                    "encrypted_content",
                    "summary",
                    "content",
                ];
                for said in names.into_iter().filter_map(|name| part.get(name)) {
                    self.hide(said);
                }
            }
            "tool_use" => self.call(said("id"), said("name"), part.get("input")),
            "function_call" => self.call(said("call_id"), said("name"), part.get("arguments")),
            "tool_result" => {
                let failed = part.get("is_error").and_then(Value::as_bool).unwrap_or_default();
                self.outcome(said("tool_use_id"), part.get("content"), failed);
            }
            "function_call_output" => self.outcome(said("call_id"), part.get("output"), false),
            _ => self.other(part),
        }
    }

    fn calls(&mut self, message: &Value) {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let inner = call.get("function").or_else(|| call.get("custom"));
            let inner = inner.unwrap_or(call);
            let sent = inner.get("arguments").or_else(|| inner.get("input"));
            self.call(word(&call["id"]), word(&inner["name"]), sent);
        }
        let call = &message["function_call"];
        if call.is_object() {
            self.call("", word(&call["name"]), call.get("arguments"));
        }
    }

    fn say(&mut self, text: &str) {
        self.asks |= !text.is_empty();
        self.text.push_str(text);
    }

    fn call(&mut self, id: &str, name: &str, arguments: Option<&Value>) {
        self.end_text();
        self.feed.field(b'c', id.as_bytes());
        self.feed.field(b'f', name.as_bytes());
        match arguments {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(value) => json(&mut self.feed, &value),
                Err(_) => self.feed.field(b'x', text.trim().as_bytes()),
            },
            Some(value) => json(&mut self.feed, value),
        }
    }

    fn outcome(&mut self, id: &str, content: Option<&Value>, failed: bool) {
        self.end_text();
        self.feed.field(b'o', id.as_bytes());
        self.feed.field(b'e', &[u8::from(failed)]);
        let asks = self.asks;
        self.content(content.unwrap_or(&Value::Null));
        self.end_text();
        self.feed.field(b'.', b"");
        self.asks = asks;
    }

    fn other(&mut self, part: &Value) {
        self.end_text();
        self.asks = true;
        json(&mut self.feed, part);
    }

    fn end_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        let said = if self.role == Some(Role::Assistant) {
            let (thought, said) = echoed(&text);
            self.hide(&Value::from(thought));
            said
        } else {
            text
        };
        if !said.is_empty() {
            self.feed.field(b't', said.as_bytes());
        }
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The `<think>` part that clients drop from a reply, and the rest.
fn echoed(text: &str) -> (&str, String) {
    let text = text.trim();
    let thought = text
        .strip_prefix("<think>")
        .and_then(|rest| rest.split_once("</think>"));
    let (thought, text) = thought.map_or(("", text), |(thought, said)| (thought, said.trim()));
    (thought, text.replace("\r\n", "\n"))
}

fn json(feed: &mut Feed, value: &Value) {
    match value {
        Value::Null => feed.field(b'0', b""),
        Value::Bool(yes) => feed.field(b'?', &[u8::from(*yes)]),
        Value::Number(number) => feed.field(b'#', number.to_string().as_bytes()),
        Value::String(text) => feed.field(b'"', text.as_bytes()),
        Value::Array(list) => {
            feed.field(b'[', b"");
            for value in list {
                json(feed, value);
            }
            feed.field(b']', b"");
        }
        Value::Object(fields) => {
            let counts =
                |(key, value): &(&String, &Value)| !value.is_null() && key.as_str() != "cache_control";
            let mut fields: Vec<_> = fields.iter().filter(counts).collect();
            fields.sort_by_key(|(key, _)| key.as_str());
            feed.field(b'{', b"");
            for (key, value) in fields {
                feed.field(b'k', key.as_bytes());
                json(feed, value);
            }
            feed.field(b'}', b"");
        }
    }
}
