//! nanobot's own tests of its background consolidation, each with its name there (seed 000).
//!
//! Its sessions `cli:session1` and `cli:session2` are two subjects here. Its mocks are strategies that a test holds.

use std::sync::Arc;
use std::time::Duration;

use background::{Failure, Triggers};

use crate::stage::{Puppet, Stage, at_once, outcome};

/// `_IDLE_CHECK_INTERVAL`; a session is idle after twice as long.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(100);

fn consolidator() -> Arc<Puppet> {
    let triggers = Triggers {
        idle: Some(2 * IDLE_CHECK_INTERVAL),
        ..Triggers::default()
    };
    Arc::new(Puppet::new("maybe_consolidate_by_tokens", triggers))
}

const NONE: [&str; 0] = [];

#[tokio::test]
async fn start_and_stop_background_task() {
    let stage = Stage::default();
    let offline = stage.open(&[&consolidator()]).await;
    assert!(offline.is_running().await);
    offline.stop().await;
    assert!(!offline.is_running().await);
}

#[tokio::test]
async fn background_loop_checks_idle_sessions() {
    let stage = Stage::default();
    let consolidate = consolidator();
    let offline = stage.build(&[&consolidate]);
    stage.emit(&offline, "ann", "cli:session2").await;
    stage.pass(2 * IDLE_CHECK_INTERVAL).await;
    stage.emit(&offline, "ann", "cli:session1").await;
    offline.start().await.expect("starts");
    stage.pass(IDLE_CHECK_INTERVAL).await;
    offline.stop().await;
    assert_eq!(consolidate.begun(), ["cli:session2"], "the other is active");
}

#[tokio::test]
async fn record_activity_updates_timestamp() {
    let stage = Stage::default();
    let consolidate = consolidator();
    let offline = stage.open(&[&consolidate]).await;
    stage.pass(2 * IDLE_CHECK_INTERVAL).await;
    assert_eq!(consolidate.begun(), NONE, "no activity is recorded");
    stage.emit(&offline, "ann", "cli:test").await;
    stage.pass(IDLE_CHECK_INTERVAL).await;
    stage.emit(&offline, "ann", "cli:test").await;
    stage.pass(IDLE_CHECK_INTERVAL).await;
    assert_eq!(consolidate.begun(), NONE, "the later activity counts");
    stage.pass(IDLE_CHECK_INTERVAL).await;
    assert_eq!(consolidate.begun(), ["cli:test"]);
}

/// `maybe_consolidate_by_tokens_schedules_async_task`, and `schedule_consolidation_runs_async_version`.
#[tokio::test]
async fn schedule_consolidation_runs_async_version() {
    let stage = Stage::default();
    let consolidate = at_once("maybe_consolidate_by_tokens");
    consolidate.held.send_replace(true);
    let offline = stage.open(&[&consolidate]).await;
    // The call returns at once, although the task never ends.
    stage.emit(&offline, "ann", "cli:scheduled").await;
    assert_eq!(consolidate.begun(), ["cli:scheduled"]);
}

#[tokio::test]
async fn recently_active_session_not_considered_idle() {
    let stage = Stage::default();
    let consolidate = consolidator();
    let offline = stage.open(&[&consolidate]).await;
    stage.emit(&offline, "ann", "cli:active").await;
    stage.pass(Duration::from_millis(150)).await;
    offline.stop().await;
    assert_eq!(consolidate.begun(), NONE);
}

#[tokio::test]
async fn idle_session_triggers_consolidation() {
    let stage = Stage::default();
    let consolidate = consolidator();
    let offline = stage.build(&[&consolidate]);
    stage.emit(&offline, "ann", "cli:idle").await;
    stage.pass(Duration::from_secs(10)).await;
    offline.start().await.expect("starts");
    stage.pass(Duration::from_millis(500)).await;
    offline.stop().await;
    assert_eq!(consolidate.begun(), ["cli:idle"]);
}

#[tokio::test]
async fn background_task_handles_exceptions_gracefully() {
    let stage = Stage::default();
    let failing = Puppet::new("maybe_consolidate_by_tokens", Triggers::default())
        .does(|_| Err(Failure::Retry("Test exception".to_owned())));
    let (failing, other) = (Arc::new(failing), at_once("other"));
    let offline = stage.open(&[&failing, &other]).await;
    stage.emit(&offline, "ann", "cli:test").await;
    stage.pass(Duration::from_millis(500)).await;
    assert!(offline.is_running().await);
    stage.emit(&offline, "bob", "cli:next").await;
    assert_eq!(other.begun(), ["cli:test", "cli:next"]);
    offline.stop().await;
}

#[tokio::test]
async fn stop_cancels_running_task() {
    let stage = Stage::default();
    let sleeper = Puppet {
        is_polite: true,
        ..Puppet::new("sleeper", Triggers::default()).does(|_| Ok(outcome("slept")))
    };
    let sleeper = Arc::new(sleeper);
    sleeper.held.send_replace(true);
    let offline = stage.open(&[&sleeper]).await;
    stage.emit(&offline, "ann", "cli:test").await;
    assert_eq!(stage.states().await, "running");
    offline.stop().await;
    assert!(!offline.is_running().await);
    assert_eq!(stage.states().await, "queued", "it was cancelled");
}
