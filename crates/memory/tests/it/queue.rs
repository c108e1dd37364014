//! Queued messages: the caller does not wait for the disk, later calls find the messages, a session keeps its order.

use std::sync::Arc;

use memory::{Engine, EngineError, Forget, Parts};
use model::{Scope, SessionKey};
use ports::{JobId, Transcripts};
use testkit::faults::Mode;
use tokio::task::yield_now;

use crate::held::{Call, Held};
use crate::stage::{Stage, add, name, new_message, question, session, turns};

/// An engine on a ledger that blocks the add of this session until the test allows it.
async fn held_up(stage: &Stage, key: &SessionKey) -> (Arc<Held>, Engine) {
    let parts = stage.parts();
    let disk = Held::new(parts.transcripts.clone(), Call::Append, key);
    let parts = Parts {
        transcripts: disk.clone(),
        ..parts
    };
    let engine = Engine::start(parts, stage.settings.clone()).await;
    (disk, engine.expect("nothing is planned to fail"))
}

async fn take_on(engine: &Engine, key: &SessionKey, minutes: i64, text: &str) {
    let taken = engine.take_on(add(key, vec![new_message(key, "ana", minutes, text)]));
    taken.await.expect("it is taken on");
}

async fn buffered(stage: &Stage, key: &SessionKey) -> Vec<String> {
    let buffer = stage.ledger.buffer(key).await.expect("it reads");
    buffer.iter().map(model::Message::text).collect()
}

#[tokio::test]
async fn only_a_search_waits_for_queued_messages() {
    let (stage, key) = (Stage::default(), session("talk"));
    let (disk, engine) = held_up(&stage, &key).await;
    take_on(&engine, &key, 0, "my cat is called Nougat").await;
    let mut search = std::pin::pin!(turns(&engine, "ana", "cat"));
    tokio::select! {
        biased;
        found = &mut search => panic!("it did not wait: {found:?}"),
        () = disk.called() => {}
    }
    disk.let_go();
    assert_eq!(search.await, ["my cat is called Nougat"]);
}

#[tokio::test]
async fn a_search_in_another_scope_does_not_wait() {
    let (stage, key) = (Stage::default(), session("talk"));
    let (disk, engine) = held_up(&stage, &key).await;
    take_on(&engine, &key, 0, "my cat is called Nougat").await;
    disk.called().await;
    engine
        .caught_up(Some(&Scope {
            project: name("other"),
            ..Scope::default()
        }))
        .await;
    assert_eq!(buffered(&stage, &key).await.len(), 1);
    disk.let_go();
}

#[tokio::test]
async fn a_session_keeps_its_order_and_delays_no_other_session() {
    let (stage, key, other) = (Stage::default(), session("talk"), session("other"));
    let (disk, engine) = held_up(&stage, &key).await;
    for n in 0..3 {
        take_on(&engine, &key, 0, &format!("sentence {n}")).await;
    }
    disk.called().await;
    take_on(&engine, &other, 0, "something else").await;
    while buffered(&stage, &other).await.is_empty() {
        yield_now().await;
    }
    assert_eq!(buffered(&stage, &key).await, ["sentence 0"], "one at a time");
    for _ in 0..3 {
        disk.let_go();
    }
    engine.caught_up(None).await;
    assert_eq!(
        buffered(&stage, &key).await,
        ["sentence 0", "sentence 1", "sentence 2"]
    );
}

#[tokio::test]
async fn a_deletion_includes_messages_that_were_queued_before_it() {
    let (stage, key) = (Stage::default(), session("talk"));
    let engine = stage.open().await;
    // No other work may be left to wait for.
    stage.rest(&engine).await;
    take_on(&engine, &key, 0, "my cat is called Nougat").await;
    let forgot = stage.drive(engine.forget(Forget::Session(key))).await;
    assert_eq!(forgot.expect("it forgets").messages, 1);
    engine.caught_up(None).await;
    assert!(stage.ledger.everything().is_empty());
}

#[tokio::test]
async fn a_shutdown_stores_all_queued_messages() {
    let (stage, key) = (Stage::default(), session("talk"));
    let engine = stage.open().await;
    for n in 0..20 {
        take_on(&engine, &key, 0, &format!("sentence {n}")).await;
    }
    stage.drive(engine.shutdown()).await;
    assert_eq!(stage.ledger.everything().len(), 20);
    let late = engine
        .take_on(add(&key, vec![new_message(&key, "ana", 1, "too late")]))
        .await;
    late.expect_err("it has ended");
}

#[tokio::test]
async fn a_search_after_a_shutdown_without_time_left_does_not_wait() {
    let (stage, key) = (Stage::default(), session("talk"));
    let (disk, engine) = held_up(&stage, &key).await;
    take_on(&engine, &key, 0, "my cat is called Nougat").await;
    disk.called().await;
    stage.drive(engine.shutdown()).await;
    let late = engine.search(question("ana", "cat")).await;
    assert!(matches!(late, Err(EngineError::Stopping)), "{late:?}");
}

#[tokio::test]
async fn a_failed_write_or_a_panic_does_not_block_later_messages() {
    for mode in [Mode::Refuse, Mode::Panic] {
        let (stage, key) = (Stage::default(), session("talk"));
        let engine = stage.open().await;
        stage.faults.plan_next("append", mode);
        take_on(&engine, &key, 0, "the first").await;
        take_on(&engine, &key, 1, "the second").await;
        engine.caught_up(None).await;
        assert_eq!(buffered(&stage, &key).await, ["the second"], "{mode:?}");
    }
}

#[tokio::test]
async fn messages_beyond_the_task_limit_are_stored_without_a_task() {
    let mut stage = Stage::default();
    stage.settings.session_pending_max = 0;
    let key = session("talk");
    let engine = stage.open().await;
    let mut one = add(&key, vec![new_message(&key, "ana", 0, "my cat is called Nougat")]);
    one.task = Some(JobId("task".to_owned()));
    engine.take_on(one).await.expect("it is taken on");
    assert_eq!(turns(&engine, "ana", "cat").await, ["my cat is called Nougat"]);
}

#[tokio::test]
async fn a_large_add_waits_until_earlier_ones_are_stored() {
    let (mut stage, key, other) = (Stage::default(), session("talk"), session("other"));
    stage.settings.redacts = false;
    let (disk, engine) = held_up(&stage, &key).await;
    let text = "x".repeat(20 << 20);
    take_on(&engine, &key, 0, &text).await;
    disk.called().await;
    {
        let mut late = std::pin::pin!(take_on(&engine, &other, 0, &text));
        tokio::select! {
            biased;
            () = &mut late => panic!("both are in memory"),
            () = yield_now() => {}
        }
        disk.let_go();
        late.await;
    }
    engine.caught_up(None).await;
    assert_eq!(buffered(&stage, &other).await.len(), 1);
}
