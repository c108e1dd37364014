//! The engine: the doors' one handle to every use case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Duration;

use model::{Cell, CellId, Doc, EntryId, Owner, Page, Scope, SessionKey, SkillStatus};
use ports::{
    ChangeId, DocumentReader, Job, JobId, NoRoom, Run, TaskPage, TaskQuery, Touching, VersionKey,
    VersionQuery,
};
use recall::Hit;

use crate::api::{
    Add, Added, Audited, Curate, Doomed, EditEntry, Flush, Forget, Forgot, Found, Holding, List, Listed,
    OnProgress, OwnedMemory, RecordedChange, ReplacePage, Search, Status, Synced, TakenIn,
};
use crate::behind::Behind;
use crate::bell::Bell;
use crate::buffers::Buffers;
use crate::copies::CopyTrouble;
use crate::corpora::Corpora;
use crate::dirty::Dirty;
use crate::erase::Erasing;
use crate::error::EngineError;
use crate::going::UnfinishedDeletions;
use crate::history::Chronicle;
use crate::idle::IdleSessions;
use crate::model_pass::ModelPasses;
use crate::parts::Parts;
use crate::records::Records;
use crate::room::RoomGauge;
use crate::runtime::gate::TenantGate;
use crate::runtime::locks::KeyedLocks;
use crate::runtime::panics::Panics;
use crate::runtime::tasks::Tasks;
use crate::settings::MemorySettings;
use crate::workers::Unrecorded;
use crate::world::World;
use crate::writer::IndexWriter;
use crate::{
    audit, behind, curate, edit, erase, forget, going, history, idle, janitor, keeper, list, memorize, pages,
    portable, preview, rebuild, rounds, search, settle, status, sync, workers, world,
};

/// Time that running work has to reach a safe point when the engine stops.
const SHUTDOWN: Duration = Duration::from_secs(10);

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
    /// Starts the engine: releases stale leases, starts the workers, begins a sync (or a rebuild, if the index needs it).
    pub async fn start(mut parts: Parts, settings: MemorySettings) -> Result<Self, EngineError> {
        let (wall, elapsed) = (parts.clock.now(), parts.clock.elapsed());
        let unrecorded = Unrecorded::default();
        if !settings.asks_only {
            match parts.jobs.release_all(workers::latest(wall)).await {
                Ok(released) => tracing::debug!(released, "released the jobs of an earlier process"),
                Err(error) if NoRoom::of(&error).is_some() => unrecorded.release_later(),
                Err(error) => return Err(error.into()),
            }
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
        let corpora = Corpora::new(&parts, &settings);
        let chronicle = Arc::new(Chronicle::new(parts.history.clone(), settings.records_history));
        chronicle.begin(&mut parts).await?;
        let world = Arc::new(World {
            work: Tasks::default(),
            behind: Behind::new(),
            sessions: KeyedLocks::default(),
            buffers: Buffers::default(),
            owners: KeyedLocks::default(),
            gate: TenantGate::default(),
            rebuilding: tokio::sync::Mutex::default(),
            writer,
            erasing: Erasing::new(),
            going: UnfinishedDeletions::default(),
            records: Records::new(parts.file_changes.clone()),
            rows: corpora.rows.clone(),
            gauge: corpora.gauge.clone(),
            corpora,
            dirty: Dirty::default(),
            bell: Bell::new(),
            passes: ModelPasses::new(),
            idle: IdleSessions::default(),
            panics,
            chronicle,
            copy_trouble: CopyTrouble::default(),
            room: RoomGauge::default(),
            unrecorded,
            redacted: AtomicUsize::default(),
            sweeps: AtomicU64::default(),
            turns: world::turns(tokio::runtime::Handle::current().metrics().num_workers()),
            began: (wall, elapsed),
            parts,
            settings,
        });
        history::recover(&world).await;
        going::begin(&world).await?;
        let gate = world.gate.alone().await;
        let mut begun = Some((gate, keeper::adopt(&world).await));
        service.spawn(writing.run());
        world.supervise("keeper", move |world| keeper::keep(world, begun.take()));
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

    /// Stores messages; after `Ok` they are never lost.
    pub async fn add(&self, add: Add) -> Result<Added, EngineError> {
        self.caught_up(Some(&add.session.scope)).await;
        let added = self.minded(memorize::add(self.world(), add).await)?;
        self.world().room.succeeded();
        Ok(added)
    }

    /// Waits until the memories of an add are written and searchable; `added` with the tasks that wait then.
    pub async fn settled(&self, session: &SessionKey, added: Added) -> Result<Added, EngineError> {
        self.minded(memorize::settled(self.world(), session, added).await)
    }

    /// Makes long segments wait for room that texts of requests take too: a permit is a KiB, and there are `all`. Only once.
    pub fn share_room(&self, room: Arc<tokio::sync::Semaphore>, all: u32) {
        drop(self.world().turns.room.set((room, all)));
    }

    /// Queues messages and returns before they are on disk. Later searches, lists and deletes wait for them, and a shutdown stores
    /// them within its time bound. A crash loses queued messages. Errors while storing are logged.
    pub async fn take_on(&self, add: Add) -> Result<(), EngineError> {
        behind::take_on(self.world(), add).await
    }

    /// Waits until all queued messages of a scope, or of all scopes, are stored.
    pub async fn caught_up(&self, scope: Option<&Scope>) {
        behind::caught_up(self.world(), scope).await;
    }

    /// Ends the segment in a session's buffer.
    pub async fn flush(&self, flush: Flush) -> Result<Added, EngineError> {
        self.caught_up(Some(&flush.session.scope)).await;
        self.minded(memorize::flush(self.world(), flush).await)
    }

    /// Finds memories and messages.
    pub async fn search(&self, search: Search) -> Result<Found, EngineError> {
        self.caught_up(Some(&search.scope)).await;
        self.minded(search::search(self.world(), search).await)
    }

    /// Finds memories and messages; a chat model reads them and adds up to three queries. None without a chat model.
    pub async fn search_in_rounds(&self, search: Search) -> Result<Option<Found>, EngineError> {
        self.caught_up(Some(&search.scope)).await;
        self.minded(rounds::search(self.world(), search).await)
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

    /// The messages that a memory cites, word for word, in order of time.
    pub async fn sources(
        &self,
        scope: &Scope,
        owner: &Owner,
        id: &EntryId,
    ) -> Result<Vec<Arc<Doc>>, EngineError> {
        self.caught_up(Some(scope)).await;
        self.minded(list::sources(self.world(), scope, owner, id).await)
    }

    /// Changes one entry's text.
    pub async fn edit(&self, edit: EditEntry) -> Result<(), EngineError> {
        self.minded(edit::edit(self.world(), edit).await)
    }

    /// Approves or rejects a skill; changes nothing else of it.
    pub async fn judge(
        &self,
        scope: &Scope,
        owner: &Owner,
        id: &EntryId,
        status: SkillStatus,
    ) -> Result<(), EngineError> {
        self.minded(edit::judge(self.world(), scope, owner, id, status).await)
    }

    /// Writes, replaces and removes derived memories.
    pub async fn curate(&self, curate: Curate) -> Result<(), EngineError> {
        self.minded(curate::curate(self.world(), curate).await)
    }

    /// A segment with its messages; none once it was deleted.
    pub async fn cell(&self, id: &CellId) -> Result<Option<Cell>, EngineError> {
        self.world().accepting()?;
        Ok(self.world().parts.transcripts.cell(id).await?)
    }

    /// Every row of an owner with its vector, as the index has it.
    pub async fn rows(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, EngineError> {
        self.caught_up(Some(scope)).await;
        self.minded(list::rows(self.world(), scope, owner).await)
    }

    /// What a cosine of the built-in table would be with this engine's embedding model.
    pub async fn own_cosine(&self, usual: f32) -> f32 {
        self.world().rows.cosines().await.own(usual)
    }

    /// All owners in the vault, of every tenant.
    pub async fn owners(&self) -> Result<BTreeSet<(Scope, Owner)>, EngineError> {
        self.world().accepting()?;
        Ok(list::holdings(self.world()).await?.into_keys().collect())
    }

    /// What there is of each of them, and of users who have messages only.
    pub async fn holdings(&self) -> Result<BTreeMap<(Scope, Owner), Holding>, EngineError> {
        self.world().accepting()?;
        list::everybody(self.world()).await
    }

    /// Everything that memory has of an owner, the same each time.
    pub async fn export(&self, scope: &Scope, owner: &Owner) -> Result<OwnedMemory, EngineError> {
        self.caught_up(Some(scope)).await;
        portable::export(self.world(), scope, owner).await
    }

    /// Adds what an export has and memory has not, with its ids. A second import changes nothing.
    pub async fn import(
        &self,
        scope: &Scope,
        owner: &Owner,
        given: OwnedMemory,
    ) -> Result<TakenIn, EngineError> {
        self.caught_up(Some(scope)).await;
        self.minded(portable::import(self.world(), scope, owner, given).await)
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

    /// Replaces a page. Returns false, without a change, if the page is not the one that was read, or if a memory that
    /// one of our lines cites is gone.
    pub async fn replace_page(&self, replace: ReplacePage) -> Result<bool, EngineError> {
        self.minded(pages::replace(self.world(), replace).await)
    }

    /// Ids of every memory that strategies ever made for an owner.
    pub async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, EngineError> {
        self.world().accepting()?;
        Ok(self.world().parts.pages.made(scope, owner).await?)
    }

    /// Stores the ids of the memories made by strategies.
    pub async fn set_made(
        &self,
        scope: &Scope,
        owner: &Owner,
        ids: &BTreeSet<String>,
    ) -> Result<(), EngineError> {
        self.world().accepting()?;
        Ok(self.world().parts.pages.set_made(scope, owner, ids).await?)
    }

    /// What a deletion would remove and leave; it changes nothing.
    pub async fn preview(&self, forget: &Forget) -> Result<Doomed, EngineError> {
        self.caught_up(Some(forget.scope())).await;
        self.minded(preview::preview(self.world(), forget).await)
    }

    /// Deletes from the vault, the ledger and the index.
    pub async fn forget(&self, forget: Forget) -> Result<Forgot, EngineError> {
        self.caught_up(Some(forget.scope())).await;
        self.minded(Box::pin(forget::forget(self.world(), forget)).await)
    }

    /// Changes of the vault, newest first, or those before one: of an owner or of all; with a scope, only what concerns this scope.
    pub async fn history(
        &self,
        within: Option<&Scope>,
        owner: Option<&(Scope, Owner)>,
        before_and_limit: (Option<ChangeId>, usize),
    ) -> Result<Vec<RecordedChange>, EngineError> {
        history::log(self.world(), within, owner, before_and_limit).await
    }

    /// The diff of a change; with a scope, only what concerns this scope.
    pub async fn diff(&self, within: Option<&Scope>, id: &str) -> Result<String, EngineError> {
        history::diff(self.world(), within, id).await
    }

    /// Undoes a run; with a scope, only a run that concerns this scope alone. Searches see it when this answers. None if later
    /// changes left nothing to undo.
    pub async fn undo(
        &self,
        within: Option<&Scope>,
        run: &str,
    ) -> Result<Option<RecordedChange>, EngineError> {
        self.minded(Box::pin(history::undo(self.world(), run, within)).await)
    }

    /// Does a background run's work and records its writes as one change, which [`Self::undo`] can undo. No two runs
    /// overlap. None if it wrote nothing or no history is kept.
    ///
    /// Only writes that `work` itself makes through the engine count, not those of a task that it spawns. `work` must
    /// not call this or `undo`. Other runs wait for it: ask models before, and only write in it.
    pub async fn recorded<T>(&self, run: Run, work: impl Future<Output = T>) -> (T, Option<RecordedChange>) {
        history::recorded(self.world(), run, work).await
    }

    /// Deletes the history of what `goes` names of an owner while a caller of [`Self::curate`] deletes it for good. `work`
    /// returns whether it deleted anything.
    pub(crate) async fn erased<T, E: From<EngineError>>(
        &self,
        (scope, owner): (&Scope, &Owner),
        goes: impl Fn(&VersionKey) -> bool,
        work: impl Future<Output = Result<(T, bool), E>>,
    ) -> Result<T, E> {
        let purge = || {
            let all = VersionQuery::Touching(Touching::Owner(scope.clone(), owner.clone()));
            history::purge(self.world(), all, |version| goes(&version.key))
        };
        let work = async {
            purge().await?;
            let done = work.await?;
            purge().await?;
            Ok::<_, E>(done)
        };
        Ok(erase::erased(self.world(), work).await?.0)
    }

    /// The problems of the stored memories, of all or of one scope; changes nothing.
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

    /// Queues a failed task again; returns the queued task.
    pub async fn retry(&self, scope: &Scope, id: &JobId) -> Result<Job, EngineError> {
        status::retry(self.world(), scope, id).await
    }

    /// Syncs the index with the vault now.
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

    /// Waits until no job is waiting or running; returns the number of jobs that failed permanently. It does not wait
    /// for a job that needs room on the disk or a repaired file; such a job counts as failed until it succeeds.
    pub async fn settle(&self, progress: Option<OnProgress>) -> Result<usize, EngineError> {
        self.caught_up(None).await;
        settle::all(self.world(), progress).await
    }

    /// System status.
    pub async fn status(&self) -> Result<Status, EngineError> {
        self.caught_up(None).await;
        status::status(self.world()).await
    }

    /// The present settings, including the display zone.
    pub fn settings(&self) -> &MemorySettings {
        &self.world().settings
    }

    /// The reader of documents.
    pub(crate) fn reader(&self) -> &dyn DocumentReader {
        &*self.world().parts.documents
    }

    /// Ends within ten seconds, as [`Self::shutdown_within`] does.
    pub async fn shutdown(&self) {
        self.shutdown_within(SHUTDOWN).await;
    }

    /// Stops accepting, lets running jobs reach a safe point, ends every task, and records the changes of the vault,
    /// all within the bound. Accepted writes have half of it, jobs three quarters of the rest; unused time goes to the
    /// next step.
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
            () = history::end(self.world()) => {}
            () = clock.sleep(left()) => {}
        }
    }

    pub(crate) fn world(&self) -> &Arc<World> {
        &self.handle.world
    }

    /// Notes if an error means that the index must be rebuilt.
    pub(crate) fn minded<T>(&self, result: Result<T, EngineError>) -> Result<T, EngineError> {
        result.inspect_err(|error| self.world().mind(error))
    }
}
