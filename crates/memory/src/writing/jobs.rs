//! Durable jobs: claimed, done, retried, given up.
//!
//! Owns: how many run at a time, which are done together, leases, backoff, and which jobs may be given up. Never: the
//! work of a job.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use model::CellId;
use model::text::chain;
use ports::{IndexError, Job, JobFailure, JobId, JobKind, LedgerError, VaultError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::state::{BACKOFF_MAX_MILLIS, LEASE};
use super::{Writing, cell};
use crate::error::{EngineError, JobError};
use crate::intake::{boundaries, model_pass};
use crate::runtime::{backoff, panic_text};

/// Interval between looks for jobs without a wake-up.
const IDLE: Duration = Duration::from_secs(5);
/// Maximum number of segments of one session that are written together with the first.
const BEHIND_MAX: usize = 31;
const BACKOFF_MIN_MILLIS: u64 = 500;

/// Claims jobs and runs them until the engine stops.
pub(crate) async fn dispatch(writing: Arc<Writing>) {
    let base = &writing.base;
    let slots = Arc::new(Semaphore::new(base.settings.workers.max(1)));
    while !base.work.is_stopping() {
        let jobs = claim(&writing, slots.available_permits()).await;
        // Jobs of one session come one after the other.
        for jobs in jobs.chunk_by(|job, next| job.session == next.session) {
            if let Ok(permit) = slots.clone().try_acquire_owned() {
                writing.unrecorded.hold(jobs);
                base.work.spawn(work(writing.clone(), jobs.to_vec(), permit));
            }
        }
        let due = base.jobs.next_retry(base.time.now());
        let due = due.map_or(IDLE, |at| base.time.until(at).min(IDLE));
        tokio::select! {
            biased;
            () = base.work.stopping() => {}
            () = base.jobs.rung() => {}
            () = base.parts.clock.sleep(due) => {}
        }
    }
}

async fn claim(writing: &Writing, limit: usize) -> Vec<Job> {
    let base = &writing.base;
    if limit == 0 {
        return Vec::new();
    }
    // One time for both, so that a lease just renewed cannot count as ended for the claim.
    let now = base.time.now();
    if let Err(error) = writing.unrecorded.record(base, now).await {
        let error = EngineError::from(error);
        base.note_error(&error);
        tracing::debug!(error = chain(&error), "cannot record who has jobs; retrying");
        return Vec::new();
    }
    // A model extracts segments one by one, and the first must not wait for the last.
    let behind = if base.parts.chat.is_some() { 0 } else { BEHIND_MAX };
    let claimed = base.parts.jobs.claim(limit, behind, now, now.after(LEASE));
    let claimed = claimed.await.map_err(EngineError::from);
    claimed.unwrap_or_else(|error| {
        base.note_error(&error);
        tracing::warn!(error = chain(&error), "cannot claim jobs; retrying");
        base.jobs
            .retry_at(now.after(Duration::from_millis(BACKOFF_MIN_MILLIS)));
        Vec::new()
    })
}

/// Does jobs of one session. Several jobs are segments that are written together; if that fails, one by one.
async fn work(writing: Arc<Writing>, jobs: Vec<Job>, permit: OwnedSemaphorePermit) {
    let base = &writing.base;
    let done = if let [job] = jobs.as_slice() {
        ended(&writing, perform(&writing, job), &jobs).await
    } else {
        let cells: Vec<CellId> = jobs.iter().map(cell_of).collect();
        ended(&writing, cell::write(&writing, &cells, 1), &jobs).await
    };
    // Before the ledger may give a job to the next claim.
    writing.unrecorded.let_go(&jobs);
    match (done, jobs.as_slice()) {
        (Ok(()), jobs) => jobs.iter().for_each(|job| base.jobs.is_loose(&job.id)),
        (Err(error), [job]) => fail(&writing, job, &error).await,
        (Err(error), jobs) => hand_back(&writing, jobs, &error).await,
    }
    drop(permit);
    base.jobs.finished();
}

/// Does the work of jobs and marks them done.
async fn ended(
    writing: &Writing,
    work: impl Future<Output = Result<(), JobError>>,
    jobs: &[Job],
) -> Result<(), JobError> {
    let base = &writing.base;
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|panic| Err(JobError::Panic(panic_text(&*panic))))?;
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id.clone()).collect();
    base.parts.jobs.complete(&ids, base.time.now()).await?;
    base.disk.succeeded();
    Ok(())
}

/// Returns jobs that failed together: the faulty one is unknown. The attempts stay counted, so that each job runs alone
/// next time.
async fn hand_back(writing: &Writing, jobs: &[Job], error: &JobError) {
    let base = &writing.base;
    if let JobError::Engine(error) = error {
        base.note_error(error);
    }
    tracing::warn!(
        jobs = jobs.len(),
        error = chain(error),
        "cannot write the segments together; writing each alone"
    );
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id.clone()).collect();
    if let Err(error) = base.parts.jobs.hand_back(&ids, base.time.now()).await {
        tracing::warn!(error = chain(&error), "cannot return the jobs; retrying");
        writing.unrecorded.hand_back_later(ids);
    }
}

fn cell_of(job: &Job) -> CellId {
    CellId::new(job.subject.as_str())
}

async fn perform(writing: &Writing, job: &Job) -> Result<(), JobError> {
    match job.kind {
        JobKind::WriteCell => {
            cell::write(writing, &[cell_of(job)], job.attempt).await?;
        }
        JobKind::MemoryAdd if writing.base.parts.chat.is_some() => {
            model_pass::pass(&writing.intake, &job.session).await?;
        }
        JobKind::MemoryAdd => {
            boundaries::cut_by_rules(&writing.intake, &job.session).await?;
        }
        JobKind::MemoryFlush => {
            boundaries::cut_all(&writing.intake, &job.session).await?;
        }
    }
    Ok(())
}

/// Records a failed attempt. A job that failed for an external reason (a full disk, a broken file, a store) is never
/// given up, because only it can bring acknowledged messages into the vault; a job that is itself at fault is.
async fn fail(writing: &Writing, job: &Job, error: &JobError) {
    let base = &writing.base;
    if let JobError::Engine(error) = error {
        base.note_error(error);
    }
    let now = base.time.now();
    let wait = backoff(
        BACKOFF_MIN_MILLIS..=BACKOFF_MAX_MILLIS,
        job.attempt,
        base.parts.ids.next(),
    );
    let retry_at = now.after(wait);
    let is_last = job.attempt >= base.settings.attempts_max;
    let gives_up = is_last && is_own_fault(error);
    tracing::warn!(job = %job.id.0, kind = job.kind.as_str(), attempt = job.attempt, gives_up, "{}", chain(error));
    let failure = JobFailure {
        error: chain(error),
        retry_at: (!gives_up).then_some(retry_at),
    };
    if let Err(error) = base.parts.jobs.fail(&job.id, failure, now).await {
        tracing::warn!(error = chain(&error), job = %job.id.0, "cannot record the failure; the job runs again");
        writing.unrecorded.hand_back_later(vec![job.id.clone()]);
    }
    if gives_up {
        base.jobs.is_loose(&job.id);
        return;
    }
    if is_last || is_for_a_person(error) {
        base.jobs.is_stuck(&job.id, &job.session);
    }
    base.jobs.retry_at(retry_at);
}

/// Whether a person must repair a file first, so that no caller waits for the job.
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
