//! The one loop that starts attempts, when a slot is free and a run is due.
//!
//! Owns: when to look for due runs, and the number of attempts. Never: the end of an attempt (`attempt`). Between two
//! looks it sleeps until the next due time in the store or a wake-up, so waiting runs cost nothing, however many they
//! are.

use std::sync::Arc;
use std::time::Duration;

use ports::runs::{Cause, Claim, Claimed, Run, RunQuery, RunState, Verdict};
use ports::{LedgerError, RunId};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::attempt::{attempt, backoff};
use crate::engine::Core;

/// A lease lasts this much longer than the time limit of its attempt.
const LEASE_MORE: Duration = Duration::from_mins(10);

/// Starts attempts until the stop signal, then waits for their ends.
pub(crate) async fn dispatch(core: Arc<Core>, stop: CancellationToken) {
    let mut attempts = JoinSet::new();
    let mut failures = 0;
    let mut is_settled = false;
    tokio::select! {
        biased;
        _ = core.strategies() => {}
        () = stop.cancelled() => return,
    }
    while !stop.is_cancelled() {
        let looked = look(&core, &stop, &mut attempts, is_settled).await;
        is_settled = looked.is_ok();
        let wait = match looked {
            Ok(next) => {
                failures = 0;
                next
            }
            Err(error) => {
                failures += 1;
                tracing::warn!(%error, "cannot claim background runs; retrying");
                Some(backoff(&core, failures))
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = core.bell.notified() => {}
            Some(_) = attempts.join_next() => {}
            () = core.time.clock.sleep(wait.unwrap_or_default()), if wait.is_some() => {}
        }
    }
    while attempts.join_next().await.is_some() {}
}

/// Claims due runs and starts them. Returns how long to wait before the next look; for ever if no run waits.
async fn look(
    core: &Arc<Core>,
    stop: &CancellationToken,
    attempts: &mut JoinSet<()>,
    is_settled: bool,
) -> Result<Option<Duration>, LedgerError> {
    if !is_settled {
        core.hand_back_strays().await?;
        core.enqueue_crons().await?;
    }
    while attempts.try_join_next().is_some() {}
    let limit = core.settings().concurrency.max(1).saturating_sub(attempts.len());
    let Claimed { runs, next } = claim(core, limit).await?;
    let strategies = core.strategies().await;
    let mut had_its_time = false;
    for run in runs {
        let strategy = strategies.iter().find(|one| one.name() == run.work.strategy);
        let Some(strategy) = strategy.filter(|_| core.has_begun(&run)) else {
            continue;
        };
        had_its_time |= strategy.triggers().cron.is_some();
        attempts.spawn(attempt(core.clone(), stop.clone(), strategy.clone(), run));
    }
    if had_its_time {
        core.enqueue_crons().await?;
    }
    Ok(next.map(|at| core.time.until(at)))
}

async fn claim(core: &Core, limit: usize) -> Result<Claimed, LedgerError> {
    let settings = core.settings();
    let names = core.strategies().await;
    let names = names.iter().map(|one| one.name().to_owned());
    let enabled = names.clone().filter(|name| !settings.disabled.contains(name));
    let now = core.time.now();
    let claim = Claim {
        limit,
        strategies: if settings.is_quiet {
            Vec::new()
        } else {
            enabled.collect()
        },
        by_hand: names.collect(),
        now,
        lease_until: now.after(settings.attempt_max + LEASE_MORE),
    };
    core.parts.runs.claim(claim).await
}

impl Core {
    /// Returns runs to the queue that a claim leased although its answer was lost.
    async fn hand_back_strays(&self) -> Result<(), LedgerError> {
        for run in self.runs(Some(RunState::Running), &[]).await? {
            if !self.is_busy(&run.id) {
                self.parts
                    .runs
                    .finish(&run.id, Verdict::HandBack, 0, self.time.now())
                    .await?;
            }
        }
        Ok(())
    }

    /// Whether no run is running, and no run is due that may start.
    pub(crate) async fn is_idle(&self) -> Result<bool, LedgerError> {
        let names = self.strategies().await;
        let settings = self.settings();
        let may_run = |run: &Run| {
            let by_hand = run.cause == Cause::Manual;
            let by_itself = !settings.is_quiet && !settings.disabled.contains(&run.work.strategy);
            (by_hand || by_itself) && names.iter().any(|one| one.name() == run.work.strategy)
        };
        let mut waiting = self.runs(Some(RunState::Queued), &[]).await?;
        waiting.extend(self.runs(Some(RunState::Failed), &[]).await?);
        let is_due = |run: &Run| run.run_at <= self.time.now() && may_run(run);
        Ok(!waiting.iter().any(is_due) && self.runs(Some(RunState::Running), &[]).await?.is_empty())
    }

    /// All runs, or those in a state, or those with one of these ids.
    pub(crate) async fn runs(&self, state: Option<RunState>, ids: &[RunId]) -> Result<Vec<Run>, LedgerError> {
        let query = RunQuery {
            state,
            ids: ids.to_vec(),
            page: 1,
            page_size: usize::MAX,
            ..RunQuery::default()
        };
        Ok(self.parts.runs.page(&query).await?.runs)
    }
}
