//! What the writing of segments works with.
//!
//! Owns: one write of an owner at a time, and what the ledger does not know of jobs. Never: a job.

use std::sync::Arc;

use model::{Owner, Scope, Timestamp};
use parking_lot::Mutex;
use ports::{JobId, LedgerError, NoRoom};

use crate::base::Base;
use crate::intake::Intake;
use crate::parts::Parts;
use crate::runtime::KeyedLocks;

/// The longest wait of a job that failed.
pub(super) const BACKOFF_MAX_MILLIS: u64 = 60_000;

/// The parts of the writing of segments.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) base: Arc<Base>,
    pub(crate) intake: Arc<Intake>,
    pub(super) owners: KeyedLocks<(Scope, Owner)>,
    /// Changes of jobs that the ledger could not record yet.
    pub(super) unrecorded: Unrecorded,
}

impl Writing {
    pub(crate) fn new(intake: Arc<Intake>, unrecorded: Unrecorded) -> Self {
        Self {
            base: intake.base.clone(),
            intake,
            owners: KeyedLocks::default(),
            unrecorded,
        }
    }
}

/// Jobs that are free, but leased in the ledger, which took no write.
#[derive(Debug, Default)]
pub(crate) struct Unrecorded(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// The leases of an earlier process stand. Nothing is claimed before they are released.
    releases: bool,
    jobs: Vec<JobId>,
}

impl Unrecorded {
    /// Releases the leases of an earlier process; later, if the ledger takes no write.
    pub(crate) async fn at_start(parts: &Parts) -> Result<Self, LedgerError> {
        let unrecorded = Self::default();
        match parts.jobs.release_all(latest(parts.clock.now())).await {
            Ok(released) => tracing::debug!(released, "released the jobs of an earlier process"),
            Err(error) if NoRoom::of(&error).is_some() => unrecorded.0.lock().releases = true,
            Err(error) => return Err(error),
        }
        Ok(unrecorded)
    }

    pub(super) fn hand_back_later(&self, jobs: Vec<JobId>) {
        self.0.lock().jobs.extend(jobs);
    }

    /// Brings the ledger up to date.
    pub(super) async fn record(&self, base: &Base) -> Result<(), LedgerError> {
        let (releases, jobs) = {
            let waiting = self.0.lock();
            (waiting.releases, waiting.jobs.clone())
        };
        if releases {
            base.parts.jobs.release_all(latest(base.work_time())).await?;
            self.0.lock().releases = false;
        }
        if !jobs.is_empty() {
            base.parts.jobs.hand_back(&jobs, base.work_time()).await?;
            self.0.lock().jobs.drain(..jobs.len());
        }
        Ok(())
    }
}

/// What waits when a process starts waits no longer than this.
fn latest(now: Timestamp) -> Timestamp {
    now.plus_millis(i64::try_from(BACKOFF_MAX_MILLIS).unwrap_or(i64::MAX))
}
