//! Background tasks: queued, listed, retried, given up, and never blocking each other.

use std::time::Duration;

use memory::{EngineError, Flush, MemorizeStatus};
use model::Scope;
use ports::{Clock as _, JobId, JobKind, JobState, NewJob, TaskQuery};
use testkit::faults::Mode;

use crate::slow::At;
use crate::stage::{Stage, add, flush, new_message, say, session, turns};

fn task(n: u32) -> JobId {
    JobId(format!("{n:032x}"))
}

fn all_tasks() -> TaskQuery {
    TaskQuery {
        scope: Scope::default(),
        session: None,
        state: None,
        kinds: vec![JobKind::MemoryAdd, JobKind::MemoryFlush],
        made_from: None,
        made_before: None,
        page: 1,
        page_size: 20,
    }
}

#[tokio::test]
async fn a_queued_add_is_durable_searchable_and_listed_as_a_task() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    let messages = vec![
        new_message(&key, "ann", 0, "The violin"),
        new_message(&key, "ann", 60, "The viola"),
    ];
    let added = engine
        .add(memory::Add {
            title: None,
            task: Some(task(1)),
            ..add(&key, messages)
        })
        .await
        .expect("it is queued");
    assert_eq!((added.status, added.pending), (MemorizeStatus::Queued, 1));
    assert!(
        turns(&engine, "ann", "violin")
            .await
            .contains(&"The violin".to_owned())
    );
    let flushed = engine
        .flush(Flush {
            task: Some(task(2)),
            ..flush(&key)
        })
        .await
        .expect("it is queued");
    assert_eq!(flushed.status, MemorizeStatus::Queued);
    assert_eq!(stage.rest(&engine).await, 0);
    stage.check_written(&["The violin".to_owned(), "The viola".to_owned()], &["ann"]);
    let page = engine.tasks(all_tasks()).await.expect("it lists");
    assert_eq!(page.total, 2);
    assert!(page.jobs.iter().all(|job| job.state == JobState::Success));
    let one = engine
        .task(&Scope::default(), &task(1))
        .await
        .expect("it is there");
    assert_eq!(one.kind, JobKind::MemoryAdd);
    let other = Scope::new(crate::stage::name("other"), crate::stage::name("default"));
    assert!(matches!(
        engine.task(&other, &task(1)).await,
        Err(EngineError::NotFound { .. })
    ));
}

#[tokio::test]
async fn a_session_with_too_many_waiting_tasks_accepts_no_more() {
    let mut stage = Stage::default();
    stage.settings.session_pending_max = 2;
    let engine = stage.open().await;
    let key = session("s");
    let later = NewJob {
        id: task(1),
        kind: JobKind::MemoryAdd,
        session: key.clone(),
        subject: String::new(),
        run_at: stage.clock.now().plus_millis(60_000),
    };
    ports::Jobs::enqueue(&*stage.ledger, vec![later], stage.clock.now())
        .await
        .expect("it queues");
    let queued = |n: u32| {
        let message = new_message(&key, "ann", i64::from(n), &format!("Message {n}"));
        memory::Add {
            title: None,
            task: Some(task(n)),
            ..add(&key, vec![message])
        }
    };
    assert_eq!(engine.add(queued(2)).await.expect("there is room").pending, 2);
    let refused = engine.add(queued(3)).await;
    assert!(
        matches!(refused, Err(EngineError::Saturated { pending: 2 })),
        "{refused:?}"
    );
    assert_eq!(
        stage.ledger.everything().len(),
        1,
        "what is refused is not accepted"
    );
    stage.rest(&engine).await;
    engine.add(queued(3)).await.expect("there is room again");
}

#[tokio::test]
async fn a_deferred_add_cuts_nothing() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    let messages = vec![
        new_message(&key, "ann", 0, "The violin"),
        new_message(&key, "ann", 600, "The viola"),
    ];
    let deferred = memory::Add {
        title: None,
        defer_extraction: true,
        ..add(&key, messages)
    };
    assert_eq!(
        engine.add(deferred).await.expect("it is accepted").status,
        MemorizeStatus::Accumulated
    );
    assert!(stage.ledger.everything().iter().all(|(_, cell)| cell.is_none()));
}

#[tokio::test]
async fn a_flush_without_a_users_message_cuts_nothing() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let flushed = engine.flush(flush(&session("never"))).await.expect("it answers");
    assert_eq!(flushed.status, MemorizeStatus::Accumulated);
    // Messages of an agent alone belong to nobody; they wait for a user's message.
    let key = session("bots");
    say(&engine, &key, "bot", 0, "Hello?").await;
    assert_eq!(
        engine.flush(flush(&key)).await.expect("it answers").status,
        MemorizeStatus::Accumulated
    );
    say(&engine, &key, "ann", 1, "Hello!").await;
    assert_eq!(
        engine.flush(flush(&key)).await.expect("it answers").status,
        MemorizeStatus::Extracted
    );
    stage.rest(&engine).await;
    stage.check_written(&["Hello?".to_owned(), "Hello!".to_owned()], &["ann"]);
}

#[tokio::test]
async fn a_segment_that_cannot_be_written_blocks_no_other_session() {
    let mut stage = Stage::default();
    stage.settings.workers = 1;
    let engine = stage.open().await;
    let (poisoned, fine) = (session("poisoned"), session("fine"));
    say(&engine, &poisoned, "ann", 0, "The poison").await;
    stage.vault.refuse(Some("ep_"));
    engine.flush(flush(&poisoned)).await.expect("it cuts");
    while stage.ledger_attempts("poisoned").await == 0 {
        tokio::task::yield_now().await;
    }
    let refused = stage.ledger.everything()[0].1.clone().expect("it was cut");
    stage
        .vault
        .refuse(Some(refused.as_str().trim_start_matches("mc_")));
    say(&engine, &fine, "bob", 0, "The antidote").await;
    engine.flush(flush(&fine)).await.expect("it cuts");
    let failed = stage
        .drive(engine.settle())
        .await
        .expect("it settles all the same");
    assert_eq!(failed, 1, "it is reported");
    stage.check_written(&["The antidote".to_owned()], &["bob"]);
    assert!(
        turns(&engine, "ann", "poison")
            .await
            .contains(&"The poison".to_owned()),
        "it is found all the same"
    );
    assert!(stage.ledger_attempts("poisoned").await >= stage.settings.attempts_max);

    // The disk has room again.
    stage.vault.refuse(None);
    let written = async {
        while engine.settle().await.expect("it settles") > 0 {
            tokio::task::yield_now().await;
        }
    };
    stage.drive(written).await;
    stage.check_written(&["The poison".to_owned()], &["ann"]);
    stage.rest(&engine).await;
    stage.check().await;
}

#[tokio::test]
async fn a_job_with_an_unrecorded_failure_runs_again_long_before_its_lease_ends() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "The cello").await;
    // A full disk takes neither the memory nor the record of the failure.
    stage.vault.refuse(Some("ep_"));
    stage.faults.plan_next("fail", Mode::Refuse);
    engine.flush(flush(&key)).await.expect("it cuts");
    while stage.faults.hit().is_none() {
        tokio::task::yield_now().await;
    }
    stage.vault.refuse(None);
    let began = stage.clock.elapsed();
    stage.drive(engine.settle()).await.expect("it settles");
    stage.check_written(&["The cello".to_owned()], &["ann"]);
    let took = stage.clock.elapsed().saturating_sub(began);
    assert!(took < Duration::from_mins(1), "{took:?}");
}

#[tokio::test]
async fn a_job_that_takes_longer_than_a_lease_is_one_attempt() {
    let mut stage = Stage::default();
    stage.settings.workers = 2;
    let (slow, engine) = stage.open_slow().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "The cello").await;
    slow.arm(At::Apply);
    engine.flush(flush(&key)).await.expect("it cuts");
    slow.called().await;
    let rest = async || {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    };
    for _ in 0..25 {
        stage.clock.advance(Duration::from_mins(1));
        rest().await;
    }
    // The machine slept.
    stage.clock.advance(Duration::from_hours(3));
    rest().await;
    assert_eq!(stage.ledger_attempts("s").await, 1);
    // A process that dies leaves its lease, so the next process makes a second attempt.
    drop(engine);
    let engine = stage.open().await;
    assert_eq!(stage.rest(&engine).await, 0);
    assert_eq!(stage.ledger_attempts("s").await, 2);
    stage.check_written(&["The cello".to_owned()], &["ann"]);
    stage.check().await;
}

#[tokio::test]
async fn a_given_up_task_runs_again_on_request() {
    let mut stage = Stage::default();
    stage.settings.attempts_max = 2;
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "The poison").await;
    stage.vault.poison(Some("ep_"));
    engine.flush(flush(&key)).await.expect("it cuts");
    assert_eq!(stage.drive(engine.settle()).await.expect("it settles"), 1);
    let status = engine.status().await.expect("it answers");
    assert_eq!(status.jobs.failed, 1);
    assert!(
        status.problems()[0].contains("quipu runs retry"),
        "{:?}",
        status.problems()
    );
    let query = TaskQuery {
        kinds: JobKind::ALL.to_vec(),
        state: Some(JobState::Failed),
        ..all_tasks()
    };
    let failed = engine.tasks(query).await.expect("it lists").jobs.remove(0);
    assert!(failed.error.expect("it says why").contains("the test wants it"));
    let scope = Scope::default();
    let other = Scope::new(crate::stage::name("other"), crate::stage::name("default"));
    assert!(matches!(
        engine.retry(&other, &failed.id).await,
        Err(EngineError::NotFound { .. })
    ));

    // The cause of the failure still exists.
    let retried = engine.retry(&scope, &failed.id).await.expect("it is queued");
    assert_eq!((retried.state, retried.attempt), (JobState::Queued, 0));
    assert_eq!(stage.drive(engine.settle()).await.expect("it settles"), 1);

    stage.vault.poison(None);
    engine.retry(&scope, &failed.id).await.expect("it is queued");
    assert!(matches!(
        engine.retry(&scope, &failed.id).await,
        Err(EngineError::Unfit(_))
    ));
    assert_eq!(stage.rest(&engine).await, 0);
    stage.check_written(&["The poison".to_owned()], &["ann"]);
    stage.check().await;
    assert!(engine.status().await.expect("it answers").problems().is_empty());
    let again = engine.retry(&scope, &failed.id).await;
    assert!(matches!(again, Err(EngineError::Unfit(_))), "{again:?}");
}

#[tokio::test]
async fn a_retried_task_survives_a_restart() {
    let mut stage = Stage::default();
    stage.settings.attempts_max = 1;
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "The poison").await;
    stage.vault.poison(Some("ep_"));
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.drive(engine.settle()).await.expect("it settles");
    let query = TaskQuery {
        kinds: vec![JobKind::WriteCell],
        ..all_tasks()
    };
    let failed = engine.tasks(query).await.expect("it lists").jobs.remove(0);
    engine.shutdown().await;
    stage.vault.poison(None);
    let retried = ports::Jobs::retry(&*stage.ledger, &Scope::default(), &failed.id, stage.clock.now()).await;
    assert!(retried.expect("it answers"));
    let engine = stage.open().await;
    assert_eq!(stage.rest(&engine).await, 0);
    stage.check_written(&["The poison".to_owned()], &["ann"]);
    stage.check().await;
}

impl Stage {
    /// Number of attempts at the session's segment.
    async fn ledger_attempts(&self, name: &str) -> u32 {
        let query = TaskQuery {
            session: Some(session(name).session),
            kinds: vec![JobKind::WriteCell],
            ..all_tasks()
        };
        let page = ports::Jobs::page(&*self.ledger, &query).await.expect("it reads");
        page.jobs.first().map_or(0, |job| job.attempt)
    }
}

#[tokio::test]
async fn a_wall_clock_set_back_delays_no_job() {
    const DAY_MILLIS: i64 = 86_400_000;
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "The violin").await;
    stage.clock.set_wall(-DAY_MILLIS);
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.rest(&engine).await;
    stage.check_written(&["The violin".to_owned()], &["ann"]);
    say(&engine, &key, "ann", 0, "The viola").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    drop(engine);
    stage.clock.set_wall(-DAY_MILLIS);
    let engine = stage.open().await;
    stage.rest(&engine).await;
    stage.check_written(&["The viola".to_owned()], &["ann"]);
    assert!(
        stage.clock.elapsed() < std::time::Duration::from_mins(5),
        "nothing waited for a day"
    );
}
