//! Causes of runs: idle times, cron, numbers of events, people. N-4 to N-9, N-19, N-20.

use std::sync::Arc;
use std::time::Duration;

use background::{BackgroundSettings, InvalidSettings, Strategy, StrategySettings, Triggers};
use ports::runs::{Cause, RunState, Threshold};

use crate::stage::{IDLE, Puppet, Stage, at_once, when_idle};

const SECOND: Duration = Duration::from_secs(1);
const HOUR_MILLIS: i64 = 3_600_000;

#[tokio::test]
async fn n4_n5_n7_a_run_starts_when_a_subject_is_idle_and_not_while_it_is_active() {
    let stage = Stage::default();
    let puppet = when_idle("look");
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    stage.pass(IDLE.saturating_sub(SECOND)).await;
    stage.emit(&offline, "ann", "mc1").await;
    stage.pass(IDLE.saturating_sub(SECOND)).await;
    assert_eq!(
        puppet.begun(),
        [] as [&str; 0],
        "the later activity begins the time anew"
    );
    stage.pass(SECOND).await;
    assert_eq!(puppet.begun(), ["mc1"]);
}

#[tokio::test]
async fn n6_each_subject_has_an_idle_time_of_its_own() {
    let stage = Stage::default();
    let puppet = when_idle("look");
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    stage.emit(&offline, "ann", "mc2").await;
    stage.pass(IDLE / 2).await;
    stage.emit(&offline, "ann", "mc2").await;
    stage.pass(IDLE / 2).await;
    assert_eq!(
        puppet.begun(),
        ["mc1"],
        "one is active, one idle, and one was never seen"
    );
}

#[tokio::test]
async fn n8_n9_an_event_returns_at_once_and_its_run_starts() {
    let stage = Stage::default();
    let puppet = at_once("look");
    puppet.held.send_replace(true);
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    assert_eq!(
        stage.states().await,
        "running",
        "it came back although the run is held"
    );
    puppet.held.send_replace(false);
    stage.pass(Duration::ZERO).await;
    assert_eq!(stage.states().await, "success");
    assert_eq!(puppet.begun(), ["mc1"]);
}

#[tokio::test]
async fn n19_a_subject_without_new_events_gets_no_second_run() {
    let stage = Stage::default();
    let puppet = when_idle("look");
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    stage.pass(IDLE).await;
    let calls = stage.ledger.calls();
    for _ in 0..100 {
        stage.pass(IDLE).await;
    }
    assert_eq!(puppet.begun(), ["mc1"]);
    assert_eq!(stage.ledger.calls(), calls, "nor is the store asked");
}

#[tokio::test]
async fn n20_a_jump_of_the_wall_clock_changes_no_idle_time() {
    for jump in [HOUR_MILLIS, -HOUR_MILLIS] {
        let stage = Stage::default();
        let puppet = when_idle("look");
        let offline = stage.open(&[&puppet]).await;
        stage.emit(&offline, "ann", "mc1").await;
        stage.clock.set_wall(jump);
        stage.emit(&offline, "bob", "mc2").await;
        stage.pass(IDLE.saturating_sub(SECOND)).await;
        assert_eq!(puppet.begun(), [] as [&str; 0], "{jump}");
        stage.pass(SECOND).await;
        assert_eq!(puppet.begun().len(), 2, "{jump}");
    }
}

#[tokio::test]
async fn n20_after_a_restart_no_run_waits_longer_than_its_idle_time() {
    let stage = Stage::default();
    let puppet = when_idle("look");
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    offline.stop().await;
    stage.clock.set_wall(-1_000 * HOUR_MILLIS);
    let again = stage.open(&[&puppet]).await;
    stage.pass(IDLE).await;
    assert_eq!(puppet.begun(), ["mc1"]);
    again.stop().await;
}

#[tokio::test]
async fn a_restart_does_not_start_all_runs_at_once() {
    let stage = Stage::default();
    let puppet = when_idle("look");
    let offline = stage.open(&[&puppet]).await;
    for n in 0..40 {
        stage.emit(&offline, &format!("u{n}"), "mc").await;
        stage.pass(SECOND).await;
    }
    offline.stop().await;
    let again = stage.open(&[&puppet]).await;
    assert_eq!(puppet.begun(), [] as [&str; 0], "a start is no reason to run");
    stage.pass(IDLE.saturating_sub(40 * SECOND)).await;
    assert_eq!(puppet.begun().len(), 1, "each at its time");
    again.stop().await;
}

#[tokio::test]
async fn cron_runs_at_its_times_and_once_for_all_missed_times() {
    let triggers = Triggers {
        cron: Some("0 * * * *".into()),
        ..Triggers::default()
    };
    let stage = Stage::default();
    let puppet = Arc::new(Puppet::new("sweep", triggers));
    let offline = stage.open(&[&puppet]).await;
    let hour = Duration::from_hours(1);
    stage.pass(hour.saturating_sub(SECOND)).await;
    assert_eq!(puppet.begun().len(), 0);
    stage.pass(SECOND).await;
    stage.pass(hour).await;
    assert_eq!(puppet.begun().len(), 2);
    offline.stop().await;
    stage.pass(5 * hour).await;
    let again = stage.open(&[&puppet]).await;
    assert_eq!(puppet.begun().len(), 3);
    stage.pass(hour).await;
    assert_eq!(puppet.begun().len(), 4);
    let runs = stage.runs().await;
    let waiting = runs.iter().filter(|run| run.state == RunState::Queued).count();
    assert_eq!((waiting, runs[0].cause), (1, Cause::Cron));
    again.stop().await;
}

#[tokio::test]
async fn a_number_of_events_causes_one_run() {
    let threshold = Threshold {
        count: 3,
        cooldown: Duration::from_mins(10),
    };
    let triggers = Triggers {
        threshold: Some(threshold),
        ..Triggers::default()
    };
    let stage = Stage::default();
    let puppet = Arc::new(Puppet::new("sum", triggers));
    let offline = stage.open(&[&puppet]).await;
    for expected in [0, 0, 1, 1, 1, 1] {
        stage.emit(&offline, "ann", "mc").await;
        assert_eq!(puppet.begun().len(), expected);
    }
    stage.pass(Duration::from_mins(10)).await;
    assert_eq!(puppet.begun().len(), 2, "the second came after the cooldown");
    assert!(stage.runs().await[0].reason.ends_with("the last of 3"));
}

#[tokio::test]
async fn settings_of_a_strategy_override_its_defaults() {
    let triggers = Triggers {
        idle: Some(IDLE),
        threshold: Some(Threshold {
            count: 3,
            cooldown: Duration::from_mins(10),
        }),
        cron: Some("0 * * * *".into()),
    };
    let own = StrategySettings {
        cron: Some("50 * * * *".to_owned()),
        idle: Some(2 * IDLE),
        count: Some(2),
        cooldown: Some(Duration::ZERO),
        ..StrategySettings::default()
    };
    let mut stage = Stage::default();
    stage.settings.strategies = [("sum".to_owned(), own)].into();
    let puppet = Arc::new(Puppet::new("sum", triggers));
    let offline = stage.open(&[&puppet]).await;
    for _ in 0..2 {
        stage.emit(&offline, "ann", "mc").await;
    }
    stage.pass(IDLE).await;
    assert_eq!(puppet.begun().len(), 0);
    stage.pass(IDLE).await;
    assert_eq!(puppet.begun(), ["mc"]);
    stage.pass(Duration::from_mins(20)).await;
    assert_eq!(puppet.begun(), ["mc", ""], "ten minutes before the hour");
    stage.pass(Duration::from_mins(30)).await;
    assert_eq!(puppet.begun().len(), 2, "not at the hour");
    offline.stop().await;
}

#[tokio::test]
async fn settings_that_a_strategy_cannot_use_are_refused() {
    let none = StrategySettings::default;
    let with = |name: &str, own: StrategySettings| BackgroundSettings {
        strategies: [(name.to_owned(), own)].into(),
        ..BackgroundSettings::default()
    };
    let strategies = [when_idle("look") as Arc<dyn Strategy>];
    let refused = |name, own| {
        with(name, own)
            .check(&strategies)
            .expect_err("refuses")
            .to_string()
    };
    assert_eq!(
        refused("lok", none()),
        "there is no strategy `lok`; there are: look"
    );
    let cron = |text: &str| StrategySettings {
        cron: Some(text.to_owned()),
        ..none()
    };
    assert_eq!(
        refused("look", cron("0 * * * *")),
        "strategy `look` does not use `cron`; remove it"
    );
    let of_hours = Triggers {
        cron: Some("0 * * * *".into()),
        ..Triggers::default()
    };
    let sweeps = [Arc::new(Puppet::new("sweep", of_hours)) as Arc<dyn Strategy>];
    let checked = with("sweep", cron("61 * * * *")).check(&sweeps);
    assert!(
        matches!(checked, Err(InvalidSettings::Cron { .. })),
        "{checked:?}"
    );
    assert_eq!(with("sweep", cron("")).check(&sweeps), Ok(()));
}

#[tokio::test]
async fn a_run_by_hand_skips_the_idle_time() {
    let stage = Stage::default();
    let (idle, off) = (when_idle("look"), at_once("off"));
    let offline = stage.open(&[&idle, &off]).await;
    let ask = async |name, force| offline.trigger(name, IDLE, force).await.expect("asked");
    assert_eq!(ask("nobody", false).await, None);
    let nothing = ask("look", false).await.expect("known");
    assert!(nothing.runs.is_empty(), "nothing waits");
    stage.emit(&offline, "ann", "mc1").await;
    let run = ask("look", false).await.expect("known").runs.remove(0);
    assert_eq!((run.state, run.cause), (RunState::Success, Cause::Manual));

    off.held.send_replace(true);
    stage.emit(&offline, "ann", "mc1").await;
    stage.emit(&offline, "ann", "mc1").await;
    offline.configure(BackgroundSettings {
        disabled: ["off".to_owned()].into(),
        ..stage.settings.clone()
    });
    assert!(ask("off", false).await.expect("known").runs.is_empty());
    let forced = async { ask("off", true).await.expect("known") };
    let (forced, ()) = tokio::join!(forced, async {
        stage.pass(Duration::ZERO).await;
        stage.pass(IDLE).await;
    });
    assert!(forced.timed_out, "it is held");
    off.held.send_replace(false);
    stage.pass(Duration::ZERO).await;
    assert_eq!(off.begun().len(), 3, "one at first, one under way, one forced");
}

#[tokio::test]
async fn in_quiet_time_only_people_start_runs() {
    let stage = Stage {
        settings: BackgroundSettings {
            is_quiet: true,
            ..BackgroundSettings::default()
        },
        ..Stage::default()
    };
    let puppet = at_once("look");
    let offline = stage.open(&[&puppet]).await;
    stage.emit(&offline, "ann", "mc1").await;
    stage.emit(&offline, "bob", "mc2").await;
    stage.pass(IDLE).await;
    assert_eq!(puppet.begun(), [] as [&str; 0]);
    let asked = offline.trigger("look", IDLE, false).await.expect("asked");
    assert_eq!(asked.expect("known").runs.len(), 2);
    stage.emit(&offline, "ann", "mc3").await;
    assert_eq!(puppet.begun().len(), 2);
    offline.configure(BackgroundSettings::default());
    stage.pass(Duration::from_mins(1)).await;
    assert_eq!(puppet.begun().len(), 3, "quiet no more");
}

#[tokio::test]
async fn quiesce_runs_due_work_and_starts_no_more() {
    let stage = Stage::default();
    let (now, idle) = (at_once("now"), when_idle("idle"));
    let offline = stage.open(&[&now, &idle]).await;
    let both = vec![crate::stage::written("ann", "mc1")];
    offline.events().emit(both).await.expect("on disk");
    let quiesced = offline.quiesce().await.expect("ends");
    assert_eq!((quiesced.before, quiesced.after), (2, 1));
    assert_eq!(now.begun(), ["mc1"]);
    offline.start().await.expect("does nothing");
    stage.pass(IDLE).await;
    assert_eq!(idle.begun(), [] as [&str; 0]);
}
