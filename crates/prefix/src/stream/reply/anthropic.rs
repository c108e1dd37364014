//! Answers to Anthropic's `messages`.
//!
//! Owns: the content blocks, each with its start and the additions of its deltas. Never: reading a call's input.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use transcript::json;

use super::{ReplyOutcome, ReplyReader};
use crate::stream::usage::Tally;

/// A message so far.
#[derive(Debug, Default)]
pub(super) struct Anthropic {
    began: bool,
    blocks: Vec<ContentBlock>,
    tally: Tally,
    /// The content of a whole body.
    whole: Option<String>,
}

/// A content block.
#[derive(Debug)]
struct ContentBlock {
    index: u64,
    kind: String,
    /// Its exact text when it started.
    start: String,
    /// Text that deltas add to its fields.
    grown: BTreeMap<&'static str, String>,
    citations: Vec<Value>,
}

impl ReplyReader for Anthropic {
    fn event(&mut self, kind: &str, json: &Value, text: &str, outcome: &mut ReplyOutcome) {
        match kind {
            "message_start" => {
                self.began = true;
                self.tally.anthropic(&json["message"]["usage"]);
            }
            "content_block_start" => self.blocks.extend(ContentBlock::start(json, text)),
            "content_block_delta" => self.delta(json).unwrap_or_default(),
            "message_delta" => self.tally.anthropic(&json["usage"]),
            "message_stop" => outcome.complete = true,
            // The API's versioning rules: a reader ignores unknown events.
            _ => {}
        }
    }

    fn body(&mut self, json: &Value, text: &str, outcome: &mut ReplyOutcome) {
        self.tally.anthropic(&json["usage"]);
        if let Some(blocks) = json["content"].as_array() {
            outcome.text.extend(blocks.iter().map(block_text));
            self.whole = json::field(text, "content").map(str::to_owned);
        }
    }

    fn close(&mut self, outcome: &mut ReplyOutcome) {
        outcome.usage = self.tally.usage();
        if self.began || !self.blocks.is_empty() {
            let mut texts = Vec::new();
            for block in &self.blocks {
                let (fields, text) = block.json();
                outcome.text.push_str(block_text(&fields));
                texts.push(text);
            }
            self.whole = Some(format!("[{}]", texts.join(",")));
        }
        let content = self.whole.take();
        outcome.message = content.map(|content| format!(r#"{{"role":"assistant","content":{content}}}"#));
    }
}

impl Anthropic {
    fn delta(&mut self, json: &Value) -> Option<()> {
        let index = json["index"].as_u64()?;
        let block = self.blocks.iter_mut().rfind(|block| block.index == index)?;
        let delta = &json["delta"];
        let (field, piece) = match delta["type"].as_str()? {
            "text_delta" => ("text", &delta["text"]),
            "thinking_delta" => ("thinking", &delta["thinking"]),
            "signature_delta" => ("signature", &delta["signature"]),
            "input_json_delta" => ("input", &delta["partial_json"]),
            "citations_delta" => {
                block.citations.push(delta.get("citation")?.clone());
                return Some(());
            }
            _ => return None,
        };
        block.grown.entry(field).or_default().push_str(piece.as_str()?);
        Some(())
    }
}

impl ContentBlock {
    fn start(json: &Value, text: &str) -> Option<Self> {
        let fields = json["content_block"].as_object()?;
        Some(Self {
            index: json["index"].as_u64()?,
            kind: fields.get("type")?.as_str()?.to_owned(),
            start: json::field(text, "content_block")?.to_owned(),
            grown: BTreeMap::new(),
            citations: Vec::new(),
        })
    }

    /// The finished block: its fields, with `input` unread, and its text.
    fn json(&self) -> (Value, String) {
        let mut fields: Map<String, Value> = serde_json::from_str(&self.start).unwrap_or_default();
        let input = self
            .grown
            .get("input")
            .map(|input| input.trim())
            .filter(|input| !input.is_empty());
        let lacks_input = self.kind == "tool_use" && !fields.contains_key("input");
        if self.grown.is_empty() && self.citations.is_empty() && !lacks_input {
            return (Value::Object(fields), self.start.clone());
        }
        for (name, more) in self.grown.iter().filter(|(name, _)| **name != "input") {
            let held = fields.get(*name).and_then(Value::as_str).unwrap_or_default();
            let grown = [held, more].concat();
            fields.insert((*name).to_owned(), Value::from(grown));
        }
        if !self.citations.is_empty() {
            let held = fields.get("citations").and_then(Value::as_array);
            let citations = [held.map_or(&[][..], Vec::as_slice), &self.citations].concat();
            fields.insert("citations".to_owned(), Value::Array(citations));
        }
        if lacks_input || input.is_some() {
            fields.entry("input").or_insert_with(|| Value::Object(Map::new()));
        }
        let text = match input {
            Some(input) => with_input(&fields, input),
            None => Value::Object(fields.clone()).to_string(),
        };
        (Value::Object(fields), text)
    }
}

/// The block with a call's input unchanged. An incomplete input is no JSON: it is kept as a string.
fn with_input(fields: &Map<String, Value>, input: &str) -> String {
    let is_json = serde_json::from_str::<Value>(input).is_ok();
    let input = if is_json {
        input.to_owned()
    } else {
        Value::from(input).to_string()
    };
    let pairs = fields.iter().map(|(name, value)| {
        let value = if name == "input" {
            input.clone()
        } else {
            value.to_string()
        };
        format!("{}:{value}", Value::from(name.as_str()))
    });
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
}

/// The text of a text block.
fn block_text(block: &Value) -> &str {
    let text = block["text"].as_str().filter(|_| block["type"] == "text");
    text.unwrap_or_default()
}
