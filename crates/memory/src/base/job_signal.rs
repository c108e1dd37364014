//! Wakes the workers that wait for jobs, and the callers that wait for their end.
//!
//! Owns: waking. Never: the jobs themselves (the ledger has them).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};

use model::{SessionKey, Timestamp};
use parking_lot::Mutex;
use ports::JobId;
use tokio::sync::{Notify, watch};

/// Rings when there is work and when work is done.
#[derive(Debug)]
pub(crate) struct JobSignal {
    work: Notify,
    /// Number of finished attempts, so that a waiting caller cannot miss one.
    finished: watch::Sender<u64>,
    /// When the next retry is due, in milliseconds; `i64::MAX` when none is known.
    retry_at: AtomicI64,
    /// Jobs that wait for room on the disk or a repaired file. They are retried for ever, but no caller waits for them.
    stuck: Mutex<BTreeMap<JobId, SessionKey>>,
}

impl JobSignal {
    pub(crate) fn new() -> Self {
        Self {
            work: Notify::new(),
            finished: watch::Sender::new(0),
            retry_at: AtomicI64::new(i64::MAX),
            stuck: Mutex::default(),
        }
    }

    /// There is work.
    pub(crate) fn ring(&self) {
        self.work.notify_one();
    }

    /// Waits for work.
    pub(crate) async fn rung(&self) {
        self.work.notified().await;
    }

    /// An attempt has ended, with any result.
    pub(crate) fn finished(&self) {
        self.finished.send_modify(|count| *count += 1);
        self.ring();
    }

    /// Waits for the next end of an attempt; earlier ends do not count.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.finished.subscribe()
    }

    /// Notes that a job is stuck, and so are the later jobs of its session.
    pub(crate) fn is_stuck(&self, job: &JobId, session: &SessionKey) {
        self.stuck.lock().insert(job.clone(), session.clone());
    }

    /// Notes that a job is no longer stuck.
    pub(crate) fn is_loose(&self, job: &JobId) {
        self.stuck.lock().remove(job);
    }

    /// Forgets stuck jobs after a deletion of sessions: jobs that are still stuck report it again.
    pub(crate) fn forget_stuck(&self) {
        self.stuck.lock().clear();
    }

    /// The sessions with a stuck job, and the number of stuck jobs.
    pub(crate) fn stuck_sessions(&self) -> (BTreeSet<SessionKey>, usize) {
        let stuck = self.stuck.lock();
        (stuck.values().cloned().collect(), stuck.len())
    }

    /// Notes the time of a retry.
    pub(crate) fn retry_at(&self, at: Timestamp) {
        self.retry_at.fetch_min(at.millis(), Ordering::Relaxed);
    }

    /// Time of the next retry; drops a retry that is due now.
    pub(crate) fn next_retry(&self, now: Timestamp) -> Option<Timestamp> {
        let at = self.retry_at.load(Ordering::Relaxed);
        if at <= now.millis() {
            self.retry_at.store(i64::MAX, Ordering::Relaxed);
            return None;
        }
        (at != i64::MAX).then(|| Timestamp::from_millis(at))
    }
}
