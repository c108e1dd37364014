//! Every port behind a count of its calls.
//!
//! Owns: the wrappers. Never: what happens at a call (`Faults` says).

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use model::{
    Cell, CellId, Date, Doc, DocKey, EmbedderId, Entry, Message, MessageId, Owner, Page, Scope, SessionKey,
    Timestamp, Vector,
};
use ports::runs::{Claim, Claimed, Cost, Event, Events, NewRun, RunPage, RunQuery, RunStats, Runs, Verdict};
use ports::{
    AppendOutcome, Author, BrokenFile, Buffered, CandidateQuery, Cut, Debt, Edit, EmbedError, EmbedPurpose,
    Embedder, FileAppend, FileChanges, FileRecord, FileStat, Forgotten, History, HistoryError, Index,
    IndexError, IndexHealth, IndexStage, IndexStats, Job, JobFailure, JobId, JobStats, Jobs, LedgerError,
    Maintenance, NewJob, NewMessage, Pages, ParsedFile, Part, RecordedChange, Run, RunId, Sweep, TaskPage,
    TaskQuery, Touching, Transcripts, Vault, VaultChange, VaultError, VaultPath, Written,
};

use super::Faults;

/// A port with faults.
#[derive(Debug)]
pub struct Faulty<T: ?Sized> {
    inner: Arc<T>,
    faults: Arc<Faults>,
}

impl<T: ?Sized> Faulty<T> {
    /// That port, whose calls count among all.
    pub fn new(inner: Arc<T>, faults: &Arc<Faults>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            faults: faults.clone(),
        })
    }
}

fn no_ledger() -> LedgerError {
    LedgerError::Store("planned fault".into())
}

fn no_vault() -> VaultError {
    VaultError::Io {
        path: "planned".to_owned(),
        source: std::io::Error::other("planned fault"),
    }
}

fn no_index() -> IndexError {
    IndexError::Store("planned fault".into())
}

fn no_history() -> HistoryError {
    HistoryError::Io {
        path: "planned".to_owned(),
        source: std::io::Error::other("planned fault"),
    }
}

#[async_trait]
impl History for Faulty<dyn History> {
    async fn commit(
        &self,
        author: &Author,
        part: &Part,
        at: Timestamp,
    ) -> Result<Option<RecordedChange>, HistoryError> {
        self.faults
            .call("commit", self.inner.commit(author, part, at), no_history)
            .await
    }
    async fn log(&self, touching: &Touching, limit: usize) -> Result<Vec<RecordedChange>, HistoryError> {
        self.faults
            .call("log", self.inner.log(touching, limit), no_history)
            .await
    }
    async fn diff(&self, id: Option<&str>) -> Result<String, HistoryError> {
        self.faults.call("diff", self.inner.diff(id), no_history).await
    }
    async fn undo(&self, run: &str, by: &Run, at: Timestamp) -> Result<Option<RecordedChange>, HistoryError> {
        self.faults
            .call("undo", self.inner.undo(run, by, at), no_history)
            .await
    }
    fn folder_of(&self, scope: &Scope, owner: Option<&Owner>) -> VaultPath {
        self.inner.folder_of(scope, owner)
    }
    async fn purge(&self, debts: &[Debt]) -> Result<(), HistoryError> {
        self.faults
            .call("purge", self.inner.purge(debts), no_history)
            .await
    }
    async fn owe_purge(&self, debt: &Debt) -> Result<(), HistoryError> {
        self.faults
            .call("owe purge", self.inner.owe_purge(debt), no_history)
            .await
    }
    async fn forgive(&self, debt: &Debt) -> Result<(), HistoryError> {
        self.faults
            .call("forgive", self.inner.forgive(debt), no_history)
            .await
    }
    async fn owed(&self) -> Result<Vec<Debt>, HistoryError> {
        self.faults.call("owed", self.inner.owed(), no_history).await
    }
}

#[async_trait]
impl Events for Faulty<dyn Events> {
    async fn emit(&self, events: Vec<Event>) -> Result<(), LedgerError> {
        self.faults.call("emit", self.inner.emit(events), no_ledger).await
    }
}

#[async_trait]
impl Transcripts for Faulty<dyn Transcripts> {
    async fn append(
        &self,
        session: &SessionKey,
        messages: Vec<NewMessage>,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError> {
        self.faults
            .call("append", self.inner.append(session, messages, now), no_ledger)
            .await
    }
    async fn entitle(&self, session: &SessionKey, title: String) -> Result<(), LedgerError> {
        self.faults
            .call("entitle", self.inner.entitle(session, title), no_ledger)
            .await
    }
    async fn title(&self, session: &SessionKey) -> Result<Option<String>, LedgerError> {
        self.faults
            .call("title", self.inner.title(session), no_ledger)
            .await
    }
    async fn buffer(&self, session: &SessionKey) -> Result<Vec<Message>, LedgerError> {
        self.faults
            .call("buffer", self.inner.buffer(session), no_ledger)
            .await
    }
    async fn cut(&self, cut: Cut) -> Result<(), LedgerError> {
        self.faults.call("cut", self.inner.cut(cut), no_ledger).await
    }
    async fn cell(&self, id: &CellId) -> Result<Option<Cell>, LedgerError> {
        self.faults.call("cell", self.inner.cell(id), no_ledger).await
    }
    async fn tail(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Message>, LedgerError> {
        self.faults
            .call("tail", self.inner.tail(scope, owner), no_ledger)
            .await
    }
    async fn messages(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Message>, LedgerError> {
        self.faults
            .call("messages", self.inner.messages(scope, ids), no_ledger)
            .await
    }
    async fn buffered(&self) -> Result<Buffered, LedgerError> {
        self.faults
            .call("buffered", self.inner.buffered(), no_ledger)
            .await
    }
    async fn open_sessions(&self, limit: usize) -> Result<Vec<(SessionKey, Timestamp)>, LedgerError> {
        self.faults
            .call("open_sessions", self.inner.open_sessions(limit), no_ledger)
            .await
    }
    async fn sweep(&self, sweep: Sweep) -> Result<Forgotten, LedgerError> {
        self.faults
            .call("sweep", self.inner.sweep(sweep), no_ledger)
            .await
    }
}

#[async_trait]
impl Jobs for Faulty<dyn Jobs> {
    async fn enqueue(&self, jobs: Vec<NewJob>, now: Timestamp) -> Result<(), LedgerError> {
        self.faults
            .call("enqueue", self.inner.enqueue(jobs, now), no_ledger)
            .await
    }
    async fn claim(&self, limit: usize, now: Timestamp, until: Timestamp) -> Result<Vec<Job>, LedgerError> {
        self.faults
            .call("claim", self.inner.claim(limit, now, until), no_ledger)
            .await
    }
    async fn complete(&self, ids: &[JobId], now: Timestamp) -> Result<(), LedgerError> {
        self.faults
            .call("complete", self.inner.complete(ids, now), no_ledger)
            .await
    }
    async fn fail(&self, id: &JobId, failure: JobFailure, now: Timestamp) -> Result<(), LedgerError> {
        self.faults
            .call("fail", self.inner.fail(id, failure, now), no_ledger)
            .await
    }
    async fn retry(&self, scope: &Scope, id: &JobId, now: Timestamp) -> Result<bool, LedgerError> {
        self.faults
            .call("retry", self.inner.retry(scope, id, now), no_ledger)
            .await
    }
    async fn release_all(&self, latest: Timestamp) -> Result<usize, LedgerError> {
        self.faults
            .call("release_all", self.inner.release_all(latest), no_ledger)
            .await
    }
    async fn page(&self, query: &TaskQuery) -> Result<TaskPage, LedgerError> {
        self.faults.call("page", self.inner.page(query), no_ledger).await
    }
    async fn job(&self, scope: &Scope, id: &JobId) -> Result<Option<Job>, LedgerError> {
        self.faults
            .call("job", self.inner.job(scope, id), no_ledger)
            .await
    }
    async fn stats(&self, keep_since: Timestamp) -> Result<JobStats, LedgerError> {
        self.faults
            .call("job stats", self.inner.stats(keep_since), no_ledger)
            .await
    }
}

#[async_trait]
impl FileChanges for Faulty<dyn FileChanges> {
    async fn stats(&self) -> Result<Vec<FileStat>, LedgerError> {
        self.faults
            .call("file stats", self.inner.stats(), no_ledger)
            .await
    }
    async fn count(&self) -> Result<usize, LedgerError> {
        self.faults
            .call("file count", self.inner.count(), no_ledger)
            .await
    }
    async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, LedgerError> {
        self.faults
            .call("file stat", self.inner.stat(path), no_ledger)
            .await
    }
    async fn record(&self, path: &VaultPath) -> Result<Option<FileRecord>, LedgerError> {
        self.faults
            .call("record", self.inner.record(path), no_ledger)
            .await
    }
    async fn put(&self, record: FileRecord) -> Result<(), LedgerError> {
        self.faults.call("put", self.inner.put(record), no_ledger).await
    }
    async fn extend(&self, appends: Vec<FileAppend>) -> Result<(), LedgerError> {
        self.faults
            .call("extend", self.inner.extend(appends), no_ledger)
            .await
    }
    async fn drop_paths(&self, paths: &[VaultPath]) -> Result<(), LedgerError> {
        self.faults
            .call("drop_paths", self.inner.drop_paths(paths), no_ledger)
            .await
    }
    async fn broken(&self) -> Result<Vec<BrokenFile>, LedgerError> {
        self.faults.call("broken", self.inner.broken(), no_ledger).await
    }
}

#[async_trait]
impl Pages for Faulty<dyn Pages> {
    fn path_of(&self, scope: &Scope, owner: &Owner, page: Page) -> VaultPath {
        Pages::path_of(&*self.inner, scope, owner, page)
    }
    async fn page(&self, scope: &Scope, owner: &Owner, page: Page) -> Result<Option<String>, VaultError> {
        self.faults
            .call("page", self.inner.page(scope, owner, page), no_vault)
            .await
    }
    async fn replace(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
        before: Option<&str>,
        text: &str,
    ) -> Result<bool, VaultError> {
        let replace = self.inner.replace(scope, owner, page, before, text);
        self.faults.call("replace page", replace, no_vault).await
    }
    async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, VaultError> {
        self.faults
            .call("made", self.inner.made(scope, owner), no_vault)
            .await
    }
    async fn set_made(&self, scope: &Scope, owner: &Owner, ids: &BTreeSet<String>) -> Result<(), VaultError> {
        self.faults
            .call("set made", self.inner.set_made(scope, owner, ids), no_vault)
            .await
    }
    async fn drop_previous(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        self.faults
            .call("drop previous", self.inner.drop_previous(scope, owner), no_vault)
            .await
    }
    async fn remove_pages(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        self.faults
            .call("remove pages", self.inner.remove_pages(scope, owner), no_vault)
            .await
    }
}

#[async_trait]
impl Vault for Faulty<dyn Vault> {
    fn path_of(&self, entry: &Entry) -> VaultPath {
        self.inner.path_of(entry)
    }

    fn folder_of(&self, scope: &Scope) -> String {
        self.inner.folder_of(scope)
    }
    async fn append(&self, entries: &[Entry], fresh: bool) -> Result<Vec<Written>, VaultError> {
        self.faults
            .call("vault append", self.inner.append(entries, fresh), no_vault)
            .await
    }
    async fn read(&self, path: &VaultPath) -> Result<Option<ParsedFile>, VaultError> {
        self.faults.call("read", self.inner.read(path), no_vault).await
    }
    async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, VaultError> {
        self.faults.call("stat", self.inner.stat(path), no_vault).await
    }
    async fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError> {
        self.faults
            .call("edit", self.inner.edit(path, edits), no_vault)
            .await
    }
    async fn scan(&self) -> Result<Vec<FileStat>, VaultError> {
        self.faults.call("scan", self.inner.scan(), no_vault).await
    }
    fn strangers(&self) -> Vec<VaultPath> {
        self.inner.strangers()
    }
    async fn remove(&self, scope: &Scope, owner: Option<&Owner>) -> Result<Vec<VaultPath>, VaultError> {
        self.faults
            .call("remove", self.inner.remove(scope, owner), no_vault)
            .await
    }
    async fn changed(&self) -> VaultChange {
        self.inner.changed().await
    }
}

#[async_trait]
impl Index for Faulty<dyn Index> {
    async fn health(&self, embedder: &EmbedderId) -> IndexHealth {
        self.inner.health(embedder).await
    }
    async fn apply(&self, add: &[Doc], remove: &[DocKey]) -> Result<(), IndexError> {
        self.faults
            .call("apply", self.inner.apply(add, remove), no_index)
            .await
    }
    async fn count(&self, scope: &Scope, owner: &Owner) -> Result<usize, IndexError> {
        self.faults
            .call("count", self.inner.count(scope, owner), no_index)
            .await
    }
    async fn load(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, IndexError> {
        self.faults
            .call("load", self.inner.load(scope, owner), no_index)
            .await
    }
    async fn candidates(&self, query: &CandidateQuery) -> Result<Vec<Doc>, IndexError> {
        self.faults
            .call("candidates", self.inner.candidates(query), no_index)
            .await
    }
    async fn maintain(&self) -> Result<Maintenance, IndexError> {
        self.faults
            .call("maintain", self.inner.maintain(), no_index)
            .await
    }
    async fn erase(&self) -> Result<(), IndexError> {
        self.faults.call("erase", self.inner.erase(), no_index).await
    }
    async fn owe_erasing(&self, is_owed: bool) -> Result<(), IndexError> {
        self.faults
            .call("owe erasing", self.inner.owe_erasing(is_owed), no_index)
            .await
    }
    async fn owes_erasing(&self) -> bool {
        self.inner.owes_erasing().await
    }
    async fn stats(&self) -> Result<IndexStats, IndexError> {
        self.faults
            .call("index stats", self.inner.stats(), no_index)
            .await
    }
    async fn stage(&self, embedder: &EmbedderId) -> Result<Box<dyn IndexStage>, IndexError> {
        let stage = self
            .faults
            .call("stage", self.inner.stage(embedder), no_index)
            .await?;
        Ok(Box::new(FaultyStage {
            inner: stage,
            faults: self.faults.clone(),
        }))
    }
}

#[derive(Debug)]
struct FaultyStage {
    inner: Box<dyn IndexStage>,
    faults: Arc<Faults>,
}

#[async_trait]
impl IndexStage for FaultyStage {
    async fn add(&mut self, docs: &[Doc]) -> Result<(), IndexError> {
        self.faults
            .call("stage add", self.inner.add(docs), no_index)
            .await
    }
    async fn publish(self: Box<Self>) -> Result<(), IndexError> {
        self.faults.call("publish", self.inner.publish(), no_index).await
    }
}

#[async_trait]
impl Embedder for Faulty<dyn Embedder> {
    fn id(&self) -> &EmbedderId {
        self.inner.id()
    }
    fn is_instant(&self) -> bool {
        self.inner.is_instant()
    }
    async fn embed(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vector>, EmbedError> {
        let error = || EmbedError::Unavailable {
            reason: "planned fault".to_owned(),
        };
        self.faults
            .call("embed", self.inner.embed(texts, purpose), error)
            .await
    }
}

#[async_trait]
impl Runs for Faulty<dyn Runs> {
    async fn enqueue(&self, runs: Vec<NewRun>, now: Timestamp) -> Result<Vec<Option<RunId>>, LedgerError> {
        self.faults
            .call("enqueue runs", self.inner.enqueue(runs, now), no_ledger)
            .await
    }
    async fn claim(&self, claim: Claim) -> Result<Claimed, LedgerError> {
        self.faults
            .call("claim runs", self.inner.claim(claim), no_ledger)
            .await
    }
    async fn finish(
        &self,
        id: &RunId,
        verdict: Verdict,
        millis: u64,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let finish = self.inner.finish(id, verdict, millis, now);
        self.faults.call("finish run", finish, no_ledger).await
    }
    async fn charge(&self, id: &RunId, day: Date, cost: Cost) -> Result<(), LedgerError> {
        self.faults
            .call("charge", self.inner.charge(id, day, cost), no_ledger)
            .await
    }
    async fn spent(&self, day: Date) -> Result<Cost, LedgerError> {
        self.faults.call("spent", self.inner.spent(day), no_ledger).await
    }
    async fn release_all(&self, now: Timestamp, latest: Timestamp) -> Result<usize, LedgerError> {
        self.faults
            .call("release runs", self.inner.release_all(now, latest), no_ledger)
            .await
    }
    async fn page(&self, query: &RunQuery) -> Result<RunPage, LedgerError> {
        self.faults
            .call("run page", self.inner.page(query), no_ledger)
            .await
    }
    async fn stats(&self, keep_since: Timestamp) -> Result<RunStats, LedgerError> {
        self.faults
            .call("run stats", self.inner.stats(keep_since), no_ledger)
            .await
    }
}
