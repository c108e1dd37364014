//! Attempts that fail, take too long, panic or wait: N-10, and slots that are held only while an attempt runs.

use std::sync::Arc;
use std::time::Duration;

use background::{BackgroundSettings, Failure, Triggers};

use crate::stage::{Puppet, Stage, at_once, outcome};

fn failing(failure: fn() -> Failure) -> Arc<Puppet> {
    let puppet = Puppet::new("fails", Triggers::default());
    Arc::new(
        puppet.does(move |context| match context.run.work.subject.as_str() {
            "good" => Ok(outcome("looked")),
            _ => Err(failure()),
        }),
    )
}

#[tokio::test]
async fn n10_a_failing_run_delays_no_other_and_is_given_up_in_the_end() {
    let stage = Stage {
        settings: BackgroundSettings {
            concurrency: 1,
            ..BackgroundSettings::default()
        },
        ..Stage::default()
    };
    let puppet = failing(|| Failure::Retry("no model".to_owned()));
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "bad").await;
    assert_eq!(stage.states().await, "failed");
    stage.emit(&offline, "ann", "good").await;
    stage.emit(&offline, "bob", "good").await;
    assert_eq!(
        stage.states().await,
        "failed success success",
        "back-off holds no place"
    );
    for attempt in 2..=5_u32 {
        let longest = Duration::from_millis(1_500 << (attempt - 2));
        stage
            .pass((longest * 2 / 3).saturating_sub(Duration::from_millis(1)))
            .await;
        assert_eq!(
            stage.runs().await[2].attempt,
            attempt - 1,
            "twice as long each time"
        );
        stage.pass(longest / 3 + Duration::from_millis(1)).await;
        assert_eq!(stage.runs().await[2].attempt, attempt);
    }
    assert_eq!(stage.states().await, "dead_letter success success");
    let stats = offline.stats().await.expect("counts");
    assert_eq!((stats.dead_letters, stats.failed), (1, 0));
    assert_eq!(stage.runs().await[2].error.as_deref(), Some("no model"));
    // A given-up run can be triggered again, and a success clears it.
    let asked = offline.trigger("fails", Duration::from_secs(1), false).await;
    assert_eq!(asked.expect("asked").expect("known").runs.len(), 1);
}

#[tokio::test]
async fn a_permanent_failure_is_given_up_at_once() {
    let stage = Stage::default();
    let puppet = failing(|| Failure::GiveUp("no such cluster".to_owned()));
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "bad").await;
    assert_eq!(stage.states().await, "dead_letter");
}

#[tokio::test]
async fn n10_a_panic_is_a_failure_and_stops_no_other_run() {
    let stage = Stage::default();
    let puppet = failing(|| panic!("planted"));
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "bad").await;
    assert_eq!(stage.states().await, "failed");
    assert_eq!(
        stage.runs().await[0].error.as_deref(),
        Some("the strategy panicked")
    );
    stage.emit(&offline, "ann", "good").await;
    stage.emit(&offline, "bob", "good").await;
    assert_eq!(stage.states().await, "failed success success");
    stage.pass(Duration::from_millis(1_500)).await;
    assert_eq!(stage.runs().await[2].attempt, 2, "and it is tried again");
}

#[tokio::test]
async fn an_attempt_over_its_time_limit_fails() {
    let stage = Stage::default();
    let puppet = at_once("look");
    puppet.held.send_replace(true);
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    stage
        .pass(stage.settings.attempt_max.saturating_sub(Duration::from_secs(1)))
        .await;
    assert_eq!(stage.states().await, "running");
    stage.pass(Duration::from_secs(1)).await;
    assert_eq!(stage.states().await, "failed");
    let run = stage.runs().await.remove(0);
    assert_eq!(run.error.as_deref(), Some("it ran longer than 1800 s"));
    assert_eq!(run.cost.millis, 1_800_000);
    drop(offline);
}

#[tokio::test]
async fn no_more_attempts_run_at_a_time_than_the_limit() {
    let stage = Stage {
        settings: BackgroundSettings {
            concurrency: 3,
            ..BackgroundSettings::default()
        },
        ..Stage::default()
    };
    let puppet = at_once("look");
    puppet.held.send_replace(true);
    let offline = stage.open(&[&puppet]).await;
    for n in 0..9 {
        stage.emit(&offline, &format!("u{n}"), "mc").await;
    }
    assert_eq!(puppet.begun().len(), 3);
    offline.configure(BackgroundSettings {
        concurrency: 5,
        ..stage.settings.clone()
    });
    stage.pass(Duration::ZERO).await;
    assert_eq!(puppet.begun().len(), 5, "settings hold at once");
    puppet.held.send_replace(false);
    stage.pass(Duration::ZERO).await;
    assert_eq!(puppet.begun().len(), 9);
}
