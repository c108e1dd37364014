//! Reading foreign files, as a port.

use std::fs::File;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use documents::{Topic, Unreadable};

/// The bytes of a file that a client sent. Cheap to clone.
#[derive(Debug, Clone)]
pub enum FileBytes {
    Memory(Bytes),
    /// An open file without a name, from its first byte. Clones share its position.
    Disk(Arc<File>),
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Memory(bytes.into())
    }
}

/// The content of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadDocument {
    /// Never empty.
    pub title: String,
    /// Empty if there is no prose.
    pub summary: String,
    /// Its text from the start, at most [`BEGINNING_MAX_BYTES`].
    pub beginning: String,
    /// The size of the whole text.
    pub text_bytes: usize,
    /// The whole text, in its order.
    pub topics: Vec<Topic>,
}

/// Maximum bytes of [`ReadDocument::beginning`].
pub const BEGINNING_MAX_BYTES: usize = 128 << 10;

/// Errors of a reader of documents.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot become a document; another try has the same result.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// Other files are being read, or the reader cannot start; a later call may succeed.
    #[error("the reader of documents is busy: try again")]
    Unavailable {
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

/// A reader of documents. It reads the same formats as `documents::read` and cuts them into the same topics.
/// A file may use as much memory, processor time and waiting time as the limits of `documents` allow; beyond
/// them it is refused, with the limit. A file that crashes the reader crashes nothing else. Dropping a call
/// ends its work.
#[async_trait]
pub trait DocumentReader: Send + Sync + std::fmt::Debug {
    /// Reads a file, given its `name` and the media type that the client declares; either may be empty.
    async fn read(&self, file: FileBytes, name: &str, media_type: &str) -> Result<ReadDocument, ReadError>;
}
