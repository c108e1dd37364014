//! A call of a model: checked, counted against the cache, answered in its dialect.
//!
//! Owns: the routes that take a body. Never: the form of an answer.

use prefix::backend::Kind;
use prefix::sim::Evaluated;
use serde_json::{Value, json};

use super::answer::{Answer, Usage, anthropic, chat, responses};
use super::prompt::{Dialect, Prompt};
use super::rules::violations;
use super::{Reply, Seen, Shared};

/// A request that a real server would work on.
pub(super) struct Call {
    dialect: Dialect,
    counts_only: bool,
    request: Value,
    prompt: Prompt,
}

/// Notes all that is wrong with the request; the answer where it is not worked on.
pub(super) fn check(shared: &Shared, path: &str, seen: &mut Seen) -> Result<Call, Answer> {
    let dialect = match path {
        "/v1/chat/completions" => Dialect::Chat,
        "/v1/completions" => Dialect::Completions,
        "/v1/embeddings" => Dialect::Embeddings,
        "/v1/messages" | "/v1/messages/count_tokens" => Dialect::Messages,
        "/v1/responses" => Dialect::Responses,
        _ => return Err(Answer::not_found()),
    };
    let request: Value = serde_json::from_slice(&seen.body).map_err(|error| {
        seen.violations.push(format!("the body is not JSON: {error}"));
        Answer::refused(&seen.violations)
    })?;
    let prompt = Prompt::read(dialect, &request);
    seen.violations = violations(shared.kind, dialect, &request, &prompt);
    if shared.strict && !seen.violations.is_empty() {
        return Err(Answer::refused(&seen.violations));
    }
    Ok(Call {
        dialect,
        counts_only: path.ends_with("/count_tokens"),
        request,
        prompt,
    })
}

impl Call {
    pub(super) fn run(self, shared: &Shared, seen: &mut Seen) -> Answer {
        let (tokens, marked) = self.prompt.tokens();
        if self.counts_only {
            return Answer::json(200, &json!({"input_tokens": tokens.len()}));
        }
        seen.prompt_tokens = tokens.len();
        if self.dialect == Dialect::Embeddings {
            seen.evaluated_tokens = tokens.len();
            return chat::embeddings(&self.request, tokens.len());
        }
        let number = {
            let mut state = shared.lock();
            state.answered += 1;
            state.answered
        };
        let is_mute = self.request["max_tokens"] == 0;
        let reply = if is_mute {
            Reply::default()
        } else {
            (shared.reply)(&self.request, number)
        };
        let generated = if is_mute {
            Vec::new()
        } else {
            self.prompt.reply_tokens(self.dialect, &reply)
        };
        // Anthropic keeps what stands before a mark, and of a reply nothing until it comes back.
        let is_marked = shared.kind == Kind::Anthropic;
        let kept = if is_marked { &tokens[..marked] } else { &tokens };
        let kept_reply = if is_marked { &[] } else { generated.as_slice() };
        let slot = self.request["id_slot"]
            .as_u64()
            .filter(|_| shared.kind == Kind::LlamaCpp);
        let slot = slot.and_then(|slot| usize::try_from(slot).ok());
        let Evaluated { cached, evaluated } = shared.lock().cache.run(slot, kept, kept_reply);
        seen.cached_tokens = cached;
        seen.evaluated_tokens = tokens.len() - cached;
        let usage = Usage {
            kind: shared.kind,
            prompt: tokens.len(),
            cached,
            created: if is_marked { evaluated } else { 0 },
            generated: generated.len(),
        };
        match self.dialect {
            Dialect::Messages => anthropic::answer(&self.request, &reply, &usage),
            Dialect::Responses => responses::answer(&self.request, &reply, &usage),
            Dialect::Completions => chat::completion(&self.request, &reply, &usage),
            Dialect::Chat | Dialect::Embeddings => chat::answer(&self.request, &reply, &usage),
        }
    }
}
