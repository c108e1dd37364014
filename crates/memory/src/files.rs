//! The memory files, and the index that follows them.
//!
//! Owns: every change of a file, its place in the history, the rows that it has in the index. Never: a message that is
//! in no file.

pub(crate) mod curate;
pub(crate) mod edit;
pub(crate) mod history;
pub(crate) mod owned;
pub(crate) mod pages;
pub(crate) mod rebuild;
pub(crate) mod removal;
pub(crate) mod review;
pub(crate) mod sync;
pub(crate) mod undo;
