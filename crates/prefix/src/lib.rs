//! The prefix of a request: the part that a backend has already read and can reuse.
//!
//! Owns: which conversation a request continues; the sent bytes, and composing the next request as their extension; the
//! extras and caches of each backend; the reason of a cache miss; models of such caches. Never: I/O, a clock, a
//! tokenizer; JSON of a client is read and extended in place, never rewritten.
//!
//! Reading order: [`canon`] (when two messages are the same), [`chain`] (which conversation), [`fragment`] (what is
//! injected), [`shadow`] (what was sent), [`compose`] (the next request), [`record`] (how it is kept), [`backend`]
//! (the servers), [`mark`] (what a cache keeps), [`diverge`] (why it missed).

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
