//! Violations, planted faults, and streams held back.

use std::sync::Arc;

use prefix::backend::Kind;
use serde_json::{Value, json};
use testkit::backend::{Backend, Config, Fault, Reply};
use tokio::io::AsyncReadExt;

use crate::client::{Answer, CHAT, ask, assert_silent, chat, first_event, get, hello, rest, says, send};

fn calls(ids: &[&str]) -> Value {
    let call =
        |id: &&str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "r"})
}

fn with(field: &str) -> Value {
    let mut request = hello(false);
    request[field] = json!("x");
    request
}

fn uses(then: &Value) -> Value {
    let used =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]});
    json!({"messages": [says("user", "u"), used, then], "max_tokens": 9})
}

fn block(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "r"})
}

fn answers(blocks: &[Value]) -> Value {
    json!({"role": "user", "content": blocks})
}

/// Chat requests, each with part of the error that a strict server answers; empty for a valid one.
fn chats() -> Vec<(Value, &'static str)> {
    let user = || says("user", "u");
    let assistant = || says("assistant", "x");
    vec![
        (chat(&[]), "empty"),
        (json!({"model": "m"}), "empty"),
        (json!([]), "not a JSON object"),
        (chat(&[says("narrator", "n")]), "unknown"),
        (chat(&[user(), result("a")]), "no call directly before"),
        (
            chat(&[user(), calls(&["a"]), result("a"), result("a")]),
            "no call directly before",
        ),
        (
            chat(&[user(), calls(&["a"]), result("b")]),
            "no call directly before",
        ),
        (chat(&[user(), calls(&["a"])]), "`a` is not answered"),
        (
            chat(&[user(), calls(&["a", "b"]), result("a"), assistant()]),
            "`b` is not answered",
        ),
        (
            chat(&[user(), calls(&["a"]), says("system", "s"), result("a")]),
            "`a` is not answered",
        ),
        (chat(&[user(), calls(&["a", "a"]), result("a")]), "two calls"),
        (
            chat(&[user(), calls(&["a"]), result("a"), user()]),
            "inside a tool loop",
        ),
        (
            chat(&[
                says("developer", "d"),
                user(),
                calls(&["a", "b"]),
                result("b"),
                result("a"),
            ]),
            "",
        ),
        (
            chat(&[user(), calls(&["a"]), result("a"), calls(&["a"]), result("a")]),
            "",
        ),
    ]
}

/// Requests of Anthropic's API, likewise.
fn claims() -> [(Value, &'static str); 10] {
    let text = json!({"type": "text", "text": "so"});
    [
        (json!({"messages": [says("assistant", "a")]}), "first message"),
        (
            json!({"messages": [says("user", "u"), says("tool", "t")]}),
            "none of this API",
        ),
        (uses(&answers(&[block("b")])), "no call directly before"),
        (uses(&says("user", "never mind")), "`a` is not answered"),
        (uses(&answers(&[text.clone(), block("a")])), "`a` is not answered"),
        (uses(&answers(&[block("a"), text])), ""),
        (with("session_id"), "session_id"),
        (
            marked(&vec![json!({"type": "text", "text": "u"}); 5]),
            "and 4 may",
        ),
        (marked(&[json!({"type": "text", "text": " "})]), "cannot be set"),
        (
            marked(&[json!({"type": "thinking", "thinking": "u"})]),
            "cannot be set",
        ),
    ]
}

fn marked(blocks: &[Value]) -> Value {
    let mut blocks = blocks.to_vec();
    for block in &mut blocks {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    json!({"messages": [{"role": "user", "content": blocks}]})
}

/// Requests of the Responses API, likewise.
fn items() -> [(Value, &'static str); 5] {
    let output = json!({"type": "function_call_output", "call_id": "a", "output": "r"});
    [
        (json!({"input": []}), "empty"),
        (json!({"input": [output]}), "no call directly before"),
        (json!({"input": [{"type": "riddle"}]}), "not understood"),
        (
            json!({"input": [{"type": "reasoning", "id": "r", "summary": []}, says("user", "u")]}),
            "no item that follows",
        ),
        (
            json!({"input": "u", "previous_response_id": "resp_1"}),
            "not kept",
        ),
    ]
}

fn requests() -> Vec<(Kind, &'static str, Value, &'static str)> {
    let of = |kind, path| move |(request, wrong)| (kind, path, request, wrong);
    let mut all: Vec<_> = chats().into_iter().map(of(Kind::LlamaCpp, CHAT)).collect();
    all.extend(claims().map(of(Kind::Anthropic, "/v1/messages")));
    all.extend(items().map(of(Kind::OpenAi, "/v1/responses")));
    for field in ["session_id", "cache_prompt", "id_slot", "cache_salt"] {
        all.push((Kind::OpenAi, CHAT, with(field), field));
        all.push((Kind::Mistral, CHAT, with(field), field));
        all.push((
            Kind::OpenAi,
            "/v1/embeddings",
            json!({"input": "x", field: 1}),
            field,
        ));
        all.push((Kind::LlamaCpp, CHAT, with(field), ""));
    }
    let key = "prompt_cache_key";
    for (kind, wrong) in [
        (Kind::OpenAi, ""),
        (Kind::Mistral, ""),
        (Kind::UnknownHosted, key),
    ] {
        all.push((kind, CHAT, with(key), wrong));
    }
    all
}

#[tokio::test]
async fn every_violation_is_recorded_and_refused_by_a_strict_server() {
    for (kind, path, request, wrong) in requests() {
        for strict in [true, false] {
            let backend = Backend::start(Config {
                kind,
                strict,
                ..Config::default()
            })
            .await;
            let answer = ask(&backend, path, &request).await;
            let seen = &backend.requests()[0];
            let is_noted = seen.violations.iter().any(|violation| violation.contains(wrong));
            assert_eq!(is_noted, !wrong.is_empty(), "{request}: {:?}", seen.violations);
            assert_eq!(answer.status == 400, strict && is_noted, "{request}");
            if answer.status == 400 {
                let error = &answer.json()["error"];
                assert!(error["message"].as_str().unwrap().contains(wrong));
                assert_eq!(
                    (&error["type"], seen.evaluated_tokens),
                    (&json!("invalid_request_error"), 0)
                );
            }
        }
    }
    let backend = Backend::start(Config {
        strict: false,
        ..Config::default()
    })
    .await;
    let answer = rest(&mut send(&backend, CHAT, Some("{\"messages\"")).await, Vec::new()).await;
    assert_eq!(answer.status, 400);
    assert!(backend.requests()[0].violations[0].contains("not JSON"));
}

async fn failing(fault: Fault, stream: bool) -> (Backend, Answer) {
    let backend = Backend::start(Config {
        faults: vec![fault],
        ..Config::default()
    })
    .await;
    let answer = ask(&backend, CHAT, &hello(stream)).await;
    (backend, answer)
}

#[tokio::test]
async fn a_status_and_a_close_do_not_reach_the_model() {
    let fault = Fault::Status {
        code: 429,
        headers: vec![("retry-after".to_owned(), "7".to_owned())],
        body: "busy".to_owned(),
    };
    let (backend, answer) = failing(fault, true).await;
    assert_eq!((answer.status, answer.body.as_str()), (429, "busy"));
    assert!(answer.head.contains("retry-after: 7"));
    backend.fail_next(Fault::CloseBeforeHead);
    let answer = ask(&backend, CHAT, &hello(true)).await;
    assert_eq!((answer.status, answer.ended.unwrap()), (0, 0));
    let answer = ask(&backend, CHAT, &hello(false)).await.json();
    assert_eq!(answer["choices"][0]["message"]["content"], "ok 1");
    let evaluated: Vec<bool> = backend
        .requests()
        .iter()
        .map(|seen| seen.evaluated_tokens > 0)
        .collect();
    assert_eq!(evaluated, [false, false, true]);
}

#[tokio::test]
async fn a_reset_comes_after_its_chunks() {
    for (after, stream, events) in [
        (0, true, 0),
        (2, true, 2),
        (99, true, 5),
        (0, false, 0),
        (1, false, 1),
    ] {
        let (_backend, answer) = failing(Fault::ResetAfterChunks(after), stream).await;
        assert_eq!(answer.status, 200);
        let kind = answer.ended.unwrap_err().kind();
        assert_eq!(kind, std::io::ErrorKind::ConnectionReset, "after {after}");
        assert!(!answer.complete);
        let came = if stream {
            answer.body.matches("\n\n").count()
        } else {
            answer.body.matches("ok 1").count()
        };
        assert_eq!(came, events, "after {after}");
    }
}

#[tokio::test]
async fn garbage_and_cut_answers_arrive_completely() {
    for stream in [true, false] {
        let (_backend, answer) = failing(Fault::GarbageSse, stream).await;
        assert!(answer.complete && answer.head.contains("text/event-stream"));
        let last = answer
            .body
            .split("\n\n")
            .find(|event| event.contains("nonsense"))
            .unwrap();
        assert!(serde_json::from_str::<Value>(last.trim_start_matches("data: ")).is_err());
        assert_eq!(answer.body.starts_with("data: {\"id\""), stream);
        let (_backend, answer) = failing(Fault::TruncatedJson, stream).await;
        assert_eq!(
            (answer.status, answer.complete, answer.ended.is_ok()),
            (200, true, true)
        );
        let last = answer.body.rsplit("data: ").next().unwrap();
        assert!(last.starts_with("{\"id\"") && serde_json::from_str::<Value>(last).is_err());
    }
}

#[tokio::test]
async fn a_hang_lasts_until_its_release() {
    let backend = Backend::start(Config {
        faults: vec![Fault::Hang],
        ..Config::default()
    })
    .await;
    backend.release();
    let mut stream = send(&backend, CHAT, Some(&hello(false).to_string())).await;
    backend.arrived(1).await;
    assert_silent(&backend, &mut stream).await;
    backend.release();
    assert_eq!(rest(&mut stream, Vec::new()).await.status, 200);
}

#[tokio::test]
async fn a_slow_head_comes_byte_by_byte() {
    let backend = Backend::start(Config {
        faults: vec![Fault::SlowLoris],
        ..Config::default()
    })
    .await;
    let mut stream = send(&backend, CHAT, Some(&hello(false).to_string())).await;
    backend.arrived(1).await;
    assert_silent(&backend, &mut stream).await;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        backend.release();
        head.push(stream.read_u8().await.unwrap());
        if head.len() < 3 {
            assert_silent(&backend, &mut stream).await;
        }
    }
    let answer = rest(&mut stream, head).await;
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "ok 1");
}

#[tokio::test]
async fn held_streams_wait_and_do_not_mix() {
    let echo = |request: &Value, _| Reply::text(request["messages"][0]["content"].as_str().unwrap());
    let config = Config {
        hold: true,
        slots: 2,
        reply: Arc::new(echo),
        ..Config::default()
    };
    let backend = Backend::start(config).await;
    let mut streams = Vec::new();
    for word in ["one ", "two "] {
        let mut request = chat(&[says("user", &word.repeat(20))]);
        request["stream"] = json!(true);
        let mut stream = send(&backend, CHAT, Some(&request.to_string())).await;
        let begun = first_event(&mut stream).await;
        streams.push((word, stream, begun));
    }
    for (_, stream, _) in &mut streams {
        assert_silent(&backend, stream).await;
    }
    backend.release();
    for (word, mut stream, begun) in streams {
        let answer = rest(&mut stream, begun).await;
        assert!(answer.complete);
        let chunks = answer.events();
        let deltas = chunks
            .iter()
            .map(|chunk| &chunk["choices"][0]["delta"]["content"]);
        assert_eq!(
            deltas.filter_map(Value::as_str).collect::<String>(),
            word.repeat(20)
        );
    }
    backend.hold(false);
    assert!(ask(&backend, CHAT, &hello(true)).await.complete);
}

#[tokio::test]
async fn requests_are_recorded_as_they_came_and_a_dropped_server_is_gone() {
    let backend = Backend::start(Config {
        faults: vec![Fault::Hang],
        ..Config::default()
    })
    .await;
    let body = "{ \"messages\": [ {\"role\":\"user\",\"content\":\"h\\u0069\"} ] }";
    let mut stream = send(&backend, "/v1/chat/completions?a=1", Some(body)).await;
    backend.arrived(1).await;
    get(&backend, "/props").await;
    let seen = backend.requests();
    assert_eq!(
        (seen[0].method.as_str(), seen[0].path.as_str()),
        ("POST", "/v1/chat/completions?a=1")
    );
    assert_eq!(seen[0].body, body);
    assert!(seen[0].headers.contains(&("x-test".to_owned(), "1".to_owned())));
    assert_eq!(
        (seen[1].method.as_str(), seen[1].path.as_str()),
        ("GET", "/props")
    );
    drop(backend);
    assert_eq!(rest(&mut stream, Vec::new()).await.status, 0);
}
