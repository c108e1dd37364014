//! The frame of a conversation's requests: everything except its messages; and calls of our own with it.
//!
//! Owns: the part of it that is stored for a restart, the form of such a call. Never: when a call is made (`idle`),
//! choosing the items that leave a view (`context`).

use std::time::Duration;

use crate::conversation::{Conversation, Party};
use bytes::Bytes;
use context::budget::Budget;
use context::prompt;
use futures::StreamExt;
use ports::{Probed, UpstreamAnswer, UpstreamRequest};
use prefix::backend::Kind;
use prefix::compose::Composed;
use prefix::stream::{Reply, ReplyOutcome};
use serde::{Deserialize, Serialize};

use crate::after;
use crate::body::{self, Body, LENGTHS};
use crate::proxy::Speech;
use crate::target::Target;

/// Additional tokens for a model that reasons before it answers.
const THINKING_TOKENS: usize = 1_024;
/// An answer to a call of our own is not longer.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Words in the error of a server that does not continue an assistant's message, besides the name of the length field.
const SHAPE_WORDS: [&str; 3] = ["assistant", "role", "prefill"];

/// A request of a conversation without its messages.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) stored: StoredFrame,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) target: Target,
    /// The target's kind, as known at that time.
    pub(crate) kind: Kind,
    pub(crate) party: Party,
    pub(crate) conversation: String,
    pub(crate) budget: Budget,
    /// When the turn ended, on the monotonic clock.
    pub(crate) ended: Duration,
}

/// The stored part of a frame: without headers, which can contain a client's key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StoredFrame {
    /// The client's fields, without messages.
    pub(crate) body: String,
    pub(crate) path: String,
    pub(crate) speech: Speech,
    pub(crate) server: String,
    pub(crate) model: Option<String>,
    /// The model name that selects the vocabulary for counting.
    pub(crate) counts_for: String,
    /// The server stores the messages; we neither shorten nor send them.
    pub(crate) is_held: bool,
    pub(crate) window: usize,
    pub(crate) reserve: usize,
    pub(crate) tools: usize,
    pub(crate) injected: usize,
    /// The server's slot that the request named.
    #[serde(default)]
    pub(crate) slot: Option<u32>,
}

impl Frame {
    /// The frame as a record.
    pub(crate) fn write(&self) -> String {
        let stored = StoredFrame {
            slot: self.target.slot_of(&self.conversation),
            ..self.stored.clone()
        };
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// The server of a conversation's last request, and its slot there, if one was named.
    pub(crate) fn slot(written: &str) -> Option<(String, u32)> {
        let stored: StoredFrame = serde_json::from_str(written).ok()?;
        Some((stored.server, stored.slot?))
    }

    /// The frame of a conversation's last request before a restart, without a probe of its server; none if the server
    /// is no longer configured.
    pub(super) fn read(conversation: &Conversation, targets: &[Target]) -> Option<Self> {
        let stored: StoredFrame = serde_json::from_str(&conversation.frame).ok()?;
        let is_it = |target: &&Target| {
            target.route.upstream.base_url() == stored.server && target.route.model == stored.model
        };
        let target = targets.iter().find(is_it)?.clone();
        Some(Self {
            headers: Vec::new(),
            kind: target.kind(&Probed::default()),
            target,
            party: conversation.party.clone(),
            conversation: conversation.key.session.to_string(),
            budget: Budget {
                window: stored.window,
                reserve: stored.reserve,
                tools: stored.tools,
                injected: stored.injected,
                safety: 0,
            },
            stored,
            ended: Duration::ZERO,
        })
    }

    /// The summary by the conversation's own model.
    pub(super) async fn summary(
        &self,
        composed: Composed,
        prompt: &str,
        tokens_max: usize,
    ) -> Option<String> {
        let outcome = self
            .ask(&composed, Some(prompt), tokens_max + THINKING_TOKENS)
            .await;
        match outcome {
            Ok(outcome) => prompt::read_summary(&outcome.text),
            Err(Failed { reason, .. }) => {
                tracing::warn!(reason, "no summary from the model; falling back to rules");
                None
            }
        }
    }

    /// Lets the server read all messages and write nothing. A server that does not continue an assistant's message gets
    /// a request for one word as a turn of its own: the next turn begins with everything before it.
    pub(super) async fn read_along(&self, composed: &Composed) -> Result<ReplyOutcome, String> {
        // llama.cpp reads without writing; others must write something.
        let tokens_max = usize::from(self.kind != Kind::LlamaCpp);
        let outcome = match self.ask(composed, None, tokens_max).await {
            Err(Failed {
                refuses_shape: true, ..
            }) => self.ask(composed, Some("."), 1).await,
            outcome => outcome,
        };
        outcome.map_err(|failed| failed.reason)
    }

    /// One call with the conversation's own messages, and optionally one more user message at the end.
    async fn ask(
        &self,
        composed: &Composed,
        user: Option<&str>,
        tokens_max: usize,
    ) -> Result<ReplyOutcome, Failed> {
        let probed = self.target.route.upstream.probe().await;
        let slot = self.target.slot(&probed, &self.conversation, None);
        let extras = self.target.extras(&probed, &self.party, &self.conversation, slot);
        let body = Body::read(&self.stored.body).map_err(|unfit| unfit.0)?;
        let said = user.map(|text| serde_json::json!({"role": "user", "content": text}).to_string());
        let messages = composed.messages.iter().map(|sent| sent.bytes.as_str());
        let messages = body::list(messages.chain(said.as_deref()));
        let mut replaced = vec![(self.stored.speech.messages_field(), messages)];
        if !composed.tools.is_empty() {
            replaced.push(("tools", body::list(&composed.tools)));
        }
        replaced.extend(
            composed
                .system
                .clone()
                .map(|system| (self.stored.speech.system_field(), system)),
        );
        let length = LENGTHS.into_iter().find(|name| body.get(name).is_some());
        let length = length.unwrap_or(self.stored.speech.length_field());
        replaced.push((length, tokens_max.to_string()));
        replaced.extend(
            self.target
                .route
                .model
                .as_ref()
                .map(|model| ("model", serde_json::Value::from(model.as_str()).to_string())),
        );
        let request = UpstreamRequest {
            method: "POST".to_owned(),
            body: Some(Bytes::from(body.with(&replaced, &extras))),
            path: self.stored.path.clone(),
            headers: crate::outgoing::headers(&self.headers, &extras),
        };
        let sent = self.target.route.upstream.send(request).await;
        let answer = sent.map_err(|error| error.to_string())?;
        if matches!(answer.status, 400 | 422) {
            let (said, answer) = after::buffered(answer).await;
            let said = said.to_lowercase();
            return Err(Failed {
                reason: format!("the server answered {}", answer.status),
                refuses_shape: SHAPE_WORDS
                    .iter()
                    .chain([&length])
                    .any(|word| said.contains(word)),
            });
        }
        self.read_answer(answer).await
    }

    /// Reads an answer to its end.
    async fn read_answer(&self, answer: UpstreamAnswer) -> Result<ReplyOutcome, Failed> {
        let (mut reply, mut bytes, mut body) = (Reply::new(self.stored.speech.dialect()), 0, answer.body);
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|error| error.to_string())?;
            bytes += chunk.len();
            if bytes > ANSWER_BYTES_MAX {
                return Err("the answer has no end".to_owned().into());
            }
            reply.push(&chunk);
        }
        match answer.status {
            200..300 => Ok(reply.finish()),
            status => Err(format!("the server answered {status}").into()),
        }
    }
}

/// Error of a call of our own.
struct Failed {
    reason: String,
    /// The server rejects the form of this request: its last message, or so short an answer.
    refuses_shape: bool,
}

impl From<String> for Failed {
    fn from(reason: String) -> Self {
        Self {
            reason,
            refuses_shape: false,
        }
    }
}
