//! Searches and lists: the answers of memory.
//!
//! Owns: which rows are read, and the warning of an answer without a model. Never: a change.

pub(crate) mod list;
mod rerank;
pub(crate) mod rounds;
pub(crate) mod search;
