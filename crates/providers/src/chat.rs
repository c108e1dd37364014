//! An OpenAI-compatible `/chat/completions` endpoint as a chat model.
//!
//! Owns: asking for structured output in the strongest form that the endpoint accepts, and remembering the
//! forms it refused. Never: judging the answer; it may still not be the JSON of the schema.

mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use async_trait::async_trait;
use ports::{Chat, ChatError, ChatReply, ChatRequest, Clock};
use tracing::info;

use crate::http::{CallError, Endpoint, EndpointSettings};

/// Extraction runs in the background and falls back to rules.
const ATTEMPTS: u32 = 3;

/// Forms of a request for structured output, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structure {
    Schema,
    Object,
    /// Only by the prompt.
    Plain,
}

impl Structure {
    const ALL: [Self; 3] = [Self::Schema, Self::Object, Self::Plain];
}

/// A chat model behind an OpenAI-compatible endpoint.
pub struct HttpChat {
    settings: EndpointSettings,
    endpoint: Endpoint,
    /// The strongest form not refused yet, as a place in [`Structure::ALL`].
    structure: AtomicU8,
    /// Newer models accept `max_completion_tokens` and refuse `max_tokens`.
    newer_limit: AtomicBool,
}

// Without the settings: some people put a key into the query of the base URL.
model::shown!(HttpChat { endpoint });

impl HttpChat {
    /// The chat model of these settings; sends no request yet.
    pub fn new(settings: EndpointSettings, clock: Arc<dyn Clock>) -> Result<Self, ChatError> {
        let endpoint = Endpoint::new(&settings, clock).map_err(|reason| ChatError::Refused { reason })?;
        Ok(Self {
            settings,
            endpoint,
            structure: AtomicU8::new(0),
            newer_limit: AtomicBool::new(false),
        })
    }

    fn form(&self) -> wire::Form {
        wire::Form {
            structure: Structure::ALL[usize::from(self.structure.load(Ordering::Relaxed))],
            newer_limit: self.newer_limit.load(Ordering::Relaxed),
        }
    }

    /// Whether the endpoint refused the request's form and may accept a weaker one. If so, remembers the
    /// weaker one.
    fn weaken(&self, form: wire::Form, has_schema: bool, status: u16, reason: &str) -> bool {
        if !matches!(status, 400 | 422) {
            return false;
        }
        if !form.newer_limit && reason.contains("max_completion_tokens") {
            self.newer_limit.store(true, Ordering::Relaxed);
            return true;
        }
        let names = [
            "response_format",
            "json_schema",
            "json_object",
            "structured output",
            "schema",
        ];
        let reason = reason.to_lowercase();
        if !has_schema || form.structure == Structure::Plain || !names.iter().any(|n| reason.contains(n)) {
            return false;
        }
        let next = form.structure as u8 + 1;
        // Two requests may learn this at once; neither may undo the other's finding.
        self.structure.fetch_max(next, Ordering::Relaxed);
        info!(model = self.settings.model, refused = ?form.structure, "the endpoint does not support this output format");
        true
    }
}

#[async_trait]
impl Chat for HttpChat {
    fn model(&self) -> &str {
        &self.settings.model
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ChatError> {
        loop {
            let form = self.form();
            let body = wire::request(&self.settings.model, &request, form)
                .map_err(|reason| ChatError::Refused { reason })?;
            let path = ["chat", "completions"];
            match self.endpoint.post(&path, &body, ATTEMPTS).await {
                Ok(answer) => {
                    return wire::reply(answer, &self.settings.model).map_err(|fault| ChatError::Refused {
                        reason: format!("{} {fault}", self.endpoint.safe_url()),
                    });
                }
                Err(CallError::Unavailable(reason)) => return Err(ChatError::Unavailable { reason }),
                Err(CallError::Refused { status, reason }) => {
                    if !self.weaken(form, request.schema.is_some(), status, &reason) {
                        return Err(ChatError::Refused { reason });
                    }
                }
            }
        }
    }
}
