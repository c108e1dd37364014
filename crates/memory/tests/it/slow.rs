//! An index that blocks the next call of a kind until the test allows it to end.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use model::{Doc, DocKey, EmbedderId, Owner, Scope};
use ports::{CandidateQuery, Index, IndexError, IndexHealth, IndexStage, IndexStats};
use tokio::sync::Semaphore;

/// Where a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// Before an owner's rows are read.
    Load,
    /// After the rows are read.
    Loaded,
    /// Before rows are written.
    Apply,
    /// Before rows are added to a new generation.
    StageAdd,
    /// Before a new generation becomes the live one.
    Publish,
}

#[derive(Debug)]
pub(crate) struct Slow {
    inner: Arc<dyn Index>,
    turnstile: Arc<Turnstile>,
}

#[derive(Debug)]
struct Turnstile {
    armed: Mutex<Option<At>>,
    waiting: Semaphore,
    permits: Semaphore,
}

impl Turnstile {
    async fn pass(&self, at: At) {
        let waits = {
            let mut armed = self.armed.lock().expect("no panic");
            let waits = *armed == Some(at);
            if waits {
                *armed = None;
            }
            waits
        };
        if waits {
            self.waiting.add_permits(1);
            self.permits.acquire().await.expect("never closed").forget();
        }
    }
}

impl Slow {
    pub(crate) fn new(inner: impl Index + 'static) -> Arc<Self> {
        let turnstile = Turnstile {
            armed: Mutex::new(None),
            waiting: Semaphore::new(0),
            permits: Semaphore::new(0),
        };
        Arc::new(Self {
            inner: Arc::new(inner),
            turnstile: Arc::new(turnstile),
        })
    }

    /// Blocks the next call of this kind.
    pub(crate) fn arm(&self, at: At) {
        *self.turnstile.armed.lock().expect("no panic") = Some(at);
    }

    /// Waits until a call is blocked.
    pub(crate) async fn called(&self) {
        let waiting = self.turnstile.waiting.acquire().await;
        waiting.expect("never closed").forget();
    }

    /// Allows the call to continue.
    pub(crate) fn let_go(&self) {
        self.turnstile.permits.add_permits(1);
    }
}

#[async_trait]
impl Index for Slow {
    async fn health(&self, embedder: &EmbedderId) -> IndexHealth {
        self.inner.health(embedder).await
    }
    async fn apply(&self, add: &[Doc], remove: &[DocKey]) -> Result<(), IndexError> {
        self.turnstile.pass(At::Apply).await;
        self.inner.apply(add, remove).await
    }
    async fn load_up_to(
        &self,
        scope: &Scope,
        owner: &Owner,
        rows_max: usize,
    ) -> Result<Option<Vec<Doc>>, IndexError> {
        self.turnstile.pass(At::Load).await;
        let rows = self.inner.load_up_to(scope, owner, rows_max).await;
        self.turnstile.pass(At::Loaded).await;
        rows
    }
    async fn facts(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, IndexError> {
        self.turnstile.pass(At::Load).await;
        let facts = self.inner.facts(scope, owner).await;
        self.turnstile.pass(At::Loaded).await;
        facts
    }
    async fn get(&self, keys: &[DocKey]) -> Result<Vec<Doc>, IndexError> {
        self.inner.get(keys).await
    }
    async fn candidates(&self, query: &CandidateQuery) -> Result<Vec<Doc>, IndexError> {
        self.inner.candidates(query).await
    }
    async fn maintain(&self) -> Result<(), IndexError> {
        self.inner.maintain().await
    }
    async fn erase(&self) -> Result<(), IndexError> {
        self.inner.erase().await
    }
    async fn owe_erasing(&self, is_owed: bool) -> Result<(), IndexError> {
        self.inner.owe_erasing(is_owed).await
    }
    async fn owes_erasing(&self) -> bool {
        self.inner.owes_erasing().await
    }
    async fn stats(&self) -> Result<IndexStats, IndexError> {
        self.inner.stats().await
    }
    async fn stage(&self, embedder: &EmbedderId) -> Result<Box<dyn IndexStage>, IndexError> {
        Ok(Box::new(SlowStage {
            inner: self.inner.stage(embedder).await?,
            turnstile: self.turnstile.clone(),
        }))
    }
}

#[derive(Debug)]
struct SlowStage {
    inner: Box<dyn IndexStage>,
    turnstile: Arc<Turnstile>,
}

#[async_trait]
impl IndexStage for SlowStage {
    async fn add(&mut self, docs: &[Doc]) -> Result<(), IndexError> {
        self.turnstile.pass(At::StageAdd).await;
        self.inner.add(docs).await
    }
    async fn publish(self: Box<Self>) -> Result<(), IndexError> {
        self.turnstile.pass(At::Publish).await;
        self.inner.publish().await
    }
}
