//! Access to a model server: clients first, background calls in between.
//!
//! Owns: one gate per model server: leases of the streams that clients wait for, the background calls in between, their
//! tasks and their end. Never: the work of a call, or its retry after a failure. Foreground never waits.

mod queue;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use ports::Clock;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::measure::counters;
pub use queue::{EXPIRIES_MAX, MAX_WAIT, WAITING_MAX};
use queue::{Next, Queue};

/// A background call: extraction, a title, a summary.
pub struct BackgroundCall {
    /// Name of the job in the log.
    pub name: String,
    /// A newer job replaces a waiting one with the same key.
    pub key: String,
    /// Whether it puts its own prompt into the server's cache.
    pub displaces: bool,
    /// Called again for each attempt. The future must end the call when it is dropped; it is dropped at an await.
    pub run: Box<dyn Fn() -> BoxFuture<'static, JobEnd> + Send + Sync>,
}

model::shown!(BackgroundCall { name, key });

/// The result of a job that was not cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobEnd {
    Done,
    /// The reason, for the log.
    Failed(String),
}

/// Counters of a gate since it was created. Every submitted job is waiting, is running, or counts once under `done`,
/// `failed`, `replaced` or `dropped`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GateStats {
    /// Leases held now.
    pub foreground: usize,
    /// Jobs that wait now.
    pub waiting: usize,
    /// A job runs now.
    pub running: bool,
    pub done: u64,
    /// Includes panics.
    pub failed: u64,
    /// Number of times that a job waited too long and moved to the end of the queue, or was dropped.
    pub expired: u64,
    /// Number of times that a running job was cancelled for the foreground.
    pub cancelled: u64,
    /// Jobs replaced by a newer one with the same key.
    pub replaced: u64,
    /// Jobs given up: expired or cancelled too often, too many waiting, shut down.
    pub dropped: u64,
}

/// The gates of all model servers. Dropping it ends the running jobs.
#[derive(Debug)]
pub struct Gates {
    clock: Arc<dyn Clock>,
    idle_after: Duration,
    all: Mutex<All>,
}

#[derive(Debug, Default)]
struct All {
    gates: BTreeMap<String, Gate>,
    workers: JoinSet<()>,
    closed: bool,
}

impl Gates {
    /// Creates no gate yet, and sets no quiet period.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            idle_after: Duration::ZERO,
            all: Mutex::default(),
        }
    }

    /// Sets a quiet period: a job starts only this time after the last stream, because a person reads before the next
    /// turn.
    #[must_use]
    pub fn idle_after(mut self, quiet: Duration) -> Self {
        self.idle_after = quiet;
        self
    }

    /// The gate of this model server, always the same one. The first call for a name needs a tokio runtime.
    pub fn of(&self, upstream: &str) -> Gate {
        let mut all = self.all.lock();
        if let Some(gate) = all.gates.get(upstream) {
            return gate.clone();
        }
        let gate = Gate(Arc::new(Inner {
            upstream: upstream.to_owned(),
            clock: Arc::clone(&self.clock),
            queue: Mutex::new(Queue::new(self.idle_after)),
            changed: Notify::new(),
            on_displaced: Mutex::default(),
            spare_slot: Mutex::default(),
        }));
        if all.closed {
            gate.0.with(Queue::close);
        } else {
            all.workers.spawn(work(Arc::clone(&gate.0)));
        }
        all.gates.insert(upstream.to_owned(), gate.clone());
        gate
    }

    /// The stats of every gate, by the name of its server.
    pub fn stats(&self) -> BTreeMap<String, GateStats> {
        let all = self.all.lock();
        let stats = all.gates.iter().map(|(name, gate)| (name.clone(), gate.stats()));
        stats.collect()
    }

    /// Adds the counters of every gate, as Prometheus reads them.
    pub fn render_prometheus(&self, out: &mut String) {
        let all = self.stats();
        let mut counter = |name, help, read: fn(&GateStats) -> u64| counters(out, &all, (name, help), read);
        counter("quipu_gate_done", "Background jobs done", |it| it.done);
        counter("quipu_gate_failed", "Background jobs that failed", |it| it.failed);
        let waited = "Background jobs that waited too long and were requeued";
        counter("quipu_gate_expired", waited, |it| it.expired);
        let gave_way = "Background jobs cancelled for a waiting request";
        counter("quipu_gate_cancelled", gave_way, |it| it.cancelled);
        counter("quipu_gate_dropped", "Background jobs dropped", |it| it.dropped);
    }

    /// Ends every gate: no further job starts, waiting jobs are dropped, running jobs can finish within the bound. No
    /// task is left.
    pub async fn shutdown(&self, bound: Duration) {
        let (gates, mut workers) = {
            let mut all = self.all.lock();
            all.closed = true;
            let gates: Vec<Gate> = all.gates.values().cloned().collect();
            (gates, std::mem::take(&mut all.workers))
        };
        for gate in &gates {
            gate.0.with(Queue::close);
            gate.0.changed.notify_one();
        }
        tokio::select! {
            biased;
            () = async { while workers.join_next().await.is_some() {} } => {}
            () = self.clock.sleep(bound) => workers.shutdown().await,
        }
        for gate in &gates {
            gate.0.with(Queue::cut_off);
        }
    }
}

/// The gate of one model server.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    upstream: String,
    clock: Arc<dyn Clock>,
    queue: Mutex<Queue>,
    /// Wakes the worker; nothing else waits for it.
    changed: Notify,
    on_displaced: Mutex<Option<Callback>>,
    /// The slot that no conversation uses.
    spare_slot: Mutex<Option<u32>>,
}

type Callback = Box<dyn Fn() + Send + Sync>;

model::shown!(Inner { upstream });

impl Gate {
    /// Sets the slot for calls that belong to no conversation; none if the server chooses.
    pub(crate) fn set_spare_slot(&self, slot: Option<u32>) {
        *self.0.spare_slot.lock() = slot;
    }

    pub(crate) fn spare_slot(&self) -> Option<u32> {
        *self.0.spare_slot.lock()
    }

    /// Takes the server for a client's stream. Never waits; a running job is cancelled.
    pub fn foreground(&self) -> Lease {
        self.0.with(Queue::enter);
        self.0.changed.notify_one();
        Lease(Arc::clone(&self.0))
    }

    /// Runs a call that a person waits for, at once like a client's stream, with a prompt of its own.
    pub(crate) async fn awaited<T>(&self, call: impl Future<Output = T>) -> T {
        let lease = self.foreground();
        let answer = call.await;
        self.0.with(|queue| queue.displaced = true);
        drop(lease);
        answer
    }

    /// Queues a job until no client uses the server. After a shutdown the job is dropped.
    pub fn submit(&self, job: BackgroundCall) {
        let now = self.0.clock.elapsed();
        self.0.with(|queue| queue.submit(&self.0.upstream, job, now));
        self.0.changed.notify_one();
    }

    /// Registers a callback for when the server is quiet again after background calls put their own prompts into its
    /// cache.
    pub(crate) fn on_displaced(&self, call: impl Fn() + Send + Sync + 'static) {
        *self.0.on_displaced.lock() = Some(Box::new(call));
    }

    /// The present counters.
    pub fn stats(&self) -> GateStats {
        self.0.with(|queue| queue.stats())
    }
}

/// While it lives, no job starts at its gate.
#[derive(Debug)]
#[must_use = "the server is free again when it is dropped"]
pub struct Lease(Arc<Inner>);

impl Drop for Lease {
    fn drop(&mut self) {
        let now = self.0.clock.elapsed();
        self.0.with(|queue| queue.leave(now));
        self.0.changed.notify_one();
    }
}

impl Inner {
    /// Runs a job to its end; none if a lease cancels it first.
    async fn attempt(&self, job: &BackgroundCall) -> Option<JobEnd> {
        let mut work = pin!(async { (job.run)().await });
        loop {
            tokio::select! {
                // An existing lease cancels the job before its first step.
                biased;
                () = self.changed.notified() => {
                    if self.with(|queue| queue.is_foreground()) {
                        return None;
                    }
                }
                end = &mut work => return Some(end),
            }
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Queue) -> T) -> T {
        let mut queue = self.queue.lock();
        let result = change(&mut queue);
        let gone = queue.gone();
        drop(queue);
        drop(gone);
        result
    }
}

/// Runs the jobs of a gate one after the other until it is closed.
async fn work(gate: Arc<Inner>) {
    loop {
        let now = gate.clock.elapsed();
        match gate.with(|queue| queue.next(&gate.upstream, now)) {
            Next::Start(waiting) => {
                // A job can panic in its factory, in its work, and while its work is dropped.
                let end = AssertUnwindSafe(gate.attempt(&waiting.job)).catch_unwind().await;
                let end = end.unwrap_or_else(|_| Some(JobEnd::Failed("it panicked".to_owned())));
                let now = gate.clock.elapsed();
                gate.with(|queue| queue.ended(&gate.upstream, waiting, end, now));
            }
            Next::Displaced => {
                if let Some(call) = &*gate.on_displaced.lock() {
                    call();
                }
            }
            Next::Change => gate.changed.notified().await,
            Next::Within(pause) => tokio::select! {
                biased;
                () = gate.changed.notified() => {}
                () = gate.clock.sleep(pause) => {}
            },
            Next::Closed => return,
        }
    }
}
