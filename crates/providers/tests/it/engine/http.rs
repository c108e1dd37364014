//! An engine that is a server.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ports::context_engine::{ContextEngine, EngineFault};
use providers::{EngineSettings, HttpEngine};
use serde_json::{Value, json};
use testkit::clock::ManualClock;
use transcript::{Item, Role};

use super::conformance::conforms;
use super::{HOOKS, assemble, drive, fault, python, reply, same, settings, system, user};
use crate::server::{Reply, Request, Server, dead_url};

fn engine(url: &str) -> HttpEngine {
    HttpEngine::new(settings(), url, Arc::new(ManualClock::new())).expect("a good address")
}

/// A server that answers every call with these members.
fn answering(members: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Server {
    Server::new(move |request: &Request| {
        let call = request.json();
        let mut answer = members(&call);
        answer["id"] = call["id"].clone();
        Reply::json(&answer)
    })
}

/// The example as a server; it ends with the test.
struct Example(Child);

impl Drop for Example {
    fn drop(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ends");
    }
}

#[tokio::test]
async fn the_example_conforms() {
    let argv = python("examples/engines/keep_last_http.py", &["0"]);
    let mut command = Command::new(&argv[0]);
    let child = command.args(&argv[1..]).stdout(Stdio::piped()).spawn();
    let mut example = Example(child.expect("python3 is there"));
    let mut line = String::new();
    let stdout = example.0.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut line).expect("it listens");
    let url = line.trim().strip_prefix("listening on ").expect("its address");
    conforms(&engine(url)).await;
}

#[tokio::test]
async fn ce_1_each_hook_is_a_path_and_the_body_says_the_rest() {
    let server = answering(|call| match call["hook"].as_str() {
        Some("assemble" | "compact") => json!({"messages": call["messages"], "tokens": 50}),
        _ => json!({}),
    });
    let engine = engine(&server.url("/engines/mine/"));
    drive(&engine).await.expect("it answers");
    let calls = server.requests();
    let paths: Vec<&str> = calls.iter().map(|call| call.path.as_str()).collect();
    assert_eq!(paths, HOOKS.map(|hook| format!("/engines/mine/{hook}")));
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
    for ((call, members), (hook, id)) in calls.iter().zip(members).zip(HOOKS.iter().zip(1..)) {
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
        assert_eq!(call.json(), body);
        assert_eq!(call.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn an_unchanged_item_keeps_its_bytes_and_a_changed_one_does_not() {
    let server = answering(|call| {
        let mut messages = call["messages"].clone();
        messages[1]["content"] = json!("HI");
        messages[2] = json!({"id": messages[2]["id"]});
        json!({"messages": messages, "tokens": 12})
    });
    let engine = engine(&server.url(""));
    let items = [system("be kind"), user("hi"), reply("hello")];
    let assembled = assemble(&engine, &items).await.expect("it answers");
    assert_eq!(assembled.tokens, 12);
    let view = assembled.items;
    assert!(Arc::ptr_eq(&view[0], &items[0]) && Arc::ptr_eq(&view[2], &items[2]));
    assert_eq!(*view[1], Item::text(Role::User, "HI"));
}

#[tokio::test]
async fn an_answer_wins_over_the_settings_in_what_it_says() {
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
        let server = answering(move |_| answer.clone());
        let settings = EngineSettings {
            owns_compaction: true,
            ..settings()
        };
        let clock = Arc::new(ManualClock::new());
        let engine = HttpEngine::new(settings, &server.url(""), clock).expect("a good address");
        assert_eq!(engine.info().id, "configured");
        engine
            .bootstrap(&super::turn("ann/chat"))
            .await
            .expect("it answers");
        let info = engine.info();
        assert_eq!((info.id.as_str(), info.owns_compaction), expected);
    }
}

#[tokio::test]
async fn a_view_needs_messages() {
    let server = answering(|_| json!({}));
    let engine = engine(&server.url(""));
    let fault = fault(&engine).await;
    assert!(
        fault.contains("its answer to `assemble` has no `messages`"),
        "{fault}"
    );
    let items = vec![user("hi")];
    let ingested = engine.ingest(items.clone(), &super::turn("ann/chat")).await;
    assert!(same(&ingested.expect("none are needed"), &items));
}

#[tokio::test]
async fn what_is_no_answer_is_a_fault() {
    let long = format!("no\n{}", "x".repeat(400));
    let cut = format!("answered `assemble` with 500: no {}…", "x".repeat(197));
    let replies = [
        (Reply::new(500, long), cut.as_str()),
        (Reply::new(404, ""), "with 404: nothing"),
        (
            Reply::new(307, "").header("location", "http://127.0.0.1:1/assemble"),
            "with 307",
        ),
        (Reply::new(200, "hello"), "its answer is not a JSON object"),
        (
            Reply::json(&json!({"id": 9})),
            "it answered call 9 in the place of call 1",
        ),
        (
            Reply::json(&json!({"id": 1, "error": {"code": 7}})),
            "an error: {\"code\":7}",
        ),
        (Reply::new(200, "{\"id\": 1}").torn_after(3), "is it running"),
        (Reply::new(200, vec![b' '; (64 << 20) + 1]), "longer than 64 MiB"),
    ];
    for (reply, words) in replies {
        let server = Server::new(move |_| reply.clone());
        let fault = fault(&engine(&server.url(""))).await;
        assert!(fault.contains(words), "{fault}");
    }
    let fault = fault(&engine(&dead_url("/?key=quite-secret"))).await;
    assert!(
        fault.contains("is `url` right?") && !fault.contains("secret"),
        "{fault}"
    );
}

#[tokio::test]
async fn a_hanging_server_times_out() {
    let server = Server::new(|_| {
        loop {
            std::thread::park();
        }
    });
    for (timeout, bound) in [(2, 2), (60, 5)].map(|(a, b)| (Duration::from_secs(a), Duration::from_secs(b))) {
        let clock = Arc::new(ManualClock::new());
        let timer = Arc::<ManualClock>::clone(&clock);
        let settings = EngineSettings {
            timeout,
            ..settings()
        };
        let engine = HttpEngine::new(settings, &server.url(""), timer).expect("a good address");
        let items = [user("hi")];
        let wait = async {
            clock.sleeping(1).await;
            clock.advance(bound);
        };
        let (assembled, ()) = tokio::join!(assemble(&engine, &items), wait);
        let fault = assembled.expect_err("it hangs");
        assert_eq!(fault, EngineFault::TimedOut(bound.as_millis()));
    }
}

#[test]
fn an_address_is_checked() {
    let settings = EngineSettings::new("mine");
    let clock = Arc::new(ManualClock::new());
    let refused = HttpEngine::new(settings, "ftp://x", clock).expect_err("it is refused");
    assert!(refused.to_string().contains("not an HTTP address"), "{refused}");
}
