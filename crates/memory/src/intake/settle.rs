//! Waiting until work is done.
//!
//! Owns: when work counts as done. Never: doing it.

use std::time::Duration;

use model::SessionKey;
use ports::{JobKind, JobState, LedgerError, TaskQuery};

use super::Intake;
use crate::error::EngineError;

/// Interval of a recount without a wake-up.
const LOOK: Duration = Duration::from_secs(1);

/// Waits until no job is waiting or running, except those that need room on the disk or a repaired file; returns the
/// number of failed jobs, including these.
pub(crate) async fn all(intake: &Intake) -> Result<usize, EngineError> {
    let base = &intake.base;
    let mut finished = base.jobs.watch();
    loop {
        finished.borrow_and_update();
        let jobs = base.parts.jobs.stats().await?;
        let (sessions, stuck) = base.jobs.stuck_sessions();
        let mut blocked = 0;
        for session in &sessions {
            blocked += unfinished(intake, session, &[]).await?;
        }
        let open = jobs.queued + jobs.processing + intake.passes.running(None);
        if open <= blocked {
            return Ok(jobs.failed + stuck);
        }
        next(intake, &mut finished).await?;
    }
}

/// Waits until every job of a session is done, except stuck ones.
pub(crate) async fn session(intake: &Intake, session: &SessionKey) -> Result<(), EngineError> {
    let base = &intake.base;
    let mut finished = base.jobs.watch();
    loop {
        finished.borrow_and_update();
        let open = unfinished(intake, session, &[]).await? + intake.passes.running(Some(session));
        if open == 0 || base.jobs.stuck_sessions().0.contains(session) {
            return Ok(());
        }
        next(intake, &mut finished).await?;
    }
}

async fn next(intake: &Intake, finished: &mut tokio::sync::watch::Receiver<u64>) -> Result<(), EngineError> {
    let base = &intake.base;
    tokio::select! {
        biased;
        () = base.work.stopping() => Err(EngineError::Stopping),
        // The sender lives in the base.
        _ = finished.changed() => Ok(()),
        () = base.parts.clock.sleep(LOOK) => Ok(()),
    }
}

/// Number of waiting or running jobs of a session, of some kinds, or of all if none are named.
pub(crate) async fn unfinished(
    intake: &Intake,
    session: &SessionKey,
    kinds: &[JobKind],
) -> Result<usize, LedgerError> {
    let mut count = 0;
    for state in [JobState::Queued, JobState::Processing] {
        let query = TaskQuery {
            scope: session.scope.clone(),
            session: Some(session.session.clone()),
            state: Some(state),
            kinds: kinds.to_vec(),
            made_from: None,
            made_before: None,
            page: 1,
            page_size: 1,
        };
        count += intake.base.parts.jobs.page(&query).await?.total;
    }
    Ok(count)
}
