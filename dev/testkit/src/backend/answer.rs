//! Answers as bytes.
//!
//! Owns: heads, events, errors, and how each kind reports its usage. Never: the choice of the answer to a
//! request.

pub(super) mod anthropic;
pub(super) mod chat;
pub(super) mod responses;

use std::collections::VecDeque;

use hyper::Response;
use hyper::body::Bytes;
use prefix::backend::Kind;
use serde_json::{Value, json};

use super::line::{Chunks, Wait};

#[derive(Debug)]
pub(super) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    chunks: VecDeque<Bytes>,
    pub(super) stream: bool,
}

impl Answer {
    pub(super) fn new(status: u16, headers: Vec<(String, String)>, body: String) -> Self {
        Self {
            status,
            headers,
            chunks: VecDeque::from([body.into()]),
            stream: false,
        }
    }

    pub(super) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self::new(status, headers, body.to_string())
    }

    pub(super) fn events(events: impl IntoIterator<Item = String>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            chunks: events.into_iter().map(Bytes::from).collect(),
            stream: true,
        }
    }

    pub(super) fn not_found() -> Self {
        Self::error(404, "not_found_error", "there is no such route")
    }

    pub(super) fn refused(violations: &[String]) -> Self {
        Self::error(400, "invalid_request_error", &violations.join("; "))
    }

    /// In llama.cpp's form.
    pub(super) fn too_long(tokens: usize, tokens_max: usize) -> Self {
        let message = format!(
            "request ({tokens} tokens) exceeds the available context size ({tokens_max} tokens), try increasing it"
        );
        let error = json!({
            "code": 400,
            "message": message,
            "type": "exceed_context_size_error",
            "n_prompt_tokens": tokens,
            "n_ctx": tokens_max,
        });
        Self::json(400, &json!({"error": error}))
    }

    /// In a form that clients of OpenAI's and of Anthropic's API both read.
    fn error(status: u16, kind: &str, message: &str) -> Self {
        let error = json!({"message": message, "type": kind, "param": null, "code": null});
        Self::json(status, &json!({"type": "error", "error": error}))
    }

    /// Nonsense after the first event.
    pub(super) fn garble(&mut self) {
        let first = self.chunks.pop_front().filter(|_| self.stream);
        let nonsense = Bytes::from_static(b"data: {\"choices\": nonsense}\n\ndata\xff\xfe\n:\n\x00\n\n");
        *self = Self::events([]);
        self.chunks.extend(first.into_iter().chain([nonsense]));
    }

    /// Half of the body; of a stream the first event and half of the second.
    pub(super) fn truncate(&mut self) {
        self.chunks.truncate(2);
        if let Some(last) = self.chunks.back_mut() {
            last.truncate(last.len() / 2);
        }
    }

    pub(super) fn into_response(self, held: Option<Wait>, reset_after: Option<usize>) -> Response<Chunks> {
        let builder = Response::builder().status(self.status);
        let builder = self
            .headers
            .into_iter()
            .fold(builder, |builder, (name, value)| builder.header(name, value));
        let body = Chunks::new(self.chunks, !self.stream, held, reset_after);
        builder.body(body).expect("tests plant heads that can be sent")
    }
}

/// The usage that an answer reports, in tokens.
#[derive(Debug)]
pub(super) struct Usage {
    pub(super) kind: Kind,
    pub(super) prompt: usize,
    pub(super) cached: usize,
    /// Newly cached, if the API reports it.
    pub(super) created: usize,
    pub(super) generated: usize,
}

impl Usage {
    /// In the form of chat and text completions.
    fn openai(&self) -> Value {
        let mut usage = json!({
            "prompt_tokens": self.prompt,
            "completion_tokens": self.generated,
            "total_tokens": self.prompt + self.generated,
        });
        // A server of unknown kind may report it too, in OpenAI's place.
        let unknown = Some("prompt_tokens_details.cached_tokens").filter(|_| !self.kind.is_known());
        if let Some(path) = self.kind.profile().cached_tokens.or(unknown) {
            let place = path.split('.').fold(&mut usage, |value, name| &mut value[name]);
            *place = json!(self.cached);
        }
        usage
    }

    /// llama.cpp's timings, on the last object of an answer.
    fn time(&self, object: &mut Value) {
        if self.kind == Kind::LlamaCpp {
            let timings = json!({
                "cache_n": self.cached,
                "prompt_n": self.prompt - self.cached,
                "predicted_n": self.generated,
            });
            object["timings"] = timings;
        }
    }
}

/// The pieces of a text in a stream: it is split after spaces.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// An event named by its type.
fn typed_event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}

fn model(request: &Value) -> Value {
    request["model"]
        .as_str()
        .map_or(json!("fake"), |model| json!(model))
}
