//! The handle to the offline engine: its parts, start and end, and the requests of the doors.
//!
//! Owns: the one dispatcher, and the background tasks of the component. Never: the choice of runs (`dispatch`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memory::WorkTime;
use parking_lot::{Mutex, RwLock};
use ports::runs::{Events, Run, RunPage, RunQuery, RunState, RunStats, Runs, Work};
use ports::{Chat, Clock, Ids, LedgerError, RunId};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::attempt::BACKOFF_MAX_MILLIS;
use crate::dispatch;
use crate::settings::BackgroundSettings;
use crate::strategy::Strategy;

/// The ports and settings of the offline engine.
#[derive(Debug, Clone)]
pub struct BackgroundParts {
    pub runs: Arc<dyn Runs>,
    /// The chat model; calls go through the gate of its server.
    pub chat: Option<Arc<dyn Chat>>,
    /// Other models for single strategies, by name.
    pub models: BTreeMap<String, Arc<dyn Chat>>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

/// The runs that a person's request started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Triggered {
    /// The runs, with their state when all have ended or the time is up; empty if there was nothing to run.
    pub runs: Vec<Run>,
    pub timed_out: bool,
}

/// Number of runs before and after background work stopped for good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quiesced {
    /// Runs that waited or ran.
    pub before: usize,
    /// Runs that still wait, for their time or for a retry.
    pub after: usize,
    pub dead_letters: usize,
}

/// A running run.
#[derive(Debug)]
struct Busy {
    work: Work,
    superseded: Arc<AtomicBool>,
}

/// The registered strategies; none until they are registered.
type Registered = Option<Arc<[Arc<dyn Strategy>]>>;

/// The stop signal of a dispatcher, and its task.
type Dispatching = (CancellationToken, JoinSet<()>);

/// State shared by all parts of the offline engine.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) parts: BackgroundParts,
    pub(crate) time: WorkTime,
    settings: RwLock<Arc<BackgroundSettings>>,
    strategies: watch::Sender<Registered>,
    /// Rings when a run is queued or ended, or the settings changed.
    pub(crate) bell: Notify,
    busy: Mutex<BTreeMap<RunId, Busy>>,
    /// Number of ended runs, so that a waiting caller cannot miss one.
    ended: watch::Sender<u64>,
    /// No run starts until the next process.
    quiesced: AtomicBool,
}

impl Core {
    pub(crate) fn settings(&self) -> Arc<BackgroundSettings> {
        let settings = self.settings.read();
        settings.clone()
    }

    /// The strategies, once they are registered.
    pub(crate) async fn strategies(&self) -> Arc<[Arc<dyn Strategy>]> {
        let mut known = self.strategies.subscribe();
        let known = known.wait_for(Option::is_some).await;
        let known = known.expect("the sender lives in self");
        known.clone().expect("it was waited for")
    }

    pub(crate) fn is_quiesced(&self) -> bool {
        self.quiesced.load(Ordering::SeqCst)
    }

    /// Marks a run as running; false if it already was, for example because its lease ended early.
    pub(crate) fn has_begun(&self, run: &Run) -> bool {
        let busy = Busy {
            work: run.work.clone(),
            superseded: Arc::default(),
        };
        let mut all = self.busy.lock();
        let is_new = !all.contains_key(&run.id);
        if is_new {
            all.insert(run.id.clone(), busy);
        }
        is_new
    }

    pub(crate) fn is_busy(&self, run: &RunId) -> bool {
        self.busy.lock().contains_key(run)
    }

    pub(crate) fn has_ended(&self, run: &Run) {
        self.busy.lock().remove(&run.id);
        self.ended.send_modify(|count| *count += 1);
        self.bell.notify_one();
    }

    /// Signal to a running run that more of the same work has come.
    pub(crate) fn superseded(&self, run: &RunId) -> Arc<AtomicBool> {
        let busy = self.busy.lock();
        busy.get(run)
            .map(|busy| busy.superseded.clone())
            .unwrap_or_default()
    }

    pub(crate) fn supersede(&self, works: &[Work]) {
        let all = self.busy.lock();
        for busy in all.values().filter(|busy| works.contains(&busy.work)) {
            busy.superseded.store(true, Ordering::SeqCst);
        }
    }
}

/// The doors' handle. Cheap to clone; dropping the last one stops running attempts at once.
#[derive(Debug, Clone)]
pub struct Offline {
    core: Arc<Core>,
    /// The dispatcher, while one runs.
    task: Arc<tokio::sync::Mutex<Option<Dispatching>>>,
}

impl Offline {
    /// An engine that keeps nothing running until [`Offline::start`].
    pub fn new(parts: BackgroundParts, settings: BackgroundSettings) -> Self {
        let core = Core {
            time: WorkTime::new(parts.clock.clone()),
            parts,
            settings: RwLock::new(Arc::new(settings)),
            strategies: watch::Sender::new(None),
            bell: Notify::new(),
            busy: Mutex::default(),
            ended: watch::Sender::new(0),
            quiesced: AtomicBool::new(false),
        };
        Self {
            core: Arc::new(core),
            task: Arc::default(),
        }
    }

    /// Sets the strategies. Events wait for this, so that none is lost before.
    pub fn register(&self, strategies: Vec<Arc<dyn Strategy>>) {
        self.core.strategies.send_replace(Some(strategies.into()));
        self.core.bell.notify_one();
    }

    /// The receiver of events. It is no handle: it keeps nothing running.
    pub fn events(&self) -> Arc<dyn Events> {
        self.core.clone()
    }

    /// Starts the dispatcher. A second start changes nothing, and neither does a start after [`Offline::quiesce`]. Runs
    /// that an earlier process left are resumed at once.
    pub async fn start(&self) -> Result<(), LedgerError> {
        let mut task = self.task.lock().await;
        if task.is_some() || self.core.is_quiesced() {
            return Ok(());
        }
        let core = self.core.clone();
        let now = core.time.now();
        let strategies = core.strategies.borrow().clone().unwrap_or_else(|| [].into());
        let settings = core.settings();
        let idle = strategies.iter().filter_map(|one| settings.triggers(&**one).idle);
        let longest = idle.chain([Duration::from_millis(BACKOFF_MAX_MILLIS)]).max();
        let latest = now.after(longest.unwrap_or_default());
        let released = core.parts.runs.release_all(now, latest).await?;
        tracing::debug!(released, "released the runs of an earlier process");
        let stop = CancellationToken::new();
        let mut set = JoinSet::new();
        set.spawn(dispatch::dispatch(core, stop.clone()));
        *task = Some((stop, set));
        Ok(())
    }

    /// Signals every attempt to end, and waits until all have ended. An attempt that takes longer than two seconds is
    /// aborted and starts again at the next start. Without a start it does nothing.
    pub async fn stop(&self) {
        let mut task = self.task.lock().await;
        if let Some((stop, mut set)) = task.take() {
            stop.cancel();
            while set.join_next().await.is_some() {}
        }
    }

    /// Whether the dispatcher runs.
    pub async fn is_running(&self) -> bool {
        self.task.lock().await.is_some()
    }

    /// Replaces the settings.
    pub fn configure(&self, settings: BackgroundSettings) {
        let mut present = self.core.settings.write();
        *present = Arc::new(settings);
        drop(present);
        self.core.bell.notify_one();
    }

    /// The present settings.
    pub fn settings(&self) -> Arc<BackgroundSettings> {
        self.core.settings()
    }

    /// Runs a strategy now, also in a quiet time: its waiting and failed work and, for a strategy with a schedule, one
    /// run for everything. Waits for the runs' ends, at most until the timeout. None if there is no such strategy; a
    /// disabled one runs only if forced.
    pub async fn trigger(
        &self,
        name: &str,
        timeout: Duration,
        force: bool,
    ) -> Result<Option<Triggered>, LedgerError> {
        let strategies = self.core.strategies().await;
        let Some(strategy) = strategies.iter().find(|one| one.name() == name) else {
            return Ok(None);
        };
        let is_off = self.core.settings().disabled.contains(name) && !force;
        let ids = if is_off || self.core.is_quiesced() {
            Vec::new()
        } else {
            self.core.call_by_hand(&**strategy).await?
        };
        if ids.is_empty() {
            return Ok(Some(Triggered::default()));
        }
        tokio::select! {
            biased;
            runs = self.ended(&ids) => Ok(Some(Triggered { runs: runs?, timed_out: false })),
            () = self.core.parts.clock.sleep(timeout) => {
                let runs = self.core.runs(None, &ids).await?;
                Ok(Some(Triggered { runs, timed_out: true }))
            }
        }
    }

    /// Waits until runs have ended, or wait for a retry after a failure.
    async fn ended(&self, ids: &[RunId]) -> Result<Vec<Run>, LedgerError> {
        let mut ended = self.core.ended.subscribe();
        loop {
            ended.borrow_and_update();
            let runs = self.core.runs(None, ids).await?;
            let now = self.core.time.now();
            let is_under_way = |run: &Run| match run.state {
                RunState::Queued | RunState::Running => true,
                RunState::Failed => run.run_at <= now,
                RunState::Success | RunState::DeadLetter => false,
            };
            if !runs.iter().any(is_under_way) {
                return Ok(runs);
            }
            // The sender lives in self.
            drop(ended.changed().await);
        }
    }

    /// Runs everything that is due, then stops background work until the next process.
    pub async fn quiesce(&self) -> Result<Quiesced, LedgerError> {
        let before = self.stats().await?;
        let mut ended = self.core.ended.subscribe();
        loop {
            ended.borrow_and_update();
            if !self.is_running().await || self.core.is_idle().await? {
                break;
            }
            // The sender lives in self.
            drop(ended.changed().await);
        }
        self.core.quiesced.store(true, Ordering::SeqCst);
        self.stop().await;
        let after = self.stats().await?;
        let unfinished = |stats: RunStats| stats.queued + stats.running + stats.failed;
        Ok(Quiesced {
            before: unfinished(before),
            after: unfinished(after),
            dead_letters: after.dead_letters,
        })
    }

    /// A page of runs.
    pub async fn page(&self, query: &RunQuery) -> Result<RunPage, LedgerError> {
        self.core.parts.runs.page(query).await
    }

    /// Number of runs by state.
    pub async fn stats(&self) -> Result<RunStats, LedgerError> {
        self.core.parts.runs.stats().await
    }
}
