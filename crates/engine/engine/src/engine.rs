//! The engine: the parts it is built of, and the doors' one handle to every use case.

use std::sync::Arc;

use model::Scope;
use ports::{
    Chat, Clock, Embedder, FileChanges, Ids, Index, Job, JobId, Jobs, TaskPage, TaskQuery, Transcripts, Vault,
};

use crate::api::{
    Add, Added, EditEntry, EngineError, Flush, Forget, Forgot, Found, List, Listed, OnProgress, Search,
    Status, Synced,
};
use crate::settings::Settings;

/// Everything the engine stands on.
#[derive(Debug, Clone)]
pub struct Parts {
    pub transcripts: Arc<dyn Transcripts>,
    pub jobs: Arc<dyn Jobs>,
    pub file_changes: Arc<dyn FileChanges>,
    pub vault: Arc<dyn Vault>,
    pub index: Arc<dyn Index>,
    pub embedder: Arc<dyn Embedder>,
    /// Extraction by a model; the rules alone when none.
    pub chat: Option<Arc<dyn Chat>>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

/// The doors' handle. Cheap to clone; the last `shutdown` ends every task.
#[derive(Debug, Clone)]
pub struct Engine {}

#[expect(clippy::unused_async, reason = "bodies follow")]
impl Engine {
    /// Opens the world: gives back stale leases, starts the workers, begins a sync (or a rebuild, if the index needs it).
    pub async fn start(_parts: Parts, _settings: Settings) -> Result<Self, EngineError> {
        todo!()
    }
    /// Remembers messages; what it returns `Ok` for is never lost.
    pub async fn add(&self, _add: Add) -> Result<Added, EngineError> {
        todo!()
    }
    /// Cuts what a session's buffer holds.
    pub async fn flush(&self, _flush: Flush) -> Result<Added, EngineError> {
        todo!()
    }
    /// Finds memories and messages.
    pub async fn search(&self, _search: Search) -> Result<Found, EngineError> {
        todo!()
    }
    /// Lists memories.
    pub async fn list(&self, _list: List) -> Result<Listed, EngineError> {
        todo!()
    }
    /// Changes one entry's text.
    pub async fn edit(&self, _edit: EditEntry) -> Result<(), EngineError> {
        todo!()
    }
    /// Forgets, in the vault, the ledger and the index.
    pub async fn forget(&self, _forget: Forget) -> Result<Forgot, EngineError> {
        todo!()
    }
    /// A page of tasks.
    pub async fn tasks(&self, _query: TaskQuery) -> Result<TaskPage, EngineError> {
        todo!()
    }
    /// One task.
    pub async fn task(&self, _scope: &Scope, _id: &JobId) -> Result<Job, EngineError> {
        todo!()
    }
    /// Brings the index up to date with the vault now.
    pub async fn sync(&self) -> Result<Synced, EngineError> {
        todo!()
    }
    /// Builds a new index from the vault beside the live one and swaps it in.
    pub async fn rebuild(&self, _progress: Option<OnProgress>) -> Result<Synced, EngineError> {
        todo!()
    }
    /// Waits until no job is waiting or running, and tells how many failed for good.
    pub async fn settle(&self, _progress: Option<OnProgress>) -> Result<usize, EngineError> {
        todo!()
    }
    /// How the system is.
    pub async fn status(&self) -> Result<Status, EngineError> {
        todo!()
    }
    /// The zone that people see.
    pub fn settings(&self) -> &Settings {
        todo!()
    }
    /// Stops accepting, lets running jobs reach a safe point within ten seconds, ends every task.
    pub async fn shutdown(&self) {
        todo!()
    }
}
