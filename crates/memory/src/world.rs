//! The state that all use cases share.
//!
//! Owns: the parts, the locks and their order. Never: a use case.
//!
//! Locks, in the order in which they may be taken: a session's (cutting its buffer), the history's turn, the gate, an
//! owner's. The gate is held shared while segments of a session are written for one owner, and alone by every other change of
//! the vault (sync, edit, forget, the end of a rebuild); so those see no half-written memory and need no
//! further lock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use model::{CellId, Owner, Scope, SessionKey, Timestamp};
use parking_lot::{Mutex, MutexGuard};
use ports::IndexError;
use text::chain;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::behind::Behind;
use crate::bell::Bell;
use crate::buffers::Buffers;
use crate::copies::CopyTrouble;
use crate::corpora::Corpora;
use crate::dirty::{Dirty, Writing};
use crate::erase::Erasing;
use crate::error::EngineError;
use crate::going::UnfinishedDeletions;
use crate::history::Chronicle;
use crate::idle::IdleSessions;
use crate::model_pass::ModelPasses;
use crate::parts::Parts;
use crate::records::Records;
use crate::room::RoomGauge;
use crate::rows::Rows;
use crate::runtime::gate::{Inside, TenantGate};
use crate::runtime::locks::KeyedLocks;
use crate::runtime::panics;
use crate::runtime::panics::Panics;
use crate::runtime::tasks::Tasks;
use crate::serving::Gauge;
use crate::settings::MemorySettings;
use crate::workers;
use crate::workers::Unrecorded;
use crate::writer::IndexWriter;

/// Everything the use cases work with.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) parts: Parts,
    pub(crate) settings: MemorySettings,
    /// The two clocks at the start.
    pub(crate) began: (Timestamp, Duration),
    /// Jobs, passes, syncs, rebuilds: what must reach a safe point before the end.
    pub(crate) work: Tasks,
    pub(crate) behind: Behind,
    pub(crate) sessions: KeyedLocks<SessionKey>,
    pub(crate) buffers: Buffers,
    pub(crate) owners: KeyedLocks<(Scope, Owner)>,
    pub(crate) gate: TenantGate,
    /// One rebuild at a time.
    pub(crate) rebuilding: tokio::sync::Mutex<()>,
    pub(crate) writer: IndexWriter,
    pub(crate) corpora: Corpora,
    pub(crate) erasing: Erasing,
    pub(crate) going: UnfinishedDeletions,
    pub(crate) records: Records,
    pub(crate) rows: Arc<Rows>,
    pub(crate) gauge: Arc<Gauge>,
    pub(crate) dirty: Dirty,
    pub(crate) bell: Bell,
    pub(crate) passes: ModelPasses,
    pub(crate) idle: IdleSessions,
    pub(crate) panics: Arc<Panics>,
    pub(crate) chronicle: Arc<Chronicle>,
    pub(crate) copy_trouble: CopyTrouble,
    pub(crate) room: RoomGauge,
    /// Changes of jobs that the ledger could not record yet.
    pub(crate) unrecorded: Unrecorded,
    /// The number of secrets that were removed from messages.
    pub(crate) redacted: AtomicUsize,
    /// Counts sweeps of the ledger.
    pub(crate) sweeps: AtomicU64,
    pub(crate) turns: Turns,
}

/// Turns for background work.
#[derive(Debug)]
pub(crate) struct Turns {
    /// Of what keeps a thread busy: requests find the other threads free.
    busy: Semaphore,
    /// Of writing a long segment: one is in memory at a time.
    pub(crate) long: tokio::sync::Mutex<()>,
    /// The bytes of long segments that were cut and are not written. Of one that an earlier process cut, only reading it tells.
    long_cells: Mutex<BTreeMap<CellId, usize>>,
    /// The room that texts of requests have too, if there is a bound, and all of it, in KiB.
    pub(crate) room: OnceLock<(Arc<Semaphore>, u32)>,
}

/// Segments with more bytes are not written together, and one that has more alone is long.
pub(crate) const LONG_BYTES: usize = 1 << 20;
/// A long segment waits no longer for room: who has it may wait for the segment.
const ROOM_WAIT: Duration = Duration::from_mins(1);

/// The turns where so many threads serve requests.
pub(crate) fn turns(threads: usize) -> Turns {
    Turns {
        busy: Semaphore::new((threads / 2).max(1)),
        long: tokio::sync::Mutex::default(),
        long_cells: Mutex::default(),
        room: OnceLock::new(),
    }
}

impl Turns {
    pub(crate) fn long_cells(&self) -> MutexGuard<'_, BTreeMap<CellId, usize>> {
        self.long_cells.lock()
    }
}

impl World {
    /// Runs a loop in the background until it ends by itself; one that panics begins again.
    pub(crate) fn supervise<F>(
        self: &Arc<Self>,
        name: &'static str,
        mut run: impl FnMut(Arc<Self>) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        let world = self.clone();
        self.work.spawn(async move {
            let run = || run(world.clone());
            panics::supervised(name, &world.panics, &*world.parts.clock, &world.work, run).await;
        });
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// The time by which jobs are due: the wall clock at the start, and what the clock that never goes back has counted
    /// since. A machine's clock that is set delays nothing.
    pub(crate) fn work_time(&self) -> Timestamp {
        let (wall, elapsed) = self.began;
        workers::later(wall, self.parts.clock.elapsed().saturating_sub(elapsed))
    }

    /// The number of sweeps of the ledger. Text that was read before a sweep must not be used after it.
    pub(crate) fn sweeps(&self) -> u64 {
        self.sweeps.load(Ordering::SeqCst)
    }

    /// The ledger was swept, or may have been. Whoever looked before this and holds the gate is waited for.
    pub(crate) fn has_swept(&self) {
        self.sweeps.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes a full or read-only disk, and starts a rebuild of the index, once, if an error says that it is unusable.
    pub(crate) fn mind(&self, error: &EngineError) {
        self.room.failed(error, &*self.parts.vault, &*self.parts.clock);
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

    /// Refuses work once the engine is stopping.
    pub(crate) fn accepting(&self) -> Result<(), EngineError> {
        if self.work.is_stopping() {
            Err(EngineError::Stopping)
        } else {
            Ok(())
        }
    }

    /// Enters a tenant when no other caller is in it. Its files are synced afterwards: a sync that waited for this caller would
    /// stop the writers of all tenants meanwhile.
    pub(crate) async fn alone_in(&self, scope: &Scope) -> (Inside, Writing<'_>) {
        let inside = self.gate.alone_in(scope).await;
        let folder = format!("{}/", self.parts.vault.folder_of(scope));
        (inside, self.dirty.writing(BTreeSet::from([folder.into()])))
    }

    /// Waits for a turn to keep a thread busy.
    pub(crate) async fn busy(&self) -> SemaphorePermit<'_> {
        self.turns.busy.acquire().await.expect("it is never closed")
    }

    /// Waits for room for a long text behind the requests that wait for it, unless a model is asked, whose answer takes long.
    pub(crate) async fn room_for(&self, bytes: usize) -> Option<SemaphorePermit<'_>> {
        let (room, all) = self.turns.room.get().filter(|_| self.parts.chat.is_none())?;
        let kibibytes = u32::try_from(bytes >> 10).unwrap_or(u32::MAX);
        tokio::select! {
            biased;
            held = room.acquire_many(kibibytes.min(*all)) => held.ok(),
            () = self.work.stopping() => None,
            () = self.parts.clock.sleep(ROOM_WAIT) => None,
        }
    }
}
