//! The engine: the doors' one handle to every use case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use model::{Cell, CellId, Doc, EntryId, Owner, Page, Scope, SessionKey, SkillStatus};
use ports::{
    ChangeId, DocumentReader, Job, JobId, Run, TaskPage, TaskQuery, Touching, VersionKey, VersionQuery,
};
use recall::Hit;

use crate::api::{
    Add, Added, Audited, Curate, DeletionPreview, EditEntry, Flush, Forget, Forgot, Found, Holding,
    ImportCounts, List, Listed, OwnedMemory, RecordedChange, ReplacePage, Search, Status, Synced,
};
use crate::base::Base;
use crate::error::EngineError;
use crate::files::history::{Moment, PastFile};
use crate::files::review::{Believed, Reviewed, Verdict};
use crate::files::{curate, edit, history, pages, rebuild, review, sync, undo};
use crate::forgetting::{Forgetting, erasure, preview, unfinished};
use crate::intake::{Intake, idle, memorize, settle};
use crate::parts::Parts;
use crate::queue::AddQueue;
use crate::runtime::Tasks;
use crate::searching::{list, rounds, search};
use crate::settings::MemorySettings;
use crate::upkeep::{audit, janitor, keeper, portable, status};
use crate::writing::{Unrecorded, Writing, jobs};

/// Time that running work has to reach a safe point when the engine stops.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// The doors' handle. Cheap to clone; `shutdown` ends every task, and so does dropping the last handle.
#[derive(Debug, Clone)]
pub struct Engine {
    handle: Arc<Handle>,
}

/// Tasks hold the rooms, never the handle: when the last handle goes, the tasks go.
#[derive(Debug)]
struct Handle {
    base: Arc<Base>,
    intake: Arc<Intake>,
    forgetting: Arc<Forgetting>,
    queue: Arc<AddQueue>,
    /// The index's writer, which must outlive the work that writes.
    service: Tasks,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.base.work.kill();
        self.service.kill();
    }
}

impl Engine {
    /// Starts the engine on the present runtime, where all work runs that no caller waits for: releases stale leases,
    /// starts the workers, begins a sync (or a rebuild, if the index needs it).
    pub async fn start(parts: Parts, settings: MemorySettings) -> Result<Self, EngineError> {
        let unrecorded = if settings.asks_only {
            Unrecorded::default()
        } else {
            Unrecorded::at_start(&parts).await?
        };
        let service = Tasks::new();
        let (base, writer) = Base::new(parts, settings, &service).await?;
        let intake = Arc::new(Intake::new(base.clone()));
        let writing = Arc::new(Writing::new(intake.clone(), unrecorded));
        let forgetting = Arc::new(Forgetting::new(intake.clone()));
        history::recover(&base).await;
        forgetting.unfinished.begin().await?;
        let gate = base.gate.alone().await;
        let mut begun = Some((gate, keeper::adopt(&base).await));
        service.spawn(writer.run());
        base.supervise("keeper", &forgetting, move |room| {
            keeper::keep(room, begun.take())
        });
        base.supervise("sync", &base, sync::keep);
        if !base.settings.asks_only {
            base.supervise("watch", &base, sync::watch);
            base.supervise("dispatch", &writing, jobs::dispatch);
            base.supervise("idle", &intake, idle::keep);
            base.supervise("janitor", &forgetting, janitor::keep);
            base.supervise("history", &base, undo::keep);
        }
        let queue = Arc::new(AddQueue::new(forgetting.clone()));
        Ok(Self {
            handle: Arc::new(Handle {
                base,
                intake,
                forgetting,
                queue,
                service,
            }),
        })
    }

    /// Stores messages; after `Ok` they are never lost.
    pub async fn add(&self, add: Add) -> Result<Added, EngineError> {
        self.caught_up(Some(&add.session.scope)).await;
        let added = self.noted(self.handle.queue.add(add).await)?;
        self.base().disk.succeeded();
        Ok(added)
    }

    /// Waits until the memories of an add are written and searchable; returns `added` with the present number of
    /// waiting tasks.
    pub async fn settled(&self, session: &SessionKey, added: Added) -> Result<Added, EngineError> {
        self.noted(memorize::settled(&self.handle.intake, session, added).await)
    }

    /// Makes long segments share the memory of requests' texts: one permit is one KiB, and there are `all`. Only the
    /// first call counts.
    pub fn share_room(&self, room: Arc<tokio::sync::Semaphore>, all: u32) {
        drop(self.base().turns.room.set((room, all)));
    }

    /// Queues messages and returns before they are on disk. Later searches, lists and deletes wait for them, and a shutdown stores
    /// them within its time bound. A crash loses queued messages. Errors while storing are logged.
    pub async fn take_on(&self, add: Add) -> Result<(), EngineError> {
        self.handle.queue.take_on(add).await
    }

    /// Waits until all queued messages of a scope, or of all scopes, are stored.
    pub async fn caught_up(&self, scope: Option<&Scope>) {
        self.handle.queue.caught_up(scope).await;
    }

    /// Ends the segment in a session's buffer.
    pub async fn flush(&self, flush: Flush) -> Result<Added, EngineError> {
        self.caught_up(Some(&flush.session.scope)).await;
        self.noted(memorize::flush(&self.handle.intake, flush).await)
    }

    /// Finds memories and messages.
    pub async fn search(&self, search: Search) -> Result<Found, EngineError> {
        self.caught_up(Some(&search.scope)).await;
        self.noted(search::search(self.base(), search).await)
    }

    /// Finds memories and messages; a chat model reads them and adds up to three queries. None without a chat model.
    pub async fn search_in_rounds(&self, search: Search) -> Result<Option<Found>, EngineError> {
        self.caught_up(Some(&search.scope)).await;
        self.noted(rounds::search(self.base(), search).await)
    }

    /// Lists memories.
    pub async fn list(&self, list: List) -> Result<Listed, EngineError> {
        self.caught_up(Some(&list.scope)).await;
        self.noted(list::list(self.base(), list).await)
    }

    /// Shows one memory.
    pub async fn entry(&self, scope: &Scope, owner: &Owner, id: &EntryId) -> Result<Hit, EngineError> {
        self.noted(list::entry(self.base(), scope, owner, id).await)
    }

    /// The messages that a memory cites, word for word, in order of time.
    pub async fn sources(
        &self,
        scope: &Scope,
        owner: &Owner,
        id: &EntryId,
    ) -> Result<Vec<Arc<Doc>>, EngineError> {
        self.caught_up(Some(scope)).await;
        self.noted(list::sources(self.base(), scope, owner, id).await)
    }

    /// Changes the text of one entry.
    pub async fn edit(&self, edit: EditEntry) -> Result<(), EngineError> {
        self.noted(edit::edit(self.base(), edit).await)
    }

    /// Approves or rejects a skill; changes nothing else.
    pub async fn judge(
        &self,
        scope: &Scope,
        owner: &Owner,
        id: &EntryId,
        status: SkillStatus,
    ) -> Result<(), EngineError> {
        self.noted(edit::judge(self.base(), scope, owner, id, status).await)
    }

    /// Writes, replaces and removes derived memories.
    pub async fn curate(&self, curate: Curate) -> Result<(), EngineError> {
        self.noted(curate::curate(self.base(), curate).await)
    }

    /// A segment with its messages; none if it was deleted.
    pub async fn cell(&self, id: &CellId) -> Result<Option<Cell>, EngineError> {
        self.base().accepting()?;
        Ok(self.base().parts.transcripts.cell(id).await?)
    }

    /// All rows of an owner with their vectors, as the index has them.
    pub async fn rows(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, EngineError> {
        self.caught_up(Some(scope)).await;
        self.noted(list::rows(self.base(), scope, owner).await)
    }

    /// For each of these texts, the index of the text in `to` with the nearest meaning.
    pub async fn nearest(&self, texts: &[&str], to: &[&str]) -> Result<Vec<usize>, EngineError> {
        Ok(self.base().rows.nearest(texts, to).await?)
    }

    /// All owners in the vault, of every tenant.
    pub async fn owners(&self) -> Result<BTreeSet<(Scope, Owner)>, EngineError> {
        self.base().accepting()?;
        Ok(list::holdings(self.base()).await?.into_keys().collect())
    }

    /// Amount of memory of each owner, and of users who have only messages.
    pub async fn holdings(&self) -> Result<BTreeMap<(Scope, Owner), Holding>, EngineError> {
        self.base().accepting()?;
        list::everybody(self.base()).await
    }

    /// All memory of an owner, in the same order each time.
    pub async fn export(&self, scope: &Scope, owner: &Owner) -> Result<OwnedMemory, EngineError> {
        self.caught_up(Some(scope)).await;
        portable::export(self.base(), scope, owner).await
    }

    /// Adds the entries and messages of an export that are not stored yet, with their ids. A second import changes
    /// nothing.
    pub async fn import(
        &self,
        scope: &Scope,
        owner: &Owner,
        given: OwnedMemory,
    ) -> Result<ImportCounts, EngineError> {
        self.caught_up(Some(scope)).await;
        self.noted(portable::import(&self.handle.forgetting, scope, owner, given).await)
    }

    /// A page of an owner; none when there is no page.
    pub async fn page(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
    ) -> Result<Option<String>, EngineError> {
        self.base().accepting()?;
        Ok(self.base().parts.pages.page(scope, owner, page).await?)
    }

    /// Replaces a page. Returns false, without a change, if the page has changed since it was read, or if a memory that
    /// one of Quipu's own lines cites no longer exists.
    pub async fn replace_page(&self, replace: ReplacePage) -> Result<bool, EngineError> {
        self.noted(pages::replace(self.base(), replace).await)
    }

    /// Ids of every memory that strategies ever made for an owner.
    pub async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, EngineError> {
        self.base().accepting()?;
        Ok(self.base().parts.pages.made(scope, owner).await?)
    }

    /// Stores the ids of the memories made by strategies.
    pub async fn set_made(
        &self,
        scope: &Scope,
        owner: &Owner,
        ids: &BTreeSet<String>,
    ) -> Result<(), EngineError> {
        self.base().accepting()?;
        Ok(self.base().parts.pages.set_made(scope, owner, ids).await?)
    }

    /// The result that a deletion would have now; changes nothing.
    pub async fn preview(&self, forget: &Forget) -> Result<DeletionPreview, EngineError> {
        self.caught_up(Some(forget.scope())).await;
        self.noted(preview::preview(self.base(), forget).await)
    }

    /// Deletes from the vault, the ledger and the index.
    pub async fn forget(&self, forget: Forget) -> Result<Forgot, EngineError> {
        self.caught_up(Some(forget.scope())).await;
        self.noted(Box::pin(unfinished::forget(&self.handle.forgetting, forget)).await)
    }

    /// Changes of the vault, newest first, or those before a given change: of an owner or of all; with a scope, only
    /// the part in this scope.
    pub async fn history(
        &self,
        within: Option<&Scope>,
        owner: Option<&(Scope, Owner)>,
        before_and_limit: (Option<ChangeId>, usize),
    ) -> Result<Vec<RecordedChange>, EngineError> {
        history::log(self.base(), within, owner, before_and_limit).await
    }

    /// The diff of a change; with a scope, only the part in this scope.
    pub async fn diff(&self, within: Option<&Scope>, id: &str) -> Result<String, EngineError> {
        history::diff(self.base(), within, id).await
    }

    /// Undoes a run; with a scope, only a run that changed nothing outside of it. The result is searchable when this
    /// returns. None if later changes left nothing to undo.
    pub async fn undo(
        &self,
        within: Option<&Scope>,
        run: &str,
    ) -> Result<Option<RecordedChange>, EngineError> {
        self.noted(Box::pin(undo::undo(self.base(), run, within)).await)
    }

    /// Does a background run's work and records its writes as one change, which [`Self::undo`] can undo. No two runs
    /// overlap. None if it wrote nothing or no history is kept.
    ///
    /// Only writes that `work` itself makes through the engine count, not those of a task that it spawns. `work` must
    /// not call this or `undo`. Other runs wait for it: ask models before, and only write in it.
    pub async fn recorded<T>(&self, run: Run, work: impl Future<Output = T>) -> (T, Option<RecordedChange>) {
        history::recorded(self.base(), run, work).await
    }

    /// Deletes the history of an owner's entries that `goes` matches, while a caller of [`Self::curate`] deletes them
    /// for good. `work` returns whether it deleted anything.
    pub(crate) async fn erased<T, E: From<EngineError>>(
        &self,
        (scope, owner): (&Scope, &Owner),
        goes: impl Fn(&VersionKey) -> bool,
        work: impl Future<Output = Result<(T, bool), E>>,
    ) -> Result<T, E> {
        let purge = || {
            let all = VersionQuery::Touching(Touching::Owner(scope.clone(), owner.clone()));
            history::purge(self.base(), all, |version| goes(&version.key))
        };
        let work = async {
            purge().await?;
            let done = work.await?;
            purge().await?;
            Ok::<_, E>(done)
        };
        Ok(
            erasure::erased(self.base(), &self.handle.forgetting.erasing, work)
                .await?
                .0,
        )
    }

    /// Earlier states of the files, as far as a scope may see them: one file with its text, or all without.
    pub async fn files_then(
        &self,
        within: Option<&Scope>,
        moment: Moment,
        path: Option<&str>,
    ) -> Result<Vec<PastFile>, EngineError> {
        history::files_then(self.base(), within, moment, path).await
    }

    /// The statements that Quipu believes of a person, in the order of [`crate::Belief`], newest first in each group.
    pub async fn review(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Believed>, EngineError> {
        self.noted(review::review(self.base(), scope, owner).await)
    }

    /// Carries out a person's answer about a statement of [`Engine::review`].
    pub async fn answer(
        &self,
        scope: &Scope,
        owner: &Owner,
        id: &EntryId,
        verdict: Verdict,
    ) -> Result<Reviewed, EngineError> {
        self.noted(review::answer(self.base(), scope, owner, id, verdict).await)
    }

    /// The problems of the stored memories, of all or of one scope; changes nothing.
    pub async fn audit(&self, within: Option<&Scope>) -> Result<Vec<Audited>, EngineError> {
        audit::audit(self.base(), within).await
    }

    /// A page of tasks.
    pub async fn tasks(&self, query: TaskQuery) -> Result<TaskPage, EngineError> {
        status::tasks(self.base(), query).await
    }

    /// One task.
    pub async fn task(&self, scope: &Scope, id: &JobId) -> Result<Job, EngineError> {
        status::task(self.base(), scope, id).await
    }

    /// Queues a failed task again; returns the queued task.
    pub async fn retry(&self, scope: &Scope, id: &JobId) -> Result<Job, EngineError> {
        status::retry(self.base(), scope, id).await
    }

    /// Syncs the index with the vault now.
    pub async fn sync(&self) -> Result<Synced, EngineError> {
        self.caught_up(None).await;
        self.base().answering().await?;
        self.noted(sync::everything(self.base()).await)
    }

    /// Builds a new index from the vault beside the live one and swaps it in.
    pub async fn rebuild(&self) -> Result<Synced, EngineError> {
        rebuild::rebuild(self.base()).await
    }

    /// Waits until no job is waiting or running; returns the number of jobs that failed permanently. It does not wait
    /// for a job that needs room on the disk or a repaired file; such a job counts as failed until it succeeds.
    pub async fn settle(&self) -> Result<usize, EngineError> {
        self.caught_up(None).await;
        settle::all(&self.handle.intake).await
    }

    /// System status.
    pub async fn status(&self) -> Result<Status, EngineError> {
        self.caught_up(None).await;
        status::status(&self.handle.intake).await
    }

    /// The present settings, including the display zone.
    pub fn settings(&self) -> &MemorySettings {
        &self.base().settings
    }

    /// The reader of documents.
    pub(crate) fn reader(&self) -> &dyn DocumentReader {
        &*self.base().parts.documents
    }

    /// Ends within ten seconds, as [`Self::shutdown_within`] does.
    pub async fn shutdown(&self) {
        self.shutdown_within(SHUTDOWN).await;
    }

    /// Stops accepting, lets running jobs reach a safe point, ends every task, and records the changes of the vault,
    /// all within the bound. Accepted writes have half of it, jobs three quarters of the rest; unused time goes to the
    /// next step.
    pub async fn shutdown_within(&self, bound: Duration) {
        let clock = &*self.base().parts.clock;
        let end = clock.elapsed() + bound;
        let left = || end.saturating_sub(clock.elapsed());
        tokio::select! {
            biased;
            () = self.caught_up(None) => {}
            () = clock.sleep(bound / 2) => {}
        }
        self.base().work.end(clock, left() * 3 / 4).await;
        self.handle.service.end(clock, left() / 2).await;
        tokio::select! {
            biased;
            () = history::end(self.base()) => {}
            () = clock.sleep(left()) => {}
        }
    }

    fn base(&self) -> &Arc<Base> {
        &self.handle.base
    }

    /// Passes an error to [`Base::note_error`], which notes a full disk or an unusable index.
    pub(crate) fn noted<T>(&self, result: Result<T, EngineError>) -> Result<T, EngineError> {
        result.inspect_err(|error| self.base().note_error(error))
    }
}
