//! Fakes of the model ports: an embedder that hashes words, a reranker and a chat model that follow a
//! script.
//!
//! Owns: deterministic answers, planted faults, and checks of every request's form. Never: a real model.

mod chat;
mod hash;
mod rerank;

#[cfg(test)]
mod tests;

pub use chat::ScriptedChat;
pub use hash::HashEmbedder;
pub use rerank::ScriptedReranker;
