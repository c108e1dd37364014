//! A chat model that answers from a script, records every request, and refuses requests that no endpoint
//! would accept.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use ports::{Chat, ChatError, ChatReply, ChatRequest, ChatRole};

type Answer = Box<dyn FnMut(&ChatRequest) -> Result<String, ChatError> + Send>;

/// A chat model under a test's control.
///
/// Every call panics on a request of the wrong form: no messages, a role out of turn, blank content, no room to
/// answer, or a schema that is not a JSON object.
pub struct ScriptedChat {
    model: String,
    state: Mutex<State>,
}

struct State {
    answer: Answer,
    requests: Vec<ChatRequest>,
}

impl ScriptedChat {
    /// Answers each request with the closure's result.
    pub fn answering(answer: impl FnMut(&ChatRequest) -> Result<String, ChatError> + Send + 'static) -> Self {
        Self {
            model: "fake/scripted".to_owned(),
            state: Mutex::new(State {
                answer: Box::new(answer),
                requests: Vec::new(),
            }),
        }
    }

    /// Answers with these replies, one after the other; a call after the last one panics.
    pub fn replies<T: Into<String>>(replies: impl IntoIterator<Item = Result<T, ChatError>>) -> Self {
        let mut replies: VecDeque<Result<String, ChatError>> =
            replies.into_iter().map(|reply| reply.map(Into::into)).collect();
        Self::answering(move |request| {
            replies
                .pop_front()
                .unwrap_or_else(|| panic!("the script has no answer left for {request:?}"))
        })
    }

    /// Fails every call with [`ChatError::Unavailable`].
    pub fn unreachable() -> Self {
        Self::answering(|_| {
            Err(ChatError::Unavailable {
                reason: "planted fault".to_owned(),
            })
        })
    }

    /// Every request so far, in order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.locked().requests.clone()
    }

    /// Number of requests so far.
    pub fn calls(&self) -> usize {
        self.locked().requests.len()
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("an earlier call panicked, and the test with it")
    }
}

impl fmt::Debug for ScriptedChat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedChat")
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Chat for ScriptedChat {
    fn model(&self) -> &str {
        &self.model
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ChatError> {
        if let Err(fault) = check(&request) {
            panic!("{fault}: {request:?}");
        }
        let content = {
            let mut state = self.locked();
            let content = (state.answer)(&request);
            state.requests.push(request.clone());
            content?
        };
        let prompt = request.messages.iter().map(|m| word_count(&m.content)).sum();
        Ok(ChatReply {
            model: self.model.clone(),
            prompt_tokens: prompt,
            completion_tokens: word_count(&content),
            content,
        })
    }
}

fn word_count(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// Rules of every endpoint: at most one system message, at the front; then user and assistant in turn, the
/// user first and last.
fn check(request: &ChatRequest) -> Result<(), &'static str> {
    if request.tokens_max == 0 {
        return Err("a request must leave room for an answer");
    }
    if request.messages.iter().any(|m| m.content.trim().is_empty()) {
        return Err("a message must have content");
    }
    let spoken = match request.messages.as_slice() {
        [first, rest @ ..] if first.role == ChatRole::System => rest,
        all => all,
    };
    if spoken.is_empty() {
        return Err("a request must have a message of the user");
    }
    let turns = [ChatRole::User, ChatRole::Assistant].into_iter().cycle();
    if spoken
        .iter()
        .zip(turns)
        .any(|(message, role)| message.role != role)
    {
        return Err("user and assistant must speak in turn, the user first");
    }
    if spoken.len() % 2 == 0 {
        return Err("the user must speak last");
    }
    match &request.schema {
        Some((name, _)) if name.is_empty() => Err("a schema must have a name"),
        Some((_, json)) if !serde_json::from_str::<serde_json::Value>(json).is_ok_and(|v| v.is_object()) => {
            Err("a schema must be a JSON object")
        }
        _ => Ok(()),
    }
}
