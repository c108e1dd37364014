//! Answers to `completions`.
//!
//! Owns: the text of the first choice. Never: a message; a completion has none.

use serde_json::Value;

use super::{ReplyOutcome, ReplyReader, first_choice, keep};
use crate::stream::usage::Tally;

/// A text so far.
#[derive(Debug, Default)]
pub(super) struct Completion {
    tally: Tally,
}

impl ReplyReader for Completion {
    fn event(&mut self, _: &str, json: &Value, _: &str, outcome: &mut ReplyOutcome) -> bool {
        self.tally.openai(json);
        let Some((_, choice)) = first_choice(json) else {
            return json["choices"].is_array() || json["usage"].is_object();
        };
        outcome.text.push_str(choice["text"].as_str().unwrap_or_default());
        keep(&mut outcome.finish, &choice["finish_reason"]);
        true
    }

    fn body(&mut self, json: &Value, text: &str, outcome: &mut ReplyOutcome) -> bool {
        self.event("", json, text, outcome)
    }

    fn close(&mut self, outcome: &mut ReplyOutcome) {
        outcome.usage = self.tally.usage();
    }
}
