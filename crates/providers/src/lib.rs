//! Models behind HTTP: OpenAI-compatible embeddings and chat, model servers as raw bytes, and the files of models from a
//! hub.
//!
//! Owns: the only use of `reqwest` in the product; timeouts, bounded retries, size limits, and keeping keys out of
//! every message. Never: what is asked of a model (`engine`), or running one (`embed`).
//!
//! Reading order: [`HttpEmbedder`] and [`HttpChat`] (what the engine sees), `http` (one exchange, with its retries),
//! [`HttpUpstream`] (what the proxy sees), [`ApiKey`] (what may be shown), [`hub`] (files).

mod chat;
mod embeddings;
mod http;
mod key;
mod upstream;

pub mod hub;

pub use chat::{ChatSettings, HttpChat};
pub use embeddings::{EmbedSettings, HttpEmbedder};
pub use key::ApiKey;
pub use upstream::HttpUpstream;
