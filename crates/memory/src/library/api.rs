//! Requests and results of a library. No behaviour.

use crate::{EngineError, Method};
use documents::Unreadable;
use model::{Scope, Timestamp};
use ports::{FileBytes, ReadError, VaultPath};

pub use documents::taxonomy::Category;

/// An uploaded file.
#[derive(Debug, Clone)]
pub struct Upload {
    pub scope: Scope,
    /// The client's name of the file; its folders are ignored.
    pub file_name: String,
    /// The media type that the client declares; may be empty.
    pub media_type: String,
    pub file: FileBytes,
    /// None: the document's own title.
    pub title: Option<String>,
    /// The source of the file, in the client's words.
    pub source_type: Option<String>,
    /// None: Quipu chooses one.
    pub category: Option<String>,
}

/// Result of an upload; the document is on disk and searchable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// `d_` and twelve hexadecimal digits.
    pub id: String,
    pub category: String,
    pub topics: usize,
    pub source_name: String,
    /// The Markdown file, in the vault.
    pub path: VaultPath,
    /// The file as it was uploaded, in the vault.
    pub original: VaultPath,
}

/// A document as its file contains it, with all changes by people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub id: String,
    pub title: String,
    pub summary: String,
    pub category: String,
    pub source_name: Option<String>,
    pub source_type: Option<String>,
    pub original: Option<VaultPath>,
    pub created: Timestamp,
    pub updated: Timestamp,
    /// In the order of the document.
    pub topics: Vec<Topic>,
    /// SHA-256 of the file as it was uploaded, in hexadecimal.
    pub digest: Option<String>,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// The document's id, `_` and a number; a part that a person added has an id of another form.
    pub id: String,
    pub name: String,
    /// The names from the document's title down to its own, with ` > ` between them.
    pub path: String,
    /// Number of names in its path below the title.
    pub depth: usize,
    pub summary: String,
    pub content: String,
    pub labels: Vec<String>,
    pub parent: Option<String>,
    pub children: Vec<String>,
}

/// A topic and the document that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicAt {
    pub topic: Topic,
    /// Without its topics.
    pub document: Document,
}

/// Changes of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    pub title: Option<String>,
    pub category: Option<String>,
}

/// Result of the deletion of a library.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Emptied {
    pub documents: usize,
    pub topics: usize,
}

/// A question to a library.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    pub scope: Scope,
    pub query: String,
    pub method: Method,
    /// 1 to 100.
    pub topics_max: usize,
    /// 0 to 1.
    pub score_min: f32,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTopics {
    /// Best first.
    pub topics: Vec<FoundTopic>,
    /// The method that was used: keyword when the embedding model did not answer.
    pub method: Method,
}

/// A topic that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTopic {
    pub at: TopicAt,
    /// 0 to 1.
    pub score: f32,
}

/// Errors of a library.
#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    /// The file cannot become a document.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// A document of the same bytes exists.
    #[error("the file is already stored as `{id}`: replace or delete that document")]
    Duplicate { id: String },
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<ReadError> for KnowledgeError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Unreadable(reason) => Self::Unreadable(reason),
            error @ ReadError::Unavailable { .. } => Self::Engine(error.into()),
        }
    }
}

impl From<ports::VaultError> for KnowledgeError {
    fn from(error: ports::VaultError) -> Self {
        Self::Engine(error.into())
    }
}
