//! Questions and lists: what memory answers.
//!
//! Owns: which rows are asked, and what an answer without a model says. Never: a change.

pub(crate) mod list;
mod rerank;
pub(crate) mod rounds;
pub(crate) mod search;
