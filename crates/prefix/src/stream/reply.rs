//! A model's reply, from the bytes of its answer.
//!
//! Owns: distinguishing a stream from a whole body, the limits, errors, passing each dialect's events to its reader.
//! Never: the meaning of a dialect's event.

mod anthropic;
mod calls;
mod chat;
mod responses;

use std::fmt::Debug;
use std::io::Read;
use std::mem;

use flate2::read::MultiGzDecoder;
use serde_json::Value;
use transcript::dialect::Dialect;
use transcript::mended;

use crate::stream::sse::{Decoder, SseEvent};
use crate::stream::usage::Usage;

/// Maximum bytes read of one answer: of a whole body, or of all events together. The rest is not read.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Maximum bytes kept of one answer: several times the longest output of a model.
pub(crate) const KEPT_BYTES_MAX: usize = 8 << 20;
/// Approximate bytes of an event besides its text.
const FRAME_BYTES: usize = 256;
/// The first byte of gzip; no other answer begins with it.
const GZIP: u8 = 0x1f;
const UNPACKED_AT_ONCE_BYTES: usize = 64 << 10;

/// Result of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyOutcome {
    /// JSON text for the client's next request: a message, or in the Responses dialect a list of items. From a whole
    /// body, it is the server's own text, byte for byte. None for an empty answer, and for a completion.
    pub message: Option<String>,
    /// The visible text, including a refusal; without reasoning and calls.
    pub text: String,
    /// Token counts.
    pub usage: Usage,
    /// Whether the end arrived: the dialect's last event, or a whole JSON text. Otherwise the rest is the part before
    /// the break.
    pub complete: bool,
    /// The answer's own id, as the server names it.
    pub id: Option<String>,
    /// In the Responses dialect, the id of the conversation in which the server stores the answer.
    pub conversation: Option<String>,
}

/// An answer that is still arriving.
#[derive(Debug)]
pub struct Reply {
    dialect: Dialect,
    source: ReplySource,
    /// The bytes are already unpacked.
    is_unpacked: bool,
    reader: Box<dyn ReplyReader>,
    outcome: ReplyOutcome,
    bytes: usize,
    /// Bytes that are kept.
    kept: usize,
    /// Whether the answer exceeds `ANSWER_BYTES_MAX`, or its kept bytes `KEPT_BYTES_MAX`.
    full: bool,
}

#[derive(Debug)]
enum ReplySource {
    /// Only white space has arrived.
    Unsure,
    Events(Decoder),
    Body(Vec<u8>),
    /// Compressed by a server without a request for it; unpacked at the end.
    Packed(Vec<u8>),
}

/// Assembles the events of one dialect.
trait ReplyReader: Debug + Send {
    /// Takes an event's JSON object, parsed and as its exact text; `kind` is its type.
    fn event(&mut self, kind: &str, json: &Value, text: &str, outcome: &mut ReplyOutcome);

    /// Takes a body's JSON object, parsed and as its exact text.
    fn body(&mut self, json: &Value, text: &str, outcome: &mut ReplyOutcome);

    /// Puts the collected parts into the outcome.
    fn close(&mut self, outcome: &mut ReplyOutcome);
}

impl Reply {
    /// The first byte decides whether the answer is one JSON body or server-sent events; the content type and the
    /// request do not.
    pub fn new(dialect: Dialect) -> Self {
        let reader: Box<dyn ReplyReader> = match dialect {
            Dialect::OpenAi => Box::<chat::Chat>::default(),
            Dialect::OpenAiResponses | Dialect::Codex => Box::<responses::ResponsesReader>::default(),
            Dialect::Anthropic | Dialect::ClaudeCode => Box::<anthropic::Anthropic>::default(),
        };
        Self {
            dialect,
            source: ReplySource::Unsure,
            is_unpacked: false,
            reader,
            outcome: ReplyOutcome::default(),
            bytes: 0,
            kept: 0,
            full: false,
        }
    }

    /// Takes the next bytes of the answer, cut anywhere.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if matches!(self.source, ReplySource::Unsure) {
            bytes = bytes.trim_ascii_start();
            match bytes.first() {
                None => return,
                Some(b'{' | b'[') => self.source = ReplySource::Body(Vec::new()),
                Some(&GZIP) if !self.is_unpacked => self.source = ReplySource::Packed(Vec::new()),
                Some(_) => self.source = ReplySource::Events(Decoder::default()),
            }
        }
        let events = match &mut self.source {
            ReplySource::Events(decoder) => decoder.push(bytes),
            ReplySource::Body(_) | ReplySource::Packed(_) | ReplySource::Unsure => Vec::new(),
        };
        for event in events {
            self.event(&event);
        }
        if matches!(self.source, ReplySource::Body(_) | ReplySource::Packed(_)) {
            let fits = self.admits(bytes.len(), bytes.len());
            if let ReplySource::Body(body) | ReplySource::Packed(body) = &mut self.source {
                if fits {
                    body.extend_from_slice(bytes);
                } else {
                    *body = Vec::new();
                }
            }
        }
    }

    /// The result, with or without the end of the answer.
    pub fn finish(mut self) -> ReplyOutcome {
        match mem::replace(&mut self.source, ReplySource::Unsure) {
            ReplySource::Unsure => {}
            ReplySource::Events(mut decoder) => {
                if let Some(event) = decoder.finish() {
                    self.event(&event);
                }
            }
            ReplySource::Body(_) | ReplySource::Packed(_) if self.full => {}
            ReplySource::Body(body) => self.body(&body),
            ReplySource::Packed(packed) => {
                self.unpack(&packed);
                return self.finish();
            }
        }
        self.reader.close(&mut self.outcome);
        self.outcome
    }

    /// Reads a compressed answer within the same limits; it ends at damaged bytes.
    fn unpack(&mut self, packed: &[u8]) {
        self.is_unpacked = true;
        (self.bytes, self.kept) = (0, 0);
        let mut reader = MultiGzDecoder::new(packed);
        let mut part = vec![0; UNPACKED_AT_ONCE_BYTES];
        while let Ok(count @ 1..) = reader.read(&mut part) {
            self.push(&part[..count]);
            if self.full {
                break;
            }
        }
    }

    /// Whether this many more bytes may be read and kept.
    fn admits(&mut self, bytes: usize, kept: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.kept = self.kept.saturating_add(kept);
        self.full |= self.bytes > ANSWER_BYTES_MAX || self.kept > KEPT_BYTES_MAX;
        !self.full
    }

    fn event(&mut self, event: &SseEvent) {
        let bytes = event.data.len();
        if !self.admits(bytes, bytes.saturating_sub(FRAME_BYTES)) {
            return;
        }
        if event.data.trim() == "[DONE]" {
            self.outcome.complete |= self.dialect == Dialect::OpenAi;
            return;
        }
        if !self.outcome.complete {
            self.json(&event.data, event.name.as_deref());
        }
    }

    fn body(&mut self, body: &[u8]) {
        let text = String::from_utf8_lossy(body);
        if let Ok(json @ Value::Object(_)) = mended::parse(&text) {
            self.outcome.complete = true;
            self.note(&json);
            self.reader.body(&json, &text, &mut self.outcome);
        }
    }

    /// Reads one event's data.
    fn json(&mut self, data: &str, name: Option<&str>) {
        if let Ok(json @ Value::Object(_)) = mended::parse(data) {
            let kind = json["type"].as_str().or(name).unwrap_or_default();
            self.note(&json);
            self.reader.event(kind, &json, data, &mut self.outcome);
        }
    }

    /// Reads the fields that all dialects share.
    fn note(&mut self, json: &Value) {
        let id = || {
            let mut holders = [json, &json["response"], &json["message"]].into_iter();
            let id = holders.find_map(|holder| holder["id"].as_str().filter(|id| !id.is_empty()));
            id.map(str::to_owned)
        };
        self.outcome.id = self.outcome.id.take().or_else(id);
        let kept_in = [json, &json["response"]].map(|holder| &holder["conversation"]["id"]);
        let mut kept_in = kept_in.into_iter().filter_map(Value::as_str);
        self.outcome.conversation = self
            .outcome
            .conversation
            .take()
            .or_else(|| kept_in.next().map(str::to_owned));
    }
}

/// The choice that clients show if they asked for one: its place in the list, and its value.
fn first_choice(json: &Value) -> Option<(usize, &Value)> {
    let choices = json["choices"].as_array()?;
    let mut choices = choices.iter().enumerate();
    choices.find(|(_, choice)| choice["index"].as_u64().unwrap_or(0) == 0)
}

#[cfg(test)]
mod tests;
