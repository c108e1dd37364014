//! A ledger whose appends a test can hold, or let fail.
//!
//! Owns: the gate. Never: a ledger of its own.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use model::{Cell, CellId, Message, MessageId, Owner, Scope, SessionKey, Timestamp};
use ports::{AppendOutcome, Cut, Forgotten, LedgerError, NewMessage, OpenSession, Sweep, Transcripts};
use testkit::ledger::MemoryLedger;
use tokio::sync::watch;

#[derive(Debug)]
pub(crate) struct Gate {
    shut: watch::Sender<bool>,
    waiting: watch::Sender<usize>,
    /// What an append fails with.
    broken: Mutex<Option<&'static str>>,
}

impl Gate {
    pub(crate) fn open(&self) {
        self.shut.send_replace(false);
    }

    pub(crate) fn shut(&self) {
        self.shut.send_replace(true);
    }

    /// Waits until an append stands before it.
    pub(crate) async fn reached(&self) {
        let mut waiting = self.waiting.subscribe();
        waiting
            .wait_for(|count| *count > 0)
            .await
            .expect("the sender lives in self");
    }

    pub(crate) fn fail_with(&self, words: Option<&'static str>) {
        *self.broken.lock().expect("nobody panics with it") = words;
    }

    fn check(&self) -> Result<(), LedgerError> {
        match *self.broken.lock().expect("nobody panics with it") {
            None => Ok(()),
            Some(words) => Err(LedgerError::Store(words.into())),
        }
    }

    async fn pass(&self) {
        self.waiting.send_modify(|count| *count += 1);
        let mut shut = self.shut.subscribe();
        shut.wait_for(|shut| !shut)
            .await
            .expect("the sender lives in self");
        self.waiting.send_modify(|count| *count -= 1);
    }
}

#[derive(Debug)]
pub(crate) struct GatedLedger {
    inner: Arc<MemoryLedger>,
    pub(crate) gate: Gate,
}

impl GatedLedger {
    pub(crate) fn new(inner: Arc<MemoryLedger>) -> Self {
        Self {
            inner,
            gate: Gate {
                shut: watch::Sender::new(false),
                waiting: watch::Sender::new(0),
                broken: Mutex::default(),
            },
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
        self.gate.pass().await;
        self.gate.check()?;
        self.inner.append(session, messages, now).await
    }
    async fn buffer(&self, session: &SessionKey) -> Result<Vec<Message>, LedgerError> {
        self.inner.buffer(session).await
    }
    async fn cut(&self, cut: Cut) -> Result<(), LedgerError> {
        self.inner.cut(cut).await
    }
    async fn cell(&self, id: &CellId) -> Result<Option<Cell>, LedgerError> {
        self.inner.cell(id).await
    }
    async fn tail(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Message>, LedgerError> {
        self.inner.tail(scope, owner).await
    }
    async fn messages(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Message>, LedgerError> {
        self.inner.messages(scope, ids).await
    }
    async fn open_sessions(&self, limit: usize) -> Result<Vec<OpenSession>, LedgerError> {
        self.inner.open_sessions(limit).await
    }
    async fn sweep(&self, sweep: Sweep) -> Result<Forgotten, LedgerError> {
        self.inner.sweep(sweep).await
    }
}
