//! The tables, and the unchanged data.

use std::path::Path;

use expect_test::expect;
use gateway::wire::CacheData;
use gateway::wire::cache::{ConversationItem, RequestItem, UpstreamItem};
use serde_json::{Value, json};

use super::report;
use crate::commands::Desk;
use crate::commands::chat::tests::fake::{Fake, body};
use crate::commands::tests::desk;
use crate::output::tests::SAID;

fn request(at: &str, prompt_tokens: u64, class: Option<&str>) -> RequestItem {
    RequestItem {
        at: at.to_owned(),
        status: 200,
        prompt_tokens,
        cached_tokens: None,
        evaluated_tokens: None,
        completion_tokens: 7,
        first_token_ms: None,
        total_ms: 900,
        expected_tokens: None,
        class: class.map(str::to_owned),
        reasons: Vec::new(),
        injected_tokens: 0,
    }
}

/// An answer of the route, including a server that reports nothing about its cache.
fn measured() -> Value {
    let classes = ["first", "extension", "tail_injection"].map(|class| (class.to_owned(), 1));
    let data = CacheData {
        upstreams: vec![UpstreamItem {
            upstream: "http://127.0.0.1:8080".to_owned(),
            requests: 3,
            prompt_tokens: 9000,
            cached_tokens: 6000,
            evaluated_tokens: 3000,
            hit_ratio: Some(0.667),
            extension_ratio: Some(0.5),
            first_token_ms_p50: Some(120),
            first_token_ms_p99: None,
            classes: classes.into(),
        }],
        conversations: vec![ConversationItem {
            conversation: "c1".to_owned(),
            upstream: "http://127.0.0.1:8080".to_owned(),
            requests: vec![
                RequestItem {
                    cached_tokens: Some(0),
                    evaluated_tokens: Some(2000),
                    first_token_ms: Some(800),
                    ..request("2026-11-21T10:31:20.123Z", 2000, Some("first"))
                },
                RequestItem {
                    cached_tokens: Some(3400),
                    evaluated_tokens: Some(600),
                    first_token_ms: Some(120),
                    expected_tokens: Some(90),
                    reasons: vec!["system".to_owned(), "injection".to_owned()],
                    injected_tokens: 81,
                    ..request("2026-11-21T10:32:00.001Z", 4000, Some("tail_injection"))
                },
                request("?", 5, Some("yet_unheard_of")),
                request("2026-11-21T10:33:00Z", 3000, None),
            ],
        }],
    };
    serde_json::to_value(data).expect("JSON")
}

async fn shown(data: &Value, as_json: bool) -> String {
    let server = Fake::start(vec![body(200, &json!({"request_id": "r", "data": data}))]).await;
    SAID.take();
    let desk = &Desk {
        json: as_json,
        ..desk(Path::new("/nowhere"), &[])
    };
    report(desk, &server.api(), None).await.expect("shown");
    assert_eq!(server.asked()[0].what, "GET /api/v2/cache");
    SAID.take()
}

#[tokio::test]
async fn json_output_is_the_unchanged_data_of_the_server() {
    let shown = shown(&measured(), true).await;
    assert_eq!(serde_json::from_str::<Value>(&shown).expect("JSON"), measured());
}

#[tokio::test]
async fn text_output_has_a_line_for_each_request_with_its_reason() {
    expect![[r"
        http://127.0.0.1:8080
          3 requests, 9000 prompt tokens: 6000 cached, 3000 evaluated; 67 % of the tokens hit, 50 % of the requests extend
          first token: half within 120 ms, 99 of 100 within -
                1  extends the last request
                1  the first request
                1  the injected text of the last turn is gone or changed
          alert: 50 % of the requests extend the last one, less than 95 %

        conversation c1 at http://127.0.0.1:8080
          at                     prompt    cached  evaluated  expected  injected  first token  why
          2026-11-21T10:31:20      2000         0       2000         -         0       800 ms  the first request
          2026-11-21T10:32:00      4000      3400        600        90        81       120 ms  the injected text of the last turn is gone or changed (system; injection)
          ?                           5         -          -         -         0            -  yet_unheard_of
          2026-11-21T10:33:00      3000         -          -         -         0            -  -
    "]].assert_eq(&shown(&measured(), false).await);
    let mut data = measured();
    data["upstreams"][0]["extension_ratio"] = json!(0.95);
    assert!(
        !shown(&data, false).await.contains("alert"),
        "at its bound nothing is wrong"
    );
    data["conversations"][0]["requests"][1]["expected_tokens"] = json!(3_600);
    let alert =
        "  alert: 94 % of the tokens that the server could reuse were reused, less than 98 %\n\nconversation";
    assert!(shown(&data, false).await.contains(alert));
    let nothing = shown(&json!({"upstreams": [], "conversations": []}), false).await;
    assert_eq!(nothing, "no measured conversations yet\n");
}
