//! A ledger that blocks one kind of call of one session until the test allows it to end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use model::{Cell, CellId, Message, MessageId, Owner, Scope, SessionKey, Timestamp};
use ports::{
    AppendOutcome, Buffered, Carried, Cut, CutWithAppend, Forgotten, LedgerError, NewMessage, Sweep,
    Transcripts, WrittenCell,
};
use tokio::sync::Semaphore;

/// The call that is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Reading the buffer, before the read.
    Buffer,
    /// Accepting messages, after they are on disk.
    Append,
    /// Reading a segment, after the read.
    Cell,
}

#[derive(Debug)]
pub(crate) struct Held {
    inner: Arc<dyn Transcripts>,
    call: Call,
    session: SessionKey,
    permits: Semaphore,
    waiting: Semaphore,
}

impl Held {
    pub(crate) fn new(inner: Arc<dyn Transcripts>, call: Call, session: &SessionKey) -> Arc<Self> {
        Arc::new(Self {
            inner,
            call,
            session: session.clone(),
            permits: Semaphore::new(0),
            waiting: Semaphore::new(0),
        })
    }

    /// Waits until the call is blocked.
    pub(crate) async fn called(&self) {
        self.waiting.acquire().await.expect("never closed").forget();
    }

    /// Whether a call is blocked.
    pub(crate) fn is_called(&self) -> bool {
        self.waiting.available_permits() > 0
    }

    /// Allows one call to end.
    pub(crate) fn let_go(&self) {
        self.permits.add_permits(1);
    }

    async fn hold(&self, call: Call, session: &SessionKey) {
        if call == self.call && *session == self.session {
            self.waiting.add_permits(1);
            self.permits.acquire().await.expect("never closed").forget();
        }
    }
}

#[async_trait]
impl Transcripts for Held {
    async fn append(
        &self,
        session: &SessionKey,
        messages: Vec<NewMessage>,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError> {
        let appended = self.inner.append(session, messages, now).await;
        self.hold(Call::Append, session).await;
        appended
    }
    async fn append_and_cut(
        &self,
        messages: Vec<NewMessage>,
        cut: CutWithAppend,
        now: Timestamp,
    ) -> Result<AppendOutcome, LedgerError> {
        let session = cut.cut.session.clone();
        let appended = self.inner.append_and_cut(messages, cut, now).await;
        self.hold(Call::Append, &session).await;
        appended
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
        self.hold(Call::Buffer, session).await;
        self.inner.buffer(session).await
    }
    async fn cut(&self, cut: Cut) -> Result<(), LedgerError> {
        self.inner.cut(cut).await
    }
    async fn cell(&self, id: &CellId) -> Result<Option<Cell>, LedgerError> {
        let cell = self.inner.cell(id).await;
        if let Ok(Some(cell)) = &cell {
            self.hold(Call::Cell, &cell.session).await;
        }
        cell
    }
    async fn cells(&self, ids: &[CellId]) -> Result<Vec<Cell>, LedgerError> {
        let cells = self.inner.cells(ids).await;
        if let Ok([cell, ..]) = cells.as_deref() {
            self.hold(Call::Cell, &cell.session).await;
        }
        cells
    }
    async fn unwritten_after(&self, id: &CellId) -> Result<Vec<CellId>, LedgerError> {
        self.inner.unwritten_after(id).await
    }
    async fn tail(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Message>, LedgerError> {
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
        self.inner.sweep(sweep).await
    }
}
