//! Background runs in memory.
//!
//! Owns: `Runs` of the fake. Never: doing a run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use model::{Date, Timestamp};
use ports::runs::{
    Cause, Claim, Claimed, Cost, NewRun, Run, RunPage, RunQuery, RunState, RunStats, Runs, Verdict, Work,
};
use ports::{LedgerError, RunId, Sweep};

use super::MemoryLedger;
use crate::ledger::is_over;

#[derive(Debug, Default)]
pub(super) struct Kept {
    /// In order of arrival.
    runs: Vec<Run>,
    counters: BTreeMap<Work, Counter>,
    spending: BTreeMap<Date, Cost>,
}

#[derive(Debug, Default)]
struct Counter {
    count: u32,
    fired: Option<Timestamp>,
}

/// One strategy for one owner of one scope: the work without its subject.
fn lane(work: &Work) -> Work {
    Work {
        subject: String::new(),
        ..work.clone()
    }
}

fn add(to: &mut Cost, cost: Cost) {
    to.calls += cost.calls;
    to.prompt_tokens += cost.prompt_tokens;
    to.completion_tokens += cost.completion_tokens;
}

impl Kept {
    pub(super) fn sweep(&mut self, sweep: &Sweep) {
        let is_named = |run: &Run| match sweep {
            Sweep::Session(key) => run.work.scope == key.scope && run.session.as_ref() == Some(&key.session),
            Sweep::OwnerInSession(key, owner) => {
                run.work.scope == key.scope
                    && run.session.as_ref() == Some(&key.session)
                    && run.work.owner.as_ref() == Some(owner)
            }
            Sweep::Owner(scope, owner) => run.work.scope == *scope && run.work.owner.as_ref() == Some(owner),
            Sweep::Scope(scope) => run.work.scope == *scope,
            Sweep::Messages(..) => false,
        };
        self.runs.retain(|run| !is_named(run));
        self.counters.retain(|work, _| match sweep {
            Sweep::Owner(scope, owner) => work.scope != *scope || work.owner.as_ref() != Some(owner),
            Sweep::Scope(scope) => work.scope != *scope,
            _ => true,
        });
    }

    /// Counts a request; returns the due time of the run once the threshold is reached.
    fn count(&mut self, new: &NewRun) -> Option<Timestamp> {
        let Some(threshold) = new.threshold else {
            return Some(new.run_at);
        };
        let counter = self.counters.entry(new.work.clone()).or_default();
        counter.count += 1;
        if counter.count < threshold.count {
            return None;
        }
        let cooldown = i64::try_from(threshold.cooldown.as_millis()).expect("a test's cooldown is short");
        let rested = counter.fired.map(|fired| fired.plus_millis(cooldown));
        let due = rested.map_or(new.run_at, |rested| rested.max(new.run_at));
        let waiting = self
            .runs
            .iter()
            .find(|run| run.work == new.work && run.state.is_waiting());
        let due = match waiting {
            Some(run) if run.state == RunState::Failed || counter.fired == Some(run.run_at) => {
                if new.cause == Cause::Idle {
                    run.run_at.max(new.run_at)
                } else {
                    run.run_at
                }
            }
            _ => due,
        };
        *counter = Counter {
            count: 0,
            fired: Some(due),
        };
        Some(due)
    }

    fn queue(&mut self, new: NewRun, now: Timestamp) -> Option<RunId> {
        if self.runs.iter().any(|run| run.id == new.id) {
            return Some(new.id);
        }
        let due = self.count(&new)?;
        let waiting = self
            .runs
            .iter_mut()
            .find(|run| run.work == new.work && run.state.is_waiting());
        if let Some(waiting) = waiting {
            absorb(waiting, &new, due);
            return Some(waiting.id.clone());
        }
        let id = new.id.clone();
        self.runs.push(Run {
            id: new.id,
            work: new.work,
            session: new.session,
            cause: new.cause,
            reason: new.reason,
            state: RunState::Queued,
            attempt: 0,
            run_at: due,
            created: now,
            started: None,
            finished: None,
            cost: Cost::default(),
            change: String::new(),
            error: None,
        });
        Some(id)
    }

    fn claim(&mut self, claim: &Claim) -> Claimed {
        let mut heads: BTreeMap<Work, usize> = BTreeMap::new();
        let mut order: Vec<usize> = (0..self.runs.len()).collect();
        order.retain(|i| !is_over(self.runs[*i].state));
        let turn = |run: &Run| {
            let by_hand = run.cause == Cause::Manual && run.state == RunState::Queued;
            (
                Reverse(run.state == RunState::Running),
                Reverse(by_hand),
                run.run_at,
            )
        };
        order.sort_by_key(|i| turn(&self.runs[*i]));
        for i in order {
            heads.entry(lane(&self.runs[i].work)).or_insert(i);
        }
        let may = |run: &Run| {
            claim.strategies.contains(&run.work.strategy)
                || run.cause == Cause::Manual && claim.by_hand.contains(&run.work.strategy)
        };
        let mut heads: Vec<usize> = heads.into_values().filter(|i| may(&self.runs[*i])).collect();
        heads.sort_by_key(|i| (self.runs[*i].run_at, *i));
        let mut claimed = Claimed::default();
        for i in heads {
            let run = &mut self.runs[i];
            if run.run_at <= claim.now && claimed.runs.len() < claim.limit {
                run.state = RunState::Running;
                run.attempt += 1;
                run.started = Some(claim.now);
                run.run_at = claim.lease_until;
                claimed.runs.push(run.clone());
            }
            if run.run_at > claim.now {
                claimed.next = claimed.next.into_iter().chain([run.run_at]).min();
            }
        }
        claimed
    }

    fn finish(&mut self, id: &RunId, verdict: Verdict, millis: u64, now: Timestamp) {
        let Some(run) = self.runs.iter_mut().find(|run| run.id == *id) else {
            return;
        };
        assert!(run.started.is_some(), "a run ends that was never claimed");
        if run.state != RunState::Running {
            return;
        }
        run.cost.millis += millis;
        run.error = None;
        match verdict {
            Verdict::Done { change } => {
                run.state = RunState::Success;
                run.finished = Some(now);
                run.change = change;
                let work = run.work.clone();
                self.runs
                    .retain(|run| run.work != work || run.state != RunState::DeadLetter);
            }
            Verdict::Retry { error, at } => {
                run.state = RunState::Failed;
                run.error = Some(error);
                run.run_at = at;
            }
            Verdict::GiveUp { error } => {
                run.state = RunState::DeadLetter;
                run.error = Some(error);
                run.finished = Some(now);
            }
            Verdict::HandBack => {
                run.state = RunState::Queued;
                run.attempt -= 1;
                run.run_at = now;
            }
        }
    }

    fn release_all(&mut self, now: Timestamp, latest: Timestamp) -> usize {
        let mut released = 0;
        for run in self.runs.iter_mut().filter(|run| !is_over(run.state)) {
            if run.state == RunState::Running {
                run.state = RunState::Queued;
                run.run_at = now;
                released += 1;
            }
            if run.cause != Cause::Cron {
                run.run_at = run.run_at.min(latest);
            }
        }
        released
    }

    fn page(&self, query: &RunQuery) -> RunPage {
        let ids: BTreeSet<&RunId> = query.ids.iter().collect();
        let newest_first = self.runs.iter().rev();
        let matching: Vec<&Run> = newest_first
            .filter(|run| query.scope.as_ref().is_none_or(|scope| *scope == run.work.scope))
            .filter(|run| {
                query
                    .strategy
                    .as_ref()
                    .is_none_or(|name| *name == run.work.strategy)
            })
            .filter(|run| query.state.is_none_or(|state| state == run.state))
            .filter(|run| ids.is_empty() || ids.contains(&run.id))
            .collect();
        let before = (query.page - 1) * query.page_size;
        RunPage {
            total: matching.len(),
            runs: matching
                .into_iter()
                .skip(before)
                .take(query.page_size)
                .cloned()
                .collect(),
        }
    }

    pub(super) fn drop_finished(&mut self, before: Timestamp) -> usize {
        let runs = self.runs.len();
        self.runs.retain(|run| {
            run.state != RunState::Success || run.finished.is_none_or(|finished| finished >= before)
        });
        runs - self.runs.len()
    }

    fn stats(&self) -> RunStats {
        let count = |state| self.runs.iter().filter(|run| run.state == state).count();
        let scheduled = |run: &&Run| run.state == RunState::Queued && run.cause == Cause::Cron;
        RunStats {
            queued: count(RunState::Queued) - self.runs.iter().filter(scheduled).count(),
            running: count(RunState::Running),
            failed: count(RunState::Failed),
            dead_letters: count(RunState::DeadLetter),
        }
    }
}

fn absorb(waiting: &mut Run, new: &NewRun, due: Timestamp) {
    let is_failed = waiting.state == RunState::Failed;
    if new.cause == Cause::Manual {
        waiting.run_at = waiting.run_at.min(due);
    } else if !is_failed && new.cause == Cause::Idle && waiting.cause == Cause::Idle {
        waiting.run_at = waiting.run_at.max(due);
    } else if !is_failed && new.cause != Cause::Idle {
        waiting.run_at = waiting.run_at.min(due);
    }
    if waiting.cause != Cause::Manual || new.cause == Cause::Manual {
        waiting.reason.clone_from(&new.reason);
    }
    let is_taken_over = !is_failed && waiting.cause == Cause::Idle;
    if new.cause == Cause::Manual || is_taken_over {
        waiting.cause = new.cause;
    }
    if waiting.session != new.session {
        waiting.session = None;
    }
}

#[async_trait]
impl Runs for MemoryLedger {
    async fn enqueue(&self, runs: Vec<NewRun>, now: Timestamp) -> Result<Vec<Option<RunId>>, LedgerError> {
        self.call(|state| Ok(runs.into_iter().map(|run| state.runs.queue(run, now)).collect()))
    }

    async fn claim(&self, claim: Claim) -> Result<Claimed, LedgerError> {
        assert!(claim.lease_until > claim.now, "a lease that has run out already");
        self.call(|state| Ok(state.runs.claim(&claim)))
    }

    async fn finish(
        &self,
        id: &RunId,
        verdict: Verdict,
        millis: u64,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        self.call(|state| {
            state.runs.finish(id, verdict, millis, now);
            Ok(())
        })
    }

    async fn charge(&self, id: &RunId, day: Date, cost: Cost) -> Result<(), LedgerError> {
        self.call(|state| {
            if let Some(run) = state.runs.runs.iter_mut().find(|run| run.id == *id) {
                add(&mut run.cost, cost);
            }
            add(state.runs.spending.entry(day).or_default(), cost);
            Ok(())
        })
    }

    async fn spent(&self, day: Date) -> Result<Cost, LedgerError> {
        self.call(|state| Ok(state.runs.spending.get(&day).copied().unwrap_or_default()))
    }

    async fn release_all(&self, now: Timestamp, latest: Timestamp) -> Result<usize, LedgerError> {
        self.call(|state| Ok(state.runs.release_all(now, latest)))
    }

    async fn page(&self, query: &RunQuery) -> Result<RunPage, LedgerError> {
        assert!(query.page > 0 && query.page_size > 0, "pages are counted from 1");
        self.call(|state| Ok(state.runs.page(query)))
    }

    async fn stats(&self) -> Result<RunStats, LedgerError> {
        self.call(|state| Ok(state.runs.stats()))
    }
}
