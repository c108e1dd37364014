//! The tables, and the data as it came.

use expect_test::expect;
use gateway::Client;
use serde_json::{Value, json};

use super::report;
use crate::args::CacheArgs;
use crate::commands::chat::fake::{Fake, body};
use crate::commands::chat::server::Server;

fn measured() -> Value {
    json!({
        "upstreams": [{
            "upstream": "http://127.0.0.1:8080", "kind": "llama", "requests": 3, "prompt_tokens": 9000,
            "cached_tokens": 6000, "evaluated_tokens": 3000, "hit_ratio": 0.667, "extension_ratio": 0.5,
            "first_token_ms_p50": 120.4, "first_token_ms_p99": null,
            "classes": {"first": 1, "extension": 1, "tail_injection": 1},
        }],
        "conversations": [{
            "conversation": "c1", "upstream": "http://127.0.0.1:8080",
            "requests": [
                {
                    "at": "2026-11-21T10:31:20.123Z", "prompt_tokens": 2000, "cached_tokens": 0,
                    "evaluated_tokens": 2000, "first_token_ms": 800, "expected_tokens": null,
                    "class": "first", "reasons": [], "injected_tokens": 0,
                },
                {
                    "at": 1_795_257_080_123_i64, "prompt_tokens": 4000, "cached_tokens": 3400,
                    "evaluated_tokens": 600, "first_token_ms": 120.4, "expected_tokens": 90,
                    "class": "tail_injection", "reasons": ["message 4", "shares 3400 bytes"],
                    "injected_tokens": 81,
                },
                {
                    "at": "?", "prompt_tokens": null, "cached_tokens": null, "evaluated_tokens": null,
                    "first_token_ms": null, "expected_tokens": null, "class": "yet_unheard_of",
                    "reasons": [], "injected_tokens": null,
                },
            ],
        }],
    })
}

async fn shown(data: &Value, as_json: bool) -> String {
    let server = Fake::start(vec![body(200, &json!({"request_id": "r", "data": data}))]).await;
    let client = Server(Client::there(server.address, None));
    let args = CacheArgs { conversation: None };
    let mut out = Vec::new();
    report(&client, &args, as_json, &mut out).await.expect("shown");
    assert_eq!(server.asked()[0].what, "GET /api/v1/cache");
    String::from_utf8(out).expect("text")
}

#[tokio::test]
async fn programs_get_the_data_as_it_came() {
    let shown = shown(&measured(), true).await;
    assert_eq!(serde_json::from_str::<Value>(&shown).expect("JSON"), measured());
}

#[tokio::test]
async fn people_get_a_line_for_each_request_with_its_reason_in_words() {
    expect![[r"
        http://127.0.0.1:8080 (llama)
          3 requests, 9000 prompt tokens: 6000 cached, 3000 evaluated; 67 % of the tokens hit, 50 % of the requests extend
          first token: half within 120 ms, 99 of 100 within -
                1  extends the last request
                1  the first request
                1  what was injected last time is gone or changed

        conversation c1 at http://127.0.0.1:8080
          at                     prompt    cached  evaluated  expected  injected  first token  why
          2026-11-21T10:31:20      2000         0       2000         -         0       800 ms  the first request
          1795257080123            4000      3400        600        90        81       120 ms  what was injected last time is gone or changed (message 4; shares 3400 bytes)
          ?                           -         -          -         -         -            -  yet_unheard_of
    "]].assert_eq(&shown(&measured(), false).await);
    let nothing = shown(&json!({"upstreams": [], "conversations": []}), false).await;
    assert_eq!(nothing, "no conversation was measured yet\n");
}
