//! Idle sessions become episodes by themselves, once each, also over restarts and faults.

use std::time::Duration;

use memory::Engine;
use tokio::task::yield_now;

use crate::stage::{Stage, add, new_message, say, session, turns};
use testkit::faults::Mode;

const SECOND: Duration = Duration::from_secs(1);

/// Advances the clock, and runs everything that is due.
async fn pass(stage: &Stage, time: Duration) {
    stage.clock.advance(time);
    for _ in 0..500 {
        yield_now().await;
    }
}

fn idle_after(stage: &Stage) -> Duration {
    stage.settings.idle_after
}

/// The idle time less this number of seconds.
fn before_idle(stage: &Stage, seconds: u64) -> Duration {
    idle_after(stage).saturating_sub(Duration::from_secs(seconds))
}

/// Number of messages in no segment.
fn buffered(stage: &Stage) -> usize {
    let all = stage.ledger.everything();
    all.iter().filter(|(_, cell)| cell.is_none()).count()
}

async fn end(stage: &Stage, engine: Engine) {
    stage.drive(engine.shutdown()).await;
}

#[tokio::test]
async fn a_session_becomes_an_episode_once_it_is_idle_and_no_sooner() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let (one, other) = (session("one"), session("other"));
    say(&engine, &one, "ann", 0, "I live in Lisbon.").await;
    pass(&stage, before_idle(&stage, 1)).await;
    say(&engine, &other, "bob", 0, "I keep goats.").await;
    say(&engine, &one, "ann", 14, "By the sea.").await;
    pass(&stage, 2 * SECOND).await;
    assert_eq!(buffered(&stage), 3, "each message begins the time anew");
    pass(&stage, before_idle(&stage, 1)).await;
    assert_eq!(buffered(&stage), 0, "nobody called flush");
    stage.rest(&engine).await;
    stage.check().await;
    stage.check_written(
        &["I live in Lisbon.".to_owned(), "By the sea.".to_owned()],
        &["ann"],
    );
    end(&stage, engine).await;
}

#[tokio::test]
async fn idle_time_continues_over_a_restart() {
    let stage = Stage::default();
    let engine = stage.open().await;
    for number in 0..40 {
        let key = session(&format!("s{number}"));
        say(&engine, &key, "ann", 0, &format!("Note {number}.")).await;
    }
    pass(&stage, before_idle(&stage, 10)).await;
    say(&engine, &session("late"), "ann", 0, "A late one.").await;
    end(&stage, engine).await;

    let engine = stage.open().await;
    pass(&stage, Duration::ZERO).await;
    assert_eq!(buffered(&stage), 41, "a start is no reason to cut");
    pass(&stage, 11 * SECOND).await;
    assert_eq!(buffered(&stage), 1, "their time had nearly come");
    pass(&stage, idle_after(&stage)).await;
    assert_eq!(buffered(&stage), 0);
    end(&stage, engine).await;
}

#[tokio::test]
async fn a_jump_of_the_wall_clock_changes_no_idle_time() {
    const HOUR_MILLIS: i64 = 3_600_000;
    for jump in [HOUR_MILLIS, -HOUR_MILLIS] {
        let stage = Stage::default();
        let engine = stage.open().await;
        say(&engine, &session("one"), "ann", 0, "I live in Lisbon.").await;
        stage.clock.set_wall(jump);
        say(&engine, &session("two"), "bob", 0, "I keep goats.").await;
        pass(&stage, before_idle(&stage, 1)).await;
        assert_eq!(buffered(&stage), 2, "{jump}");
        pass(&stage, SECOND).await;
        assert_eq!(buffered(&stage), 0, "{jump}");
        end(&stage, engine).await;
    }
}

#[tokio::test]
async fn a_failure_in_one_session_delays_no_other_and_is_tried_again() {
    let stage = Stage::default();
    let engine = stage.open().await;
    say(&engine, &session("one"), "ann", 0, "I live in Lisbon.").await;
    say(&engine, &session("two"), "ann", 0, "I keep goats.").await;
    stage.faults.plan_next("cut", Mode::Refuse);
    pass(&stage, idle_after(&stage)).await;
    assert_eq!(buffered(&stage), 1, "the other was cut");
    pass(&stage, 6 * SECOND).await;
    assert_eq!(buffered(&stage), 0);
    stage.rest(&engine).await;
    stage.check().await;
    end(&stage, engine).await;
}

#[tokio::test]
async fn a_message_during_the_cut_is_not_lost() {
    for mode in [Mode::Refuse, Mode::LoseAnswer] {
        let stage = Stage::default();
        let engine = stage.open().await;
        let key = session("one");
        say(&engine, &key, "ann", 0, "I live in Lisbon.").await;
        stage.faults.plan_next("cut", mode);
        stage.clock.advance(idle_after(&stage));
        let more = add(&key, vec![new_message(&key, "ann", 16, "I am back.")]);
        let (added, ()) = tokio::join!(engine.add(more), pass(&stage, Duration::ZERO));
        added.expect("it is accepted");
        pass(&stage, idle_after(&stage)).await;
        stage.rest(&engine).await;
        stage.check().await;
        stage.check_written(
            &["I live in Lisbon.".to_owned(), "I am back.".to_owned()],
            &["ann"],
        );
        end(&stage, engine).await;
    }
}

#[tokio::test]
async fn a_buffer_without_a_user_waits_and_is_checked_once() {
    let stage = Stage::default();
    let engine = stage.open().await;
    say(&engine, &session("one"), "bot", 0, "Welcome!").await;
    let calls = async || {
        let before = stage.faults.made();
        pass(&stage, idle_after(&stage)).await;
        stage.faults.made() - before
    };
    let (looked, later) = (calls().await, calls().await);
    assert_eq!(buffered(&stage), 1);
    assert!(later < looked, "what did not change is not looked at again");
    say(&engine, &session("one"), "ann", 1, "Hello, I live in Lisbon.").await;
    pass(&stage, idle_after(&stage)).await;
    assert_eq!(buffered(&stage), 0);
    end(&stage, engine).await;
}

#[tokio::test]
async fn a_process_that_only_asks_cuts_no_idle_session() {
    let mut stage = Stage::default();
    let engine = stage.open().await;
    say(&engine, &session("s"), "ann", 0, "I keep goats.").await;
    pass(&stage, before_idle(&stage, 10)).await;
    end(&stage, engine).await;

    stage.settings.asks_only = true;
    let engine = stage.open().await;
    assert_eq!(turns(&engine, "ann", "goats").await, ["I keep goats."]);
    pass(&stage, 2 * idle_after(&stage)).await;
    assert_eq!(
        buffered(&stage),
        1,
        "an episode would keep the one who asks waiting"
    );
    end(&stage, engine).await;

    stage.settings.asks_only = false;
    let engine = stage.open().await;
    pass(&stage, Duration::ZERO).await;
    assert_eq!(buffered(&stage), 0, "another does it");
    end(&stage, engine).await;
}
