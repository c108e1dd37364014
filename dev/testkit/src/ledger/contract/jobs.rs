//! Durable work: who may have which job when.
//!
//! Owns: the meaning of `Jobs`. Never: the work of a job.

use model::SessionId;
use ports::{Job, JobFailure, JobId, JobKind, JobState, JobStats, Jobs, NewJob, TaskQuery};

use super::Ledger;
use crate::ledger::samples::{at, job, scope, session};

fn id(text: &str) -> JobId {
    JobId(text.to_owned())
}

fn listed(jobs: &[Job]) -> String {
    let words: Vec<&str> = jobs.iter().map(|job| job.id.0.as_str()).collect();
    words.join(" ")
}

/// An id names one job for ever; the job comes back as it was queued.
pub async fn a_job_is_queued_once(ledger: &impl Ledger) {
    let s = session("a", "s");
    let first = job("j1", JobKind::MemoryAdd, &s);
    let same_id = NewJob {
        subject: "other".to_owned(),
        ..job("j1", JobKind::MemoryFlush, &session("a", "other"))
    };
    ledger
        .enqueue(vec![first, same_id.clone()], at(5))
        .await
        .expect("queued");
    ledger
        .enqueue(vec![same_id.clone()], at(6))
        .await
        .expect("queued");
    let claimed = ledger.claim(9, 0, at(7), at(17)).await.expect("claims");
    assert_eq!(
        claimed,
        [Job {
            id: id("j1"),
            kind: JobKind::MemoryAdd,
            session: s.clone(),
            subject: String::new(),
            state: JobState::Processing,
            attempt: 1,
            error: None,
            created: at(5),
            finished: None,
        }]
    );
    ledger.complete(&[id("j1")], at(8)).await.expect("done");
    ledger.enqueue(vec![same_id], at(9)).await.expect("queued");
    assert!(
        ledger
            .claim(9, 0, at(9), at(19))
            .await
            .expect("claims")
            .is_empty()
    );
    let done = ledger
        .job(&s.scope, &id("j1"))
        .await
        .expect("reads")
        .expect("kept");
    assert_eq!(
        (done.state, done.finished, done.attempt),
        (JobState::Success, Some(at(8)), 1)
    );
    assert_eq!(ledger.job(&scope("b"), &id("j1")).await.expect("reads"), None);
}

/// Oldest first, across sessions; of one session only the oldest unfinished job, even while it waits.
pub async fn a_session_has_one_job_at_a_time(ledger: &impl Ledger) {
    let (s, other, foreign) = (session("a", "s"), session("a", "other"), session("b", "s"));
    let jobs = vec![
        job("s1", JobKind::WriteCell, &s),
        job("s2", JobKind::MemoryAdd, &s),
        NewJob {
            run_at: at(50),
            ..job("o1", JobKind::MemoryAdd, &other)
        },
        job("o2", JobKind::MemoryAdd, &other),
        job("f1", JobKind::MemoryAdd, &foreign),
        job("f2", JobKind::MemoryAdd, &foreign),
    ];
    ledger.enqueue(jobs, at(1)).await.expect("queued");
    let claim = async |limit, now| {
        let claimed = ledger.claim(limit, 0, at(now), at(1000)).await.expect("claims");
        listed(&claimed)
    };
    assert_eq!(claim(0, 10).await, "");
    assert_eq!(claim(1, 10).await, "s1");
    assert_eq!(claim(9, 10).await, "f1", "`o1` is not due, and `o2` waits for it");
    assert_eq!(claim(9, 10).await, "");
    ledger
        .complete(&[id("s1"), id("f1")], at(20))
        .await
        .expect("done");
    assert_eq!(claim(9, 20).await, "s2 f2");
    assert_eq!(claim(9, 50).await, "o1", "due to the millisecond");
    ledger.complete(&[id("o1")], at(51)).await.expect("done");
    assert_eq!(claim(9, 51).await, "o2");
}

/// Memcells that wait directly behind one for their first attempt are claimed with it; a job of another kind,
/// or one that was tried before, ends the group.
pub async fn memcells_of_a_session_are_claimed_together(ledger: &impl Ledger) {
    let (s, other) = (session("a", "s"), session("a", "other"));
    let write = |id: &str| job(id, JobKind::WriteCell, &s);
    let jobs = vec![
        write("w1"),
        job("o1", JobKind::WriteCell, &other),
        write("w2"),
        write("w3"),
        job("a1", JobKind::MemoryAdd, &s),
        write("w4"),
    ];
    ledger.enqueue(jobs, at(1)).await.expect("queued");
    let claim = async |limit, behind, now| {
        let claimed = ledger
            .claim(limit, behind, at(now), at(1000))
            .await
            .expect("claims");
        listed(&claimed)
    };
    assert_eq!(claim(1, 1, 10).await, "w1 w2");
    assert_eq!(claim(9, 9, 10).await, "o1", "`w3` waits for them");
    ledger
        .hand_back(&[id("w1"), id("w2")], at(11))
        .await
        .expect("given back");
    let again = ledger.claim(9, 9, at(12), at(1000)).await.expect("claims");
    assert_eq!(
        (listed(&again).as_str(), again[0].attempt),
        ("w1", 2),
        "tried before: alone"
    );
    ledger.complete(&[id("w1")], at(13)).await.expect("done");
    assert_eq!(claim(9, 9, 14).await, "w2");
    ledger.complete(&[id("w2")], at(15)).await.expect("done");
    assert_eq!(claim(9, 9, 16).await, "w3", "`a1` is no memcell");
    ledger.complete(&[id("w3")], at(17)).await.expect("done");
    assert_eq!(claim(9, 9, 18).await, "a1", "which takes none with it");
    ledger.complete(&[id("a1")], at(19)).await.expect("done");
    assert_eq!(claim(9, 9, 20).await, "w4");
}

/// A finished or unclaimed job cannot be handed back.
pub async fn only_a_lease_is_given_back(ledger: &impl Ledger) {
    let s = session("a", "s");
    let jobs = vec![
        job("w1", JobKind::WriteCell, &s),
        job("w2", JobKind::WriteCell, &s),
    ];
    ledger.enqueue(jobs, at(1)).await.expect("queued");
    assert_eq!(ledger.claim(1, 1, at(2), at(9)).await.expect("claims").len(), 2);
    ledger.complete(&[id("w1"), id("w2")], at(3)).await.expect("done");
    ledger
        .hand_back(&[id("w1"), id("gone")], at(4))
        .await
        .expect("nothing to do");
    assert!(ledger.claim(9, 9, at(5), at(9)).await.expect("claims").is_empty());
}

/// A job with a lease that ran out or was handed back is claimed again.
pub async fn a_lease_ends(ledger: &impl Ledger) {
    let s = session("a", "s");
    let jobs = vec![
        job("j1", JobKind::MemoryAdd, &s),
        job("j2", JobKind::MemoryAdd, &s),
    ];
    ledger.enqueue(jobs, at(1)).await.expect("queued");
    assert_eq!(ledger.release_all(at(1_000)).await.expect("released"), 0);
    let claim = async |now, until| ledger.claim(9, 0, at(now), at(until)).await.expect("claims");
    assert_eq!(claim(10, 20).await[0].attempt, 1);
    assert!(claim(19, 40).await.is_empty());
    let again = claim(20, 40).await;
    assert_eq!((listed(&again).as_str(), again[0].attempt), ("j1", 2));
    assert_eq!(ledger.release_all(at(1_000)).await.expect("released"), 1);
    let third = claim(21, 40).await;
    assert_eq!((listed(&third).as_str(), third[0].attempt), ("j1", 3));
    ledger.complete(&[id("j1")], at(22)).await.expect("done");
    assert_eq!(ledger.release_all(at(1_000)).await.expect("released"), 0);
    assert_eq!(listed(&claim(23, 40).await), "j2");
}

/// A renewed lease lasts longer and counts no attempt; only a lease can be renewed.
pub async fn a_holder_renews_its_lease(ledger: &impl Ledger) {
    let s = session("a", "s");
    let jobs = vec![
        job("j1", JobKind::MemoryAdd, &s),
        job("j2", JobKind::MemoryAdd, &s),
    ];
    ledger.enqueue(jobs, at(1)).await.expect("queued");
    let renew = async |job, until| {
        let renewed = ledger.renew(&[id(job), id("gone")], at(until)).await;
        renewed.expect("renewed");
    };
    let claim = async |now, until| {
        let claimed = ledger.claim(9, 0, at(now), at(until)).await.expect("claims");
        claimed
            .into_iter()
            .map(|job| (job.id.0, job.attempt))
            .collect::<Vec<_>>()
    };
    assert_eq!(claim(10, 20).await, [("j1".to_owned(), 1)]);
    renew("j1", 40).await;
    assert!(claim(39, 60).await.is_empty());
    assert_eq!(claim(40, 60).await, [("j1".to_owned(), 2)], "the holder is dead");
    renew("j1", 50).await;
    assert!(claim(49, 60).await.is_empty(), "it may end sooner, too");
    ledger.complete(&[id("j1")], at(49)).await.expect("done");
    renew("j1", 90).await;
    assert_eq!(claim(50, 60).await, [("j2".to_owned(), 1)], "nobody had it");
    ledger.hand_back(&[id("j2")], at(51)).await.expect("given back");
    renew("j2", 90).await;
    assert_eq!(claim(51, 60).await, [("j2".to_owned(), 2)], "it was given back");
}

/// A failure with a retry time keeps its place; one without frees the session and stays listed.
pub async fn a_failed_attempt_waits_or_gives_up(ledger: &impl Ledger) {
    let s = session("a", "s");
    let jobs = vec![
        job("j1", JobKind::MemoryAdd, &s),
        job("j2", JobKind::MemoryAdd, &s),
    ];
    ledger.enqueue(jobs, at(1)).await.expect("queued");
    let claim = async |now| ledger.claim(9, 0, at(now), at(1000)).await.expect("claims");
    let fail = async |error: &str, retry_at: Option<i64>, now| {
        let failure = JobFailure {
            error: error.to_owned(),
            retry_at: retry_at.map(at),
        };
        ledger.fail(&id("j1"), failure, at(now)).await.expect("recorded");
    };
    claim(10).await;
    fail("disk full", Some(60), 11).await;
    let waiting = ledger
        .job(&s.scope, &id("j1"))
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(
        (waiting.state, waiting.error.as_deref()),
        (JobState::Queued, Some("disk full"))
    );
    assert!(claim(59).await.is_empty(), "`j2` waits for `j1`");
    let again = claim(60).await;
    assert_eq!((listed(&again).as_str(), again[0].attempt), ("j1", 2));
    assert_eq!(again[0].error.as_deref(), Some("disk full"));
    fail("still full", None, 61).await;
    let failed = ledger
        .job(&s.scope, &id("j1"))
        .await
        .expect("reads")
        .expect("kept");
    assert_eq!((failed.state, failed.finished), (JobState::Failed, Some(at(61))));
    assert_eq!(failed.error.as_deref(), Some("still full"));
    assert_eq!(listed(&claim(62).await), "j2");
}

/// At a start, no job waits for a time far off, which a machine's clock that was set back would cause.
pub async fn nothing_waits_beyond_a_start(ledger: &impl Ledger) {
    let (s, t) = (session("a", "s"), session("a", "t"));
    let jobs = vec![
        job("j1", JobKind::MemoryAdd, &s),
        job("j2", JobKind::MemoryAdd, &t),
    ];
    let late = jobs.into_iter().map(|job| NewJob {
        run_at: at(90_000),
        ..job
    });
    ledger.enqueue(late.collect(), at(90_000)).await.expect("queued");
    ledger.claim(1, 0, at(90_000), at(99_000)).await.expect("claims");
    assert_eq!(ledger.release_all(at(50)).await.expect("released"), 1);
    let claim = async |now| ledger.claim(9, 0, at(now), at(now + 9)).await.expect("claims");
    assert!(claim(49).await.is_empty());
    assert_eq!(claim(50).await.len(), 2);
}

/// A worker without a lease changes nothing.
pub async fn a_job_without_lease_does_not_end(ledger: &impl Ledger) {
    let s = session("a", "s");
    ledger
        .enqueue(vec![job("j1", JobKind::MemoryAdd, &s)], at(1))
        .await
        .expect("queued");
    ledger.claim(1, 0, at(2), at(3)).await.expect("claims");
    ledger.release_all(at(1_000)).await.expect("released");
    ledger
        .complete(&[id("j1"), id("none")], at(4))
        .await
        .expect("ignored");
    let failure = JobFailure {
        error: "late".to_owned(),
        retry_at: None,
    };
    ledger
        .fail(&id("j1"), failure.clone(), at(4))
        .await
        .expect("ignored");
    ledger.fail(&id("none"), failure, at(4)).await.expect("ignored");
    let still = ledger
        .job(&s.scope, &id("j1"))
        .await
        .expect("reads")
        .expect("there");
    assert_eq!((still.state, still.error), (JobState::Queued, None));
}

/// Filters and pages of one scope's jobs.
pub async fn a_page_shows_one_scope_newest_first(ledger: &impl Ledger) {
    let (s, other, foreign) = (session("a", "s"), session("a", "other"), session("b", "s"));
    let jobs = vec![
        job("1", JobKind::MemoryAdd, &s),
        job("2", JobKind::MemoryFlush, &other),
        job("3", JobKind::WriteCell, &s),
        job("4", JobKind::MemoryAdd, &foreign),
        job("5", JobKind::MemoryAdd, &s),
    ];
    ledger.enqueue(jobs, at(1)).await.expect("queued");
    ledger.claim(1, 0, at(2), at(3)).await.expect("claims");
    let all = TaskQuery {
        scope: scope("a"),
        session: None,
        state: None,
        kinds: Vec::new(),
        made_from: None,
        made_before: None,
        page: 1,
        page_size: 10,
    };
    let page = async |query: TaskQuery| {
        let page = ledger.page(&query).await.expect("reads");
        format!("{}: {}", page.total, listed(&page.jobs))
    };
    assert_eq!(page(all.clone()).await, "4: 5 3 2 1");
    let paged = |page| TaskQuery {
        page,
        page_size: 3,
        ..all.clone()
    };
    assert_eq!(page(paged(1)).await, "4: 5 3 2");
    assert_eq!(page(paged(2)).await, "4: 1");
    assert_eq!(page(paged(3)).await, "4: ");
    let kinds = TaskQuery {
        kinds: vec![JobKind::MemoryAdd, JobKind::MemoryFlush],
        ..all.clone()
    };
    assert_eq!(page(kinds.clone()).await, "3: 5 2 1");
    let of_session = TaskQuery {
        session: Some(s.session.clone()),
        ..kinds.clone()
    };
    assert_eq!(page(of_session).await, "2: 5 1");
    let nowhere = TaskQuery {
        session: Some(SessionId::new("none")),
        ..all.clone()
    };
    assert_eq!(page(nowhere).await, "0: ");
    let processing = TaskQuery {
        state: Some(JobState::Processing),
        ..kinds
    };
    assert_eq!(page(processing).await, "1: 1");
    let unknown = TaskQuery {
        scope: scope("c"),
        ..all
    };
    assert_eq!(page(unknown).await, "0: ");
}

/// Jobs created in a time range; its start is included, its end is not.
pub async fn a_page_shows_a_stretch_of_time(ledger: &impl Ledger) {
    let s = session("a", "s");
    for (id, millis) in [("1", 10), ("2", 20), ("3", 30)] {
        let new = job(id, JobKind::MemoryAdd, &s);
        ledger.enqueue(vec![new], at(millis)).await.expect("queued");
    }
    let page = async |from: Option<i64>, before: Option<i64>| {
        let query = TaskQuery {
            scope: s.scope.clone(),
            session: None,
            state: None,
            kinds: Vec::new(),
            made_from: from.map(at),
            made_before: before.map(at),
            page: 1,
            page_size: 10,
        };
        let page = ledger.page(&query).await.expect("reads");
        format!("{}: {}", page.total, listed(&page.jobs))
    };
    assert_eq!(page(None, None).await, "3: 3 2 1");
    assert_eq!(page(Some(20), None).await, "2: 3 2");
    assert_eq!(page(None, Some(20)).await, "1: 1");
    assert_eq!(page(Some(20), Some(30)).await, "1: 2");
    assert_eq!(page(Some(20), Some(20)).await, "0: ");
}

/// A dead-lettered job runs again on request, after the waiting jobs of its session.
pub async fn a_job_that_was_given_up_is_tried_again(ledger: &impl Ledger) {
    let s = session("a", "s");
    let jobs = vec![
        job("j1", JobKind::WriteCell, &s),
        job("j2", JobKind::MemoryAdd, &s),
        job("j3", JobKind::MemoryAdd, &s),
    ];
    ledger.enqueue(jobs, at(1)).await.expect("queued");
    let claim = async |now| ledger.claim(9, 0, at(now), at(1000)).await.expect("claims");
    let retry = async |job, app, now| {
        ledger
            .retry(&scope(app), &id(job), at(now))
            .await
            .expect("answers")
    };
    claim(10).await;
    assert!(!retry("j1", "a", 11).await, "it runs");
    let failure = JobFailure {
        error: "a broken file".to_owned(),
        retry_at: None,
    };
    ledger
        .fail(&id("j1"), failure.clone(), at(12))
        .await
        .expect("recorded");
    assert!(!retry("j2", "a", 13).await, "it waits");
    assert!(!retry("none", "a", 13).await);
    assert!(!retry("j1", "b", 13).await, "it is another scope's");
    assert_eq!(listed(&claim(14).await), "j2");
    assert!(retry("j1", "a", 15).await);
    assert!(!retry("j1", "a", 15).await, "it waits now");
    let waiting = ledger
        .job(&s.scope, &id("j1"))
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(
        (waiting.state, waiting.attempt, waiting.finished),
        (JobState::Queued, 0, None)
    );
    assert_eq!(
        (waiting.error.as_deref(), waiting.created),
        (Some("a broken file"), at(1))
    );
    assert!(claim(16).await.is_empty(), "one at a time");
    ledger.complete(&[id("j2")], at(17)).await.expect("done");
    assert_eq!(listed(&claim(18).await), "j3", "`j1` gave its place up");
    ledger.complete(&[id("j3")], at(19)).await.expect("done");
    let again = claim(20).await;
    assert_eq!((listed(&again).as_str(), again[0].attempt), ("j1", 1));
    ledger.fail(&id("j1"), failure, at(21)).await.expect("recorded");
    assert!(retry("j1", "a", 22).await);
    assert_eq!(listed(&claim(22).await), "j1", "at once where nothing else waits");
    ledger.complete(&[id("j1")], at(23)).await.expect("done");
    assert!(!retry("j1", "a", 24).await, "it is done");
    assert_eq!(Jobs::stats(ledger).await.expect("reads"), JobStats::default());
}

/// Counts; old successful jobs are removed, failed ones stay.
pub async fn old_successes_go_and_failures_stay(ledger: &impl Ledger) {
    for (i, millis) in [(1, 40), (2, 10), (3, 20), (4, 30), (5, 50)] {
        let s = session("a", &format!("s{i}"));
        let new = job(&format!("j{i}"), JobKind::MemoryAdd, &s);
        ledger.enqueue(vec![new], at(millis)).await.expect("queued");
    }
    assert_eq!(ledger.claim(4, 0, at(60), at(99)).await.expect("claims").len(), 4);
    ledger.complete(&[id("j1")], at(70)).await.expect("done");
    ledger.complete(&[id("j2")], at(71)).await.expect("done");
    let failure = JobFailure {
        error: "broken".to_owned(),
        retry_at: None,
    };
    ledger.fail(&id("j3"), failure, at(60)).await.expect("recorded");
    let expected = JobStats {
        queued: 1,
        processing: 1,
        failed: 1,
        oldest_queued: Some(at(50)),
    };
    assert_eq!(Jobs::stats(ledger).await.expect("reads"), expected);
    assert_eq!(ledger.drop_finished(at(71)).await.expect("dropped"), 1);
    assert_eq!(Jobs::stats(ledger).await.expect("reads"), expected);
    let exists = async |job| ledger.job(&scope("a"), &id(job)).await.expect("reads").is_some();
    assert!(!exists("j1").await, "older than the limit");
    assert!(exists("j2").await, "not older");
    assert_eq!(ledger.drop_finished(at(500)).await.expect("dropped"), 1);
    assert_eq!(Jobs::stats(ledger).await.expect("reads"), expected);
    assert!(!exists("j2").await);
    for kept in ["j3", "j4", "j5"] {
        assert!(exists(kept).await, "`{kept}` is not done");
    }
}
