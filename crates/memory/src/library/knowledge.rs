//! The doors' handle to a library.
//!
//! Owns: the state that the use cases share. Never: a use case.

use std::sync::Arc;

use crate::Engine;
use crate::runtime::KeyedLocks;
use model::{Name, Owner, Scope};
use ports::{Chat, Clock, Embedder, Ids, LibraryFiles, Vault};

/// The ports and settings of libraries.
#[derive(Debug, Clone)]
pub struct KnowledgeParts {
    pub engine: Engine,
    pub vault: Arc<dyn Vault>,
    pub shelf: Arc<dyn LibraryFiles>,
    /// Sorts documents if no chat model does.
    pub embedder: Arc<dyn Embedder>,
    /// Sorts documents; the embedder when none, or when it does not answer.
    pub chat: Option<Arc<dyn Chat>>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

/// The library of each scope. Cheap to clone; made once for each engine.
#[derive(Debug, Clone)]
pub struct Knowledge {
    pub(crate) parts: KnowledgeParts,
    /// Owner of the memories, in every scope.
    pub(crate) library: Owner,
    /// Allows one change of a library at a time, so that a change removes only entries that it has seen.
    pub(crate) changing: Arc<KeyedLocks<Scope>>,
}

impl Knowledge {
    /// A handle to the libraries of an engine.
    pub fn new(parts: KnowledgeParts) -> Self {
        Self {
            parts,
            library: Owner::library(Name::parse("default").expect("a name")),
            changing: Arc::default(),
        }
    }
}
