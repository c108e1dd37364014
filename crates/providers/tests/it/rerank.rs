//! The reranker keeps the port's promises whatever the endpoint does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ports::{RerankError, Reranker};
use providers::{ApiKey, EndpointSettings, HttpReranker};
use serde_json::{Value, json};

use crate::server::{Reply, Request, Server, dead_url};
use crate::timer::Timer;

const LIMIT: Duration = Duration::from_secs(77);
const KEY: &str = "quite+secret/key";

fn reranker(url: String, model: &str) -> HttpReranker {
    let settings = EndpointSettings {
        base_url: url,
        api_key: Some(ApiKey::new(KEY)),
        model: model.to_owned(),
        timeout: LIMIT,
    };
    HttpReranker::new(settings, Timer::with_limit(LIMIT)).expect("good settings")
}

/// The score of a passage is its length; the answer is sorted by score, like real ones.
fn items(texts: &Value, score: &str) -> Vec<Value> {
    let texts: Vec<String> = serde_json::from_value(texts.clone()).expect("a list of texts");
    let mut items: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| json!({ "index": index, score: text.len() }))
        .collect();
    items.sort_by_key(|item| std::cmp::Reverse(item[score].as_u64()));
    items
}

fn cohere(request: &Request) -> Reply {
    let results = items(&request.json()["documents"], "relevance_score");
    Reply::json(&json!({ "model": "tiny", "results": results, "usage": {} }))
}

#[tokio::test]
async fn scores_come_in_the_order_of_the_passages() {
    let server = Server::new(cohere);
    let reranker = reranker(server.url("/v1/"), "tiny");
    let scores = reranker
        .rerank("which?", &["bb", "a", "cccc"])
        .await
        .expect("it answers");
    assert_eq!(scores, [2.0, 1.0, 4.0]);
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].path, "/v1/rerank");
    assert_eq!(
        requests[0].header("authorization"),
        Some("Bearer quite+secret/key")
    );
    assert_eq!(
        requests[0].json(),
        json!({ "model": "tiny", "query": "which?", "documents": ["bb", "a", "cccc"], "top_n": 3 })
    );
}

#[tokio::test]
async fn a_server_with_one_model_gets_its_own_dialect_in_requests_it_accepts() {
    let server = Server::new(|request| match &request.json()["texts"] {
        Value::Array(texts) if texts.len() > 32 => {
            Reply::new(422, "batch size 50 > maximum allowed batch size 32")
        }
        texts => Reply::json(&json!(items(texts, "score"))),
    });
    let passages: Vec<String> = (0..50).map(|n| "x".repeat(n)).collect();
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    let scores = reranker(server.url(""), "")
        .rerank("which?", &passages)
        .await
        .expect("it answers");
    assert_eq!(scores, (0_u8..50).map(f32::from).collect::<Vec<_>>());
    let request = server.requests()[0].json();
    assert_eq!(
        (&request["query"], &request["truncate"]),
        (&json!("which?"), &json!(true))
    );
    assert!(request.get("model").is_none());
}

#[tokio::test]
async fn empty_input_sends_no_request_and_long_texts_are_cut() {
    let server = Server::new(cohere);
    let reranker = reranker(server.url("/v1"), "tiny");
    assert!(
        reranker
            .rerank("q", &[])
            .await
            .expect("nothing can fail")
            .is_empty()
    );
    assert!(server.requests().is_empty());
    let long = "é".repeat(10_000);
    let scores = reranker.rerank(&long, &[&long]).await.expect("it answers");
    assert_eq!(scores, [8192.0]);
    assert_eq!(
        server.requests()[0].json()["query"].as_str().map(str::len),
        Some(8192)
    );
}

#[tokio::test]
async fn one_failure_is_retried_once() {
    for (failures, works) in [(0, true), (1, true), (2, false)] {
        let count = AtomicUsize::new(0);
        let server = Server::new(move |request| match count.fetch_add(1, Ordering::SeqCst) {
            n if n >= failures => cohere(request),
            0 => Reply::new(503, "loading"),
            _ => cohere(request).torn_after(5),
        });
        let result = reranker(server.url("/v1"), "tiny").rerank("q", &["a"]).await;
        assert_eq!(result.is_ok(), works, "{failures} failures: {result:?}");
        assert_eq!(server.requests().len(), 2.min(failures + 1));
        if let Err(error) = result {
            assert!(matches!(error, RerankError::Unavailable { .. }), "{error}");
        }
    }
    let error = reranker(dead_url("/v1"), "tiny")
        .rerank("q", &["a"])
        .await
        .expect_err("nobody listens");
    assert!(error.to_string().contains("is it running"), "{error}");
}

#[tokio::test]
async fn a_refusal_names_the_remedy_and_shows_no_key() {
    for (model, status, advice) in [
        ("tiny", 401, "check `api_key`"),
        ("tiny", 404, "check `model`"),
        ("tiny", 422, "needs an empty `model`"),
        ("", 400, "needs `model`"),
    ] {
        let server = Server::new(move |_| Reply::new(status, format!("no {KEY}")));
        let error = reranker(server.url("/v1"), model)
            .rerank("q", &["a"])
            .await
            .expect_err("refused");
        assert!(matches!(error, RerankError::Refused { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains(advice) && !error.contains(KEY), "{error}");
        assert_eq!(server.requests().len(), 1, "another try is refused too");
    }
    let settings = EndpointSettings {
        base_url: "nowhere".to_owned(),
        api_key: None,
        model: String::new(),
        timeout: LIMIT,
    };
    let error = HttpReranker::new(settings, Timer::with_limit(LIMIT)).expect_err("no address");
    assert!(error.to_string().contains("base_url"), "{error}");
}

#[tokio::test]
async fn a_malformed_answer_is_refused() {
    for (answer, fault) in [
        (json!({ "data": [] }), "without `results[].relevance_score`"),
        (
            json!({ "results": [{ "index": 0, "relevance_score": 1 }] }),
            "1 scores for 2",
        ),
        (
            json!([{ "index": 0, "score": 1 }, { "index": 0, "score": 1 }]),
            "index 0 twice",
        ),
        (
            json!([{ "index": 2, "score": 1 }]),
            "index 2 twice or out of range",
        ),
        (json!([{ "index": 0, "score": 1e300 }]), "not a number"),
    ] {
        let server = Server::new(move |_| Reply::json(&answer));
        let error = reranker(server.url("/v1"), "tiny")
            .rerank("q", &["a", "b"])
            .await
            .expect_err("no answer");
        let error = error.to_string();
        assert!(
            error.contains(fault) && error.contains("is it a rerank endpoint?"),
            "{error}"
        );
    }
}
