//! The foundation of all rooms: the ports, the caches over them, the locks.
//!
//! Owns: the parts and the order of the locks. Never: a use case.
//!
//! Locks, in the order in which they may be taken: a session's (cutting its buffer), the history's turn, the gate, an
//! owner's. The gate is held shared while segments of a session are written for one owner, and exclusively by every
//! other change of the vault (sync, edit, forget, the end of a rebuild); so those see no half-written memory and need
//! no further lock.

mod chat;
pub(crate) mod chronicle;
mod corpora;
mod dirty;
pub(crate) mod disk;
mod job_signal;
mod recorded;
pub(crate) mod records;
mod rows;
mod serving;
mod turns;
mod writer;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::text::chain;
use model::{Scope, Timestamp};
use parking_lot::Mutex;
use ports::{IndexError, LedgerError};
use tokio::sync::SemaphorePermit;

use crate::error::EngineError;
use crate::parts::Parts;
use crate::runtime::{Inside, Panics, Tasks, TenantGate, WorkTime, panics};
use crate::settings::MemorySettings;
use chat::ChatModel;
pub(crate) use chat::patient;
pub use chat::{ModelTrial, try_model};
use chronicle::Chronicle;
pub(crate) use chronicle::{Doing, Going};
use corpora::Corpora;
pub(crate) use corpora::{AcceptedMessages, Hot, OnTheirWay, Ticket, corpus_of};
use dirty::{Dirty, WriteGuard};
use disk::RoomGauge;
use job_signal::JobSignal;
use records::Records;
use rows::Rows;
use serving::Gauge;
pub(crate) use serving::Serving;
pub(crate) use turns::LONG_BYTES;
use turns::Turns;
use writer::WriterLoop;
pub(crate) use writer::{IndexWriter, Pending};

/// The parts that every room works with.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) parts: Parts,
    pub(crate) settings: MemorySettings,
    pub(crate) time: WorkTime,
    /// Jobs, passes, syncs, rebuilds: the work that must reach a safe point before the end.
    pub(crate) work: Tasks,
    pub(crate) gate: TenantGate,
    /// One rebuild at a time.
    pub(crate) rebuilding: tokio::sync::Mutex<()>,
    pub(crate) writer: IndexWriter,
    pub(crate) corpora: Corpora,
    pub(crate) records: Records,
    pub(crate) rows: Arc<Rows>,
    pub(crate) gauge: Arc<Gauge>,
    pub(crate) dirty: Dirty,
    pub(crate) jobs: JobSignal,
    pub(crate) model: ChatModel,
    pub(crate) panics: Arc<Panics>,
    pub(crate) chronicle: Arc<Chronicle>,
    /// Why the last attempt to copy the ledger failed.
    pub(crate) copy_trouble: Mutex<Option<String>>,
    pub(crate) disk: RoomGauge,
    /// Counts sweeps of the ledger.
    sweeps: AtomicU64,
    pub(crate) turns: Turns,
}

impl Base {
    /// The parts, and the loop of the index's writer, which must run for them as long as `service` does.
    pub(crate) async fn new(
        mut parts: Parts,
        settings: MemorySettings,
        service: &Tasks,
    ) -> Result<(Arc<Self>, WriterLoop), LedgerError> {
        let panics = Arc::<Panics>::default();
        let (writer, writing) = IndexWriter::new(&parts, panics.clone(), service.token());
        let corpora = Corpora::new(&parts, &settings);
        let chronicle = Arc::new(Chronicle::new(parts.history.clone(), settings.records_history));
        recorded::record(&chronicle, &mut parts).await?;
        let base = Self {
            time: WorkTime::new(parts.clock.clone()),
            work: Tasks::new(),
            gate: TenantGate::default(),
            rebuilding: tokio::sync::Mutex::default(),
            writer,
            records: Records::new(parts.file_changes.clone()),
            rows: corpora.rows.clone(),
            gauge: corpora.gauge.clone(),
            corpora,
            dirty: Dirty::default(),
            jobs: JobSignal::new(),
            model: ChatModel::new(parts.chat.clone()),
            panics,
            chronicle,
            copy_trouble: Mutex::default(),
            disk: RoomGauge::default(),
            sweeps: AtomicU64::default(),
            turns: Turns::new(tokio::runtime::Handle::current().metrics().num_workers()),
            parts,
            settings,
        };
        Ok((Arc::new(base), writing))
    }

    /// Runs a loop in the background until it ends by itself; after a panic it restarts with a delay.
    pub(crate) fn supervise<R: Send + Sync + 'static, F>(
        self: &Arc<Self>,
        name: &'static str,
        room: &Arc<R>,
        mut run: impl FnMut(Arc<R>) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        let (base, room) = (self.clone(), room.clone());
        self.work.spawn(async move {
            for count in 1.. {
                let whole = async {
                    run(room.clone()).await;
                    Ok(())
                };
                let done = base.panics.caught(name, &*base.parts.clock, whole).await;
                if done.is_ok() || !base.pause(panics::wait(count)).await {
                    return;
                }
            }
        });
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// The number of sweeps of the ledger. Text that was read before a sweep must not be used after it.
    pub(crate) fn sweeps(&self) -> u64 {
        self.sweeps.load(Ordering::SeqCst)
    }

    /// Notes that the ledger was swept, or may have been.
    pub(crate) fn has_swept(&self) {
        self.sweeps.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes a full or read-only disk, and starts a rebuild of the index, once, if an error says that it is unusable.
    pub(crate) fn note_error(&self, error: &EngineError) {
        self.disk.failed(error, &*self.parts.vault, &*self.parts.clock);
        let is_index = matches!(
            error,
            EngineError::Index(IndexError::Unusable { .. } | IndexError::OtherEmbedder { .. })
        );
        if is_index && self.gauge.found_unusable() {
            tracing::warn!(
                error = chain(&error),
                "the index is unusable; rebuilding it from the memory folder"
            );
        }
    }

    /// Fails once the engine is stopping.
    pub(crate) fn accepting(&self) -> Result<(), EngineError> {
        if self.work.is_stopping() {
            Err(EngineError::Stopping)
        } else {
            Ok(())
        }
    }

    /// Waits; false if the engine stops meanwhile.
    pub(crate) async fn pause(&self, wait: Duration) -> bool {
        let slept = self.work.unless_stopping(self.parts.clock.sleep(wait));
        slept.await.is_some()
    }

    /// Waits until the index can answer for the whole vault; fails once the engine is stopping.
    pub(crate) async fn answering(&self) -> Result<(), EngineError> {
        self.accepting()?;
        self.gauge.answering(&*self.parts.clock).await
    }

    /// Enters a tenant exclusively. Its files are synced after that: a sync that waited for this caller would stop the
    /// writers of all tenants meanwhile.
    pub(crate) async fn alone_in(&self, scope: &Scope) -> (Inside, WriteGuard<'_>) {
        let inside = self.gate.alone_in(scope).await;
        let folder = format!("{}/", self.parts.vault.folder_of(scope));
        (inside, self.dirty.writing(BTreeSet::from([folder.into()])))
    }

    /// Waits for a turn to keep a thread busy.
    pub(crate) async fn busy(&self) -> SemaphorePermit<'_> {
        self.turns.busy.acquire().await.expect("it is never closed")
    }

    /// Waits for memory for a long text, behind the requests that wait for it. Does not wait if a chat model is
    /// configured, because its answer takes long.
    pub(crate) async fn room_for(&self, bytes: usize) -> Option<SemaphorePermit<'_>> {
        let (room, all) = self.turns.room.get().filter(|_| self.parts.chat.is_none())?;
        let kibibytes = u32::try_from(bytes >> 10).unwrap_or(u32::MAX);
        tokio::select! {
            biased;
            held = room.acquire_many(kibibytes.min(*all)) => held.ok(),
            () = self.work.stopping() => None,
            () = self.parts.clock.sleep(turns::ROOM_WAIT) => None,
        }
    }
}
