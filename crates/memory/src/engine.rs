//! The engine: the parts it is built of, and the doors' one handle to every use case.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Duration;

use model::{Cell, CellId, Doc, EntryId, Owner, Page, Scope, SessionKey, SkillStatus};
use ports::runs::Events;
use ports::{
    Chat, Clock, Embedder, FileChanges, History, Ids, Index, Job, JobId, Jobs, Pages, RecordedChange,
    Retention, Run, TaskPage, TaskQuery, Transcripts, Vault,
};
use recall::Hit;

use crate::api::{
    Add, Added, Audited, Curate, EditEntry, EngineError, Flush, Forget, Forgot, Found, List, Listed,
    OnProgress, ReplacePage, Search, Status, Synced,
};
use crate::behind::{self, Behind};
use crate::bell::Bell;
use crate::buffers::Buffers;
use crate::corpora::Corpora;
use crate::dirty::Dirty;
use crate::erase::Erasing;
use crate::gate::Gate;
use crate::history::Chronicle;
use crate::history::penned::Penned;
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
use crate::{
    audit, curate, edit, forget, history, janitor, keeper, list, memorize, pages, rebuild, search, settle,
    status, sync, workers,
};

/// How long running work may take to reach a safe point when the engine stops.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// Everything the engine stands on.
#[derive(Debug, Clone)]
pub struct Parts {
    pub transcripts: Arc<dyn Transcripts>,
    pub jobs: Arc<dyn Jobs>,
    pub file_changes: Arc<dyn FileChanges>,
    pub retention: Arc<dyn Retention>,
    pub vault: Arc<dyn Vault>,
    /// The vault's history; none is kept when none. [`Settings::records_history`] says whether it is written.
    pub history: Option<Arc<dyn History>>,
    pub pages: Arc<dyn Pages>,
    pub index: Arc<dyn Index>,
    pub embedder: Arc<dyn Embedder>,
    /// Extraction by a model; the rules alone when none.
    pub chat: Option<Arc<dyn Chat>>,
    /// Who is told what was written.
    pub events: Arc<dyn Events>,
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
    pub async fn start(mut parts: Parts, settings: Settings) -> Result<Self, EngineError> {
        let (wall, elapsed) = (parts.clock.now(), parts.clock.elapsed());
        if !settings.asks_only {
            let released = parts.jobs.release_all(workers::latest(wall)).await?;
            tracing::debug!(released, "jobs of an earlier process are claimed again");
        }
        let service = Tasks::default();
        let panics = Arc::<Panics>::default();
        let (writer, writing) = IndexWriter::new(
            parts.index.clone(),
            parts.file_changes.clone(),
            parts.clock.clone(),
            panics.clone(),
            service.token(),
        );
        let chronicle = Arc::new(Chronicle::new(parts.history.clone(), settings.records_history));
        parts.vault = Arc::new(Penned {
            vault: parts.vault,
            chronicle: chronicle.clone(),
            clock: parts.clock.clone(),
        });
        let world = Arc::new(World {
            work: Tasks::default(),
            behind: Behind::new(),
            sessions: KeyedLocks::default(),
            buffers: Buffers::default(),
            owners: KeyedLocks::default(),
            gate: Gate::default(),
            rebuilding: tokio::sync::Mutex::default(),
            writer,
            corpora: Corpora::new(settings.hot_bytes_max),
            erasing: Erasing::new(),
            records: Records::new(parts.file_changes.clone()),
            rows: Rows::new(parts.embedder.clone()),
            gauge: Gauge::new(),
            dirty: Dirty::default(),
            bell: Bell::new(),
            passes: ModelPasses::new(),
            idle: Idle::default(),
            panics,
            chronicle,
            redacted: AtomicUsize::default(),
            sweeps: AtomicU64::default(),
            turns: world::turns(tokio::runtime::Handle::current().metrics().num_workers()),
            began: (wall, elapsed),
            parts,
            settings,
        });
        let gate = world.gate.alone().await;
        service.spawn(writing.run());
        let mut gate = Some(gate);
        world.supervise("keeper", move |world| keeper::keep(world, gate.take()));
        world.supervise("sync", sync::keep);
        if !world.settings.asks_only {
            world.supervise("watch", sync::watch);
            world.supervise("dispatch", workers::dispatch);
            world.supervise("idle", idle::keep);
            world.supervise("janitor", janitor::keep);
            world.supervise("history", history::keep);
        }
        Ok(Self {
            handle: Arc::new(Handle { world, service }),
        })
    }

    /// Remembers messages; what it returns `Ok` for is never lost.
    pub async fn add(&self, add: Add) -> Result<Added, EngineError> {
        self.caught_up(Some(&add.session.scope)).await;
        memorize::add(self.world(), add).await
    }

    /// Queues messages and returns before they are on disk. Later searches, lists and deletes wait for them, and a shutdown stores
    /// them within its time bound. A crash loses queued messages. Errors while storing are logged.
    pub async fn take_on(&self, add: Add) -> Result<(), EngineError> {
        behind::take_on(self.world(), add).await
    }

    /// Waits until what was taken on so far of a scope, or of all, is remembered.
    pub async fn caught_up(&self, scope: Option<&Scope>) {
        behind::caught_up(self.world(), scope).await;
    }

    /// Gives a session a title; the rules name its episodes so from then on. A blank one changes nothing.
    pub async fn entitle(&self, session: &SessionKey, title: &str) -> Result<(), EngineError> {
        memorize::entitle(self.world(), session, title).await
    }

    /// Cuts what a session's buffer holds.
    pub async fn flush(&self, flush: Flush) -> Result<Added, EngineError> {
        self.caught_up(Some(&flush.session.scope)).await;
        memorize::flush(self.world(), flush).await
    }

    /// Finds memories and messages.
    pub async fn search(&self, search: Search) -> Result<Found, EngineError> {
        self.caught_up(Some(&search.scope)).await;
        self.minded(search::search(self.world(), search).await)
    }

    /// Lists memories.
    pub async fn list(&self, list: List) -> Result<Listed, EngineError> {
        self.caught_up(Some(&list.scope)).await;
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

    /// Approves or rejects a skill, which changes nothing else of it.
    pub async fn judge(
        &self,
        scope: &Scope,
        owner: &Owner,
        id: &EntryId,
        status: SkillStatus,
    ) -> Result<(), EngineError> {
        self.minded(edit::judge(self.world(), scope, owner, id, status).await)
    }

    /// Writes, replaces and takes out memories that are made of other memories.
    pub async fn curate(&self, curate: Curate) -> Result<(), EngineError> {
        self.minded(curate::curate(self.world(), curate).await)
    }

    /// A memcell with its messages; none once it was forgotten.
    pub async fn cell(&self, id: &CellId) -> Result<Option<Cell>, EngineError> {
        self.world().accepting()?;
        Ok(self.world().parts.transcripts.cell(id).await?)
    }

    /// Every row of an owner with its vector, as the index has it.
    pub async fn rows(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, EngineError> {
        self.caught_up(Some(scope)).await;
        self.minded(list::rows(self.world(), scope, owner).await)
    }

    /// Everyone of whom the vault holds a memory, of every tenant.
    pub async fn owners(&self) -> Result<BTreeSet<(Scope, Owner)>, EngineError> {
        self.world().accepting()?;
        list::owners(self.world()).await
    }

    /// A page of an owner; none when there is no page.
    pub async fn page(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
    ) -> Result<Option<String>, EngineError> {
        self.world().accepting()?;
        Ok(self.world().parts.pages.page(scope, owner, page).await?)
    }

    /// Puts a page in the place of what was read; false, and nothing done, where something else stands there or a
    /// memory that a line of ours cites is gone.
    pub async fn replace_page(&self, replace: ReplacePage) -> Result<bool, EngineError> {
        self.minded(pages::replace(self.world(), replace).await)
    }

    /// The ids of what was ever made of an owner's memories.
    pub async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, EngineError> {
        self.world().accepting()?;
        Ok(self.world().parts.pages.made(scope, owner).await?)
    }

    /// Sets them.
    pub async fn set_made(
        &self,
        scope: &Scope,
        owner: &Owner,
        ids: &BTreeSet<String>,
    ) -> Result<(), EngineError> {
        self.world().accepting()?;
        Ok(self.world().parts.pages.set_made(scope, owner, ids).await?)
    }

    /// Forgets, in the vault, the ledger and the index.
    pub async fn forget(&self, forget: Forget) -> Result<Forgot, EngineError> {
        self.caught_up(Some(forget.scope())).await;
        self.minded(forget::forget(self.world(), forget).await)
    }

    /// The newest changes of the vault first: of an owner or of all, and of a scope alone if there is one.
    pub async fn history(
        &self,
        within: Option<&Scope>,
        owner: Option<&(Scope, Owner)>,
        limit: usize,
    ) -> Result<Vec<RecordedChange>, EngineError> {
        history::log(self.world(), within, owner, limit).await
    }

    /// What a change changed as a unified diff, if it is of a scope alone where there is one; without an id, what is not
    /// recorded yet.
    pub async fn diff(&self, within: Option<&Scope>, id: Option<&str>) -> Result<String, EngineError> {
        history::diff(self.world(), within, id).await
    }

    /// Takes back a run, if it is of a scope alone where there is one; search sees it when this answers. None if later
    /// changes had taken back all of it.
    pub async fn undo(
        &self,
        within: Option<&Scope>,
        run: &str,
    ) -> Result<Option<RecordedChange>, EngineError> {
        self.minded(history::undo(self.world(), run, within).await)
    }

    /// Does a background run's work and records what it wrote as one change of its own, which [`Self::undo`] takes back: what
    /// others wrote is recorded before, and no two runs overlap. None if it wrote nothing, or no history is kept; a history
    /// that fails fails no run.
    ///
    /// What counts is what `work` itself writes through the engine, not a task that it spawns. It must not call this or
    /// `undo`. Others wait for it: ask models before it, and only write in it.
    pub async fn recorded<T>(&self, run: Run, work: impl Future<Output = T>) -> (T, Option<RecordedChange>) {
        history::recorded(self.world(), run, work).await
    }

    /// Begins the history of one owner's files anew while what a caller of [`Self::curate`] takes out for good is taken
    /// out; a history that fails is tried again and fails nothing. `work` says whether anything was taken out.
    pub async fn erased<T, E>(
        &self,
        scope: &Scope,
        owner: &Owner,
        work: impl Future<Output = Result<(T, bool), E>>,
    ) -> Result<T, E> {
        forget::erased(self.world(), scope, Some(owner), work).await
    }

    /// What is wrong with what is remembered, in all or in one scope; it changes nothing.
    pub async fn audit(&self, within: Option<&Scope>) -> Result<Vec<Audited>, EngineError> {
        audit::audit(self.world(), within).await
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
        self.caught_up(None).await;
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
        self.caught_up(None).await;
        settle::all(self.world(), progress).await
    }

    /// How the system is.
    pub async fn status(&self) -> Result<Status, EngineError> {
        self.caught_up(None).await;
        status::status(self.world()).await
    }

    /// The settings it runs with, the zone that people see among them.
    pub fn settings(&self) -> &Settings {
        &self.world().settings
    }

    /// Ends within ten seconds, as [`Self::shutdown_within`] does.
    pub async fn shutdown(&self) {
        self.shutdown_within(SHUTDOWN).await;
    }

    /// Stops accepting, lets running jobs reach a safe point, ends every task, and records what changed in the vault: all of it
    /// within the bound. What was taken on may have half of it, jobs three quarters of the rest; what they do not use is left to what
    /// follows.
    pub async fn shutdown_within(&self, bound: Duration) {
        let clock = &*self.world().parts.clock;
        let end = clock.elapsed() + bound;
        let left = || end.saturating_sub(clock.elapsed());
        tokio::select! {
            biased;
            () = self.caught_up(None) => {}
            () = clock.sleep(bound / 2) => {}
        }
        self.world().work.end(clock, left() * 3 / 4).await;
        self.handle.service.end(clock, left() / 2).await;
        tokio::select! {
            biased;
            () = history::record(self.world()) => {}
            () = clock.sleep(left()) => {}
        }
    }

    fn world(&self) -> &Arc<World> {
        &self.handle.world
    }

    /// An error may say that the index must be built anew.
    fn minded<T>(&self, result: Result<T, EngineError>) -> Result<T, EngineError> {
        result.inspect_err(|error| self.world().mind(error))
    }
}
