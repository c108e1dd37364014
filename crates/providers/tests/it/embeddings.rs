//! The embedder keeps the port's promises whatever the endpoint does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use ports::{EmbedError, EmbedPurpose, Embedder};
use providers::{ApiKey, EmbedSettings, HttpEmbedder};
use serde_json::{Value, json};

use crate::server::{Reply, Request, Server, dead_url};
use crate::timer::Timer;

const LIMIT: Duration = Duration::from_secs(77);
const KEY: &str = "quite+secret/key";

fn settings(url: String) -> EmbedSettings {
    let key = Some(ApiKey::new(KEY));
    EmbedSettings {
        dims: 2,
        timeout: LIMIT,
        api_key: key,
        ..EmbedSettings::new(url, "tiny")
    }
}

fn inputs(request: &Request) -> Vec<String> {
    serde_json::from_value(request.json()["input"].clone()).expect("a list of texts")
}

/// The vector of a text says how long it is, so that a mix-up shows.
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

/// The same call may succeed later.
fn is_passing(error: &EmbedError) -> bool {
    matches!(error, EmbedError::Unavailable { .. })
}

#[tokio::test]
async fn vectors_come_in_order_and_with_unit_length() {
    let server = Server::new(answer);
    let mut settings = settings(server.url("/v1/"));
    settings.passage_prefix = "passage: ".to_owned();
    let embedder = HttpEmbedder::new(settings, Timer::with_limit(LIMIT)).expect("good settings");
    let vectors = embedder
        .embed(&["abc", "", "a", " \n"], EmbedPurpose::Passage)
        .await
        .expect("it answers");
    assert_vector(&vectors[0], 12);
    assert_vector(&vectors[2], 10);
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
        json!({ "model": "tiny", "input": ["passage: abc", "passage: a"] })
    );
}

#[tokio::test]
async fn nothing_to_embed_asks_nothing() {
    let server = Server::new(answer);
    let embedder =
        HttpEmbedder::new(settings(server.url("/v1")), Timer::with_limit(LIMIT)).expect("good settings");
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
    let settings = EmbedSettings {
        batch_texts_max: 3,
        batch_bytes_max: 20,
        text_bytes_max: 31,
        send_dims: true,
        ..settings(server.url("/v1?version=7"))
    };
    let embedder = HttpEmbedder::new(settings, Timer::with_limit(LIMIT)).expect("good settings");
    let texts: Vec<String> = (1..30).map(|n| "é".repeat(n)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder
        .embed(&texts, EmbedPurpose::Passage)
        .await
        .expect("it answers");
    for (text, vector) in texts.iter().zip(&vectors) {
        assert_vector(vector, text.len().min(30));
    }
    for request in server.requests() {
        let texts = inputs(&request);
        let bytes: usize = texts.iter().map(String::len).sum();
        assert!(texts.len() == 1 || texts.len() <= 3 && bytes <= 20, "{texts:?}");
        assert_eq!(request.json()["dimensions"], 2);
        assert_eq!(request.path, "/v1/embeddings?version=7");
    }
}

#[tokio::test]
async fn the_first_n_failures_are_outlived_and_no_more() {
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
            let embedder =
                HttpEmbedder::new(settings(server.url("/v1")), timer.clone()).expect("good settings");
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
async fn who_asks_for_a_long_wait_is_not_waited_for() {
    let server = Server::new(|_| Reply::new(429, "quota").header("retry-after", "3600"));
    let timer = Timer::with_limit(LIMIT);
    let embedder = HttpEmbedder::new(settings(server.url("/v1")), timer.clone()).expect("good settings");
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
        let embedder = HttpEmbedder::new(settings(url), Timer::with_limit(LIMIT)).expect("good settings");
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
        let embedder =
            HttpEmbedder::new(settings(server.url("/v1")), Timer::with_limit(LIMIT)).expect("good settings");
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
    let embedder =
        HttpEmbedder::new(settings(server.url("/v1")), Timer::with_limit(LIMIT)).expect("good settings");
    let error = embedder
        .embed(&["abc"], EmbedPurpose::Passage)
        .await
        .expect_err("the shape is wrong");
    assert!(error.to_string().contains("not JSON"), "{error}");
}

#[tokio::test]
async fn silence_and_absence_are_told_apart_from_refusal() {
    let server = Server::new(|_| {
        std::thread::park();
        unreachable!("nobody unparks it")
    });
    let embedder = HttpEmbedder::new(settings(server.url("/v1")), Timer::hasty()).expect("good settings");
    let error = embedder
        .embed(&["abc"], EmbedPurpose::Query)
        .await
        .expect_err("it never answers");
    assert!(
        is_passing(&error) && error.to_string().contains("within 77 s"),
        "{error}"
    );

    let embedder =
        HttpEmbedder::new(settings(dead_url("/v1")), Timer::with_limit(LIMIT)).expect("good settings");
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
    let settings = EmbedSettings {
        batch_texts_max: 1,
        ..settings(server.url("/v1"))
    };
    let embedder = HttpEmbedder::new(settings, Timer::with_limit(LIMIT)).expect("good settings");
    let passages = ["passage"; 40];
    let flood = embedder.embed(&passages, EmbedPurpose::Passage);
    let query = async {
        // The flood is polled first: by now all its requests that may run are on their way.
        let answered = embedder.embed(&["query"], EmbedPurpose::Query).await;
        *gate.0.lock().expect("nobody panics with it") = true;
        gate.1.notify_all();
        answered
    };
    let (flooded, answered) = tokio::join!(flood, query);
    assert_eq!(flooded.expect("the gate opened").len(), 40);
    assert_vector(&answered.expect("it does not wait")[0], 5);
    assert!(most.load(Ordering::SeqCst) <= 2, "passages keep to their places");
}

#[tokio::test]
async fn a_query_asked_again_is_not_sent_again() {
    let server = Server::new(answer);
    let embedder =
        HttpEmbedder::new(settings(server.url("/v1")), Timer::with_limit(LIMIT)).expect("good settings");
    let first = embedder
        .embed(&["who", "what"], EmbedPurpose::Query)
        .await
        .expect("it answers");
    let again = embedder
        .embed(&["what", "who"], EmbedPurpose::Query)
        .await
        .expect("it answers");
    assert_eq!((&first[0], &first[1]), (&again[1], &again[0]));
    assert_eq!(server.requests().len(), 1);
    for _ in 0..2 {
        embedder
            .embed(&["who"], EmbedPurpose::Passage)
            .await
            .expect("it answers");
    }
    assert_eq!(server.requests().len(), 3, "passages are not kept");
}

#[tokio::test]
async fn the_endpoint_can_be_asked_for_its_dims() {
    let server = Server::new(answer);
    let mut settings = settings(server.url("/v1"));
    settings.dims = 0;
    let timer = Timer::with_limit(LIMIT);
    let error = HttpEmbedder::new(settings.clone(), timer.clone()).expect_err("no dims");
    assert!(error.to_string().contains("dims"), "{error}");
    assert_eq!(
        HttpEmbedder::probe_dims(&settings, timer)
            .await
            .expect("it answers"),
        2
    );
}

#[test]
fn a_wrong_base_url_is_told_at_once() {
    for url in [
        "",
        "localhost:11434",
        "ftp://x/v1",
        "file:///etc",
        "http://me:hunter2@localhost/v1",
    ] {
        let error = HttpEmbedder::new(settings(url.to_owned()), Timer::hasty()).expect_err(url);
        let shown = error.to_string();
        assert!(
            shown.contains("base_url") && !shown.contains("hunter2"),
            "{url}: {shown}"
        );
    }
}
