//! Concurrent adds to one session lose and repeat no message; different sessions do not wait for each other.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use memory::Engine;
use model::{EntryKind, Message, MessageId, SessionKey};
use ports::{Clock as _, NewMessage, Sweep, Transcripts};
use tokio::task::yield_now;

use crate::held::{Call, Held};
use crate::slow::At;
use crate::stage::{Stage, add, flush, minute, new_message, say, session, turns};
use testkit::faults::Mode;

/// Every message of a session is in its buffer or in exactly one segment, and none of them was lost.
pub(crate) async fn check_accounted(stage: &Stage, key: &SessionKey, expected: usize) {
    let all = stage.ledger.everything();
    let of_session: Vec<_> = all
        .iter()
        .filter(|(message, _)| message.session == *key)
        .collect();
    let texts: BTreeSet<String> = of_session.iter().map(|(message, _)| message.text()).collect();
    assert_eq!(texts.len(), expected, "messages were lost");
    assert_eq!(of_session.len(), expected, "messages were doubled");
    let buffered: BTreeSet<MessageId> = stage
        .ledger
        .buffer(key)
        .await
        .expect("it reads")
        .into_iter()
        .map(|message| message.id)
        .collect();
    for (message, cell) in of_session {
        assert_eq!(
            buffered.contains(&message.id),
            cell.is_none(),
            "in the buffer and in a memcell, or in neither"
        );
    }
}

/// Batches of messages, said by several users with pauses, so that the rules cut again and again.
fn batches(key: &SessionKey, batches: i64, size: i64) -> Vec<Vec<NewMessage>> {
    let batch = |b: i64| {
        let one = |n: i64| {
            new_message(
                key,
                &format!("u{b}"),
                (b * size + n) * 20,
                &format!("msg {n} of batch {b} in {}", key.session.as_str()),
            )
        };
        (0..size).map(one).collect()
    };
    (0..batches).map(batch).collect()
}

pub(crate) async fn add_all(engine: &Engine, key: &SessionKey, batches: Vec<Vec<NewMessage>>) {
    let adds = batches.into_iter().map(|batch| {
        let (engine, add) = (engine.clone(), add(key, batch));
        tokio::spawn(async move { engine.add(add).await })
    });
    for added in join_all(adds).await {
        added.expect("no panic").expect("it is accepted");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_concurrent_adds_to_one_session_lose_nothing() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("concurrent");
    add_all(&engine, &key, batches(&key, 2, 4)).await;
    check_accounted(&stage, &key, 8).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn four_concurrent_adds_with_a_flush_in_between_lose_nothing() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("stress");
    let flushing = {
        let (engine, flush) = (engine.clone(), flush(&key));
        tokio::spawn(async move { engine.flush(flush).await })
    };
    add_all(&engine, &key, batches(&key, 4, 3)).await;
    flushing.await.expect("no panic").expect("it cuts");
    check_accounted(&stage, &key, 12).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_adds_to_several_sessions_lose_nothing() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let keys = ["a", "b", "c"].map(session);
    join_all(keys.iter().map(|key| add_all(&engine, key, batches(key, 1, 3)))).await;
    for key in &keys {
        check_accounted(&stage, key, 3).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_concurrent_adds_lose_nothing_in_two_hundred_rounds() {
    let mut stage = Stage::default();
    stage.settings.messages_max = 10;
    let engine = stage.open().await;
    for round in 0..200 {
        let key = session(&format!("round-{round}"));
        add_all(&engine, &key, batches(&key, 64, 1)).await;
        check_accounted(&stage, &key, 64).await;
        // The fake walks over all rows, so checked ones are removed.
        stage.ledger.sweep(Sweep::Session(key)).await.expect("it sweeps");
    }
}

#[tokio::test]
async fn messages_of_concurrent_adds_are_in_the_vault_once() {
    let mut stage = Stage::default();
    stage.settings.messages_max = 5;
    let engine = stage.open().await;
    let key = session("s");
    add_all(&engine, &key, batches(&key, 16, 2)).await;
    engine.flush(flush(&key)).await.expect("it cuts");
    assert_eq!(stage.rest(&engine).await, 0);
    stage.check().await;
    let told: BTreeSet<String> = stage
        .vault
        .entries()
        .iter()
        .flat_map(|(_, entry)| &entry.turns)
        .map(Message::text)
        .collect();
    assert_eq!(told.len(), 32);
}

#[tokio::test]
async fn a_session_that_is_being_cut_holds_up_nobody_else() {
    let stage = Stage::default();
    let (slow, other) = (session("slow"), session("other"));
    let held = Held::new(stage.ledger.clone(), Call::Buffer, &slow);
    let parts = memory::Parts {
        transcripts: held.clone(),
        ..stage.parts()
    };
    let engine = Engine::start(parts, stage.settings.clone())
        .await
        .expect("it starts");
    let deferred = |millis, text| memory::Add {
        title: None,
        defer_extraction: true,
        ..add(&slow, vec![new_message(&slow, "ann", millis, text)])
    };
    engine
        .add(deferred(0, "I am slow"))
        .await
        .expect("it is accepted");
    let cutting = {
        let (engine, flush) = (engine.clone(), flush(&slow));
        tokio::spawn(async move { engine.flush(flush).await })
    };
    held.called().await;

    // The cut is in progress and blocked. It does not block other sessions:
    say(&engine, &other, "bob", 0, "I am quick").await;
    engine.flush(flush(&other)).await.expect("another session is cut");
    // nor other adds to the same session, as long as they ask for no cut:
    engine.add(deferred(1, "And on")).await.expect("it is accepted");
    assert!(
        turns(&engine, "ann", "slow")
            .await
            .contains(&"I am slow".to_owned()),
        "it is found meanwhile"
    );
    assert!(!cutting.is_finished());
    // A second cut of the session waits for the first.
    let second = {
        let (engine, flush) = (engine.clone(), flush(&slow));
        tokio::spawn(async move { engine.flush(flush).await })
    };
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    assert!(!held.is_called(), "two cuts of one session run at once");

    held.let_go();
    cutting.await.expect("no panic").expect("it is accepted");
    held.let_go();
    second.await.expect("no panic").expect("it cuts");
    check_accounted(&stage, &slow, 2).await;
}

#[tokio::test]
async fn messages_of_one_instant_are_all_kept_and_a_retry_adds_nothing() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    let batch = || {
        ["one", "two", "three"]
            .map(|text| new_message(&key, "ann", 5, text))
            .to_vec()
    };
    let first = engine.add(add(&key, batch())).await.expect("it is accepted");
    let second = engine.add(add(&key, batch())).await.expect("it is accepted");
    assert!(first.accepted.iter().all(|one| !one.duplicate));
    assert!(second.accepted.iter().all(|one| one.duplicate));
    let ids = |added: &memory::Added| {
        added
            .accepted
            .iter()
            .map(|one| one.id.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&first), ids(&second));
    assert!(
        ids(&first)[0].as_str().starts_with("m_20240508_"),
        "{:?}",
        ids(&first)
    );
    check_accounted(&stage, &key, 3).await;
    assert_eq!(minute(5), stage.ledger.everything()[0].0.time);
}

#[tokio::test]
async fn a_shutdown_ends_every_task_and_refuses_later_adds() {
    let stage = Stage::default();
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "hello").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    engine.shutdown().await;
    let after = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert_eq!(before, after, "a task outlived its engine");
    let late = engine
        .add(add(&key, vec![new_message(&key, "ann", 1, "too late")]))
        .await;
    assert!(matches!(late, Err(memory::EngineError::Stopping)));
    assert_eq!(stage.ledger.everything().len(), 1);

    let engine = stage.open().await;
    assert_eq!(stage.rest(&engine).await, 0);
    stage.check_written(&["hello".to_owned()], &["ann"]);
}

#[tokio::test]
async fn shutdown_does_not_wait_longer_than_its_bound() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "hello").await;
    // The job that writes the segment blocks for ever.
    stage.faults.plan_next("cell", Mode::DieBefore);
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.faults.death().await;
    let (bound, began) = (Duration::from_secs(4), stage.clock.elapsed());
    let stopping = engine.shutdown_within(bound);
    tokio::pin!(stopping);
    // Time passes by quarters of a second, whenever nothing else has moved for a while.
    let mut waits = 0;
    loop {
        let a_while = async {
            for _ in 0..100 {
                yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = &mut stopping => break,
            () = a_while => {}
        }
        waits += 1;
        stage.clock.advance(Duration::from_millis(250));
    }
    let took = stage.clock.elapsed().saturating_sub(began);
    assert!(waits > 0, "what hangs is waited for");
    assert!(took <= bound, "it took {took:?}");
}

#[tokio::test]
async fn a_segment_is_written_while_an_earlier_one_of_its_owner_is_indexed() {
    let stage = Stage::default();
    let (slow, engine) = stage.open_slow().await;
    let (first, second) = (session("first"), session("second"));
    say(&engine, &first, "ann", 0, "I live in Lisbon").await;
    say(&engine, &second, "ann", 1, "I live in Lisbon").await;
    slow.arm(At::Apply);
    engine.flush(flush(&first)).await.expect("it cuts");
    slow.called().await;
    engine.flush(flush(&second)).await.expect("it cuts");
    let episodes = || {
        let entries = stage.vault.entries();
        entries
            .iter()
            .filter(|(_, entry)| entry.kind == EntryKind::Episode)
            .count()
    };
    while episodes() < 2 {
        yield_now().await;
    }
    // The first segment's files are not recorded; the second's record must not pass them over.
    stage.faults.plan_next("extend", Mode::Refuse);
    slow.let_go();
    assert_eq!(stage.rest(&engine).await, 0);
    assert_eq!(
        stage.vault.entries().len(),
        3,
        "what was told already is told again"
    );
    stage.check().await;
}
