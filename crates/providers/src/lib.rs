//! Models behind HTTP: OpenAI-compatible embeddings and chat, rerankers, model servers as raw bytes, and the
//! files of models from a hub; models on this machine; and a user's own context engine in another process.
//!
//! Owns: the only use of `reqwest` in the product; timeouts, bounded retries, size limits, and keeping keys
//! out of every message; the only use of `candle` and `tokenizers`. Never: the content of a request to a
//! model (`engine`).
//!
//! Reading order: [`HttpEmbedder`], [`HttpReranker`] and [`HttpChat`] (for the engine), `http` (one exchange,
//! with its retries), [`HttpUpstream`] (for the proxy), [`ApiKey`] (redaction), [`hub`] (files), `local`
//! ([`StaticEmbedder`] and models from a folder), [`CommandEngine`] (a context engine).

mod chat;
mod embeddings;
mod engine;
mod http;
mod key;
mod local;
mod rerank;
mod upstream;

pub mod hub;

pub use chat::HttpChat;
pub use embeddings::HttpEmbedder;
pub use engine::{CommandEngine, EngineSettings};
pub use http::EndpointSettings;
pub use key::ApiKey;
pub use local::{BertEmbedder, BertSettings, CrossEncoder, OpenError, StaticEmbedder, open_reranker};
pub use rerank::HttpReranker;
pub use upstream::HttpUpstream;
