//! A call of a model: checked, counted against the cache, answered in its dialect.
//!
//! Owns: the routes with a body. Never: the form of an answer.

use crate::caches::Evaluated;
use prefix::backend::Kind;
use serde_json::{Value, json};

use super::answer::{Answer, Usage, anthropic, chat, responses};
use super::prompt::{Dialect, Prompt};
use super::rules::{alternation, violations};
use super::{Reply, Seen, Shared};

/// A request that a real server would process.
pub(super) struct Call {
    dialect: Dialect,
    counts_only: bool,
    request: Value,
    prompt: Prompt,
}

/// Records all violations of the request; returns the error answer if the request is refused.
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
    let mut whole = request.clone();
    if dialect == Dialect::Responses {
        match shared.lock().responses.full_input(&request) {
            Some(items) => whole["input"] = items.into(),
            None => seen
                .violations
                .push("`previous_response_id` or a reference names what is not kept".to_owned()),
        }
    }
    let prompt = Prompt::read(dialect, &whole);
    seen.violations
        .extend(violations(shared.kind, dialect, &request, &prompt));
    if shared.alternates {
        seen.violations.extend(alternation(&prompt));
    }
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
        let (tokens, borders) = self.prompt.tokens();
        if self.counts_only {
            return Answer::json(200, &json!({"input_tokens": tokens.len()}));
        }
        seen.prompt_tokens = tokens.len();
        if let Some(max) = shared.prompt_tokens_max.filter(|max| tokens.len() > *max) {
            return Answer::too_long(tokens.len(), max);
        }
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
        let slot = self.request["id_slot"]
            .as_u64()
            .filter(|_| shared.kind == Kind::LlamaCpp);
        let slot = slot.and_then(|slot| usize::try_from(slot).ok());
        let Evaluated { cached, .. } = shared.lock().cache.run(slot, &tokens, &borders, &generated);
        seen.cached_tokens = cached;
        seen.evaluated_tokens = tokens.len() - cached;
        let marked = borders
            .iter()
            .rfind(|border| border.marked)
            .map_or(0, |border| border.end);
        let usage = Usage {
            kind: shared.kind,
            prompt: tokens.len(),
            cached,
            created: marked.saturating_sub(cached),
            generated: generated.len(),
        };
        match self.dialect {
            Dialect::Messages => anthropic::answer(&self.request, &reply, &usage),
            Dialect::Responses => {
                let output = responses::output(&reply);
                let id = shared.lock().responses.keep(&self.request, output.clone());
                responses::answer(&self.request, &id, &output, &usage)
            }
            Dialect::Completions => chat::completion(&self.request, &reply, &usage),
            Dialect::Chat | Dialect::Embeddings => chat::answer(&self.request, &reply, &usage),
        }
    }
}
