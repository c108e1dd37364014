//! The ports and settings that the engine is built of.

use std::sync::Arc;

use ports::runs::Events;
use ports::{
    Chat, Clock, DocumentReader, Embedder, FileChanges, History, Ids, Index, Jobs, Pages, Reranker,
    Retention, Transcripts, Vault, VaultWriter,
};

/// The ports and settings of the engine.
#[derive(Debug, Clone)]
pub struct Parts {
    pub transcripts: Arc<dyn Transcripts>,
    pub jobs: Arc<dyn Jobs>,
    pub file_changes: Arc<dyn FileChanges>,
    pub retention: Arc<dyn Retention>,
    pub vault: Arc<dyn Vault>,
    pub vault_writer: Arc<dyn VaultWriter>,
    /// The vault's history; [`crate::MemorySettings::records_history`] decides whether the engine writes it.
    pub history: Arc<dyn History>,
    pub pages: Arc<dyn Pages>,
    pub index: Arc<dyn Index>,
    pub embedder: Arc<dyn Embedder>,
    /// Orders the best hits of a search again.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Extraction by a model; none: by the rules alone.
    pub chat: Option<Arc<dyn Chat>>,
    /// Receiver of events about written memories.
    pub events: Arc<dyn Events>,
    /// Reads documents and attachments.
    pub documents: Arc<dyn DocumentReader>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}
