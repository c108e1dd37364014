//! A store that fails at the n-th call, and a process that ends: nothing is lost, and nothing is stored twice.

use std::sync::Arc;
use std::time::Duration;

use ledger::SqliteLedger;
use model::{EntryKind, Page};
use ports::runs::{RunState, Runs};
use testkit::ledger::Fault;

use crate::strategies::stage::{Process, Stage, page, texts};

const ALL: [&str; 3] = ["extract_foresight", "extract_user_profile", "dream"];

async fn opened(stage: &Stage) -> Process {
    let process = stage.open().await;
    talk(stage, &process).await;
    process
}

async fn talk(stage: &Stage, process: &Process) {
    for (session, text) in [
        ("a", "I live in Lisbon. I'm flying to Rome on Friday."),
        ("b", "The boat leaks at the third plank."),
        ("c", "The boat leaks at the third plank."),
    ] {
        stage.say(process, session, "ann", &[text]).await;
    }
}

/// All entries that the strategies made.
async fn made(process: &Process) -> Vec<String> {
    let mut made = Vec::new();
    for kind in [EntryKind::Foresight, EntryKind::Profile, EntryKind::Episode] {
        made.extend(texts(&process.engine, "ann", kind).await);
    }
    for one in Page::ALL {
        made.push(page(&process.engine, one).await);
    }
    made
}

/// Ids differ from stage to stage; texts do not.
fn without_ids(made: &[String]) -> Vec<String> {
    made.iter()
        .map(|text| {
            text.split_whitespace()
                .filter(|word| !word.contains('_') && word.len() != 8)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

/// Runs every strategy, again if an attempt failed.
async fn run_all(stage: &Stage, process: &Process) {
    for name in ALL {
        let mut tries = 0;
        while stage
            .run(process, name)
            .await
            .iter()
            .any(|run| run.state != RunState::Success)
        {
            tries += 1;
            assert!(tries < 4, "{name} does not succeed");
        }
    }
}

#[tokio::test]
async fn a_failure_of_any_vault_or_page_call_makes_the_same_entries() {
    let sound = Stage::default();
    let process = opened(&sound).await;
    let (vault_before, pages_before) = (sound.vault.calls(), sound.page_calls());
    run_all(&sound, &process).await;
    let expected = made(&process).await;
    let calls = sound.vault.calls() - vault_before;
    let page_calls = sound.page_calls() - pages_before;
    assert!(calls >= 4 && page_calls >= 6, "{calls} and {page_calls}");
    assert!(expected.iter().all(|text| !text.is_empty()) || expected.len() > 5);
    for n in 1..=calls {
        let stage = Stage::default();
        let process = opened(&stage).await;
        stage.vault.fail_call(n);
        run_all(&stage, &process).await;
        stage.vault.fail_call(0);
        assert_eq!(
            without_ids(&made(&process).await),
            without_ids(&expected),
            "vault call {n}"
        );
    }
    for n in 1..=page_calls {
        let stage = Stage::default();
        let process = opened(&stage).await;
        stage.fail_page_call(n);
        run_all(&stage, &process).await;
        stage.fail_page_call(0);
        assert_eq!(
            without_ids(&made(&process).await),
            without_ids(&expected),
            "page call {n}"
        );
    }
}

/// The entries made without a failure, and the numbers of calls of the ledger and of the index that this takes.
async fn undisturbed() -> (Vec<String>, usize, u64, u64) {
    let stage = Stage::default();
    let process = opened(&stage).await;
    let before = (stage.ledger.calls(), stage.index.calls(), stage.vault.calls());
    run_all(&stage, &process).await;
    let ledger = stage.ledger.calls() - before.0;
    let (index, vault) = (stage.index.calls() - before.1, stage.vault.calls() - before.2);
    (without_ids(&made(&process).await), ledger, index, vault)
}

/// Checks that every entry is stored once, and that no run is leased.
async fn check(stage: &Stage, process: &Process, runs: &impl Runs, expected: &[String], what: &str) {
    run_all(stage, process).await;
    assert_eq!(without_ids(&made(process).await), expected, "{what}");
    let stats = runs.stats().await.expect("it counts");
    assert_eq!(
        (stats.running, stats.failed, stats.dead_letters),
        (0, 0, 0),
        "{what}"
    );
}

#[tokio::test]
async fn a_failure_of_any_ledger_call_makes_each_entry_once() {
    let (expected, calls, ..) = undisturbed().await;
    assert!(calls > 20, "{calls}");
    for fault in [Fault::Refused, Fault::AnswerLost] {
        for n in 1..=calls {
            let stage = Stage::default();
            let process = opened(&stage).await;
            stage.ledger.fail_call(n, fault);
            run_all(&stage, &process).await;
            stage.ledger.repair();
            check(
                &stage,
                &process,
                &*stage.ledger,
                &expected,
                &format!("{fault:?} {n}"),
            )
            .await;
        }
    }
}

#[tokio::test]
async fn a_failure_of_any_index_call_makes_each_entry_once() {
    let (expected, _, calls, _) = undisturbed().await;
    assert!(calls >= 2, "{calls}");
    for n in 1..=calls {
        let stage = Stage::default();
        let process = opened(&stage).await;
        stage.index.fail_call(n);
        run_all(&stage, &process).await;
        stage.index.fail_call(0);
        check(&stage, &process, &*stage.ledger, &expected, &format!("call {n}")).await;
    }
}

#[tokio::test]
async fn after_a_crash_at_any_call_the_next_process_ends_the_run_at_once() {
    let (expected, calls, ..) = undisturbed().await;
    for n in 1..=calls {
        let stage = Stage::default();
        let process = opened(&stage).await;
        stage.ledger.fail_call(n, Fault::Down);
        for name in ALL {
            let triggered = process.offline.trigger(name, Duration::from_secs(9), true);
            drop(stage.drive(triggered).await);
        }
        drop(process);
        stage.ledger.repair();
        let process = stage.open().await;
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        let stats = stage.ledger.stats().await.expect("it counts");
        assert_eq!(stats.running, 0, "call {n}: no time has passed");
        check(&stage, &process, &*stage.ledger, &expected, &format!("call {n}")).await;
    }
}

#[tokio::test]
async fn on_the_real_ledger_a_killed_process_loses_no_entry_and_repeats_none() {
    let (expected, .., calls) = undisturbed().await;
    for n in 1..=calls {
        let stage = Stage::default();
        let folder = tempfile::tempdir().expect("a folder");
        let open = || Arc::new(SqliteLedger::open(&folder.path().join("ledger.db")).expect("it opens"));
        let ledger = open();
        let process = stage.open_on(ledger.clone()).await;
        talk(&stage, &process).await;
        let last = stage.vault.calls() + n;
        let dies = async {
            while stage.vault.calls() < last {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = dies => {}
            () = run_all(&stage, &process) => {}
        }
        drop(process);
        while Arc::strong_count(&ledger) > 1 {
            tokio::task::yield_now().await;
        }
        drop(ledger);
        let ledger = open();
        let process = stage.open_on(ledger.clone()).await;
        stage.drive(process.engine.settle()).await.expect("it settles");
        check(&stage, &process, &*ledger, &expected, &format!("vault call {n}")).await;
    }
}

#[tokio::test]
async fn runs_that_wait_at_the_end_of_a_process_run_in_the_next() {
    let stage = Stage::default();
    let process = opened(&stage).await;
    drop(process);
    let process = stage.open().await;
    stage.drive(process.engine.settle()).await.expect("it settles");
    run_all(&stage, &process).await;
    let first = made(&process).await;
    assert!(first.iter().any(|text| text.contains("Rome")), "{first:?}");
    process.offline.stop().await;
    process.engine.shutdown().await;
    let process = stage.open().await;
    stage.drive(process.engine.settle()).await.expect("it settles");
    run_all(&stage, &process).await;
    assert_eq!(made(&process).await, first);
}
