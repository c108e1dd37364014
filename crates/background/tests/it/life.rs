//! Starting, stopping, and the runs that are running meanwhile: N-1, N-2, N-3, N-11 to N-16.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use background::{BackgroundSettings, Triggers};

use crate::stage::{IDLE, Puppet, Stage, at_once, outcome, when_idle};

#[tokio::test]
async fn n1_n11_a_start_starts_waiting_runs() {
    let stage = Stage::default();
    let puppet = at_once("look");
    let offline = stage.build(&[&puppet]);
    stage.emit(&offline, "ann", "mc1").await;
    assert!(!offline.is_running().await);
    assert_eq!(puppet.begun(), [] as [&str; 0]);
    offline.start().await.expect("starts");
    stage.pass(Duration::ZERO).await;
    assert!(offline.is_running().await);
    assert_eq!(puppet.begun(), ["mc1"]);
    assert_eq!(stage.states().await, "success");
    assert_eq!(stage.runs().await[0].change, "looked");
}

#[tokio::test]
async fn n2_n12_a_stop_waits_for_running_attempts_and_no_run_starts_after_it() {
    let stage = Stage::default();
    let puppet = Arc::new(Puppet {
        is_polite: true,
        ..Puppet::new("look", Triggers::default())
    });
    puppet.held.send_replace(true);
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    assert_eq!(stage.states().await, "running");
    offline.stop().await;
    assert_eq!(stage.states().await, "queued", "its end was awaited");
    assert!(!offline.is_running().await);
    puppet.held.send_replace(false);
    stage.emit(&offline, "ann", "mc2").await;
    stage.pass(IDLE).await;
    assert_eq!(puppet.begun(), ["mc1"]);
}

#[tokio::test]
async fn n3_a_stop_does_not_wait_for_a_sleeping_dispatcher() {
    let stage = Stage::default();
    let puppet = when_idle("look");
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    stage.clock.sleeping(1).await;
    // The clock does not move: a stop that waited for the sleep would never return.
    offline.stop().await;
    assert_eq!(stage.states().await, "queued");
}

#[tokio::test]
async fn n3_a_stopped_attempt_gets_a_signal_and_does_not_count() {
    let stage = Stage::default();
    let puppet = Arc::new(Puppet {
        is_polite: true,
        ..Puppet::new("look", Triggers::default())
    });
    puppet.held.send_replace(true);
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    offline.stop().await;
    let runs = stage.runs().await;
    assert_eq!((stage.states().await.as_str(), runs[0].attempt), ("queued", 0));
    puppet.held.send_replace(false);
    offline.start().await.expect("starts");
    stage.pass(Duration::ZERO).await;
    assert_eq!(stage.states().await, "success");
}

#[tokio::test]
async fn n3_an_attempt_that_ignores_the_stop_signal_is_aborted() {
    let stage = Stage::default();
    let puppet = at_once("look");
    puppet.held.send_replace(true);
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    let stopped = async {
        offline.stop().await;
        (stage.states().await, stage.runs().await[0].attempt)
    };
    let (stopped, ()) = tokio::join!(stopped, async {
        stage.pass(Duration::ZERO).await;
        stage.pass(Duration::from_secs(2)).await;
    });
    assert_eq!(stopped, ("queued".to_owned(), 0), "its end was awaited");
}

#[tokio::test]
async fn n13_an_event_waits_for_no_run() {
    let stage = Stage::default();
    let puppet = at_once("look");
    puppet.held.send_replace(true);
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    // The run never ends; events are accepted all the same.
    for n in 2..50 {
        stage.emit(&offline, "ann", &format!("mc{n}")).await;
    }
    assert_eq!(stage.runs().await.len(), 49);
}

#[tokio::test]
async fn n14_a_second_start_or_stop_changes_nothing() {
    let stage = Stage::default();
    let puppet = at_once("look");
    let offline = stage.build(&[&puppet]);
    offline.stop().await;
    offline.start().await.expect("starts");
    offline.start().await.expect("starts");
    stage.pass(Duration::ZERO).await;
    stage.emit(&offline, "ann", "mc1").await;
    assert_eq!(puppet.begun(), ["mc1"], "one dispatcher");
    stage.emit(&offline, "ann", "mc1").await;
    offline.stop().await;
    offline.stop().await;
    offline.start().await.expect("starts after a stop");
    stage.emit(&offline, "ann", "mc2").await;
    assert_eq!(puppet.begun(), ["mc1", "mc1", "mc2"]);
}

/// The subjects and attempts of started runs, and the number of calls of the store, after this number of starts.
async fn begun_after(starts: usize) -> (Vec<String>, usize) {
    let stage = Stage {
        settings: BackgroundSettings {
            concurrency: 1,
            ..BackgroundSettings::default()
        },
        ..Stage::default()
    };
    let (now, idle) = (at_once("now"), when_idle("idle"));
    now.held.send_replace(true);
    let offline = stage.open(&[&now, &idle]).await;
    stage.emit(&offline, "ann", "mc1").await;
    for _ in 1..starts {
        offline.start().await.expect("starts");
        stage.pass(Duration::ZERO).await;
    }
    stage.emit(&offline, "bob", "mc2").await;
    assert_eq!(
        now.begun(),
        ["mc1"],
        "there is one place, and nobody was sent from it"
    );
    now.held.send_replace(false);
    stage.pass(Duration::ZERO).await;
    stage.pass(IDLE).await;
    assert_eq!(stage.states().await, "success success success success");
    offline.stop().await;
    let begun = now.begun.lock().expect("no panic");
    let begun = begun
        .iter()
        .map(|run| format!("{} {}", run.work.subject, run.attempt));
    (begun.collect(), stage.ledger.calls())
}

#[tokio::test]
async fn n14_a_second_start_makes_no_second_dispatcher() {
    assert_eq!(begun_after(3).await, begun_after(1).await);
}

#[tokio::test]
async fn n15_equal_work_runs_once_and_never_twice_at_a_time() {
    let stage = Stage::default();
    let puppet = at_once("look");
    puppet.held.send_replace(true);
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    for _ in 0..5 {
        stage.emit(&offline, "ann", "mc1").await;
        stage.emit(&offline, "ann", "mc2").await;
    }
    stage.emit(&offline, "bob", "mc3").await;
    assert_eq!(puppet.begun(), ["mc1", "mc3"], "of one owner one runs");
    puppet.held.send_replace(false);
    stage.pass(Duration::ZERO).await;
    assert_eq!(puppet.begun().len(), 4, "{:?}", puppet.begun());
    assert_eq!(stage.states().await, "success success success success");
}

#[tokio::test]
async fn n15_running_attempts_end_with_the_engine() {
    let stage = Stage::default();
    let puppet = at_once("look");
    puppet.held.send_replace(true);
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    drop(offline);
    puppet.held.send_replace(false);
    stage.pass(Duration::ZERO).await;
    assert_eq!(stage.states().await, "running", "nobody is left to end it");
    assert_eq!(Arc::strong_count(&puppet), 1, "nor holds what it ran");
}

#[tokio::test]
async fn n16_an_event_during_a_run_supersedes_it() {
    let stage = Stage::default();
    let seen: Arc<Mutex<Vec<bool>>> = Arc::default();
    let sees = seen.clone();
    let puppet = Puppet::new("look", Triggers::default()).does(move |context| {
        sees.lock().expect("no panic").push(context.superseded());
        Ok(outcome("looked"))
    });
    let puppet = Arc::new(puppet);
    puppet.held.send_replace(true);
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    stage.emit(&offline, "ann", "mc1").await;
    assert_eq!(
        stage.states().await,
        "running queued",
        "the next one waits behind"
    );
    puppet.held.send_replace(false);
    stage.pass(Duration::ZERO).await;
    assert_eq!(
        *seen.lock().expect("no panic"),
        [true, false],
        "and the first knows"
    );
}
