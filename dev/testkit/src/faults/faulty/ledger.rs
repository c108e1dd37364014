//! The ports of a ledger with a count of their calls.
//!
//! Owns: their wrappers. Never: the fault of a call (`Faults` has it).

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use model::{Cell, CellId, Date, DocKey, Message, MessageId, Name, Owner, Scope, SessionKey, Timestamp};
use ports::runs::{
    Claim, Claimed, Cost, Events, MemoryEvent, NewRun, RunPage, RunQuery, RunStats, Runs, Verdict,
};
use ports::{
    Announced, AppendOutcome, BrokenFile, Buffered, By, Carried, ChangeId, ChangeQuery, ChangeTarget, Cut,
    CutWithAppend, FileAppend, FileChanges, FileRecord, FileStat, Forgotten, History, HistoryChange, Job,
    JobFailure, JobId, JobStats, Jobs, LedgerError, NewJob, NewMessage, NewVersion, Retention, RunId, Sweep,
    TaskPage, TaskQuery, Transcripts, VaultPath, Version, VersionId, VersionQuery, WrittenCell,
};

use super::{Faulty, no_ledger};

#[async_trait]
impl Events for Faulty<dyn Events> {
    async fn emit(&self, events: Vec<MemoryEvent>) -> Result<(), LedgerError> {
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
    async fn append_and_cut(
        &self,
        messages: Vec<NewMessage>,
        cut: CutWithAppend,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError> {
        let call = self.inner.append_and_cut(messages, cut, now);
        self.faults.call("append and cut", call, no_ledger).await
    }
    async fn entitle(
        &self,
        session: &SessionKey,
        title: String,
        accept_forgotten: bool,
    ) -> Result<(), LedgerError> {
        self.faults
            .call(
                "entitle",
                self.inner.entitle(session, title, accept_forgotten),
                no_ledger,
            )
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
    async fn cells(&self, ids: &[CellId]) -> Result<Vec<Cell>, LedgerError> {
        self.faults.call("cells", self.inner.cells(ids), no_ledger).await
    }
    async fn unwritten_after(&self, id: &CellId) -> Result<Vec<CellId>, LedgerError> {
        self.faults
            .call("unwritten after", self.inner.unwritten_after(id), no_ledger)
            .await
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
    async fn waiting(&self) -> Result<BTreeMap<(Scope, Owner), usize>, LedgerError> {
        self.faults.call("waiting", self.inner.waiting(), no_ledger).await
    }
    async fn carried(&self, scope: &Scope, ids: &[MessageId]) -> Result<Carried, LedgerError> {
        self.faults
            .call("carried", self.inner.carried(scope, ids), no_ledger)
            .await
    }
    async fn adopt(
        &self,
        scope: &Scope,
        cells: Vec<WrittenCell>,
        forgotten: BTreeSet<String>,
    ) -> Result<(), LedgerError> {
        self.faults
            .call("adopt", self.inner.adopt(scope, cells, forgotten), no_ledger)
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
    async fn claim(
        &self,
        limit: usize,
        behind: usize,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Job>, LedgerError> {
        self.faults
            .call("claim", self.inner.claim(limit, behind, now, until), no_ledger)
            .await
    }
    async fn hand_back(&self, ids: &[JobId], now: Timestamp) -> Result<(), LedgerError> {
        self.faults
            .call("hand back", self.inner.hand_back(ids, now), no_ledger)
            .await
    }
    async fn renew(&self, ids: &[JobId], until: Timestamp) -> Result<(), LedgerError> {
        self.faults
            .call("renew", self.inner.renew(ids, until), no_ledger)
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
    async fn stats(&self) -> Result<JobStats, LedgerError> {
        self.faults.call("job stats", self.inner.stats(), no_ledger).await
    }
}

#[async_trait]
impl Retention for Faulty<dyn Retention> {
    async fn drop_finished(&self, before: Timestamp) -> Result<usize, LedgerError> {
        self.faults
            .call("drop finished", self.inner.drop_finished(before), no_ledger)
            .await
    }
    async fn quiet_sessions(&self, before: Timestamp) -> Result<Vec<SessionKey>, LedgerError> {
        self.faults
            .call("quiet sessions", self.inner.quiet_sessions(before), no_ledger)
            .await
    }
    async fn copies(&self) -> Result<Vec<Date>, LedgerError> {
        self.faults.call("copies", self.inner.copies(), no_ledger).await
    }
    async fn copy(&self, day: Date) -> Result<bool, LedgerError> {
        self.faults.call("copy", self.inner.copy(day), no_ledger).await
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
    async fn facts(&self, app: &Name, owner: &Owner) -> Result<Vec<DocKey>, LedgerError> {
        self.faults
            .call("facts", self.inner.facts(app, owner), no_ledger)
            .await
    }

    async fn sharing(&self, of: Option<(&Scope, &Owner)>) -> Result<Vec<VaultPath>, LedgerError> {
        self.faults
            .call("sharing", self.inner.sharing(of), no_ledger)
            .await
    }

    async fn users(&self, scope: &Scope) -> Result<Vec<Owner>, LedgerError> {
        self.faults
            .call("users", self.inner.users(scope), no_ledger)
            .await
    }
    async fn broken(&self) -> Result<Vec<BrokenFile>, LedgerError> {
        self.faults.call("broken", self.inner.broken(), no_ledger).await
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
    async fn stats(&self) -> Result<RunStats, LedgerError> {
        self.faults.call("run stats", self.inner.stats(), no_ledger).await
    }
}

#[async_trait]
impl History for Faulty<dyn History> {
    async fn announce(
        &self,
        target: ChangeTarget,
        versions: Vec<NewVersion>,
        settled: Vec<VersionId>,
    ) -> Result<Announced, LedgerError> {
        let call = self.inner.announce(target, versions, settled);
        self.faults.call("announce", call, no_ledger).await
    }
    async fn settle(&self, versions: Vec<VersionId>) -> Result<(), LedgerError> {
        self.faults
            .call("settle", self.inner.settle(versions), no_ledger)
            .await
    }
    async fn find(&self, found: Vec<NewVersion>, at: Timestamp) -> Result<Option<ChangeId>, LedgerError> {
        self.faults
            .call("find", self.inner.find(found, at), no_ledger)
            .await
    }
    async fn begin_undo(&self, by: By, at: Timestamp) -> Result<ChangeId, LedgerError> {
        self.faults
            .call("begin undo", self.inner.begin_undo(by, at), no_ledger)
            .await
    }
    async fn close(&self, change: ChangeId) -> Result<(), LedgerError> {
        self.faults
            .call("close", self.inner.close(change), no_ledger)
            .await
    }
    async fn changes(&self, query: &ChangeQuery) -> Result<Vec<HistoryChange>, LedgerError> {
        self.faults
            .call("changes", self.inner.changes(query), no_ledger)
            .await
    }
    async fn versions(&self, query: &VersionQuery) -> Result<Vec<Version>, LedgerError> {
        self.faults
            .call("versions", self.inner.versions(query), no_ledger)
            .await
    }
    async fn delete(&self, versions: Vec<VersionId>) -> Result<(), LedgerError> {
        self.faults
            .call("delete versions", self.inner.delete(versions), no_ledger)
            .await
    }
    async fn erased(&self) -> Result<(), LedgerError> {
        self.faults
            .call("erased versions", self.inner.erased(), no_ledger)
            .await
    }
    async fn others(&self) -> Result<Vec<FileStat>, LedgerError> {
        self.faults.call("others", self.inner.others(), no_ledger).await
    }
    async fn put_others(&self, stats: Vec<FileStat>) -> Result<(), LedgerError> {
        self.faults
            .call("put others", self.inner.put_others(stats), no_ledger)
            .await
    }
    async fn drop_others(&self, paths: Vec<VaultPath>) -> Result<(), LedgerError> {
        self.faults
            .call("drop others", self.inner.drop_others(paths), no_ledger)
            .await
    }
}
