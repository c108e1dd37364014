//! Upstream model servers of the proxy, as raw bytes.
//!
//! Owns: the guarantees of a call to one. Never: the meaning of the bytes.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use prefix::backend::Kind;

/// A request to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamRequest {
    /// As in HTTP: `POST`.
    pub method: String,
    pub body: Option<Bytes>,
    /// The path after the base URL, without a leading `/`, with its query if it has one: `chat/completions`.
    pub path: String,
    /// Headers besides those that the adapter sets: host, length, its own key. Names in lower case.
    pub headers: Vec<(String, String)>,
}

/// An answer with its head. Dropping the body closes the connection, and the server stops its work.
pub struct UpstreamAnswer {
    pub status: u16,
    /// Names in lower case, without those that concern only the connection.
    pub headers: Vec<(String, String)>,
    /// The bytes as they arrive. The stream ends after the first error.
    pub body: BoxStream<'static, Result<Bytes, UpstreamError>>,
}

model::shown!(UpstreamAnswer { status });

impl UpstreamAnswer {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name)?;
        Some(&found.1)
    }
}

/// Reasons why there is no answer, or only a part of one. No text contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// Connection refused, unknown host, or no route.
    #[error("the model server is not reachable: {reason}")]
    Unreachable { reason: String },
    /// Nothing arrived for this time.
    #[error("the model server did not answer within {} s", after.as_secs())]
    TimedOut { after: Duration },
    /// The connection ended in the middle of the answer.
    #[error("the model server's answer ended too early: {reason}")]
    BrokeOff { reason: String },
    /// The server failed repeatedly; the adapter sends no request before this time.
    #[error("the model server failed repeatedly: try again in {} s", retry_after.as_secs().max(1))]
    Resting { retry_after: Duration },
}

/// Properties that a server reported. A property that it did not report is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Probed {
    pub kind: Option<Kind>,
    /// The window of one request, in tokens.
    pub window_tokens: Option<usize>,
    /// Number of requests that it can hold at a time.
    pub slots: Option<u32>,
    /// The loaded model, by its maker's name if the server knows it.
    pub model: Option<String>,
}

/// One model server.
#[async_trait]
pub trait Upstream: Send + Sync + std::fmt::Debug {
    /// The name that the configuration gives it.
    fn name(&self) -> &str;
    /// As in `http://127.0.0.1:8080/v1`, without parts that may be a key.
    fn base_url(&self) -> &str;
    /// Sends a request and returns when the answer's head has arrived. Within its bounds, the adapter retries
    /// a request that certainly did not reach the server. It returns every answer as it is: the client
    /// decides whether to retry.
    async fn send(&self, request: UpstreamRequest) -> Result<UpstreamAnswer, UpstreamError>;
    /// Asks the server for its properties, once and read-only; later calls return the same. If the server did
    /// not answer, a later call asks again.
    async fn probe(&self) -> Probed;
    /// The window of one of its models in tokens, if the server reports it.
    async fn window(&self, model: &str) -> Option<usize>;
}
