//! Deletions: planned, shown, carried out, finished after a crash.
//!
//! Owns: what goes, in which order, and what a deletion leaves. Never: a change that deletes nothing.

mod by_words;
pub(crate) mod erasure;
mod forget;
mod leftovers;
mod note;
pub(crate) mod preview;
mod state;
pub(crate) mod unfinished;

pub(crate) use state::Forgetting;
