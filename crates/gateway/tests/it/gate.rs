//! A ledger whose calls a test can hold, fail, or make panic.
//!
//! Owns: the gate. Never: a ledger of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use model::{Cell, CellId, Message, MessageId, Owner, Scope, SessionKey, Timestamp};
use ports::{
    AppendOutcome, Buffered, Carried, Cut, CutWithAppend, Forgotten, LedgerError, NewMessage, NoRoom, Sweep,
    Transcripts, WrittenCell,
};
use testkit::ledger::MemoryLedger;
use tokio::sync::watch;

/// The behaviour of calls with one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    Open,
    Hold(&'static str),
    /// Fails with this text as the cause.
    Fail(&'static str, &'static str),
    NoRoom(&'static str, NoRoom),
    Panic(&'static str),
}

#[derive(Debug)]
pub(crate) struct GatedLedger {
    inner: Arc<MemoryLedger>,
    plan: watch::Sender<Plan>,
    waiting: watch::Sender<usize>,
    /// Maximum number of owners of a message's content when the ledger received it.
    pub(crate) contents_max: AtomicUsize,
}

impl GatedLedger {
    pub(crate) fn new(inner: Arc<MemoryLedger>) -> Self {
        Self {
            inner,
            plan: watch::Sender::new(Plan::Open),
            waiting: watch::Sender::new(0),
            contents_max: AtomicUsize::new(0),
        }
    }

    fn note(&self, messages: &[NewMessage]) {
        let owners = messages.iter().map(|new| Arc::strong_count(&new.message.content));
        self.contents_max
            .fetch_max(owners.max().unwrap_or(0), Ordering::Relaxed);
    }

    pub(crate) fn set(&self, plan: Plan) {
        self.plan.send_replace(plan);
    }

    /// Waits until a call is held.
    pub(crate) async fn reached(&self) {
        let mut waiting = self.waiting.subscribe();
        waiting
            .wait_for(|count| *count > 0)
            .await
            .expect("the sender lives in self");
    }

    async fn pass(&self, call: &'static str) -> Result<(), LedgerError> {
        self.waiting.send_modify(|count| *count += 1);
        let mut plan = self.plan.subscribe();
        let held = Plan::Hold(call);
        let plan = *plan
            .wait_for(|plan| *plan != held)
            .await
            .expect("the sender lives in self");
        self.waiting.send_modify(|count| *count -= 1);
        match plan {
            Plan::Fail(name, words) if name == call => Err(LedgerError::Store(words.into())),
            Plan::NoRoom(name, why) if name == call => {
                Err(LedgerError::Store(Box::new(why.because("planned"))))
            }
            Plan::Panic(name) => {
                assert_ne!(name, call, "the test wants it");
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Transcripts for GatedLedger {
    async fn append(
        &self,
        session: &SessionKey,
        messages: Vec<NewMessage>,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError> {
        self.note(&messages);
        self.pass("append").await?;
        self.inner.append(session, messages, now).await
    }
    async fn append_and_cut(
        &self,
        messages: Vec<NewMessage>,
        cut: CutWithAppend,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError> {
        self.note(&messages);
        self.pass("append").await?;
        self.inner.append_and_cut(messages, cut, now).await
    }
    async fn entitle(
        &self,
        session: &SessionKey,
        title: String,
        accept_forgotten: bool,
    ) -> Result<(), LedgerError> {
        self.inner.entitle(session, title, accept_forgotten).await
    }
    async fn title(&self, session: &SessionKey) -> Result<Option<String>, LedgerError> {
        self.inner.title(session).await
    }
    async fn buffer(&self, session: &SessionKey) -> Result<Vec<Message>, LedgerError> {
        self.pass("buffer").await?;
        self.inner.buffer(session).await
    }
    async fn cut(&self, cut: Cut) -> Result<(), LedgerError> {
        self.inner.cut(cut).await
    }
    async fn cell(&self, id: &CellId) -> Result<Option<Cell>, LedgerError> {
        self.pass("cell").await?;
        self.inner.cell(id).await
    }
    async fn cells(&self, ids: &[CellId]) -> Result<Vec<Cell>, LedgerError> {
        self.pass("cell").await?;
        self.inner.cells(ids).await
    }
    async fn unwritten_after(&self, id: &CellId) -> Result<Vec<CellId>, LedgerError> {
        self.inner.unwritten_after(id).await
    }
    async fn tail(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Message>, LedgerError> {
        self.pass("tail").await?;
        self.inner.tail(scope, owner).await
    }
    async fn messages(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Message>, LedgerError> {
        self.inner.messages(scope, ids).await
    }
    async fn waiting(&self) -> Result<BTreeMap<(Scope, Owner), usize>, LedgerError> {
        self.inner.waiting().await
    }
    async fn carried(&self, scope: &Scope, ids: &[MessageId]) -> Result<Carried, LedgerError> {
        self.inner.carried(scope, ids).await
    }
    async fn adopt(
        &self,
        scope: &Scope,
        cells: Vec<WrittenCell>,
        forgotten: BTreeSet<String>,
    ) -> Result<(), LedgerError> {
        self.inner.adopt(scope, cells, forgotten).await
    }
    async fn buffered(&self) -> Result<Buffered, LedgerError> {
        self.inner.buffered().await
    }
    async fn open_sessions(&self, limit: usize) -> Result<Vec<(SessionKey, Timestamp)>, LedgerError> {
        self.inner.open_sessions(limit).await
    }
    async fn sweep(&self, sweep: Sweep) -> Result<Forgotten, LedgerError> {
        self.pass("sweep").await?;
        self.inner.sweep(sweep).await
    }
}
