//! Fakes of the model ports: an embedder that hashes words and a chat model that answers from a script.
//!
//! Owns: deterministic answers, planted faults, and checks of every request's form. Never: a real model.

mod chat;
mod hash;

#[cfg(test)]
mod tests;

pub use chat::ScriptedChat;
pub use hash::HashEmbedder;
