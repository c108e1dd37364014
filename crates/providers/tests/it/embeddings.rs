//! The embedder keeps the port's promises whatever the endpoint does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use ports::{EmbedError, EmbedPurpose, Embedder};
use providers::{ApiKey, EndpointSettings, HttpEmbedder};
use serde_json::{Value, json};

use crate::server::{Reply, Request, Server, dead_url};
use crate::timer::Timer;

const LIMIT: Duration = Duration::from_secs(77);
const KEY: &str = "quite+secret/key";

fn settings(url: String) -> EndpointSettings {
    let key = Some(ApiKey::new(KEY));
    EndpointSettings {
        timeout: LIMIT,
        api_key: key,
        ..EndpointSettings::new(url, "tiny")
    }
}

fn opened(url: String, timer: Arc<Timer>) -> HttpEmbedder {
    HttpEmbedder::new(settings(url), 2, timer).expect("good settings")
}

fn inputs(request: &Request) -> Vec<String> {
    serde_json::from_value(request.json()["input"].clone()).expect("a list of texts")
}

/// The vector of a text encodes the text's length, so that a mix-up shows.
fn answer(request: &Request) -> Reply {
    let items = inputs(request).into_iter().enumerate();
    let mut data: Vec<Value> = items
        .map(|(i, text)| json!({ "index": i, "embedding": [text.len(), 1] }))
        .collect();
    data.reverse();
    Reply::json(&json!({ "data": data, "usage": {} }))
}

fn assert_vector(vector: &[f32], sent_len: usize) {
    let length = (sent_len as f32).hypot(1.0);
    let close = (vector[0] - sent_len as f32 / length).abs() < 1e-5;
    assert!(
        close && (vector[0].hypot(vector[1]) - 1.0).abs() < 1e-5,
        "{vector:?} for {sent_len} bytes"
    );
}

/// Whether the same call may succeed later.
fn is_passing(error: &EmbedError) -> bool {
    matches!(error, EmbedError::Unavailable { .. })
}

#[tokio::test]
async fn vectors_come_in_order_and_with_unit_length() {
    let server = Server::new(answer);
    let embedder = opened(server.url("/v1/"), Timer::with_limit(LIMIT));
    let vectors = embedder
        .embed(&["abc", "", "a", " \n"], EmbedPurpose::Passage)
        .await
        .expect("it answers");
    assert_vector(&vectors[0], 3);
    assert_vector(&vectors[2], 1);
    assert!(vectors[1].iter().chain(&*vectors[3]).all(|x| *x == 0.0));
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].path, "/v1/embeddings");
    assert_eq!(
        requests[0].header("authorization"),
        Some("Bearer quite+secret/key")
    );
    assert_eq!(
        requests[0].json(),
        json!({ "model": "tiny", "input": ["abc", "a"] })
    );
}

#[tokio::test]
async fn empty_input_sends_no_request() {
    let server = Server::new(answer);
    let embedder = opened(server.url("/v1"), Timer::with_limit(LIMIT));
    assert!(
        embedder
            .embed(&[], EmbedPurpose::Passage)
            .await
            .expect("nothing can fail")
            .is_empty()
    );
    assert!(embedder.embed(&[""], EmbedPurpose::Query).await.is_ok());
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn batches_keep_to_both_limits() {
    let server = Server::new(answer);
    let embedder = opened(server.url("/v1?version=7"), Timer::with_limit(LIMIT));
    // 150 short texts, then long ones of which sixteen fill a request, and some that are cut.
    let short = (1..=150).map(|n| "é".repeat(n));
    let long = (4_000..4_200).step_by(5).map(|n| format!("a{}", "é".repeat(n)));
    let texts: Vec<String> = short.chain(long).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder
        .embed(&texts, EmbedPurpose::Passage)
        .await
        .expect("it answers");
    for (text, vector) in texts.iter().zip(&vectors) {
        assert_vector(vector, text.len().min(8 * 1024 - 1));
    }
    for request in server.requests() {
        let texts = inputs(&request);
        let bytes: usize = texts.iter().map(String::len).sum();
        assert!(
            texts.len() <= 64 && bytes <= 128 * 1024,
            "{} texts, {bytes} bytes",
            texts.len()
        );
        assert_eq!(request.path, "/v1/embeddings?version=7");
    }
}

#[tokio::test]
async fn the_first_failures_are_retried_up_to_the_limit() {
    for purpose in [EmbedPurpose::Query, EmbedPurpose::Passage] {
        let attempts = if purpose == EmbedPurpose::Query { 2 } else { 4 };
        for failures in 0..6 {
            let count = AtomicUsize::new(0);
            let server = Server::new(move |request| match count.fetch_add(1, Ordering::SeqCst) {
                n if n >= failures => answer(request),
                0 => Reply::new(503, "loading"),
                1 => answer(request).torn_after(5),
                2 => Reply::new(429, "slow down").header("retry-after", "7"),
                _ => Reply::new(500, "oh no"),
            });
            let timer = Timer::with_limit(LIMIT);
            let embedder = opened(server.url("/v1"), timer.clone());
            let result = embedder.embed(&["abc"], purpose).await;
            let case = format!("{purpose:?} with {failures} failures: {result:?}");
            assert_eq!(result.is_ok(), failures < attempts, "{case}");
            assert_eq!(server.requests().len(), attempts.min(failures + 1), "{case}");
            assert_eq!(timer.waits().len(), attempts.min(failures + 1) - 1, "{case}");
            if let Err(error) = result {
                assert!(is_passing(&error), "{case}");
            }
            if attempts == 4 && failures >= 3 {
                assert_eq!(timer.waits()[2], Duration::from_secs(7), "{case}");
            }
        }
    }
}

#[tokio::test]
async fn a_long_retry_after_is_not_waited_for() {
    let server = Server::new(|_| Reply::new(429, "quota").header("retry-after", "3600"));
    let timer = Timer::with_limit(LIMIT);
    let embedder = opened(server.url("/v1"), timer.clone());
    let error = embedder
        .embed(&["abc"], EmbedPurpose::Passage)
        .await
        .expect_err("it never answers");
    assert!(
        is_passing(&error) && error.to_string().contains("quota"),
        "{error}"
    );
    assert!(timer.waits().is_empty() && server.requests().len() == 1);
}

#[tokio::test]
async fn a_refusal_is_final_and_shows_no_key() {
    for (status, advice) in [
        (401, "api_key"),
        (404, "base_url"),
        (413, "too long"),
        (400, "400"),
    ] {
        let server = Server::new(move |request| {
            let body =
                json!({ "error": { "message": format!("bad: {:?}", request.header("authorization")) } });
            Reply::new(status, body.to_string())
        });
        let url = server.url("/v1?api_key=hunter2");
        let embedder = opened(url, Timer::with_limit(LIMIT));
        let error = embedder
            .embed(&["abc"], EmbedPurpose::Passage)
            .await
            .expect_err("it is refused");
        let shown = format!("{error} {error:?} {embedder:?}");
        assert!(matches!(error, EmbedError::Refused { .. }), "{shown}");
        assert!(shown.contains("bad: ") && shown.contains(advice), "{shown}");
        assert!(
            !shown.contains(KEY) && !shown.contains("secret") && !shown.contains("hunter2"),
            "{shown}"
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn answers_of_another_shape_are_refused() {
    let cases = [
        (
            json!({ "data": [{ "index": 0, "embedding": [1, 2, 3] }] }),
            "3 numbers, not 2",
        ),
        (json!({ "data": [] }), "0 vectors for 1 texts"),
        (
            json!({ "data": [{ "index": 5, "embedding": [1, 2] }] }),
            "index 5",
        ),
        (
            json!({ "data": [{ "index": 0, "embedding": [1e38, 1e39] }] }),
            "embed",
        ),
        (json!({ "hello": "world" }), "embeddings endpoint"),
        (json!("<html>"), "embeddings endpoint"),
    ];
    for (body, words) in cases {
        let server = Server::new(move |_| Reply::json(&body));
        let embedder = opened(server.url("/v1"), Timer::with_limit(LIMIT));
        let error = embedder
            .embed(&["abc"], EmbedPurpose::Passage)
            .await
            .expect_err("the shape is wrong");
        assert!(
            !is_passing(&error) && error.to_string().contains(words),
            "{error}"
        );
    }
    let server = Server::new(|_| Reply::new(200, "<html>welcome</html>"));
    let embedder = opened(server.url("/v1"), Timer::with_limit(LIMIT));
    let error = embedder
        .embed(&["abc"], EmbedPurpose::Passage)
        .await
        .expect_err("the shape is wrong");
    assert!(error.to_string().contains("not JSON"), "{error}");
}

#[tokio::test]
async fn silence_and_absence_differ_from_refusal() {
    let server = Server::new(|_| {
        std::thread::park();
        unreachable!("nobody unparks it")
    });
    let embedder = opened(server.url("/v1"), Timer::hasty());
    let error = embedder
        .embed(&["abc"], EmbedPurpose::Query)
        .await
        .expect_err("it never answers");
    assert!(
        is_passing(&error) && error.to_string().contains("within 77 s"),
        "{error}"
    );

    let embedder = opened(dead_url("/v1"), Timer::with_limit(LIMIT));
    let error = embedder
        .embed(&["abc"], EmbedPurpose::Query)
        .await
        .expect_err("nobody is there");
    assert!(
        is_passing(&error) && error.to_string().contains("is it running"),
        "{error}"
    );
}

#[tokio::test]
async fn passages_never_starve_a_query() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let (held, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let server = {
        let (gate, held, most) = (gate.clone(), held.clone(), most.clone());
        Server::new(move |request| {
            if inputs(request)[0].starts_with("passage") {
                most.fetch_max(held.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let open = gate.0.lock().expect("nobody panics with it");
                drop(gate.1.wait_while(open, |open| !*open));
                held.fetch_sub(1, Ordering::SeqCst);
            }
            answer(request)
        })
    };
    let embedder = opened(server.url("/v1"), Timer::with_limit(LIMIT));
    let passages = vec!["passage"; 40 * 64];
    let flood = embedder.embed(&passages, EmbedPurpose::Passage);
    let query = async {
        // The flood is polled first: by now all its permitted requests are sent.
        let answered = embedder.embed(&["query"], EmbedPurpose::Query).await;
        *gate.0.lock().expect("nobody panics with it") = true;
        gate.1.notify_all();
        answered
    };
    let (flooded, answered) = tokio::join!(flood, query);
    assert_eq!(flooded.expect("the gate opened").len(), passages.len());
    assert_vector(&answered.expect("it does not wait")[0], 5);
    assert!(most.load(Ordering::SeqCst) <= 2, "passages keep to their places");
}

#[tokio::test]
async fn the_endpoint_reports_its_dims() {
    let server = Server::new(answer);
    let settings = settings(server.url("/v1"));
    let timer = Timer::with_limit(LIMIT);
    let error = HttpEmbedder::new(settings.clone(), 0, timer.clone()).expect_err("no dims");
    assert!(error.to_string().contains("dims"), "{error}");
    assert_eq!(
        HttpEmbedder::probe_dims(&settings, timer)
            .await
            .expect("it answers"),
        2
    );
}

#[test]
fn a_wrong_base_url_is_reported_at_once() {
    for url in [
        "",
        "localhost:11434",
        "ftp://x/v1",
        "file:///etc",
        "http://me:hunter2@localhost/v1",
    ] {
        let error = HttpEmbedder::new(settings(url.to_owned()), 2, Timer::hasty()).expect_err(url);
        let shown = error.to_string();
        assert!(
            shown.contains("base_url") && !shown.contains("hunter2"),
            "{url}: {shown}"
        );
    }
}
