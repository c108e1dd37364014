//! Durable jobs: claimed, done, tried again, given up.
//!
//! Owns: how many run at a time, which are done together, leases, backoff, and which fault may be given up on. Never: what a
//! job does.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use model::{CellId, Timestamp};
use parking_lot::Mutex;
use ports::{IndexError, Job, JobFailure, JobId, JobKind, LedgerError, VaultError};
use text::chain;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{EngineError, JobError};
use crate::runtime::tasks::words_of;
use crate::world::World;
use crate::{boundaries, model_pass, write_cell};

/// A job that takes longer is taken for dead by the next process; in this one it stays its worker's.
const LEASE: Duration = Duration::from_mins(10);
/// How often to look for jobs that nobody rang for.
const IDLE: Duration = Duration::from_secs(5);
/// The maximum of segments of one session that are written together with the first.
const BEHIND_MAX: usize = 31;
const BACKOFF_MIN_MILLIS: u64 = 500;
const BACKOFF_MAX_MILLIS: u64 = 60_000;

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
    pub(crate) fn release_later(&self) {
        self.0.lock().releases = true;
    }

    fn hand_back_later(&self, jobs: Vec<JobId>) {
        self.0.lock().jobs.extend(jobs);
    }

    /// Brings the ledger up to date.
    async fn record(&self, world: &World) -> Result<(), LedgerError> {
        let (releases, jobs) = {
            let waiting = self.0.lock();
            (waiting.releases, waiting.jobs.clone())
        };
        if releases {
            world.parts.jobs.release_all(latest(world.work_time())).await?;
            self.0.lock().releases = false;
        }
        if !jobs.is_empty() {
            world.parts.jobs.hand_back(&jobs, world.work_time()).await?;
            self.0.lock().jobs.drain(..jobs.len());
        }
        Ok(())
    }
}

/// Claims jobs and runs them until the engine stops.
pub(crate) async fn dispatch(world: Arc<World>) {
    let slots = Arc::new(Semaphore::new(world.settings.workers.max(1)));
    let running: Arc<Mutex<BTreeSet<JobId>>> = Arc::default();
    while !world.work.is_stopping() {
        let jobs = claim(&world, slots.available_permits()).await;
        // Jobs of one session come behind each other.
        for jobs in jobs.chunk_by(|job, next| job.session == next.session) {
            let is_new = {
                let mut running = running.lock();
                let is_new = jobs.iter().all(|job| !running.contains(&job.id));
                running.extend(jobs.iter().map(|job| job.id.clone()));
                is_new
            };
            // A lease that ran out while its worker is still busy.
            let permit = slots.clone().try_acquire_owned().ok().filter(|_| is_new);
            if let Some(permit) = permit {
                let work = work(world.clone(), jobs.to_vec(), permit, running.clone());
                world.work.spawn(work);
            }
        }
        let now = world.work_time();
        let due = world
            .bell
            .next_retry(now)
            .map_or(IDLE, |at| until(now, at).min(IDLE));
        tokio::select! {
            biased;
            () = world.work.stopping() => {}
            () = world.bell.rung() => {}
            () = world.parts.clock.sleep(due) => {}
        }
    }
}

async fn claim(world: &World, limit: usize) -> Vec<Job> {
    if limit == 0 {
        return Vec::new();
    }
    if let Err(error) = world.unrecorded.record(world).await {
        let error = EngineError::from(error);
        world.mind(&error);
        tracing::debug!(error = chain(&error), "cannot return jobs to the queue; retrying");
        return Vec::new();
    }
    let now = world.work_time();
    // A model tells memcells one by one, and the first shall not wait for the last.
    let behind = if world.parts.chat.is_some() { 0 } else { BEHIND_MAX };
    let claimed = world.parts.jobs.claim(limit, behind, now, later(now, LEASE));
    let claimed = claimed.await.map_err(EngineError::from);
    claimed.unwrap_or_else(|error| {
        world.mind(&error);
        tracing::warn!(error = chain(&error), "cannot claim jobs; retrying");
        world
            .bell
            .retry_at(later(now, Duration::from_millis(BACKOFF_MIN_MILLIS)));
        Vec::new()
    })
}

/// Does jobs of one session. Several jobs are segments that are written together; if that fails, one by one.
async fn work(
    world: Arc<World>,
    jobs: Vec<Job>,
    permit: OwnedSemaphorePermit,
    running: Arc<Mutex<BTreeSet<JobId>>>,
) {
    let done = if let [job] = jobs.as_slice() {
        ended(&world, perform(&world, job), &jobs).await
    } else {
        let cells: Vec<CellId> = jobs.iter().map(cell_of).collect();
        ended(&world, write_cell::write_together(&world, &cells), &jobs).await
    };
    match (done, jobs.as_slice()) {
        (Ok(()), jobs) => jobs.iter().for_each(|job| world.bell.is_loose(&job.id)),
        (Err(error), [job]) => fail(&world, job, &error).await,
        (Err(error), jobs) => hand_back(&world, jobs, &error).await,
    }
    {
        let mut running = running.lock();
        running.retain(|id| jobs.iter().all(|job| job.id != *id));
    }
    drop(permit);
    world.bell.finished();
}

/// Does the work of jobs and marks them done.
async fn ended(
    world: &World,
    work: impl Future<Output = Result<(), JobError>>,
    jobs: &[Job],
) -> Result<(), JobError> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|panic| Err(JobError::Panic(words_of(&*panic))))?;
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id.clone()).collect();
    world.parts.jobs.complete(&ids, world.work_time()).await?;
    world.room.succeeded();
    Ok(())
}

/// The failed one is not known yet. The attempts stay counted, so that each job runs alone next time.
async fn hand_back(world: &World, jobs: &[Job], error: &JobError) {
    if let JobError::Engine(error) = error {
        world.mind(error);
    }
    tracing::warn!(
        jobs = jobs.len(),
        error = chain(error),
        "cannot write the segments together; writing each alone"
    );
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id.clone()).collect();
    if let Err(error) = world.parts.jobs.hand_back(&ids, world.work_time()).await {
        tracing::warn!(error = chain(&error), "cannot return the jobs; retrying");
        world.unrecorded.hand_back_later(ids);
    }
}

fn cell_of(job: &Job) -> CellId {
    CellId::new(job.subject.as_str())
}

async fn perform(world: &World, job: &Job) -> Result<(), JobError> {
    match job.kind {
        JobKind::WriteCell => {
            write_cell::write(world, &cell_of(job), job.attempt).await?;
        }
        JobKind::MemoryAdd if world.parts.chat.is_some() => {
            model_pass::pass(world, &job.session).await?;
        }
        JobKind::MemoryAdd => {
            boundaries::cut_by_rules(world, &job.session).await?;
        }
        JobKind::MemoryFlush => {
            boundaries::cut_all(world, &job.session).await?;
        }
    }
    Ok(())
}

/// Records a failed attempt. A job whose surroundings failed (a full disk, a broken file, a store) is never given up,
/// since it is the only way to the vault for what was acknowledged; one that is itself at fault is.
async fn fail(world: &World, job: &Job, error: &JobError) {
    if let JobError::Engine(error) = error {
        world.mind(error);
    }
    let now = world.work_time();
    let retry_at = later(now, backoff(world, job.attempt));
    let is_last = job.attempt >= world.settings.attempts_max;
    let gives_up = is_last && is_own_fault(error);
    tracing::warn!(job = %job.id.0, kind = job.kind.as_str(), attempt = job.attempt, gives_up, "{}", chain(error));
    let failure = JobFailure {
        error: chain(error),
        retry_at: (!gives_up).then_some(retry_at),
    };
    if let Err(error) = world.parts.jobs.fail(&job.id, failure, now).await {
        tracing::warn!(error = chain(&error), job = %job.id.0, "cannot record the failure; the job runs again");
        world.unrecorded.hand_back_later(vec![job.id.clone()]);
    }
    if gives_up {
        world.bell.is_loose(&job.id);
        return;
    }
    if is_last || is_for_a_person(error) {
        world.bell.is_stuck(&job.id, &job.session);
    }
    world.bell.retry_at(retry_at);
}

/// Whether it stays so until a person mends a file: nobody waits for that.
fn is_for_a_person(error: &JobError) -> bool {
    matches!(
        error,
        JobError::Engine(EngineError::Vault(
            VaultError::Broken { .. } | VaultError::Outside { .. }
        ))
    )
}

fn is_own_fault(error: &JobError) -> bool {
    match error {
        JobError::Panic(_) | JobError::Changed => true,
        JobError::Model(_) => false,
        JobError::Engine(error) => !matches!(
            error,
            EngineError::Vault(
                VaultError::Io { .. } | VaultError::Broken { .. } | VaultError::Outside { .. }
            ) | EngineError::Index(IndexError::Store(_) | IndexError::Unusable { .. })
                | EngineError::Ledger(LedgerError::Store(_))
                | EngineError::Stopping
        ),
    }
}

/// What waits when a process starts waits no longer than this.
pub(crate) fn latest(now: Timestamp) -> Timestamp {
    now.plus_millis(i64::try_from(BACKOFF_MAX_MILLIS).unwrap_or(i64::MAX))
}

/// Longer each time, and not the same for all: what failed together shall not come back together.
fn backoff(world: &World, attempt: u32) -> Duration {
    let doubled = BACKOFF_MIN_MILLIS
        .checked_shl(attempt.saturating_sub(1).min(16))
        .unwrap_or(BACKOFF_MAX_MILLIS);
    let base = doubled.min(BACKOFF_MAX_MILLIS);
    Duration::from_millis(base + world.parts.ids.next() % (base / 2 + 1))
}

/// `at` + `by`.
pub(crate) fn later(now: Timestamp, by: Duration) -> Timestamp {
    now.plus_millis(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
}

fn until(now: Timestamp, at: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(at.millis() - now.millis()).unwrap_or(0))
}
