//! Token counts in an answer.
//!
//! Owns: the servers' names for token counts. Never: prices; counting tokens.

use serde_json::Value;

/// Tokens of one exchange; none if the server did not report them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// All tokens of the prompt, cached or not.
    pub prompt_tokens: Option<u64>,
    /// Prompt tokens from a cache.
    pub cached_tokens: Option<u64>,
    /// Tokens of the model's output, including its reasoning.
    pub completion_tokens: Option<u64>,
}

/// Counts so far. Counts only grow within an answer, so the larger of two is right: some servers report zero first,
/// others last.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    said: Usage,
    /// Measurements of llama.cpp; used where `said` has none.
    timed: Usage,
    /// Tokens that Anthropic neither read from its cache nor wrote to it.
    uncached: Option<u64>,
    written: Option<u64>,
}

impl Tally {
    /// A chunk or a body of `OpenAI`'s chat and completions, with the additions of llama.cpp and `DeepSeek`.
    pub(crate) fn openai(&mut self, json: &Value) {
        let (usage, timings) = (&json["usage"], &json["timings"]);
        let hit = usage["prompt_cache_hit_tokens"].as_u64();
        let missed = usage["prompt_cache_miss_tokens"].as_u64();
        let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64();
        let prompt = usage["prompt_tokens"].as_u64().or(both(hit, missed));
        self.said
            .raise(prompt, cached.or(hit), &usage["completion_tokens"]);
        let cached = timings["cache_n"].as_u64();
        let prompt = both(cached, timings["prompt_n"].as_u64());
        self.timed.raise(prompt, cached, &timings["predicted_n"]);
    }

    /// A `usage` of Anthropic, whose input counts exclude each other.
    pub(crate) fn anthropic(&mut self, usage: &Value) {
        raise(&mut self.uncached, usage["input_tokens"].as_u64());
        raise(&mut self.written, usage["cache_creation_input_tokens"].as_u64());
        let cached = usage["cache_read_input_tokens"].as_u64();
        self.said.raise(None, cached, &usage["output_tokens"]);
        let parts = [self.uncached, self.said.cached_tokens, self.written];
        let sum = parts.into_iter().flatten().reduce(u64::saturating_add);
        self.said.raise(sum, None, &Value::Null);
    }

    /// A `usage` of the Responses dialect.
    pub(crate) fn responses(&mut self, usage: &Value) {
        let cached = usage["input_tokens_details"]["cached_tokens"].as_u64();
        let prompt = usage["input_tokens"].as_u64();
        self.said.raise(prompt, cached, &usage["output_tokens"]);
    }

    /// The result.
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            prompt_tokens: self.said.prompt_tokens.or(self.timed.prompt_tokens),
            cached_tokens: self.said.cached_tokens.or(self.timed.cached_tokens),
            completion_tokens: self.said.completion_tokens.or(self.timed.completion_tokens),
        }
    }
}

impl Usage {
    fn raise(&mut self, prompt: Option<u64>, cached: Option<u64>, completion: &Value) {
        raise(&mut self.prompt_tokens, prompt);
        raise(&mut self.cached_tokens, cached);
        raise(&mut self.completion_tokens, completion.as_u64());
    }
}

fn raise(held: &mut Option<u64>, said: Option<u64>) {
    *held = (*held).max(said);
}

fn both(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}
