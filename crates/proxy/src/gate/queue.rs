//! The rules of a gate: which job can start now, and the handling of the others.
//!
//! Owns: the number of leases, the order of jobs, the counters. Never: a task, a lock, a clock; callers pass times,
//! measured since the clock's start.

use std::collections::VecDeque;
use std::time::Duration;

use super::{BackgroundCall, GateStats, JobEnd};

/// Maximum time that a job waits for the foreground before it moves to the end of the queue.
pub const MAX_WAIT: Duration = Duration::from_mins(2);
/// Number of times that a job can expire or be cancelled; the last time it is dropped.
pub const EXPIRIES_MAX: u32 = 5;
/// Maximum number of unfinished jobs of a gate; one more drops the oldest that waits.
pub const WAITING_MAX: usize = 256;

/// A job that waits in the queue, or was taken out to run.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) job: BackgroundCall,
    /// When it was put at the end of the queue.
    since: Duration,
    expiries: u32,
}

/// The next step of a gate's worker.
#[derive(Debug)]
pub(super) enum Next {
    /// Run this job, and give it back.
    Start(Waiting),
    /// Report that background calls have used the server's cache.
    Displaced,
    /// Wait for a change.
    Change,
    /// Wait for a change, at most this long.
    Within(Duration),
    /// End.
    Closed,
}

#[derive(Debug)]
pub(super) struct Queue {
    idle_after: Duration,
    /// No job starts before this time.
    opens: Duration,
    /// When a job last ended. Until then the other jobs waited for it, not for the foreground.
    ran: Duration,
    waiting: VecDeque<Waiting>,
    closed: bool,
    /// A background call has used the server's cache since the last stream.
    pub(super) displaced: bool,
    /// Ended jobs. The holder of the lock drops them after unlocking: the drop of a job can need the lock.
    gone: Vec<BackgroundCall>,
    /// Does not include the length of the queue.
    stats: GateStats,
}

impl Queue {
    pub(super) fn new(idle_after: Duration) -> Self {
        Self {
            idle_after,
            opens: Duration::ZERO,
            ran: Duration::ZERO,
            waiting: VecDeque::new(),
            closed: false,
            displaced: false,
            gone: Vec::new(),
            stats: GateStats::default(),
        }
    }

    pub(super) fn gone(&mut self) -> Vec<BackgroundCall> {
        std::mem::take(&mut self.gone)
    }

    pub(super) fn stats(&self) -> GateStats {
        GateStats {
            waiting: self.waiting.len(),
            ..self.stats
        }
    }

    pub(super) fn is_foreground(&self) -> bool {
        self.stats.foreground > 0
    }

    pub(super) fn enter(&mut self) {
        self.stats.foreground += 1;
        self.displaced = false;
    }

    pub(super) fn leave(&mut self, now: Duration) {
        self.stats.foreground -= 1;
        self.opens = now.saturating_add(self.idle_after);
    }

    pub(super) fn submit(&mut self, upstream: &str, job: BackgroundCall, now: Duration) {
        if self.closed {
            return self.give_up(upstream, job, "the gate is closed");
        }
        let new = Waiting {
            job,
            since: now,
            expiries: 0,
        };
        if let Some(old) = self.waiting.iter_mut().find(|old| old.job.key == new.job.key) {
            self.gone.push(std::mem::replace(old, new).job);
            self.stats.replaced += 1;
            return;
        }
        let full = self.waiting.len() + usize::from(self.stats.running) >= WAITING_MAX;
        if let Some(oldest) = full.then(|| self.waiting.pop_front()).flatten() {
            self.give_up(upstream, oldest.job, "too many jobs are waiting");
        }
        self.waiting.push_back(new);
    }

    pub(super) fn next(&mut self, upstream: &str, now: Duration) -> Next {
        if self.closed {
            return Next::Closed;
        }
        if self.is_foreground() {
            self.expire(upstream, now);
            let due = self.waiting.iter().map(|waiting| self.expires(waiting)).min();
            return due.map_or(Next::Change, |due| Next::Within(due.saturating_sub(now)));
        }
        if self.waiting.is_empty() {
            let displaced = std::mem::take(&mut self.displaced);
            return if displaced { Next::Displaced } else { Next::Change };
        }
        if now < self.opens {
            return Next::Within(self.opens.saturating_sub(now));
        }
        let front = self.waiting.pop_front();
        self.stats.running = front.is_some();
        front.map_or(Next::Change, Next::Start)
    }

    /// Records the end of the job that `next` gave out; none if a lease cancelled it.
    pub(super) fn ended(&mut self, upstream: &str, mut run: Waiting, end: Option<JobEnd>, now: Duration) {
        self.stats.running = false;
        self.ran = now;
        self.displaced |= run.job.displaces && !self.is_foreground();
        match end {
            Some(JobEnd::Done) => {
                self.stats.done += 1;
                self.gone.push(run.job);
            }
            Some(JobEnd::Failed(reason)) => {
                self.stats.failed += 1;
                let name = &run.job.name;
                tracing::warn!(upstream, name, reason, "a background job failed");
                self.gone.push(run.job);
            }
            None => {
                self.stats.cancelled += 1;
                run.expiries += 1;
                self.back(upstream, run);
            }
        }
    }

    /// Drops all waiting jobs; no job starts from now on.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.stats.dropped += count(self.waiting.len());
        self.gone
            .extend(self.waiting.drain(..).map(|waiting| waiting.job));
    }

    /// Counts the running job as dropped: its task is gone.
    pub(super) fn cut_off(&mut self) {
        self.stats.dropped += u64::from(self.stats.running);
        self.stats.running = false;
    }

    /// Puts a cancelled job in front; a newer job with the same key replaces it there.
    fn back(&mut self, upstream: &str, run: Waiting) {
        if self.closed {
            return self.give_up(upstream, run.job, "the gate is closed");
        }
        let newer = self.waiting.iter().position(|newer| newer.job.key == run.job.key);
        if let Some(newer) = newer.and_then(|at| self.waiting.remove(at)) {
            self.stats.replaced += 1;
            self.gone.push(run.job);
            self.waiting.push_front(newer);
        } else if run.expiries < EXPIRIES_MAX {
            self.waiting.push_front(run);
        } else {
            self.give_up(upstream, run.job, "it was cancelled too often");
        }
    }

    /// Moves overdue jobs to the end, in their order.
    fn expire(&mut self, upstream: &str, now: Duration) {
        let all = std::mem::take(&mut self.waiting);
        let (overdue, waiting): (VecDeque<_>, _) =
            all.into_iter().partition(|waiting| self.expires(waiting) <= now);
        self.waiting = waiting;
        for mut late in overdue {
            self.stats.expired += 1;
            late.expiries += 1;
            late.since = now;
            if late.expiries < EXPIRIES_MAX {
                self.waiting.push_back(late);
            } else {
                self.give_up(upstream, late.job, "it waited too long too often");
            }
        }
    }

    fn expires(&self, waiting: &Waiting) -> Duration {
        waiting.since.max(self.ran).saturating_add(MAX_WAIT)
    }

    fn give_up(&mut self, upstream: &str, job: BackgroundCall, reason: &str) {
        self.stats.dropped += 1;
        let name = &job.name;
        tracing::warn!(upstream, name, reason, "dropped a background job");
        self.gone.push(job);
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
