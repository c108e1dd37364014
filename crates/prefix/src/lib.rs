//! The prefix of a request: the part that a backend has already read and can reuse.
//!
//! Owns: the conversation that a request continues; the sent bytes, and composing the next request as their extension;
//! the extras and caches of each backend; the reason of a cache miss; models of such caches. Never: I/O, a clock, a
//! tokenizer; JSON of a client is read and extended in place, never rewritten.
//!
//! Reading order: [`canon`] (equal messages), [`chain`] (the continued conversation), [`fragment`] (injected text),
//! [`shadow`] (sent bytes), [`compose`] (the next request), [`record`] (its storage), [`backend`] (the servers),
//! [`mark`] (cache marks), [`diverge`] (reasons of misses).

pub mod backend;
pub mod canon;
pub mod chain;
pub mod compose;
mod digest;
pub mod diverge;
pub mod fragment;
pub mod mark;
pub mod record;
pub mod shadow;
mod splice;
pub mod stream;

pub use digest::Digest;
