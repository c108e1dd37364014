//! Background runs: their states and costs.
//!
//! Owns: the identity of work, and the order of runs. Never: doing a run.
//!
//! A lane is one strategy for one owner of one scope. `head` marks the running or next run of each lane, so
//! that a claim reads no other. `due` is the time from which a run can be claimed: the time to run of a
//! waiting run, the end of the lease of a running one.

mod lane;

use async_trait::async_trait;
use model::{Date, SessionId, Timestamp};
use ports::runs::{
    Cause, Claim, Claimed, Cost, NewRun, Run, RunPage, RunQuery, RunState, RunStats, Runs, Threshold,
    Verdict, Work,
};
use ports::{LedgerError, RunId};
use rusqlite::{Connection, Row, ToSql};

use crate::SqliteLedger;
use crate::failure::{Failure, LedgerResult};
use crate::port::port;
use crate::row::{count, counted, make_scope, owner_at, scope_at, scope_row};
use crate::statement::Statements as _;

use lane::Lane;
pub(crate) use lane::set_heads;

const RUN: &str =
    "SELECT runs.id, strategy, app, project, owner_kind, owner, subject, session, cause, reason, state,
      attempt, due, created, started, finished, calls, prompt_tokens, completion_tokens, millis, change, error
    FROM runs JOIN scopes ON scopes.id = runs.scope";

pub(crate) const DUE: &str = "SELECT seq FROM runs INDEXED BY run_heads WHERE head = 1 AND due <= ?3
      AND (strategy IN (SELECT value FROM json_each(?1))
           OR cause = 'manual' AND strategy IN (SELECT value FROM json_each(?2)))
    ORDER BY due, seq LIMIT ?4";

const NEXT: &str = "SELECT min(due) FROM runs INDEXED BY run_heads WHERE head = 1 AND due > ?3
      AND (strategy IN (SELECT value FROM json_each(?1))
           OR cause = 'manual' AND strategy IN (SELECT value FROM json_each(?2)))";

fn run_of(row: &Row<'_>) -> LedgerResult<Run> {
    let text = |at| Ok::<String, Failure>(row.get(at)?);
    let time = |at| Ok::<_, Failure>(row.get::<_, Option<i64>>(at)?.map(Timestamp::from_millis));
    let number = |at| Ok::<_, Failure>(counted(row.get(at)?));
    let (cause, state) = (text(8)?, text(10)?);
    let owner = row.get::<_, Option<i64>>(4)?.map(|_| owner_at(row, 4));
    Ok(Run {
        id: RunId::from(text(0)?),
        work: Work {
            strategy: text(1)?,
            scope: scope_at(row, 2)?,
            owner: owner.transpose()?,
            subject: text(6)?,
        },
        session: row.get::<_, Option<String>>(7)?.map(SessionId::new),
        cause: Cause::parse(&cause).ok_or(Failure::Row(cause))?,
        reason: text(9)?,
        state: RunState::parse(&state).ok_or(Failure::Row(state))?,
        attempt: row.get(11)?,
        run_at: time(12)?.unwrap_or_default(),
        created: time(13)?.unwrap_or_default(),
        started: time(14)?,
        finished: time(15)?,
        cost: Cost {
            calls: number(16)?,
            prompt_tokens: number(17)?,
            completion_tokens: number(18)?,
            millis: number(19)?,
        },
        change: text(20)?,
        error: row.get(21)?,
    })
}

/// Counts a trigger; at the threshold it returns the time at which the run is due.
fn counted_due(
    connection: &Connection,
    lane: &Lane,
    subject: &str,
    threshold: Threshold,
    new: &NewRun,
    waiting: Option<&WaitingRun>,
) -> LedgerResult<Option<Timestamp>> {
    const COUNTER: &str =
        "scope = ?1 AND strategy = ?2 AND owner_kind IS ?3 AND owner IS ?4 AND subject = ?5";
    let sql = format!("SELECT count, fired FROM run_counters WHERE {COUNTER}");
    let standing: Option<(u32, Option<i64>)> = connection.one(&sql, &*lane.with(&[&subject]), |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    if standing.is_none() {
        let sql = "INSERT INTO run_counters (scope, strategy, owner_kind, owner, subject, count)
            VALUES (?1, ?2, ?3, ?4, ?5, 0)";
        connection.run(sql, &*lane.with(&[&subject]))?;
    }
    let (before, fired) = standing.unwrap_or_default();
    let (number, fired, due) = if before + 1 < threshold.count {
        (before + 1, fired, None)
    } else {
        let cooldown = i64::try_from(threshold.cooldown.as_millis()).unwrap_or(i64::MAX);
        let rested = fired.map(|fired| Timestamp::from_millis(fired).plus_millis(cooldown));
        let due = rested.map_or(new.run_at, |rested| rested.max(new.run_at));
        // A run that an earlier threshold queued absorbs this one, without another cooldown.
        let due = match waiting {
            Some(waiting) if waiting.is_failed() || fired == Some(waiting.due) => {
                let stands = Timestamp::from_millis(waiting.due);
                if new.cause == Cause::Idle {
                    stands.max(new.run_at)
                } else {
                    stands
                }
            }
            _ => due,
        };
        (0, Some(due.millis()), Some(due))
    };
    let sql = format!("UPDATE run_counters SET count = ?6, fired = ?7 WHERE {COUNTER}");
    connection.run(&sql, &*lane.with(&[&subject, &number, &fired]))?;
    Ok(due)
}

/// A queued or failed run of the same work.
struct WaitingRun {
    seq: i64,
    id: String,
    state: String,
    cause: String,
    due: i64,
    session: Option<String>,
}

impl WaitingRun {
    fn is_failed(&self) -> bool {
        self.state == RunState::Failed.as_str()
    }
}

fn waiting(connection: &Connection, lane: &Lane, subject: &str) -> LedgerResult<Option<WaitingRun>> {
    let sql = "SELECT seq, id, state, cause, due, session FROM runs INDEXED BY waiting_work
        WHERE scope = ?1 AND strategy = ?2 AND owner_kind IS ?3 AND owner IS ?4 AND subject = ?5
          AND state <> 'success' AND state IN ('queued', 'failed') ORDER BY seq LIMIT 1";
    connection.one(sql, &*lane.with(&[&subject]), |row| {
        Ok(WaitingRun {
            seq: row.get(0)?,
            id: row.get(1)?,
            state: row.get(2)?,
            cause: row.get(3)?,
            due: row.get(4)?,
            session: row.get(5)?,
        })
    })
}

/// Merges a new run into a waiting one of the same work.
fn absorb(connection: &Connection, waiting: &WaitingRun, new: &NewRun, due: i64) -> LedgerResult<()> {
    let before = Cause::parse(&waiting.cause).ok_or_else(|| Failure::Row(waiting.cause.clone()))?;
    let is_failed = waiting.is_failed();
    let (cause, due) = match (before, new.cause) {
        (_, Cause::Manual) => (Cause::Manual, due.min(waiting.due)),
        (Cause::Idle, Cause::Idle) if !is_failed => (Cause::Idle, due.max(waiting.due)),
        (before, Cause::Idle) => (before, waiting.due),
        (before, _) if is_failed => (before, waiting.due),
        (Cause::Idle, cause) => (cause, due.min(waiting.due)),
        (before, _) => (before, due.min(waiting.due)),
    };
    let session = new.session.as_ref().map(SessionId::as_str);
    let session = session.filter(|session| waiting.session.as_deref() == Some(*session));
    let reason = (before != Cause::Manual || new.cause == Cause::Manual).then_some(&new.reason);
    let sql =
        "UPDATE runs SET cause = ?2, due = ?3, session = ?4, reason = coalesce(?5, reason) WHERE seq = ?1";
    connection.run(sql, (waiting.seq, cause.as_str(), due, session, reason))
}

fn enqueue(connection: &Connection, new: &NewRun, now: Timestamp) -> LedgerResult<Option<RunId>> {
    if connection.has("SELECT 1 FROM runs WHERE id = ?1", [&*new.id])? {
        return Ok(Some(new.id.clone()));
    }
    let scope = make_scope(connection, &new.work.scope)?;
    let lane = Lane::new(scope, &new.work.strategy, new.work.owner.as_ref());
    let subject = new.work.subject.as_str();
    let waiting = waiting(connection, &lane, subject)?;
    let due = match new.threshold {
        Some(threshold) => counted_due(connection, &lane, subject, threshold, new, waiting.as_ref())?,
        None => Some(new.run_at),
    };
    let Some(due) = due.map(Timestamp::millis) else {
        return Ok(None);
    };
    let id = if let Some(waiting) = waiting {
        absorb(connection, &waiting, new, due)?;
        RunId::from(waiting.id)
    } else {
        let session = new.session.as_ref().map(SessionId::as_str);
        let sql = "INSERT INTO runs (scope, strategy, owner_kind, owner, subject, id, session, cause, reason, state, due, created)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'queued', ?10, ?11)";
        connection.run(
            sql,
            &*lane.with(&[
                &subject,
                &&*new.id,
                &session,
                &new.cause.as_str(),
                &new.reason,
                &due,
                &now.millis(),
            ]),
        )?;
        new.id.clone()
    };
    lane.set_head(connection)?;
    Ok(Some(id))
}

fn claim(connection: &Connection, claim: &Claim) -> LedgerResult<Claimed> {
    let strategies = serde_json::to_string(&claim.strategies)?;
    let by_hand = serde_json::to_string(&claim.by_hand)?;
    let now = claim.now.millis();
    let wanted = (&strategies, &by_hand, now, count(claim.limit));
    let due = connection.numbers(DUE, wanted)?;
    let mut runs = Vec::with_capacity(due.len());
    for seq in due {
        let sql =
            "UPDATE runs SET state = 'running', attempt = attempt + 1, started = ?2, due = ?3 WHERE seq = ?1";
        connection.run(sql, (seq, now, claim.lease_until.millis()))?;
        runs.extend(connection.one(&format!("{RUN} WHERE runs.seq = ?1"), [seq], run_of)?);
    }
    let next: Option<i64> = connection.value(NEXT, (&strategies, &by_hand, now))?;
    Ok(Claimed {
        runs,
        next: next.map(Timestamp::from_millis),
    })
}

fn finish(
    connection: &Connection,
    id: &str,
    verdict: &Verdict,
    millis: u64,
    now: Timestamp,
) -> LedgerResult<()> {
    let (state, due, finished) = match verdict {
        Verdict::Done { .. } => (RunState::Success, None, Some(now.millis())),
        Verdict::Retry { at, .. } => (RunState::Failed, Some(at.millis()), None),
        Verdict::GiveUp { .. } => (RunState::DeadLetter, None, Some(now.millis())),
        Verdict::HandBack => (RunState::Queued, Some(now.millis()), None),
    };
    let (change, error) = match verdict {
        Verdict::Done { change } => (Some(change), None),
        Verdict::Retry { error, .. } | Verdict::GiveUp { error } => (None, Some(error)),
        Verdict::HandBack => (None, None),
    };
    let uncounted = u32::from(*verdict == Verdict::HandBack);
    let sql = "UPDATE runs SET state = ?2, due = coalesce(?3, due), finished = ?4, change = coalesce(?5, ''), error = ?6,
          attempt = attempt - ?7, millis = millis + ?8, head = 0
        WHERE id = ?1 AND state = 'running' RETURNING scope, strategy, owner_kind, owner, subject";
    let values = (
        id,
        state.as_str(),
        due,
        finished,
        change,
        error,
        uncounted,
        count(millis),
    );
    let ended = connection.one(sql, values, |row| {
        let lane = Lane {
            scope: row.get(0)?,
            strategy: row.get(1)?,
            owner_kind: row.get(2)?,
            owner: row.get(3)?,
        };
        Ok((lane, row.get::<_, String>(4)?))
    })?;
    let Some((lane, subject)) = ended else {
        return Ok(());
    };
    if state == RunState::Success {
        let sql = "DELETE FROM runs WHERE scope = ?1 AND strategy = ?2 AND owner_kind IS ?3 AND owner IS ?4
            AND subject = ?5 AND state <> 'success' AND state = 'dead_letter'";
        connection.run(sql, &*lane.with(&[&subject]))?;
    }
    lane.set_head(connection)
}

fn charge(connection: &Connection, id: &str, day: Date, cost: Cost) -> LedgerResult<()> {
    let spent = [cost.calls, cost.prompt_tokens, cost.completion_tokens];
    let [calls, prompt, completion] = spent.map(count);
    let sql = "UPDATE runs SET calls = calls + ?2, prompt_tokens = prompt_tokens + ?3,
        completion_tokens = completion_tokens + ?4 WHERE id = ?1";
    connection.run(sql, (id, calls, prompt, completion))?;
    let sql =
        "INSERT INTO spending VALUES (?1, ?2, ?3, ?4) ON CONFLICT (day) DO UPDATE SET calls = calls + ?2,
               prompt_tokens = prompt_tokens + ?3, completion_tokens = completion_tokens + ?4";
    connection.run(sql, (day.to_string(), calls, prompt, completion))
}

fn spent(connection: &Connection, day: Date) -> LedgerResult<Cost> {
    let sql = "SELECT calls, prompt_tokens, completion_tokens FROM spending WHERE day = ?1";
    let spent = connection.one(sql, [day.to_string()], |row| {
        Ok(Cost {
            calls: counted(row.get(0)?),
            prompt_tokens: counted(row.get(1)?),
            completion_tokens: counted(row.get(2)?),
            millis: 0,
        })
    });
    Ok(spent?.unwrap_or_default())
}

fn release_all(connection: &Connection, now: Timestamp, latest: Timestamp) -> LedgerResult<usize> {
    let sql = "UPDATE runs SET state = 'queued', due = ?1 WHERE state = 'running' AND state <> 'success'";
    let released = connection.changed(sql, [now.millis()])?;
    let sql = "UPDATE runs SET due = ?1 WHERE finished IS NULL AND cause <> 'cron' AND due > ?1";
    connection.run(sql, [latest.millis()])?;
    set_heads(connection)?;
    Ok(released)
}

fn page(connection: &Connection, query: &RunQuery) -> LedgerResult<RunPage> {
    let scope = match &query.scope {
        None => None,
        Some(scope) => match scope_row(connection, scope)? {
            None => return Ok(RunPage::default()),
            row => row,
        },
    };
    // Every parameter occurs in the statement, whether or not the query uses it.
    let mut condition = "(?1 IS NULL OR ?2 IS NULL OR ?3 IS NULL OR ?4 IS NULL OR 1)".to_owned();
    let state = query.state.map(RunState::as_str);
    let ids: Vec<&str> = query.ids.iter().map(|id| &**id).collect();
    let by_ids = " AND runs.id IN (SELECT value FROM json_each(?4))";
    let wanted = [
        (scope.is_some(), " AND runs.scope = ?1"),
        (query.strategy.is_some(), " AND strategy = ?2"),
        (state.is_some(), " AND state = ?3"),
        (!ids.is_empty(), by_ids),
    ];
    let wanted = wanted.into_iter().filter(|(is_asked, _)| *is_asked);
    wanted.for_each(|(_, sql)| condition.push_str(sql));
    let ids = serde_json::to_string(&ids)?;
    let asked: [&dyn ToSql; 4] = [&scope, &query.strategy, &state, &ids];
    let sql = format!("SELECT count(*) FROM runs WHERE {condition}");
    let total = connection.value(&sql, &asked[..])?;
    let before = query.page.saturating_sub(1).saturating_mul(query.page_size);
    let (limit, before) = (count(query.page_size), count(before));
    let sql = format!("{RUN} WHERE {condition} ORDER BY runs.seq DESC LIMIT ?5 OFFSET ?6");
    let asked = [&asked[..], &[&limit, &before]].concat();
    Ok(RunPage {
        total: counted(total),
        runs: connection.all(&sql, &*asked, run_of)?,
    })
}

fn stats(connection: &Connection) -> LedgerResult<RunStats> {
    let sql = "SELECT count(*) FROM runs WHERE state = ?1 AND state <> 'success' AND (state <> 'queued' OR cause <> 'cron')";
    let of = |state: RunState| connection.value(sql, [state.as_str()]).map(counted);
    Ok(RunStats {
        queued: of(RunState::Queued)?,
        running: of(RunState::Running)?,
        failed: of(RunState::Failed)?,
        dead_letters: of(RunState::DeadLetter)?,
    })
}

port! { Runs {
    write enqueue[](runs: Vec<NewRun>, now: Timestamp) -> Vec<Option<RunId>>
        = |c| runs.iter().map(|run| enqueue(c, run, now)).collect();
    write claim[](wanted: Claim) -> Claimed = |c| claim(c, &wanted);
    write finish[id: RunId](verdict: Verdict, millis: u64, now: Timestamp) -> ()
        = |c| finish(c, &id, &verdict, millis, now);
    write charge[id: RunId](day: Date, cost: Cost) -> () = |c| charge(c, &id, day, cost);
    read spent[](day: Date) -> Cost = |c| spent(c, day);
    write release_all[](now: Timestamp, latest: Timestamp) -> usize = |c| release_all(c, now, latest);
    read page[query: RunQuery]() -> RunPage = |c| page(c, &query);
    read stats[]() -> RunStats = |c| stats(c);
} }
