//! An engine that is a program.

use std::path::Path;
use std::sync::Arc;

use ports::context_engine::ContextEngine;
use providers::{CommandEngine, EngineSettings};
use testkit::clock::ManualClock;
use transcript::{Item, Role};

use super::conformance::conforms;
use super::{HOOKS, assemble, command, drive, fault, probe, python, reply, same, system, turn, user};

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new())
}

#[tokio::test]
async fn the_example_conforms() {
    let engine = command(python("examples/engines/keep_last.py", &[]), &clock());
    conforms(&engine).await;
}

#[test]
fn the_example_is_short_and_stands_in_the_users_page() {
    let read = |path: &str| std::fs::read_to_string(super::project(path)).expect("it is there");
    let example = read("examples/engines/keep_last.py");
    assert!(example.lines().count() <= 40);
    assert!(read("docs/engines.md").contains(&format!("```python\n{example}```")));
}

#[tokio::test]
async fn ce_1_the_program_sees_the_hooks_in_their_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let engine = probe(&["echo", &log.to_string_lossy()], &clock());
    drive(&engine).await.expect("it answers");
    let seen = std::fs::read_to_string(&log).expect("a log");
    let mut lines = seen.lines();
    assert_eq!(lines.next(), Some("bootstrap {\"keep\": 3}"));
    assert_eq!(lines.collect::<Vec<_>>(), HOOKS[1..]);
}

#[tokio::test]
async fn an_unchanged_item_keeps_its_bytes_and_a_changed_one_does_not() {
    let engine = probe(&["edit"], &clock());
    let items = vec![system("be kind"), user("hi"), reply("hello")];
    let turn = turn("ann/chat");
    let ingested = engine.ingest(items.clone(), &turn).await.expect("it answers");
    let assembled = assemble(&engine, &items).await.expect("it answers");
    for view in [ingested, assembled.items] {
        assert!(Arc::ptr_eq(&view[0], &items[0]) && Arc::ptr_eq(&view[2], &items[2]));
        assert_eq!(*view[1], Item::text(Role::User, "HI"));
    }
    let info = engine.info();
    assert_eq!(
        (info.id.as_str(), info.owns_compaction),
        ("configured", false),
        "the host did not call `bootstrap`, Quipu's adapter did"
    );
}

/// `conversation` verifies a view; the adapter hides nothing from it.
#[tokio::test]
async fn ce_12_a_lie_is_passed_on_as_it_is() {
    let engine = probe(&["lie"], &clock());
    let assembled = assemble(&engine, &[system("never delete"), user("hi")]).await;
    let assembled = assembled.expect("it answers");
    assert_eq!((assembled.items.len(), assembled.tokens), (1, 1));
    assert!(assembled.items[0].prose().len() > 5_000);
}

#[tokio::test]
async fn answers_in_any_order_reach_their_calls() {
    let engine = probe(&["swap"], &clock());
    let (ann, ben) = (vec![user("of ann")], vec![user("of ben")]);
    let (ann_turn, ben_turn) = (turn("ann/chat"), turn("ben/chat"));
    let (for_ann, for_ben) = tokio::join!(
        engine.assemble(ann.clone(), &ann_turn),
        engine.assemble(ben.clone(), &ben_turn),
    );
    assert!(same(&for_ann.expect("it answers").items, &ann));
    assert!(same(&for_ben.expect("it answers").items, &ben));
}

#[test]
fn a_command_needs_a_program() {
    for argv in [vec![], vec![String::new()]] {
        let engine = CommandEngine::new(EngineSettings::new("mine"), argv, clock());
        let fault = engine.expect_err("it is refused").to_string();
        assert!(fault.contains("`mine`") && fault.contains("`command`"), "{fault}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_and_not_started_at_every_call() {
    let clock = clock();
    let engine = command(vec!["/no/such/program".to_owned(), "a-key".to_owned()], &clock);
    let first = fault(&engine).await;
    assert!(
        first.contains("`/no/such/program` cannot be started") && first.contains("check `command`"),
        "{first}"
    );
    let second = fault(&engine).await;
    let words = "cannot be started";
    assert!(
        second.contains(words) && second.contains("start it again in 5 s"),
        "{second}"
    );
    assert!(!format!("{engine:?}").contains("a-key"), "{engine:?}");
}

/// The process of a probe.
async fn pid(engine: &CommandEngine) -> String {
    engine.bootstrap(&turn("ann/chat")).await.expect("it starts");
    engine.info().id
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_process_is_gone_after_the_engine_is() {
    let engine = probe(&["echo"], &clock());
    let place = format!("/proc/{}", pid(&engine).await);
    assert!(Path::new(&place).exists());
    drop(engine);
    while Path::new(&place).exists() {
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_died_is_no_zombie() {
    let engine = probe(&["die"], &clock());
    let place = format!("/proc/{}", pid(&engine).await);
    let fault = fault(&engine).await;
    assert!(
        fault.contains("its process ended (exit status: 1): no luck"),
        "{fault}"
    );
    assert!(!Path::new(&place).exists());
}

#[tokio::test]
async fn a_program_that_died_starts_again_with_its_config() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let clock = clock();
    let engine = probe(&["die once", &log.to_string_lossy()], &clock);
    let first = pid(&engine).await;
    assert!(fault(&engine).await.contains("no luck"));
    let early = fault(&engine).await;
    assert!(
        early.contains("no luck; Quipu can start it again in 5 s"),
        "{early}"
    );
    clock.advance(std::time::Duration::from_secs(5));
    let items = [user("hi")];
    let assembled = assemble(&engine, &items).await.expect("it is there again");
    assert!(same(&assembled.items, &items));
    assert_ne!(pid(&engine).await, first);
    let seen = std::fs::read_to_string(&log).expect("a log");
    let start = ["bootstrap {\"keep\": 3}", "assemble"];
    assert_eq!(
        seen.lines().take(4).collect::<Vec<_>>(),
        [start, start].concat(),
        "{seen}"
    );
}
