//! Causes of runs: events, schedules, people.
//!
//! Owns: which run of which strategy an event, a cron expression or a person causes. Never: starting one.

use async_trait::async_trait;
use ports::runs::{Cause, Events, MemoryEvent, NewRun, RunState, Work};
use ports::{LedgerError, RunId};

use crate::cron::Cron;
use crate::engine::Core;
use crate::strategy::Strategy;

#[async_trait]
impl Events for Core {
    async fn emit(&self, events: Vec<MemoryEvent>) -> Result<(), LedgerError> {
        if events.is_empty() {
            return Ok(());
        }
        let settings = self.settings();
        let strategies = self.strategies().await;
        let enabled = strategies
            .iter()
            .filter(|one| !settings.disabled.contains(one.name()));
        let called = enabled.flat_map(|one| events.iter().filter_map(|event| self.called_by(&**one, event)));
        self.enqueue(called.collect()).await?;
        Ok(())
    }
}

impl Core {
    /// A new run's id.
    fn run_id(&self) -> RunId {
        format!("r_{:016x}", self.parts.ids.next()).into()
    }

    /// The run that an event causes; none for an event that the strategy ignores.
    fn called_by(&self, strategy: &dyn Strategy, event: &MemoryEvent) -> Option<NewRun> {
        let about = strategy.about(event)?;
        let triggers = self.settings().triggers(strategy);
        let cause = match (triggers.idle, triggers.threshold) {
            (Some(_), _) => Cause::Idle,
            (None, Some(_)) => Cause::Counter,
            (None, None) => Cause::Event,
        };
        let reason = match (triggers.idle, triggers.threshold) {
            (Some(idle), _) => format!("{event}, then nothing for {} s", idle.as_secs()),
            (None, Some(threshold)) => format!("{event}, the last of {}", threshold.count),
            (None, None) => event.to_string(),
        };
        Some(NewRun {
            id: self.run_id(),
            work: Work {
                strategy: strategy.name().to_owned(),
                scope: event.scope().clone(),
                owner: about.owner,
                subject: about.subject,
            },
            session: event.session().cloned(),
            cause,
            reason,
            run_at: self.time.now().after(triggers.idle.unwrap_or_default()),
            threshold: triggers.threshold,
        })
    }

    /// Queues runs, signals running runs of the same work that more has come, and wakes the dispatcher.
    async fn enqueue(&self, runs: Vec<NewRun>) -> Result<Vec<Option<RunId>>, LedgerError> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let news = runs.iter().filter(|run| run.cause != Cause::Cron);
        let works: Vec<Work> = news.map(|run| run.work.clone()).collect();
        let queued = self.parts.runs.enqueue(runs, self.time.now()).await;
        // Also after an error: the ledger may have queued the runs although its answer was lost.
        self.supersede(&works);
        self.bell.notify_one();
        queued
    }

    /// Queues each strategy's next scheduled run, unless it is queued already.
    pub(crate) async fn enqueue_crons(&self) -> Result<(), LedgerError> {
        let settings = self.settings();
        let strategies = self.strategies().await;
        let next = strategies.iter().filter_map(|one| {
            let expression = settings.triggers(&**one).cron?;
            let cron = Cron::parse(&expression).inspect_err(|error| {
                tracing::error!(strategy = one.name(), %error, "invalid cron expression; the strategy has no scheduled runs");
            });
            let run_at = cron.ok()?.next(&self.time, &settings.zone)?;
            let reason = format!("the next time of `{expression}`");
            Some(self.full_run(&**one, Cause::Cron, reason, run_at))
        });
        let next: Vec<NewRun> = next.collect();
        self.enqueue(next).await?;
        Ok(())
    }

    /// A run for everything, not for one event.
    fn full_run(
        &self,
        strategy: &dyn Strategy,
        cause: Cause,
        reason: String,
        run_at: model::Timestamp,
    ) -> NewRun {
        NewRun {
            id: self.run_id(),
            work: Work {
                strategy: strategy.name().to_owned(),
                scope: model::Scope::default(),
                owner: None,
                subject: String::new(),
            },
            session: None,
            cause,
            reason,
            run_at,
            threshold: None,
        }
    }

    /// Queues the waiting and failed runs of a strategy for now and, if the strategy has a schedule, one run for
    /// everything.
    pub(crate) async fn call_by_hand(&self, strategy: &dyn Strategy) -> Result<Vec<RunId>, LedgerError> {
        let now = self.time.now();
        let reason = || "asked for by hand".to_owned();
        let mut called = Vec::new();
        for state in [RunState::Queued, RunState::Failed, RunState::DeadLetter] {
            let mut unfinished = self.runs(Some(state), &[]).await?;
            unfinished.retain(|run| run.work.strategy == strategy.name());
            called.extend(unfinished.into_iter().map(|run| NewRun {
                id: self.run_id(),
                work: run.work,
                session: run.session,
                cause: Cause::Manual,
                reason: reason(),
                run_at: now,
                threshold: None,
            }));
        }
        // Also if the schedule is switched off in the settings.
        if strategy.triggers().cron.is_some() {
            called.push(self.full_run(strategy, Cause::Manual, reason(), now));
        }
        let mut ids: Vec<RunId> = self.enqueue(called).await?.into_iter().flatten().collect();
        ids.sort();
        ids.dedup();
        Ok(ids)
    }
}
