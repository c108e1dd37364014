//! A program that violates the protocol fails one call, or is ended.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use ports::context_engine::{ContextEngine, EngineFault};
use providers::{CommandEngine, EngineSettings};
use serde_json::json;
use testkit::clock::ManualClock;

use super::{TIMEOUT, assemble, fault, probe, python, same, saying, settings, turn, user};

/// A probe and its process, if the system shows processes as files.
async fn started(mode: &str) -> (CommandEngine, Arc<ManualClock>, String) {
    let clock = Arc::new(ManualClock::new());
    let engine = probe(&[mode], &clock);
    engine.bootstrap(&turn("ann/chat")).await.expect("it starts");
    let place = format!("/proc/{}", engine.info().id);
    (engine, clock, place)
}

fn wait_for_the_end_of(place: &str) {
    while Path::new(place).exists() {
        std::thread::yield_now();
    }
}

/// Makes a call that times out.
async fn timed_out(engine: &CommandEngine, clock: &ManualClock) {
    let items = [user("hi")];
    let wait = async {
        clock.sleeping(1).await;
        clock.advance(TIMEOUT);
    };
    let (assembled, ()) = tokio::join!(assemble(engine, &items), wait);
    assert_eq!(assembled.expect_err("it hangs"), EngineFault::TimedOut(2_000));
}

#[tokio::test]
async fn a_program_out_of_step_is_ended() {
    for (mode, words) in [
        ("garbage", "is not a JSON object"),
        (
            "garbage",
            "`hello`; write one answer a line there and logs to standard error",
        ),
        ("no id", "has no `id`"),
        ("wrong id", "which Quipu did not make"),
        ("long", "longer than 64 MiB"),
    ] {
        let (engine, _, place) = started(mode).await;
        let fault = fault(&engine).await;
        assert!(fault.contains(words), "{mode}: {fault}");
        wait_for_the_end_of(&place);
    }
}

#[tokio::test]
async fn garbage_fails_every_waiting_call() {
    let (engine, _, _) = started("garbage").await;
    let (ann, ben) = (turn("ann/chat"), turn("ann/chat"));
    let (one, other) = tokio::join!(
        engine.assemble(vec![user("a")], &ann),
        engine.assemble(vec![user("b")], &ben),
    );
    for assembled in [one, other] {
        let fault = assembled.expect_err("it fails").to_string();
        assert!(fault.contains("`hello`"), "{fault}");
    }
}

#[tokio::test]
async fn an_error_fails_only_its_call() {
    for (mode, words) in [
        ("error", "it answered with an error: out of ideas"),
        ("text", "`messages` of its answer is not a list"),
    ] {
        let (engine, _, _) = started(mode).await;
        let id = engine.info().id;
        for _ in 0..2 {
            let fault = fault(&engine).await;
            assert!(fault.contains(words), "{fault}");
        }
        engine
            .bootstrap(&turn("ben/chat"))
            .await
            .expect("it still answers");
        assert_eq!(engine.info().id, id);
    }
}

#[tokio::test]
async fn a_hanging_program_times_out_and_is_ended_after_a_while() {
    let (engine, clock, place) = started("hang").await;
    for _ in 0..2 {
        timed_out(&engine, &clock).await;
    }
    assert_eq!(format!("/proc/{}", engine.info().id), place);
    clock.advance(Duration::from_secs(30));
    timed_out(&engine, &clock).await;
    wait_for_the_end_of(&place);
    engine.bootstrap(&turn("ann/chat")).await.expect("another starts");
    assert_ne!(format!("/proc/{}", engine.info().id), place);
}

#[tokio::test]
async fn a_late_answer_reaches_no_call() {
    let (engine, clock, _) = started("late").await;
    timed_out(&engine, &clock).await;
    let items = [user("the second")];
    let assembled = assemble(&engine, &items).await.expect("it answers");
    assert!(same(&assembled, &items));
    let assembled = assemble(&engine, &items).await.expect("it still answers");
    assert!(same(&assembled, &items));
}

#[tokio::test]
async fn a_program_that_closes_its_input_is_ended() {
    let (engine, _, place) = started("stdin").await;
    assemble(&engine, &[user("hi")]).await.expect("its last answer");
    let fault = fault(&engine).await;
    assert!(fault.contains("its process ended"), "{fault}");
    wait_for_the_end_of(&place);
}

#[tokio::test]
async fn waiting_calls_are_bounded() {
    let (engine, _clock, _) = started("hang").await;
    let turn = turn("ann/chat");
    let mut calls: FuturesUnordered<_> = (0..65)
        .map(|_| engine.assemble(vec![user("hi")], &turn))
        .collect();
    let first = calls.next().await.expect("one of them ends");
    let fault = first.expect_err("it is refused").to_string();
    assert!(fault.contains("64 calls wait for it"), "{fault}");
}

#[tokio::test]
async fn an_error_of_any_shape_is_quoted() {
    let engine = saying(&json!({"error": {"code": 7}}), "", settings());
    let fault = fault(&engine).await;
    assert!(fault.contains("an error: {\"code\":7}"), "{fault}");
}

#[tokio::test]
async fn no_call_has_more_than_five_seconds() {
    let clock = Arc::new(ManualClock::new());
    let settings = EngineSettings {
        timeout: Duration::from_mins(1),
        ..settings()
    };
    let argv = python("crates/providers/tests/it/engine/probe.py", &["hang"]);
    let engine = CommandEngine::new(settings, argv, Arc::<ManualClock>::clone(&clock)).expect("a command");
    let items = [user("hi")];
    let wait = async {
        clock.sleeping(1).await;
        clock.advance(Duration::from_secs(5));
    };
    let (assembled, ()) = tokio::join!(assemble(&engine, &items), wait);
    assert_eq!(assembled.expect_err("it hangs"), EngineFault::TimedOut(5_000));
}
