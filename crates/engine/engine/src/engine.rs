//! The engine: the parts it is built of, and the doors' one handle to every use case.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use model::{EntryId, Owner, Scope};
use ports::{
    Chat, Clock, Embedder, FileChanges, Ids, Index, Job, JobId, Jobs, TaskPage, TaskQuery, Transcripts, Vault,
};
use recall::Hit;

use crate::api::{
    Add, Added, Curate, EditEntry, EngineError, Flush, Forget, Forgot, Found, List, Listed, OnProgress,
    Search, Status, Synced,
};
use crate::bell::Bell;
use crate::corpora::Corpora;
use crate::dirty::Dirty;
use crate::idle::{self, Idle};
use crate::locks::KeyedLocks;
use crate::model_pass::ModelPasses;
use crate::panics::Panics;
use crate::records::Records;
use crate::rows::Rows;
use crate::serving::Gauge;
use crate::settings::Settings;
use crate::tasks::Tasks;
use crate::world::{self, World};
use crate::writer::IndexWriter;
use crate::{curate, edit, forget, keeper, list, memorize, rebuild, search, settle, status, sync, workers};

/// How long running work may take to reach a safe point when the engine stops.
const SHUTDOWN: Duration = Duration::from_secs(10);

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

/// The doors' handle. Cheap to clone; `shutdown` ends every task, and so does dropping the last handle.
#[derive(Debug, Clone)]
pub struct Engine {
    handle: Arc<Handle>,
}

/// Tasks hold the world, never the handle: when the last handle goes, the tasks go.
#[derive(Debug)]
struct Handle {
    world: Arc<World>,
    /// The index's writer, which must outlive the work that writes.
    service: Tasks,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.world.work.kill();
        self.service.kill();
    }
}

impl Engine {
    /// Opens the world: gives back stale leases, starts the workers, begins a sync (or a rebuild, if the index needs it).
    pub async fn start(parts: Parts, settings: Settings) -> Result<Self, EngineError> {
        let released = parts.jobs.release_all().await?;
        tracing::debug!(released, "jobs of an earlier process are claimed again");
        let service = Tasks::default();
        let panics = Arc::<Panics>::default();
        let (writer, writing) = IndexWriter::new(
            parts.index.clone(),
            parts.file_changes.clone(),
            parts.clock.clone(),
            panics.clone(),
            service.token(),
        );
        let world = Arc::new(World {
            work: Tasks::default(),
            sessions: KeyedLocks::default(),
            owners: KeyedLocks::default(),
            gate: Arc::default(),
            rebuilding: tokio::sync::Mutex::default(),
            writer,
            corpora: Corpora::new(settings.hot_bytes_max),
            records: Records::new(parts.file_changes.clone()),
            rows: Rows::new(parts.embedder.clone()),
            gauge: Gauge::new(),
            dirty: Dirty::default(),
            bell: Bell::new(),
            passes: ModelPasses::new(),
            idle: Idle::default(),
            panics,
            sweeps: AtomicU64::default(),
            turns: world::turns(tokio::runtime::Handle::current().metrics().num_workers()),
            parts,
            settings,
        });
        let gate = world.gate.clone().write_owned().await;
        service.spawn(writing.run());
        let mut gate = Some(gate);
        world.supervise("keeper", move |world| keeper::keep(world, gate.take()));
        world.supervise("watch", sync::watch);
        world.supervise("sync", sync::keep);
        world.supervise("dispatch", workers::dispatch);
        world.supervise("idle", idle::keep);
        Ok(Self {
            handle: Arc::new(Handle { world, service }),
        })
    }

    /// Remembers messages; what it returns `Ok` for is never lost.
    pub async fn add(&self, add: Add) -> Result<Added, EngineError> {
        memorize::add(self.world(), add).await
    }

    /// Cuts what a session's buffer holds.
    pub async fn flush(&self, flush: Flush) -> Result<Added, EngineError> {
        memorize::flush(self.world(), flush).await
    }

    /// Finds memories and messages.
    pub async fn search(&self, search: Search) -> Result<Found, EngineError> {
        self.minded(search::search(self.world(), search).await)
    }

    /// Lists memories.
    pub async fn list(&self, list: List) -> Result<Listed, EngineError> {
        self.minded(list::list(self.world(), list).await)
    }

    /// Shows one memory.
    pub async fn entry(&self, scope: &Scope, owner: &Owner, id: &EntryId) -> Result<Hit, EngineError> {
        self.minded(list::entry(self.world(), scope, owner, id).await)
    }

    /// Changes one entry's text.
    pub async fn edit(&self, edit: EditEntry) -> Result<(), EngineError> {
        self.minded(edit::edit(self.world(), edit).await)
    }

    /// Writes, replaces and takes out memories that are made of other memories.
    pub async fn curate(&self, curate: Curate) -> Result<(), EngineError> {
        self.minded(curate::curate(self.world(), curate).await)
    }

    /// Forgets, in the vault, the ledger and the index.
    pub async fn forget(&self, forget: Forget) -> Result<Forgot, EngineError> {
        self.minded(forget::forget(self.world(), forget).await)
    }

    /// A page of tasks.
    pub async fn tasks(&self, query: TaskQuery) -> Result<TaskPage, EngineError> {
        status::tasks(self.world(), query).await
    }

    /// One task.
    pub async fn task(&self, scope: &Scope, id: &JobId) -> Result<Job, EngineError> {
        status::task(self.world(), scope, id).await
    }

    /// Tries a task again that was given up; gives it as it waits now.
    pub async fn retry(&self, scope: &Scope, id: &JobId) -> Result<Job, EngineError> {
        status::retry(self.world(), scope, id).await
    }

    /// Brings the index up to date with the vault now.
    pub async fn sync(&self) -> Result<Synced, EngineError> {
        let world = self.world();
        world.accepting()?;
        world.gauge.answering(&*world.parts.clock).await?;
        self.minded(sync::everything(world).await)
    }

    /// Builds a new index from the vault beside the live one and swaps it in.
    pub async fn rebuild(&self, progress: Option<OnProgress>) -> Result<Synced, EngineError> {
        rebuild::rebuild(self.world(), progress).await
    }

    /// Waits until no job is waiting or running, and tells how many failed for good. A job that waits for a full disk
    /// or a broken file to be repaired is not waited for; it counts among the failed until it succeeds.
    pub async fn settle(&self, progress: Option<OnProgress>) -> Result<usize, EngineError> {
        settle::all(self.world(), progress).await
    }

    /// How the system is.
    pub async fn status(&self) -> Result<Status, EngineError> {
        status::status(self.world()).await
    }

    /// The settings it runs with, the zone that people see among them.
    pub fn settings(&self) -> &Settings {
        &self.world().settings
    }

    /// Stops accepting, lets running jobs reach a safe point within ten seconds, ends every task.
    pub async fn shutdown(&self) {
        let clock = &*self.world().parts.clock;
        self.world().work.end(clock, SHUTDOWN).await;
        self.handle.service.end(clock, SHUTDOWN).await;
    }

    fn world(&self) -> &Arc<World> {
        &self.handle.world
    }

    /// An error may say that the index must be built anew.
    fn minded<T>(&self, result: Result<T, EngineError>) -> Result<T, EngineError> {
        result.inspect_err(|error| self.world().mind(error))
    }
}
