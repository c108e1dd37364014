//! A library of documents: uploaded, cut into topics, kept as memories that a person can read, and found again.
//!
//! Owns: what a document is made of in the vault, its use cases, how it is sorted. Never: reading a file's format
//! (`documents`), writing Markdown, ranking, a wire format.
//!
//! Reading order: [`Knowledge`], [`api`] (what the doors may ask), [`shape`] (a document as entries and back), [`shelve`]
//! (uploads, changes, deletions), [`sweep`] (what a crash left), [`find`], [`sort`] (categories).

mod api;
mod find;
mod knowledge;
mod shape;
mod shelve;
mod sort;
mod sweep;

pub use crate::Method;
pub use api::{
    Category, Document, Emptied, Found, FoundTopic, KnowledgeError, Patch, Search, Stored, Topic, TopicAt,
    Upload,
};
pub use documents::Unreadable;
pub use knowledge::{Knowledge, Parts};
