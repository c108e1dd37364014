//! Failing model servers: the client's answer, the stored messages, and the next request.

use std::time::Duration;

use model::Role;
use serde_json::{Value, json};
use testkit::backend::{Backend, Fault};

use super::stage::{CHAT, Got, MESSAGES, Stage, echo, last, nobody, says};
use crate::house::{get, post};

const PATHS: [&str; 2] = [CHAT, MESSAGES];

/// A server with so many failures, and a stage in front of it.
async fn failing(fault: &Fault, times: usize) -> (Backend, Stage) {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    for _ in 0..times {
        backend.fail_next(fault.clone());
    }
    (backend, stage)
}

async fn ask(stage: &Stage, path: &str, stream: bool) -> Got {
    let ask = post(path, &says("one two", stream)).header("x-quipu-conversation", "mine");
    stage.ask(ask).await
}

/// Repeats the request successfully; memory has the question once, and every part of a reply that the client
/// received.
async fn recovers(stage: &Stage, path: &str, half_said: Option<&str>) {
    let question = (Role::User, "<one two>".to_owned());
    let half = half_said.map(|text| (Role::Assistant, text.to_owned()));
    let got = ask(stage, path, true).await;
    assert_eq!(
        (got.status, got.broke_off),
        (200, false),
        "{path}: {}",
        got.text()
    );
    let whole = (Role::Assistant, "one two".to_owned());
    let expected: Vec<_> = [Some(question), half, Some(whole)]
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(stage.stored(), expected, "{path}");
}

fn status(code: u16, retry_after: Option<&str>) -> Fault {
    let content = ("content-type".to_owned(), "application/json".to_owned());
    let asked = retry_after.map(|value| ("retry-after".to_owned(), value.to_owned()));
    Fault::Status {
        code,
        headers: [Some(content), asked].into_iter().flatten().collect(),
        body: json!({"error": {"message": "the server's own words"}}).to_string(),
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported_in_each_dialect() {
    let stage = Stage::new(&nobody().await).await;
    for path in PATHS.into_iter().chain(["/v1/embeddings"]) {
        let got = ask(&stage, path, true).await;
        assert_eq!(
            got.failure(path),
            (502, "upstream_unreachable".to_owned()),
            "{path}"
        );
    }
    let got = stage.ask(get("/v1/models")).await;
    assert_eq!(
        got.failure("/v1/models"),
        (502, "upstream_unreachable".to_owned())
    );
    assert_eq!(stage.waits().len(), 8, "each was tried three times");
    assert_eq!(stage.stored(), [], "nobody was told anything");
    // The fifth failure in a row: the gateway rests the server for a while.
    ask(&stage, CHAT, true).await;
    let got = ask(&stage, CHAT, true).await;
    assert_eq!(got.failure(CHAT), (503, "upstream_resting".to_owned()));
    assert_eq!(got.headers["retry-after"], "10");
    assert_eq!(stage.ask(get("/health/live")).await.status, 200);
}

/// The gateway does not retry such an answer: the client does.
#[tokio::test]
async fn a_servers_error_is_forwarded_at_once() {
    let cases = [
        (429, Some("3")),
        (429, Some("60")),
        (503, None),
        (500, None),
        (400, None),
    ];
    for (code, retry_after) in cases {
        for path in PATHS {
            let (backend, stage) = failing(&status(code, retry_after), 1).await;
            let before = backend.requests().len();
            let got = ask(&stage, path, true).await;
            assert_eq!(got.status, code);
            assert_eq!(got.json()["error"]["message"], "the server's own words");
            let kept = got
                .headers
                .get("retry-after")
                .map(|value| value.to_str().expect("text"));
            assert_eq!(kept, retry_after, "{code}");
            assert_eq!(backend.requests().len() - before, 1, "{code}");
            assert_eq!(stage.waits(), [], "{code}");
            assert_eq!(stage.stored(), [], "{code}");
            recovers(&stage, path, None).await;
        }
    }
}

#[tokio::test]
async fn an_interrupted_stream_is_forwarded_up_to_its_end() {
    // The number of events up to the reply's first word, and that word.
    for (path, events, half_said) in [(CHAT, 2, "one "), (MESSAGES, 3, "one ")] {
        let (_backend, stage) = failing(&Fault::ResetAfterChunks(events), 1).await;
        let got = ask(&stage, path, true).await;
        assert_eq!((got.status, got.broke_off), (200, true), "{path}");
        assert_eq!(got.text().matches("data: ").count(), events, "{path}");
        recovers(&stage, path, Some(half_said)).await;
    }
    for path in PATHS {
        let (_backend, stage) = failing(&Fault::ResetAfterChunks(1), 1).await;
        let got = ask(&stage, path, true).await;
        assert!(got.broke_off, "{path}");
        recovers(&stage, path, None).await;
    }
}

#[tokio::test]
async fn an_invalid_stream_is_forwarded_and_not_stored() {
    for path in PATHS {
        let (_backend, stage) = failing(&Fault::GarbageSse, 1).await;
        let got = ask(&stage, path, true).await;
        let nonsense = b"data: {\"choices\": nonsense}\n\ndata\xff\xfe\n:\n\x00\n\n";
        assert!(got.bytes.ends_with(nonsense), "{}", got.text());
        recovers(&stage, path, None).await;
        for stream in [true, false] {
            let (backend, stage) = failing(&Fault::TruncatedJson, 1).await;
            let got = ask(&stage, path, stream).await;
            assert_eq!((got.status, got.broke_off), (200, false), "{path} {stream}");
            let end = got.text().rsplit("data: ").next().unwrap_or_default().to_owned();
            assert!(serde_json::from_str::<Value>(&end).is_err(), "{end}");
            recovers(&stage, path, None).await;
            assert_eq!(last(&backend).violations, [""; 0]);
        }
    }
}

#[tokio::test]
async fn a_connection_that_closes_without_a_head_is_a_bad_gateway() {
    for path in PATHS {
        let (backend, stage) = failing(&Fault::CloseBeforeHead, 1).await;
        let before = backend.requests().len();
        let got = ask(&stage, path, true).await;
        assert_eq!(got.failure(path), (502, "upstream_broke_off".to_owned()));
        assert_eq!(
            backend.requests().len() - before,
            1,
            "the model may be at work: not twice"
        );
        assert_eq!(stage.stored(), []);
        recovers(&stage, path, None).await;
    }
}

#[tokio::test]
async fn a_server_without_an_answer_times_out() {
    for path in PATHS {
        let (backend, stage) = failing(&Fault::Hang, 1).await;
        let before = backend.requests().len();
        let asking = ask(&stage, path, true);
        let time_passes = async {
            backend.arrived(before + 1).await;
            stage.house.clock.advance(Duration::from_mins(10));
        };
        let (got, ()) = tokio::join!(asking, time_passes);
        assert_eq!(got.failure(path), (504, "upstream_timed_out".to_owned()));
        assert_eq!(stage.stored(), []);
        recovers(&stage, path, None).await;
    }
}

#[tokio::test]
async fn a_slow_head_is_awaited_and_delays_no_other_request() {
    for path in PATHS {
        let (backend, stage) = failing(&Fault::SlowLoris, 1).await;
        let before = backend.requests().len();
        let asking = ask(&stage, path, true);
        let trickling = async {
            backend.arrived(before + 1).await;
            backend.release();
            let other = stage.open(get("/v1/models")).await.complete().await;
            assert_eq!(other.status, 200, "others are served");
            for _ in 0..1_000 {
                backend.release();
            }
        };
        let (got, ()) = tokio::join!(asking, trickling);
        assert_eq!((got.status, got.broke_off), (200, false));
        let question = (Role::User, "<one two>".to_owned());
        assert_eq!(
            stage.stored(),
            [question, (Role::Assistant, "one two".to_owned())]
        );
    }
}

#[tokio::test]
async fn a_repeated_turn_stays_in_its_conversation() {
    for path in PATHS {
        let (backend, stage) = failing(&status(500, None), 0).await;
        let first = stage.ask(post(path, &says("one two", true))).await;
        let mut body = says("three", true);
        let messages = json!([
            {"role": "user", "content": "<one two>"},
            {"role": "assistant", "content": "one two"},
            {"role": "user", "content": "<three>"},
        ]);
        body["messages"] = messages;
        backend.fail_next(status(500, None));
        assert_eq!(stage.ask(post(path, &body)).await.status, 500);
        let again = stage.ask(post(path, &body)).await;
        let id = "x-quipu-conversation";
        assert_eq!(
            (again.status, &again.headers[id]),
            (200, &first.headers[id]),
            "{path}"
        );
        let texts: Vec<String> = stage.stored().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["<one two>", "one two", "<three>", "three"], "{path}");
    }
}
