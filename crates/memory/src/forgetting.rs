//! Deletions: planned, shown, carried out, finished after a crash.
//!
//! Owns: the targets, the order, and the leftovers of a deletion. Never: a change that deletes nothing.

mod by_words;
pub(crate) mod erasure;
mod forget;
mod leftovers;
mod note;
pub(crate) mod preview;
mod state;
pub(crate) mod unfinished;

pub(crate) use state::Forgetting;
