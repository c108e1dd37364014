//! Durable work in memory.
//!
//! Owns: `Jobs` of the fake. Never: running a job.

use async_trait::async_trait;
use model::{Date, Scope, SessionKey, Timestamp};
use ports::{
    COPIES_MAX, Job, JobFailure, JobId, JobKind, JobState, JobStats, Jobs, LedgerError, NewJob, Retention,
    TaskPage, TaskQuery,
};

use super::{MemoryLedger, State, StoredJob};

impl StoredJob {
    fn is_unfinished(&self) -> bool {
        matches!(self.job.state, JobState::Queued | JobState::Processing)
    }

    fn is_due(&self, now: Timestamp) -> bool {
        match self.job.state {
            JobState::Queued => self.run_at <= now,
            JobState::Processing => self.lease_until <= now,
            JobState::Success | JobState::Failed => false,
        }
    }

    fn is_first_writing(&self, now: Timestamp) -> bool {
        self.job.kind == JobKind::WriteCell
            && self.job.state == JobState::Queued
            && self.job.attempt == 0
            && self.run_at <= now
    }

    fn lease(&mut self, until: Timestamp) -> Job {
        self.job.state = JobState::Processing;
        self.job.attempt += 1;
        self.lease_until = until;
        self.job.clone()
    }

    fn finish(&mut self, state: JobState, now: Timestamp) {
        self.job.state = state;
        self.job.finished = Some(now);
    }
}

impl State {
    pub(super) fn queue(&mut self, new: NewJob, created: Timestamp) {
        if self.jobs.iter().any(|stored| stored.job.id == new.id) {
            return;
        }
        self.jobs.push(StoredJob {
            job: Job {
                id: new.id,
                kind: new.kind,
                session: new.session,
                subject: new.subject,
                state: JobState::Queued,
                attempt: 0,
                error: None,
                created,
                finished: None,
            },
            run_at: new.run_at,
            lease_until: new.run_at,
        });
    }

    fn claim(&mut self, limit: usize, behind: usize, now: Timestamp, lease_until: Timestamp) -> Vec<Job> {
        let mut seen: Vec<SessionKey> = Vec::new();
        let mut claimed = Vec::new();
        let mut heads = 0;
        for place in 0..self.jobs.len() {
            let stored = &mut self.jobs[place];
            let session = stored.job.session.clone();
            if heads == limit || !stored.is_unfinished() || seen.contains(&session) {
                continue;
            }
            seen.push(session.clone());
            if !stored.is_due(now) {
                continue;
            }
            heads += 1;
            claimed.push(stored.lease(lease_until));
            if stored.job.kind == JobKind::WriteCell && stored.job.attempt == 1 {
                let rest = self.jobs[place + 1..].iter_mut();
                let of_session = rest.filter(|next| next.is_unfinished() && next.job.session == session);
                let first = of_session.take_while(|next| next.is_first_writing(now));
                claimed.extend(first.take(behind).map(|next| next.lease(lease_until)));
            }
        }
        claimed
    }

    /// A leased job; none if a sweep removed it, or its lease ended and it was finished or handed back.
    fn leased(&mut self, id: &JobId) -> Option<&mut StoredJob> {
        let stored = self.jobs.iter_mut().find(|stored| stored.job.id == *id)?;
        assert!(stored.job.attempt > 0, "a job ends that was never claimed");
        (stored.job.state == JobState::Processing).then_some(stored)
    }

    fn complete(&mut self, id: &JobId, now: Timestamp) {
        let Some(stored) = self.leased(id) else { return };
        stored.finish(JobState::Success, now);
        stored.job.error = None;
        if stored.job.kind == JobKind::WriteCell {
            let subject = stored.job.subject.clone();
            if let Some(cell) = self.cells.iter_mut().find(|cell| cell.id.as_str() == subject) {
                cell.written = true;
            }
        }
    }

    fn fail(&mut self, id: &JobId, failure: JobFailure, now: Timestamp) {
        let Some(stored) = self.leased(id) else { return };
        stored.job.error = Some(failure.error);
        match failure.retry_at {
            Some(run_at) => {
                stored.job.state = JobState::Queued;
                stored.run_at = run_at;
            }
            None => stored.finish(JobState::Failed, now),
        }
    }

    fn retry(&mut self, scope: &Scope, id: &JobId, now: Timestamp) -> bool {
        let is_it = |stored: &StoredJob| {
            stored.job.id == *id && stored.job.session.scope == *scope && stored.job.state == JobState::Failed
        };
        let Some(place) = self.jobs.iter().position(is_it) else {
            return false;
        };
        let mut stored = self.jobs.remove(place);
        stored.job.state = JobState::Queued;
        stored.job.attempt = 0;
        stored.job.finished = None;
        stored.run_at = now;
        self.jobs.push(stored);
        true
    }

    fn release_all(&mut self, latest: Timestamp) -> usize {
        for stored in &mut self.jobs {
            stored.run_at = stored.run_at.min(latest);
        }
        let leased = self
            .jobs
            .iter_mut()
            .filter(|s| s.job.state == JobState::Processing);
        leased.map(|stored| stored.job.state = JobState::Queued).count()
    }

    fn page(&self, query: &TaskQuery) -> TaskPage {
        let newest_first = self.jobs.iter().rev().map(|stored| &stored.job);
        let matching: Vec<&Job> = newest_first
            .filter(|job| job.session.scope == query.scope)
            .filter(|job| query.session.as_ref().is_none_or(|s| *s == job.session.session))
            .filter(|job| query.state.is_none_or(|state| state == job.state))
            .filter(|job| query.kinds.is_empty() || query.kinds.contains(&job.kind))
            .filter(|job| query.made_from.is_none_or(|from| job.created >= from))
            .filter(|job| query.made_before.is_none_or(|before| job.created < before))
            .collect();
        let before = (query.page - 1) * query.page_size;
        TaskPage {
            total: matching.len(),
            jobs: matching
                .into_iter()
                .skip(before)
                .take(query.page_size)
                .cloned()
                .collect(),
        }
    }

    fn drop_finished(&mut self, before: Timestamp) -> usize {
        let jobs = self.jobs.len();
        self.jobs.retain(|stored| {
            stored.job.state != JobState::Success || stored.job.finished.is_none_or(|at| at >= before)
        });
        jobs - self.jobs.len() + self.runs.drop_finished(before)
    }

    fn job_stats(&self) -> JobStats {
        let in_state = |state| self.jobs.iter().filter(move |s| s.job.state == state);
        JobStats {
            queued: in_state(JobState::Queued).count(),
            processing: in_state(JobState::Processing).count(),
            failed: in_state(JobState::Failed).count(),
            oldest_queued: in_state(JobState::Queued).map(|s| s.job.created).min(),
        }
    }
}

#[async_trait]
impl Jobs for MemoryLedger {
    async fn enqueue(&self, jobs: Vec<NewJob>, now: Timestamp) -> Result<(), LedgerError> {
        self.call(|state| {
            for job in jobs {
                state.queue(job, now);
            }
            Ok(())
        })
    }

    async fn claim(
        &self,
        limit: usize,
        behind: usize,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<Job>, LedgerError> {
        assert!(lease_until > now, "a lease that has run out already");
        self.call(|state| Ok(state.claim(limit, behind, now, lease_until)))
    }

    async fn hand_back(&self, ids: &[JobId], now: Timestamp) -> Result<(), LedgerError> {
        self.call(|state| {
            for id in ids {
                if let Some(stored) = state.leased(id) {
                    stored.job.state = JobState::Queued;
                    stored.run_at = now;
                }
            }
            Ok(())
        })
    }

    async fn renew(&self, ids: &[JobId], lease_until: Timestamp) -> Result<(), LedgerError> {
        self.call(|state| {
            for id in ids {
                if let Some(stored) = state.leased(id) {
                    stored.lease_until = lease_until;
                }
            }
            Ok(())
        })
    }

    async fn complete(&self, ids: &[JobId], now: Timestamp) -> Result<(), LedgerError> {
        self.call(|state| {
            for id in ids {
                state.complete(id, now);
            }
            Ok(())
        })
    }

    async fn fail(&self, id: &JobId, failure: JobFailure, now: Timestamp) -> Result<(), LedgerError> {
        self.call(|state| {
            state.fail(id, failure, now);
            Ok(())
        })
    }

    async fn retry(&self, scope: &Scope, id: &JobId, now: Timestamp) -> Result<bool, LedgerError> {
        self.call(|state| Ok(state.retry(scope, id, now)))
    }

    async fn release_all(&self, latest: Timestamp) -> Result<usize, LedgerError> {
        self.call(|state| Ok(state.release_all(latest)))
    }

    async fn page(&self, query: &TaskQuery) -> Result<TaskPage, LedgerError> {
        assert!(query.page > 0, "pages are counted from 1");
        self.call(|state| Ok(state.page(query)))
    }

    async fn job(&self, scope: &Scope, id: &JobId) -> Result<Option<Job>, LedgerError> {
        self.call(|state| {
            let mut jobs = state.jobs.iter().map(|stored| &stored.job);
            Ok(jobs
                .find(|job| job.session.scope == *scope && job.id == *id)
                .cloned())
        })
    }

    async fn stats(&self) -> Result<JobStats, LedgerError> {
        self.call(|state| Ok(state.job_stats()))
    }
}

#[async_trait]
impl Retention for MemoryLedger {
    async fn drop_finished(&self, before: Timestamp) -> Result<usize, LedgerError> {
        self.call(|state| Ok(state.drop_finished(before)))
    }

    async fn quiet_sessions(&self, before: Timestamp) -> Result<Vec<SessionKey>, LedgerError> {
        self.call(|state| {
            let is_quiet = |session: &&SessionKey| state.touched.get(*session).is_some_and(|at| *at < before);
            let mut quiet: Vec<_> = state.sessions.iter().filter(is_quiet).cloned().collect();
            quiet.sort_by_key(|session| state.touched[session]);
            Ok(quiet)
        })
    }

    async fn copies(&self) -> Result<Vec<Date>, LedgerError> {
        self.call(|state| Ok(state.copies.iter().copied().collect()))
    }

    async fn copy(&self, day: Date) -> Result<bool, LedgerError> {
        self.call(|state| {
            state.copies.insert(day);
            while state.copies.len() > COPIES_MAX {
                state.copies.pop_first();
            }
            Ok(true)
        })
    }
}
