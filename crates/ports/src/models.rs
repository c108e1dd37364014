//! Models as ports: text to vectors, scores of passages, and a chat model for extraction.

use async_trait::async_trait;
use futures::future::join_all;
use model::{EmbedderId, Vector};

/// Purpose of an embedding. Some models expect it in the text, and queries have a time budget of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EmbedPurpose {
    /// A query of somebody who waits.
    Query,
    /// A text to find later.
    Passage,
}

/// Reasons why texts were not embedded.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The endpoint or model did not answer now; worth another try.
    #[error("the embedding model is not reachable: {reason}")]
    Unavailable { reason: String },
    /// The endpoint refused; another try would be refused too.
    #[error("the embedding model refused: {reason}")]
    Refused { reason: String },
    /// The answer has other dimensions than the configured model.
    #[error("the embedding model returned vectors of {found} numbers, not {expected}")]
    Dimensions { expected: usize, found: usize },
}

/// Text to vectors of unit length.
#[async_trait]
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// The model; stored with the index and compared at every open.
    fn id(&self) -> &EmbedderId;
    /// Whether embedding is so cheap (well below a millisecond a text) that a request may wait for it.
    fn is_instant(&self) -> bool;
    /// One vector for each text, in order; an empty text gives an all-zero vector.
    async fn embed(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vector>, EmbedError>;
}

/// Reasons why passages were not scored.
#[derive(Debug, thiserror::Error)]
pub enum RerankError {
    /// The endpoint did not answer now; worth another try.
    #[error("the reranker is not reachable: {reason}")]
    Unavailable { reason: String },
    /// The endpoint or model refused; another try would be refused too.
    #[error("the reranker refused: {reason}")]
    Refused { reason: String },
}

/// Scores passages by reading each together with the query.
#[async_trait]
pub trait Reranker: Send + Sync + std::fmt::Debug {
    /// One finite score for each passage, in order; a greater one means a better answer. Scores of different
    /// calls are not comparable. The passages must be in ranked order, the best first.
    async fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError>;
}

model::worded! {
    /// Role of a message to a chat model.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ChatRole {
        System = "system",
        User = "user",
        Assistant = "assistant",
    }
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    pub role: ChatRole,
    pub content: String,
}

/// A request for one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    pub messages: Vec<ChatMessage>,
    /// The JSON schema of the answer, as JSON text with the schema's name. It is used if the endpoint offers
    /// structured output; otherwise the prompt must describe it.
    pub schema: Option<(String, String)>,
    pub tokens_max: u32,
    /// A person waits for the answer, so the request does not wait for other people's requests.
    pub is_awaited: bool,
    /// The slot of the server that is to answer; none: the server chooses.
    pub slot: Option<u32>,
    /// A picture or a sound in the last message: a part of its content in the chat dialect, as JSON text.
    pub attached: Option<String>,
}

impl ChatRequest {
    /// A request with an instruction and its material; the answer can be any text.
    pub fn new(system: impl Into<String>, user: impl Into<String>, tokens_max: u32) -> Self {
        let say = |role, content| ChatMessage { role, content };
        Self {
            messages: vec![
                say(ChatRole::System, system.into()),
                say(ChatRole::User, user.into()),
            ],
            schema: None,
            tokens_max,
            is_awaited: false,
            slot: None,
            attached: None,
        }
    }
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatReply {
    pub content: String,
    /// The model's own name for itself.
    pub model: String,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
}

/// Reasons why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// Not reachable, overloaded or out of time, after the adapter's own bounded retries.
    #[error("the chat model is not reachable: {reason}")]
    Unavailable { reason: String },
    /// The endpoint refused this request; another try would be refused too.
    #[error("the chat model refused: {reason}")]
    Refused { reason: String },
    /// Background work has used up the tokens of the day; it can continue tomorrow.
    #[error("the daily limit of {tokens_max} tokens for background work is used up")]
    OverBudget { tokens_max: u64 },
}

/// A chat model for extraction; the adapter bounds time and retries.
#[async_trait]
pub trait Chat: Send + Sync + std::fmt::Debug {
    /// The configured model's name.
    fn model(&self) -> &str;
    /// One answer.
    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ChatError>;
    /// An answer to each request, in order, all asked at the same time.
    async fn complete_all(&self, requests: Vec<ChatRequest>) -> Vec<Result<ChatReply, ChatError>> {
        join_all(requests.into_iter().map(|request| self.complete(request))).await
    }
}
