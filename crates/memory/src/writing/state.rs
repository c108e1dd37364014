//! State of the writing of segments.
//!
//! Owns: one write of an owner at a time, and changes of jobs that the ledger has not recorded. Never: a job.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use model::{Owner, Scope, Timestamp};
use parking_lot::Mutex;
use ports::{Job, JobId, LedgerError, NoRoom};

use crate::base::Base;
use crate::intake::Intake;
use crate::parts::Parts;
use crate::runtime::KeyedLocks;

/// The longest wait of a job that failed.
pub(super) const BACKOFF_MAX_MILLIS: u64 = 60_000;

/// A job without a worker is claimed again after this time. The leases of the others are renewed half-way.
pub(super) const LEASE: Duration = Duration::from_mins(10);

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

/// Jobs that workers hold for longer than their leases may last, and jobs that are free but still leased in the ledger,
/// because a write failed.
#[derive(Debug, Default)]
pub(crate) struct Unrecorded(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// The leases of an earlier process still have to be released. Nothing is claimed before that.
    releases: bool,
    jobs: Vec<JobId>,
    held: BTreeSet<JobId>,
    /// When the leases of `held` were renewed.
    renewed: Option<Timestamp>,
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

    /// Keeps jobs from being claimed again, however long they take, until they are released.
    pub(super) fn hold(&self, jobs: &[Job]) {
        self.0.lock().held.extend(jobs.iter().map(|job| job.id.clone()));
    }

    pub(super) fn let_go(&self, jobs: &[Job]) {
        let mut waiting = self.0.lock();
        waiting.held.retain(|id| jobs.iter().all(|job| job.id != *id));
    }

    /// Records these changes in the ledger, for a claim at the same time.
    pub(super) async fn record(&self, base: &Base, now: Timestamp) -> Result<(), LedgerError> {
        let (releases, jobs, held) = {
            let waiting = self.0.lock();
            let is_new = waiting.renewed.is_some_and(|at| now < at.after(LEASE / 2));
            let held: Vec<JobId> = waiting.held.iter().filter(|_| !is_new).cloned().collect();
            (waiting.releases, waiting.jobs.clone(), held)
        };
        if releases {
            base.parts.jobs.release_all(latest(base.time.now())).await?;
            self.0.lock().releases = false;
        }
        if !jobs.is_empty() {
            base.parts.jobs.hand_back(&jobs, base.time.now()).await?;
            self.0.lock().jobs.drain(..jobs.len());
        }
        if !held.is_empty() {
            base.parts.jobs.renew(&held, now.after(LEASE)).await?;
            self.0.lock().renewed = Some(now);
        }
        Ok(())
    }
}

/// Latest retry time of jobs that waited at the start of a process.
fn latest(now: Timestamp) -> Timestamp {
    now.after(Duration::from_millis(BACKOFF_MAX_MILLIS))
}
