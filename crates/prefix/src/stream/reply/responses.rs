//! Answers to `responses`.
//!
//! Owns: the output items, each in the server's own text. Never: assembling an item from its pieces; the server sends
//! each whole.

use std::collections::BTreeMap;

use serde_json::Value;
use transcript::json;

use super::{ReplyOutcome, ReplyReader};
use crate::stream::usage::Tally;

/// The items so far, by place.
#[derive(Debug, Default)]
pub(super) struct ResponsesReader {
    items: BTreeMap<u64, ResponseItem>,
    /// The list in the last event, if it is not empty or no item arrived before.
    output: Option<String>,
    tally: Tally,
}

#[derive(Debug, Default)]
struct ResponseItem {
    /// Its exact text, once it is complete.
    whole: Option<String>,
    words: String,
}

impl ReplyReader for ResponsesReader {
    fn event(&mut self, kind: &str, json: &Value, text: &str, outcome: &mut ReplyOutcome) {
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                let Some(piece) = json["delta"].as_str() else {
                    return;
                };
                let item = self.items.entry(self.place(json)).or_default();
                if item.whole.is_none() {
                    item.words.push_str(piece);
                }
            }
            "response.output_item.done" => {
                if let Some(whole) = json::field(text, "item").filter(|_| json["item"].is_object()) {
                    let item = ResponseItem::read(&json["item"], whole);
                    self.items.insert(self.place(json), item);
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                outcome.complete = true;
                let response = json::field(text, "response").unwrap_or_default();
                self.body(&json["response"], response, outcome);
            }
            _ => {}
        }
    }

    fn body(&mut self, json: &Value, text: &str, _: &mut ReplyOutcome) {
        self.tally.responses(&json["usage"]);
        let list = json::field(text, "output").filter(|_| json["output"].is_array());
        let items = list.map_or_else(Vec::new, |list| json::Value::of(list).elements());
        // Some servers send the items one by one and end with an empty list.
        if !items.is_empty() || self.items.is_empty() {
            let read = json["output"].as_array().into_iter().flatten().zip(items);
            self.items = (0..)
                .zip(read.map(|(item, text)| ResponseItem::read(item, text.text())))
                .collect();
            self.output = list.map(str::to_owned);
        }
    }

    fn close(&mut self, outcome: &mut ReplyOutcome) {
        outcome.usage = self.tally.usage();
        outcome.text = self.items.values().map(|item| item.words.as_str()).collect();
        let done: Vec<&str> = self
            .items
            .values()
            .filter_map(|item| item.whole.as_deref())
            .collect();
        let collected = (!done.is_empty()).then(|| format!("[{}]", done.join(",")));
        outcome.message = self.output.take().or(collected);
    }
}

impl ResponsesReader {
    /// Place of an event's item; without one, after the finished items.
    fn place(&self, json: &Value) -> u64 {
        let done = self.items.values().filter(|item| item.whole.is_some()).count();
        json["output_index"]
            .as_u64()
            .unwrap_or(u64::try_from(done).unwrap_or(u64::MAX))
    }
}

impl ResponseItem {
    fn read(item: &Value, text: &str) -> Self {
        let kind = item["type"].as_str().unwrap_or_default();
        let parts = item["content"].as_array().filter(|_| kind == "message");
        let words = |part: &Value| match part["type"].as_str()? {
            "refusal" => part["refusal"].as_str().map(str::to_owned),
            _ => part["text"].as_str().map(str::to_owned),
        };
        Self {
            whole: Some(text.to_owned()),
            words: parts.into_iter().flatten().filter_map(words).collect(),
        }
    }
}
