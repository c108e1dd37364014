//! One attempt at a run, from its claim to its record.
//!
//! Owns: the time limit, back-off, and the handling of a panic, a crash and a stop. Never: claiming runs.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use ports::Chat;
use ports::runs::{Events, Run, Verdict};
use tokio_util::sync::CancellationToken;

use crate::engine::Core;
use crate::meter::MeteredChat;
use crate::strategy::{Failure, RunContext, Strategy};

const BACKOFF_MIN_MILLIS: u64 = 1_000;
pub(crate) const BACKOFF_MAX_MILLIS: u64 = 600_000;
/// Time that an attempt has to reach a safe point after the signal to end.
const GRACE: Duration = Duration::from_secs(2);

/// Makes an attempt and records how it ended.
pub(crate) async fn attempt(core: Arc<Core>, stop: CancellationToken, strategy: Arc<dyn Strategy>, run: Run) {
    let begun = core.time.clock.elapsed();
    let verdict = verdict(&core, &stop, &*strategy, &run).await;
    let took = core.time.clock.elapsed().saturating_sub(begun);
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if let Verdict::Retry { error, .. } | Verdict::GiveUp { error } = &verdict {
        let gives_up = matches!(verdict, Verdict::GiveUp { .. });
        tracing::warn!(run = %run.id, strategy = run.work.strategy, attempt = run.attempt, gives_up, error, "an attempt failed");
    }
    // A run whose end is not recorded stays leased and blocks its lane, so this is retried until it succeeds.
    for tried in 0.. {
        let recorded = core
            .parts
            .runs
            .finish(&run.id, verdict.clone(), millis, core.time.now());
        let Err(error) = recorded.await else { break };
        tracing::warn!(run = %run.id, %error, "cannot record the end of an attempt; retrying");
        tokio::select! {
            biased;
            // The next process finds the lease and begins the run again.
            () = stop.cancelled() => break,
            () = core.time.clock.sleep(backoff(&core, tried + 1)) => {}
        }
    }
    core.has_ended(&run);
}

async fn verdict(core: &Arc<Core>, stop: &CancellationToken, strategy: &dyn Strategy, run: &Run) -> Verdict {
    let settings = core.settings();
    let attempts_max = settings.attempts_max(strategy.name());
    if run.attempt > attempts_max {
        return Verdict::GiveUp {
            error: "the process stopped during the last attempt".to_owned(),
        };
    }
    let context = context(core, stop, run);
    let work = AssertUnwindSafe(done(core, strategy, &context)).catch_unwind();
    let cut_short = async {
        context.stop.cancelled().await;
        core.time.clock.sleep(GRACE).await;
    };
    let done = tokio::select! {
        biased;
        done = work => done.unwrap_or_else(|_| Err(Failure::Retry("the strategy panicked".to_owned()))),
        () = cut_short => return Verdict::HandBack,
        () = core.time.clock.sleep(settings.attempt_max) => Err(Failure::Retry(format!(
            "it ran longer than {} s",
            settings.attempt_max.as_secs()
        ))),
    };
    match done {
        Ok(change) => Verdict::Done { change },
        Err(_) if context.is_stopping() => Verdict::HandBack,
        Err(Failure::Retry(error)) if run.attempt < attempts_max => Verdict::Retry {
            error,
            at: core.time.now().after(backoff(core, run.attempt)),
        },
        Err(Failure::Retry(error) | Failure::GiveUp(error)) => Verdict::GiveUp { error },
    }
}

/// The result of a run, after all listeners received its events.
async fn done(core: &Core, strategy: &dyn Strategy, context: &RunContext) -> Result<String, Failure> {
    let outcome = strategy.run(context).await?;
    let told = core.emit(outcome.events).await;
    told.map_err(|error| Failure::Retry(format!("cannot record the changes: {error}")))?;
    Ok(outcome.change)
}

fn context(core: &Arc<Core>, stop: &CancellationToken, run: &Run) -> RunContext {
    let settings = core.settings();
    let own = settings.strategies.get(&run.work.strategy);
    let metered = |model: &Arc<dyn Chat>| -> Arc<dyn Chat> {
        Arc::new(MeteredChat {
            model: model.clone(),
            core: core.clone(),
            run: run.id.clone(),
            instructions: own.and_then(|own| own.instructions.clone()),
        })
    };
    let chosen = own.and_then(|own| core.parts.models.get(own.model.as_ref()?));
    RunContext {
        run: run.clone(),
        chat: chosen.or(core.parts.chat.as_ref()).map(metered),
        clock: core.parts.clock.clone(),
        ids: core.parts.ids.clone(),
        stop: stop.clone(),
        superseded: core.superseded(&run.id),
    }
}

/// The wait before another attempt.
pub(crate) fn backoff(core: &Core, attempt: u32) -> Duration {
    memory::backoff(
        BACKOFF_MIN_MILLIS..=BACKOFF_MAX_MILLIS,
        attempt,
        core.parts.ids.next(),
    )
}
