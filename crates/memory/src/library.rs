//! A library of documents: uploaded, cut into topics, kept as memories that a person can read, and found again.
//!
//! Owns: the form of a document in the vault, its use cases, its category. Never: reading a file's format
//! (`documents`), writing Markdown, ranking, a wire format.
//!
//! Reading order: [`Knowledge`], [`api`] (the requests of the doors), [`shape`] (a document as entries and back),
//! [`shelve`] (uploads, changes, deletions), [`sweep`] (files left by a crash), [`find`], [`sort`] (categories).

mod api;
mod find;
mod knowledge;
mod shape;
mod shelve;
mod sort;
mod sweep;

pub use crate::Method;
pub use api::{
    Category, Document, Emptied, FoundTopic, FoundTopics, KnowledgeError, Patch, Search, Stored, Topic,
    TopicAt, Upload,
};
pub use documents::Unreadable;
pub use knowledge::{Knowledge, KnowledgeParts};
