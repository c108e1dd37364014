//! An engine that is a program.

use std::path::Path;
use std::sync::Arc;

use ports::context_engine::ContextEngine;
use providers::{CommandEngine, EngineSettings};
use serde_json::{Value, json};
use testkit::clock::ManualClock;
use transcript::{Item, Role};

use super::conformance::conforms;
use super::{
    HOOKS, assemble, command, drive, fault, probe, python, reply, same, saying, settings, system, turn, user,
};
use crate::server::{Reply, Request, Server};

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new())
}

#[tokio::test]
async fn the_example_conforms() {
    let engine = command(python("examples/engines/keep_last.py", &[]), &clock());
    conforms(&engine).await;
}

#[test]
fn the_example_is_short_and_is_in_the_users_page() {
    let read = |path: &str| std::fs::read_to_string(super::project(path)).expect("it is there");
    let example = read("examples/engines/keep_last.py");
    assert!(example.lines().count() <= 40);
    assert!(read("docs/engines.md").contains(&format!("```python\n{example}```")));
}

#[tokio::test]
async fn ce_1_the_program_gets_the_hooks_in_their_order() {
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
async fn ce_1_a_call_has_the_members_of_its_hook() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let engine = saying(
        &json!({"messages": [{"id": "m0"}]}),
        &log.to_string_lossy(),
        settings(),
    );
    drive(&engine).await.expect("it answers");
    let message = json!({"role": "user", "content": "hi", "name": "ann", "id": "m0"});
    let members = [
        json!({"messages": [], "config": {"keep": 3}}),
        json!({}),
        json!({}),
        json!({"target_tokens": 500}),
        json!({"reply": {"role": "assistant", "content": "hello"}}),
        json!({"role": "explorer"}),
        json!({"agent_id": "a1", "result": "done"}),
    ];
    let calls = std::fs::read_to_string(&log).expect("a log");
    for ((call, members), (hook, id)) in calls.lines().zip(members).zip(HOOKS.iter().zip(1..)) {
        let mut body = json!({
            "protocol": 1,
            "id": id,
            "hook": hook,
            "conversation": "ann/chat",
            "model": "qwen3",
            "turn": 3,
            "limit_tokens": 7000,
            "messages": [message],
        });
        let members = members.as_object().expect("an object").clone();
        body.as_object_mut().expect("an object").extend(members);
        assert_eq!(serde_json::from_str::<Value>(call).expect("an object"), body);
    }
    assert_eq!(calls.lines().count(), HOOKS.len());
}

#[tokio::test]
async fn an_answer_overrides_the_settings_that_it_names() {
    for (answer, expected) in [
        (json!({}), ("configured", true)),
        (
            json!({"engine": {"owns_compaction": false}}),
            ("configured", false),
        ),
        (json!({"engine": {"id": "mine"}}), ("mine", true)),
        (json!({"engine": {"id": ""}, "error": ""}), ("configured", true)),
        (json!({"engine": null, "error": null}), ("configured", true)),
    ] {
        let settings = EngineSettings {
            owns_compaction: true,
            ..settings()
        };
        let engine = saying(&answer, "", settings);
        assert_eq!(engine.info().id, "configured");
        engine.bootstrap(&turn("ann/chat")).await.expect("it answers");
        let info = engine.info();
        assert_eq!((info.id.as_str(), info.owns_compaction), expected);
    }
}

#[tokio::test]
async fn a_view_needs_messages() {
    let engine = saying(&json!({}), "", settings());
    let fault = fault(&engine).await;
    let words = "its answer to `assemble` has no `messages`";
    assert!(fault.contains(words), "{fault}");
    let items = vec![user("hi")];
    let ingested = engine.ingest(items.clone(), &turn("ann/chat")).await;
    assert!(same(&ingested.expect("none are needed"), &items));
}

#[tokio::test]
async fn an_unchanged_item_keeps_its_bytes_and_a_changed_one_gets_new_ones() {
    let engine = probe(&["edit"], &clock());
    let items = vec![system("be kind"), user("hi"), reply("hello")];
    let turn = turn("ann/chat");
    let ingested = engine.ingest(items.clone(), &turn).await.expect("it answers");
    let assembled = assemble(&engine, &items).await.expect("it answers");
    for view in [ingested, assembled] {
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
async fn ce_12_a_false_view_is_passed_on_unchanged() {
    let engine = probe(&["lie"], &clock());
    let assembled = assemble(&engine, &[system("never delete"), user("hi")]).await;
    let assembled = assembled.expect("it answers");
    assert_eq!(assembled.len(), 1);
    assert!(assembled[0].prose().len() > 5_000);
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
    assert!(same(&for_ann.expect("it answers"), &ann));
    assert!(same(&for_ben.expect("it answers"), &ben));
}

#[tokio::test]
async fn the_example_reaches_an_engine_that_is_a_server() {
    let server = Server::new(|request: &Request| {
        let call = request.json();
        match call["hook"].as_str() {
            Some("after_turn") => Reply::new(500, "no"),
            _ => Reply::json(&json!({"id": call["id"], "messages": call["messages"]})),
        }
    });
    let argv = python("examples/engines/over_http.py", &[&server.url("/mine/")]);
    let engine = command(argv, &clock());
    let items = [user("hi")];
    let assembled = assemble(&engine, &items).await.expect("it answers");
    assert!(same(&assembled, &items));
    let fault = engine
        .after_turn(&items, &reply("hello"), &turn("ann/chat"))
        .await;
    let fault = fault.expect_err("it refuses").to_string();
    assert!(fault.contains("500"), "{fault}");
    let paths: Vec<String> = server.requests().iter().map(|call| call.path.clone()).collect();
    assert_eq!(paths, ["/mine/bootstrap", "/mine/assemble", "/mine/after_turn"]);
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
async fn a_missing_program_is_named_and_not_started_at_every_call() {
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
async fn a_dead_process_is_no_zombie() {
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
    assert!(same(&assembled, &items));
    assert_ne!(pid(&engine).await, first);
    let seen = std::fs::read_to_string(&log).expect("a log");
    let start = ["bootstrap {\"keep\": 3}", "assemble"];
    assert_eq!(
        seen.lines().take(4).collect::<Vec<_>>(),
        [start, start].concat(),
        "{seen}"
    );
}
