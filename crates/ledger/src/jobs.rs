//! Jobs with leases.
//!
//! Owns: the order of jobs. Never: doing a job.
//!
//! `head` marks the oldest unfinished job of each session, so that a claim reads no other. `due` is the time
//! from which a job can be claimed: the time to run of a queued job, the end of the lease of a leased one.

use async_trait::async_trait;
use model::{Date, Scope, SessionKey, Timestamp};
use ports::{
    Job, JobFailure, JobId, JobKind, JobState, JobStats, Jobs, LedgerError, NewJob, Retention, TaskPage,
    TaskQuery,
};
use rusqlite::{Connection, Row};

use crate::SqliteLedger;
use crate::deferred::blocking;
use crate::failure::{Failure, LedgerResult};
use crate::open;
use crate::port::port;
use crate::row::{count, counted, place_of, scope_row, session_key, session_row};
use crate::statement::Statements as _;

const JOB: &str =
    "SELECT jobs.id, jobs.kind, app, project, name, subject, state, attempt, error, created, finished
    FROM jobs JOIN sessions ON sessions.id = jobs.session JOIN scopes ON scopes.id = jobs.scope";

pub(crate) const DUE: &str = "SELECT seq FROM jobs INDEXED BY job_heads
    WHERE head = 1 AND due <= ?1 ORDER BY seq LIMIT ?2";

fn job_of(row: &Row<'_>) -> LedgerResult<Job> {
    let kind: String = row.get(1)?;
    let state: String = row.get(6)?;
    let finished: Option<i64> = row.get(10)?;
    Ok(Job {
        id: JobId(row.get(0)?),
        kind: JobKind::parse(&kind).ok_or(Failure::Row(kind))?,
        session: session_key(row, 2)?,
        subject: row.get(5)?,
        state: JobState::parse(&state).ok_or(Failure::Row(state))?,
        attempt: row.get(7)?,
        error: row.get(8)?,
        created: Timestamp::from_millis(row.get(9)?),
        finished: finished.map(Timestamp::from_millis),
    })
}

/// Queues a job unless its id is known.
pub(crate) fn insert(connection: &Connection, job: NewJob, created: Timestamp) -> LedgerResult<()> {
    let place = place_of(connection, &job.session)?;
    let sql = "INSERT INTO jobs (id, scope, session, kind, subject, state, due, created, head)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
          NOT EXISTS (SELECT 1 FROM jobs WHERE session = ?3 AND finished IS NULL))
        ON CONFLICT (id) DO NOTHING";
    let values = (
        job.id.0,
        place.scope,
        place.session,
        job.kind.as_str(),
        job.subject,
        JobState::Queued.as_str(),
        job.run_at.millis(),
        created.millis(),
    );
    connection.run(sql, values)
}

/// Marks the oldest unfinished job of a session as its head.
pub(crate) fn set_head(connection: &Connection, session: i64) -> LedgerResult<()> {
    let sql = "UPDATE jobs SET head = 1 WHERE head = 0 AND seq =
        (SELECT min(seq) FROM jobs WHERE session = ?1 AND finished IS NULL)";
    connection.run(sql, [session])
}

/// The jobs after one in its session, in order, and whether each is a segment that waits for its first
/// attempt.
pub(crate) const FOLLOWERS: &str = "SELECT next.seq, next.kind = ?3 AND next.state = ?4 AND next.attempt = 0 AND next.due <= ?5
    FROM jobs JOIN jobs AS next ON next.session = jobs.session AND next.finished IS NULL AND next.seq > jobs.seq
    WHERE jobs.seq = ?1 ORDER BY next.seq LIMIT ?2";

fn claim(
    connection: &Connection,
    limit: usize,
    followers_max: usize,
    now: Timestamp,
    lease_until: Timestamp,
) -> LedgerResult<Vec<Job>> {
    let due = connection.numbers(DUE, (now.millis(), count(limit)))?;
    let mut claimed = Vec::with_capacity(due.len());
    for seq in due {
        let Some(first) = lease(connection, seq, lease_until)? else {
            continue;
        };
        let takes_more = first.kind == JobKind::WriteCell && first.attempt == 1;
        claimed.push(first);
        if takes_more && followers_max > 0 {
            for seq in followers(connection, seq, followers_max, now)? {
                claimed.extend(lease(connection, seq, lease_until)?);
            }
        }
    }
    Ok(claimed)
}

fn lease(connection: &Connection, seq: i64, until: Timestamp) -> LedgerResult<Option<Job>> {
    let sql = "UPDATE jobs SET state = ?2, attempt = attempt + 1, due = ?3 WHERE seq = ?1";
    connection.run(sql, (seq, JobState::Processing.as_str(), until.millis()))?;
    let sql = format!("{JOB} WHERE jobs.seq = ?1");
    connection.one(&sql, [seq], job_of)
}

fn followers(connection: &Connection, seq: i64, limit: usize, now: Timestamp) -> LedgerResult<Vec<i64>> {
    let mut statement = connection.prepare_cached(FOLLOWERS)?;
    let (kind, state) = (JobKind::WriteCell.as_str(), JobState::Queued.as_str());
    let mut rows = statement.query((seq, count(limit), kind, state, now.millis()))?;
    let mut waiting = Vec::new();
    while let Some(row) = rows.next()?
        && row.get::<_, bool>(1)?
    {
        waiting.push(row.get(0)?);
    }
    Ok(waiting)
}

/// Sets state and due time of leased jobs.
fn set_leased(connection: &Connection, ids: &[JobId], state: JobState, due: Timestamp) -> LedgerResult<()> {
    for id in ids {
        let leased = JobState::Processing.as_str();
        let sql = "UPDATE jobs SET state = ?3, due = ?4 WHERE id = ?1 AND state = ?2";
        connection.run(sql, (id.0.as_str(), leased, state.as_str(), due.millis()))?;
    }
    Ok(())
}

/// Finishes leased jobs; ignores jobs without a lease.
fn complete(connection: &Connection, ids: &[JobId], now: Timestamp) -> LedgerResult<()> {
    for id in ids {
        let sql = "UPDATE jobs SET state = ?3, finished = ?4, error = NULL, head = 0
            WHERE id = ?1 AND state = ?2 RETURNING session, kind, subject";
        let values = (
            id.0.as_str(),
            JobState::Processing.as_str(),
            JobState::Success.as_str(),
            now.millis(),
        );
        let ended = connection.one(sql, values, |row| {
            Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
        })?;
        let Some((session, kind, subject)) = ended else {
            continue;
        };
        if kind == JobKind::WriteCell.as_str() {
            let sql = "UPDATE cell_owners SET written = 1 WHERE cell = (SELECT seq FROM cells WHERE id = ?1)";
            connection.run(sql, [subject])?;
        }
        set_head(connection, session)?;
    }
    Ok(())
}

fn fail(connection: &Connection, id: &JobId, failure: JobFailure, now: Timestamp) -> LedgerResult<()> {
    let (id, leased) = (id.0.as_str(), JobState::Processing.as_str());
    if let Some(retry_at) = failure.retry_at {
        let sql = "UPDATE jobs SET state = ?3, error = ?4, due = ?5 WHERE id = ?1 AND state = ?2";
        let queued = JobState::Queued.as_str();
        return connection.run(sql, (id, leased, queued, failure.error, retry_at.millis()));
    }
    let sql = "UPDATE jobs SET state = ?3, error = ?4, finished = ?5, head = 0
        WHERE id = ?1 AND state = ?2 RETURNING session";
    let failed = JobState::Failed.as_str();
    let session: Option<i64> = connection.first(sql, (id, leased, failed, failure.error, now.millis()))?;
    session.map_or(Ok(()), |session| set_head(connection, session))
}

/// Queues a dead-lettered job again, at the end of its session's line, because the job at its head may be
/// running.
fn retry(connection: &Connection, scope: &Scope, id: &JobId, now: Timestamp) -> LedgerResult<bool> {
    let Some(scope) = scope_row(connection, scope)? else {
        return Ok(false);
    };
    let sql = "UPDATE jobs SET seq = (SELECT max(seq) FROM jobs) + 1, state = ?4, attempt = 0, finished = NULL, due = ?5,
          head = NOT EXISTS (SELECT 1 FROM jobs AS other
                             WHERE other.session = jobs.session AND other.finished IS NULL)
        WHERE id = ?1 AND scope = ?2 AND state = ?3";
    let values = (
        id.0.as_str(),
        scope,
        JobState::Failed.as_str(),
        JobState::Queued.as_str(),
        now.millis(),
    );
    Ok(connection.changed(sql, values)? > 0)
}

/// Frees all leases. A job can be claimed at once again, since it was due when it was claimed.
fn release_all(connection: &Connection, latest: Timestamp) -> LedgerResult<usize> {
    let (leased, queued) = (JobState::Processing.as_str(), JobState::Queued.as_str());
    let sql = "UPDATE jobs SET state = ?2, due = created WHERE state = ?1 AND state <> 'success'";
    let released = connection.changed(sql, (leased, queued))?;
    let sql = "UPDATE jobs SET due = ?2 WHERE state = ?1 AND due > ?2";
    connection.run(sql, (queued, latest.millis()))?;
    Ok(released)
}

/// The SQL condition of a query, with its one parameter. Its text comes from this program alone.
fn condition(connection: &Connection, query: &TaskQuery) -> LedgerResult<Option<(String, i64)>> {
    let (mut sql, row) = match &query.session {
        Some(session) => {
            let key = SessionKey::new(query.scope.clone(), session.clone());
            ("jobs.session = ?1".to_owned(), session_row(connection, &key)?)
        }
        None => ("jobs.scope = ?1".to_owned(), scope_row(connection, &query.scope)?),
    };
    if let Some(state) = query.state {
        sql = format!("{sql} AND state = '{}'", state.as_str());
    }
    if !query.kinds.is_empty() {
        let kinds = query.kinds.iter().map(|kind| format!("'{}'", kind.as_str()));
        let kinds: Vec<String> = kinds.collect();
        sql = format!("{sql} AND kind IN ({})", kinds.join(", "));
    }
    if let Some(from) = query.made_from {
        sql = format!("{sql} AND created >= {}", from.millis());
    }
    if let Some(before) = query.made_before {
        sql = format!("{sql} AND created < {}", before.millis());
    }
    Ok(row.map(|row| (sql, row)))
}

pub(crate) fn page_sql(condition: &str) -> String {
    format!("{JOB} WHERE {condition} ORDER BY jobs.seq DESC LIMIT ?2 OFFSET ?3")
}

fn page(connection: &Connection, query: &TaskQuery) -> LedgerResult<TaskPage> {
    let Some((condition, row)) = condition(connection, query)? else {
        return Ok(TaskPage {
            total: 0,
            jobs: Vec::new(),
        });
    };
    let total = connection.value(&format!("SELECT count(*) FROM jobs WHERE {condition}"), [row])?;
    let before = query.page.saturating_sub(1).saturating_mul(query.page_size);
    let page = (row, count(query.page_size), count(before));
    Ok(TaskPage {
        total: counted(total),
        jobs: connection.all(&page_sql(&condition), page, job_of)?,
    })
}

fn job(connection: &Connection, scope: &Scope, id: &JobId) -> LedgerResult<Option<Job>> {
    let sql = format!("{JOB} WHERE jobs.id = ?1 AND app = ?2 AND project = ?3");
    let named = [id.0.as_str(), scope.app.as_str(), scope.project.as_str()];
    connection.one(&sql, named, job_of)
}

fn drop_finished(connection: &Connection, before: Timestamp) -> LedgerResult<usize> {
    let mut dropped = 0;
    for sql in [
        "DELETE FROM jobs WHERE state = 'success' AND finished < ?1",
        "DELETE FROM runs WHERE state = 'success' AND finished < ?1",
    ] {
        dropped += connection.changed(sql, [before.millis()])?;
    }
    Ok(dropped)
}

fn stats(connection: &Connection) -> LedgerResult<JobStats> {
    let sql = "SELECT count(*), min(created) FROM jobs WHERE state = ?1 AND state <> 'success'";
    let of = |state: JobState| {
        connection.only(sql, [state.as_str()], |row| {
            Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?))
        })
    };
    let (queued, oldest) = of(JobState::Queued)?;
    Ok(JobStats {
        queued: counted(queued),
        processing: counted(of(JobState::Processing)?.0),
        failed: counted(of(JobState::Failed)?.0),
        oldest_queued: oldest.map(Timestamp::from_millis),
    })
}

port! { Jobs {
    write enqueue[](jobs: Vec<NewJob>, now: Timestamp) -> ()
        = |c| jobs.into_iter().try_for_each(|job| insert(c, job, now));
    write claim[](limit: usize, followers_max: usize, now: Timestamp, lease_until: Timestamp) -> Vec<Job>
        = |c| claim(c, limit, followers_max, now, lease_until);
    write hand_back[ids: [JobId]](now: Timestamp) -> ()
        = |c| set_leased(c, &ids, JobState::Queued, now);
    write renew[ids: [JobId]](lease_until: Timestamp) -> ()
        = |c| set_leased(c, &ids, JobState::Processing, lease_until);
    write complete[ids: [JobId]](now: Timestamp) -> () = |c| complete(c, &ids, now);
    write fail[id: JobId](failure: JobFailure, now: Timestamp) -> () = |c| fail(c, &id, failure, now);
    write retry[scope: Scope, id: JobId](now: Timestamp) -> bool = |c| retry(c, &scope, &id, now);
    write release_all[](latest: Timestamp) -> usize = |c| release_all(c, latest);
    read page[query: TaskQuery]() -> TaskPage = |c| page(c, &query);
    read job[scope: Scope, id: JobId]() -> Option<Job> = |c| job(c, &scope, &id);
    read stats[]() -> JobStats = |c| stats(c);
} }

port! { Retention {
    write drop_finished[](before: Timestamp) -> usize = |c| drop_finished(c, before);
    read quiet_sessions[](before: Timestamp) -> Vec<SessionKey> = |c| open::quiet(c, before);
}
    async fn copies(&self) -> Result<Vec<Date>, LedgerError> {
        let copies = self.copies.clone();
        Ok(blocking(move || copies.days()).await?.map_err(Failure::Io)?)
    }

    async fn copy(&self, day: Date) -> Result<bool, LedgerError> {
        let copies = self.copies.clone();
        Ok(blocking(move || copies.make(day, |_| Ok(()))).await??)
    }
}
