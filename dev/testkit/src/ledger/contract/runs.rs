//! Background runs: the identity of work, and the order of runs.
//!
//! Owns: the meaning of `Runs`. Never: the work of a run.

use std::time::Duration;

use model::{Date, Owner};
use ports::runs::{
    Cause, Claim, Claimed, Cost, NewRun, Run, RunQuery, RunState, RunStats, Runs, Threshold, Verdict, Work,
};
use ports::{Retention, RunId, Sweep, Transcripts};

use crate::ledger::samples::{at, name, scope, session};

/// Work of strategy `s` for user `ann`.
pub(super) fn work(subject: &str) -> Work {
    Work {
        strategy: "s".to_owned(),
        scope: scope("a"),
        owner: Some(Owner::user(name("ann"))),
        subject: subject.to_owned(),
    }
}

pub(super) fn new(id: &str, work: Work, cause: Cause, due: i64) -> NewRun {
    NewRun {
        id: id.into(),
        work,
        session: None,
        cause,
        reason: format!("why {id}"),
        run_at: at(due),
        threshold: None,
    }
}

pub(super) async fn queue(ledger: &impl Runs, run: NewRun) -> Option<RunId> {
    let queued = ledger.enqueue(vec![run], at(1)).await.expect("queued");
    queued.into_iter().next().expect("one for each")
}

fn claim_at(now: i64) -> Claim {
    Claim {
        limit: 9,
        strategies: vec!["s".to_owned(), "t".to_owned()],
        by_hand: vec!["off".to_owned()],
        now: at(now),
        lease_until: at(now + 1_000),
    }
}

pub(super) fn listed(runs: &[Run]) -> String {
    let words: Vec<&str> = runs.iter().map(|run| &*run.id).collect();
    words.join(" ")
}

pub(super) async fn claimed(ledger: &impl Runs, now: i64) -> String {
    listed(&ledger.claim(claim_at(now)).await.expect("claims").runs)
}

pub(super) async fn end(ledger: &impl Runs, id: &str, verdict: Verdict, now: i64) {
    ledger
        .finish(&id.into(), verdict, 5, at(now))
        .await
        .expect("recorded");
}

fn done() -> Verdict {
    Verdict::Done {
        change: "3 merged".to_owned(),
    }
}

pub(super) fn all() -> RunQuery {
    RunQuery {
        page: 1,
        page_size: 99,
        ..RunQuery::default()
    }
}

async fn run(ledger: &impl Runs, id: &str) -> Run {
    let query = RunQuery {
        ids: vec![id.into()],
        ..all()
    };
    let page = ledger.page(&query).await.expect("reads");
    assert_eq!(page.total, 1, "{id}");
    page.runs.into_iter().next().expect("one")
}

/// A run comes back as it was queued, and keeps its outcome.
pub async fn a_run_lives_and_ends(ledger: &impl Runs) {
    let whole = NewRun {
        session: Some(session("a", "talk").session),
        ..new("r1", work("x"), Cause::Event, 10)
    };
    assert_eq!(queue(ledger, whole.clone()).await.as_deref(), Some("r1"));
    let early = ledger.claim(claim_at(9)).await.expect("claims");
    assert_eq!((early.runs.len(), early.next), (0, Some(at(10))));
    let Claimed { runs, next } = ledger.claim(claim_at(10)).await.expect("claims");
    let mut expected = Run {
        id: "r1".into(),
        work: work("x"),
        session: whole.session.clone(),
        cause: Cause::Event,
        reason: "why r1".to_owned(),
        state: RunState::Running,
        attempt: 1,
        run_at: at(1_010),
        created: at(1),
        started: Some(at(10)),
        finished: None,
        cost: Cost::default(),
        change: String::new(),
        error: None,
    };
    assert_eq!((&runs[..], next), (&[expected.clone()][..], Some(at(1_010))));
    end(ledger, "r1", done(), 20).await;
    expected.state = RunState::Success;
    expected.finished = Some(at(20));
    "3 merged".clone_into(&mut expected.change);
    expected.cost.millis = 5;
    assert_eq!(run(ledger, "r1").await, expected);
    end(ledger, "r1", Verdict::HandBack, 21).await;
    assert_eq!(run(ledger, "r1").await, expected, "nobody had a lease");
    assert_eq!(
        queue(ledger, whole).await.as_deref(),
        Some("r1"),
        "an id is one run"
    );
    assert_eq!(
        ledger.claim(claim_at(9_999)).await.expect("claims"),
        Claimed::default()
    );
}

/// One waiting run serves all requests for the same work.
pub async fn equal_work_waits_once(ledger: &impl Runs) {
    let event = |id, work| new(id, work, Cause::Event, 10);
    assert_eq!(queue(ledger, event("r1", work("x"))).await.as_deref(), Some("r1"));
    assert_eq!(queue(ledger, event("r2", work("x"))).await.as_deref(), Some("r1"));
    assert_eq!(run(ledger, "r1").await.reason, "why r2");
    for (id, other) in [
        (
            "r3",
            Work {
                subject: "y".to_owned(),
                ..work("x")
            },
        ),
        (
            "r4",
            Work {
                owner: None,
                ..work("x")
            },
        ),
        (
            "r5",
            Work {
                scope: scope("b"),
                ..work("x")
            },
        ),
        (
            "r6",
            Work {
                strategy: "t".to_owned(),
                ..work("x")
            },
        ),
        (
            "r7",
            Work {
                owner: Some(Owner::agent(name("ann"))),
                ..work("x")
            },
        ),
    ] {
        assert_eq!(queue(ledger, event(id, other.clone())).await.as_deref(), Some(id));
        assert_eq!(queue(ledger, event("again", other)).await.as_deref(), Some(id));
    }
    assert_eq!(claimed(ledger, 10).await, "r1 r4 r5 r6 r7");
    let behind = queue(ledger, event("r8", work("x"))).await;
    assert_eq!(behind.as_deref(), Some("r8"), "what runs absorbs nothing");
    assert_eq!(queue(ledger, event("r9", work("x"))).await.as_deref(), Some("r8"));
    assert_eq!(
        claimed(ledger, 11).await,
        "",
        "of one strategy and owner one runs"
    );
    end(ledger, "r1", done(), 12).await;
    assert_eq!(claimed(ledger, 12).await, "r3");
    end(ledger, "r3", done(), 13).await;
    assert_eq!(claimed(ledger, 13).await, "r8");
}

/// Each event restarts the quiet time; a person's trigger does not wait for its end.
pub async fn a_waiting_run_is_moved(ledger: &impl Runs) {
    let due = async |id: &str| run(ledger, id).await.run_at;
    let ask = async |id: &str, cause, due| queue(ledger, new(id, work("x"), cause, due)).await;
    ask("r1", Cause::Idle, 100).await;
    ask("x", Cause::Idle, 200).await;
    assert_eq!(due("r1").await, at(200));
    ask("x", Cause::Idle, 150).await;
    assert_eq!(due("r1").await, at(200));
    ask("x", Cause::Event, 90).await;
    ask("x", Cause::Idle, 300).await;
    assert_eq!(
        (due("r1").await, run(ledger, "r1").await.cause),
        (at(90), Cause::Event)
    );
    ask("x", Cause::Cron, 80).await;
    assert_eq!(
        (due("r1").await, run(ledger, "r1").await.cause),
        (at(80), Cause::Event)
    );
    assert_eq!(claimed(ledger, 80).await, "r1");
    let failed = Verdict::Retry {
        error: "no model".to_owned(),
        at: at(500),
    };
    end(ledger, "r1", failed, 81).await;
    ask("x", Cause::Event, 82).await;
    ask("x", Cause::Idle, 900).await;
    assert_eq!(
        (due("r1").await, run(ledger, "r1").await.state),
        (at(500), RunState::Failed)
    );
    ask("x", Cause::Manual, 90).await;
    assert_eq!(
        (due("r1").await, run(ledger, "r1").await.cause),
        (at(90), Cause::Manual)
    );
    ask("x", Cause::Event, 91).await;
    assert_eq!(run(ledger, "r1").await.reason, "why x");
    assert_eq!(claimed(ledger, 90).await, "r1");
    assert_eq!(run(ledger, "r1").await.attempt, 2);
}

/// A failed run waits for its next attempt or becomes a dead letter, which a later success of the same work
/// removes.
pub async fn a_failed_run_waits_or_is_given_up(ledger: &(impl Runs + Retention)) {
    queue(ledger, new("r1", work("x"), Cause::Event, 10)).await;
    queue(ledger, new("r2", work("y"), Cause::Event, 20)).await;
    let error = || "no model".to_owned();
    assert_eq!(claimed(ledger, 10).await, "r1");
    end(
        ledger,
        "r1",
        Verdict::Retry {
            error: error(),
            at: at(50),
        },
        11,
    )
    .await;
    assert_eq!(claimed(ledger, 20).await, "r2", "what waits holds up nobody");
    end(ledger, "r2", Verdict::GiveUp { error: error() }, 21).await;
    let given_up = run(ledger, "r2").await;
    assert_eq!(
        (given_up.state, given_up.finished, given_up.error),
        (RunState::DeadLetter, Some(at(21)), Some(error()))
    );
    let stats = ledger.stats().await.expect("counts");
    let expected = RunStats {
        failed: 1,
        dead_letters: 1,
        ..RunStats::default()
    };
    assert_eq!(stats, expected);
    assert_eq!(
        queue(ledger, new("r3", work("y"), Cause::Event, 30))
            .await
            .as_deref(),
        Some("r3")
    );
    assert_eq!(claimed(ledger, 30).await, "r3");
    end(ledger, "r3", done(), 31).await;
    let left = ledger.page(&all()).await.expect("reads");
    assert_eq!(listed(&left.runs), "r3 r1", "the newest first");
    assert_eq!(claimed(ledger, 50).await, "r1");
    assert_eq!(
        (run(ledger, "r1").await.attempt, run(ledger, "r1").await.error),
        (2, Some(error()))
    );
    end(ledger, "r1", done(), 51).await;
    assert_eq!(run(ledger, "r1").await.error, None);
    assert_eq!(ledger.stats().await.expect("counts"), RunStats::default());
    assert_eq!(ledger.drop_finished(at(51)).await.expect("dropped"), 1);
    let left = ledger.page(&all()).await.expect("reads");
    assert_eq!(listed(&left.runs), "r1", "older successes are gone");
}

/// A run that a person triggered is claimed first, also of a strategy whose other runs may not be claimed.
pub async fn a_person_goes_first(ledger: &impl Runs) {
    let off = |subject: &str| Work {
        strategy: "off".to_owned(),
        ..work(subject)
    };
    queue(ledger, new("r1", off("x"), Cause::Event, 10)).await;
    queue(ledger, new("r2", work("x"), Cause::Event, 10)).await;
    queue(ledger, new("r3", work("y"), Cause::Manual, 15)).await;
    let waiting = ledger
        .claim(Claim {
            limit: 0,
            ..claim_at(9)
        })
        .await
        .expect("claims");
    assert_eq!(waiting.next, Some(at(15)), "a lane waits for who is first in it");
    assert_eq!(claimed(ledger, 20).await, "r3");
    queue(ledger, new("r4", off("y"), Cause::Manual, 20)).await;
    assert_eq!(claimed(ledger, 20).await, "r4");
    end(ledger, "r4", done(), 21).await;
    end(ledger, "r3", done(), 21).await;
    assert_eq!(
        claimed(ledger, 22).await,
        "r2",
        "`r1` waits until its strategy may run"
    );
}

/// A lease that ends, or that a dead process held, is claimed again; a run handed back counts no attempt.
pub async fn a_run_is_given_back(ledger: &impl Runs) {
    queue(ledger, new("r1", work("x"), Cause::Event, 10)).await;
    queue(ledger, new("r2", work("y"), Cause::Idle, 90_000)).await;
    let cron = Work {
        strategy: "t".to_owned(),
        ..work("")
    };
    queue(ledger, new("r3", cron, Cause::Cron, 90_000)).await;
    let queued = ledger.stats().await.expect("counts").queued;
    assert_eq!(queued, 2, "the next time of a schedule is no work that waits");
    assert_eq!(claimed(ledger, 10).await, "r1");
    end(ledger, "r1", Verdict::HandBack, 12).await;
    let back = run(ledger, "r1").await;
    assert_eq!(
        (back.state, back.attempt, back.run_at),
        (RunState::Queued, 0, at(12))
    );
    assert_eq!(claimed(ledger, 12).await, "r1");
    assert_eq!(claimed(ledger, 1_011).await, "");
    assert_eq!(claimed(ledger, 1_012).await, "r1");
    assert_eq!(
        ledger.release_all(at(2_000), at(3_000)).await.expect("released"),
        1
    );
    assert_eq!(run(ledger, "r1").await.run_at, at(2_000));
    assert_eq!(claimed(ledger, 2_000).await, "r1");
    assert_eq!(run(ledger, "r1").await.attempt, 3, "a crash may be its own fault");
    end(ledger, "r1", done(), 2_001).await;
    assert_eq!(
        claimed(ledger, 3_000).await,
        "r2",
        "nothing waits for long after a start"
    );
    assert_eq!(
        run(ledger, "r3").await.run_at,
        at(90_000),
        "but for a cron's time"
    );
}

/// The work is queued after a number of requests, and then not before the cooldown ends.
pub async fn a_threshold_counts(ledger: &(impl Runs + Transcripts)) {
    let ask = async |id: &str, subject: &str, due| {
        let threshold = Threshold {
            count: 3,
            cooldown: Duration::from_millis(100),
        };
        let run = NewRun {
            threshold: Some(threshold),
            ..new(id, work(subject), Cause::Counter, due)
        };
        queue(ledger, run).await
    };
    assert_eq!(ask("r1", "x", 1).await, None);
    assert_eq!(ask("r1", "x", 2).await, None);
    assert_eq!(ask("r1", "y", 2).await, None, "each work has its number");
    assert_eq!(ask("r1", "x", 3).await.as_deref(), Some("r1"));
    assert_eq!(claimed(ledger, 3).await, "r1");
    end(ledger, "r1", done(), 4).await;
    assert_eq!((ask("r2", "x", 5).await, ask("r2", "x", 6).await), (None, None));
    assert_eq!(ask("r2", "x", 7).await.as_deref(), Some("r2"));
    assert_eq!(run(ledger, "r2").await.run_at, at(103), "a while after the last");
    for due in 8..14 {
        ask("r3", "x", due).await;
    }
    assert_eq!(
        run(ledger, "r2").await.run_at,
        at(103),
        "it takes in what comes meanwhile"
    );
    assert_eq!(claimed(ledger, 103).await, "r2");
    end(ledger, "r2", done(), 104).await;
    for due in 105..108 {
        ask("r3", "x", due).await;
    }
    assert_eq!(
        run(ledger, "r3").await.run_at,
        at(203),
        "a while after the last run, however many it took in"
    );
    assert_eq!(claimed(ledger, 203).await, "r3");
    end(ledger, "r3", done(), 204).await;
    let ann = Sweep::Owner(scope("a"), Owner::user(name("ann")));
    ledger.sweep(ann).await.expect("swept");
    assert_eq!(
        (ask("r4", "x", 300).await, ask("r4", "x", 300).await),
        (None, None)
    );
    assert_eq!(ask("r4", "x", 300).await.as_deref(), Some("r4"));
    assert_eq!(run(ledger, "r4").await.run_at, at(300));
}

/// Costs add up, for the run and for the day.
pub async fn costs_add_up(ledger: &impl Runs) {
    queue(ledger, new("r1", work("x"), Cause::Event, 1)).await;
    let (day, other) = (Date::constant(2026, 3, 2), Date::constant(2026, 3, 3));
    let call = Cost {
        calls: 1,
        prompt_tokens: 100,
        completion_tokens: 7,
        millis: 0,
    };
    for id in ["r1", "r1", "gone"] {
        ledger.charge(&id.into(), day, call).await.expect("kept");
    }
    let of = |calls| Cost {
        calls,
        prompt_tokens: 100 * calls,
        completion_tokens: 7 * calls,
        millis: 0,
    };
    assert_eq!(ledger.spent(day).await.expect("reads"), of(3));
    assert_eq!(ledger.spent(other).await.expect("reads"), Cost::default());
    assert_eq!(run(ledger, "r1").await.cost, of(2));
}

/// Pages show the matching runs, newest first.
pub async fn runs_are_listed(ledger: &impl Runs) {
    for (n, strategy) in ["s", "t", "s", "t"].into_iter().enumerate() {
        let other = Work {
            strategy: strategy.to_owned(),
            scope: scope(if n == 3 { "b" } else { "a" }),
            ..work(&n.to_string())
        };
        queue(ledger, new(&format!("r{n}"), other, Cause::Event, 10)).await;
    }
    assert_eq!(claimed(ledger, 10).await, "r0 r1 r3");
    let list = async |query| {
        let page = ledger.page(&query).await.expect("reads");
        (page.total, listed(&page.runs))
    };
    let found = |total: usize, ids: &str| (total, ids.to_owned());
    assert_eq!(list(all()).await, found(4, "r3 r2 r1 r0"));
    let scoped = |app| RunQuery {
        scope: Some(scope(app)),
        ..all()
    };
    assert_eq!(list(scoped("a")).await, found(3, "r2 r1 r0"));
    assert_eq!(list(scoped("none")).await, found(0, ""));
    let of_s = RunQuery {
        strategy: Some("s".to_owned()),
        ..scoped("a")
    };
    assert_eq!(list(of_s.clone()).await, found(2, "r2 r0"));
    let waiting = RunQuery {
        state: Some(RunState::Queued),
        ..of_s
    };
    assert_eq!(list(waiting).await, found(1, "r2"));
    let second = RunQuery {
        page: 2,
        page_size: 3,
        ..all()
    };
    assert_eq!(list(second).await, found(4, "r0"));
}
