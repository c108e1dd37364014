//! A store that fails at the n-th call, and a process that ends: nothing is lost, nothing is there twice.

use model::{EntryKind, Page};
use ports::runs::RunState;

use crate::stage::{Process, Stage, page, texts};

const ALL: [&str; 4] = [
    "extract_foresight",
    "extract_user_profile",
    "reflect_episodes",
    "dream",
];

async fn told(stage: &Stage) -> Process {
    let process = stage.open().await;
    for (session, text) in [
        ("a", "I live in Lisbon. I'm flying to Rome on Friday."),
        ("b", "The boat leaks at the third plank."),
        ("c", "The boat leaks at the third plank."),
    ] {
        stage.say(&process, session, "ann", &[text]).await;
    }
    process
}

/// Everything that the strategies made.
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

/// Ids differ from stage to stage; what is said does not.
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

/// Runs every strategy, again where an attempt failed.
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
async fn what_is_made_does_not_depend_on_which_call_failed() {
    let sound = Stage::default();
    let process = told(&sound).await;
    let (vault_before, pages_before) = (sound.vault.calls(), sound.page_calls());
    run_all(&sound, &process).await;
    let expected = made(&process).await;
    let calls = sound.vault.calls() - vault_before;
    let page_calls = sound.page_calls() - pages_before;
    assert!(calls >= 4 && page_calls >= 6, "{calls} and {page_calls}");
    assert!(expected.iter().all(|text| !text.is_empty()) || expected.len() > 5);
    for n in 1..=calls {
        let stage = Stage::default();
        let process = told(&stage).await;
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
        let process = told(&stage).await;
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

#[tokio::test]
async fn a_process_that_ends_with_runs_waiting_leaves_them_to_the_next() {
    let stage = Stage::default();
    let process = told(&stage).await;
    drop(process);
    let process = stage.open().await;
    stage
        .drive(process.engine.settle(None))
        .await
        .expect("it settles");
    run_all(&stage, &process).await;
    let first = made(&process).await;
    assert!(first.iter().any(|text| text.contains("Rome")), "{first:?}");
    process.offline.stop().await;
    process.engine.shutdown().await;
    let process = stage.open().await;
    stage
        .drive(process.engine.settle(None))
        .await
        .expect("it settles");
    run_all(&stage, &process).await;
    assert_eq!(made(&process).await, first);
}
