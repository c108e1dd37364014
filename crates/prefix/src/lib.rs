//! The prefix of a request: what a backend has already read and need not read again.
//!
//! Owns: which conversation a request continues; what was sent, byte for byte, and composing the next request as its
//! extension; what each backend accepts and caches; why a cache missed; models of such caches. Never: I/O, a clock, a
//! tokenizer; JSON that a client wrote is read and extended in place, never written anew.
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
