//! Broken, oversized or hostile input: a clear error in the envelope, and no stored data is lost.

use axum::body::Body;
use axum::http::Request;
use futures::stream;
use gateway::GatewaySettings;
use model::Zone;
use serde_json::{Value, json};

use crate::gate::Plan;
use crate::house::{House, TEA, bodies, conversation, post};

#[tokio::test]
async fn a_body_without_a_json_object_is_refused_on_every_route() {
    let house = House::new().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_field = format!(r#"{{"user_id":"a","session_id":"s","query":"q","filters":{deep}}}"#);
    let bodies_of: [&[u8]; 12] = [
        b"",
        b"{",
        b"{\"session_id\": \"s\",}",
        b"nonsense",
        b"null",
        b"[]",
        b"5",
        b"\"text\"",
        b"{\"session_id\": \"\xff\xfe\"}",
        b"\x00\x01\x02",
        deep.as_bytes(),
        deep_field.as_bytes(),
    ];
    for path in bodies() {
        for body in bodies_of {
            let reply = house.ask(post(&path, &Value::Null).bytes(body)).await;
            if reply.status == 200 && body == deep_field.as_bytes() {
                // A route may accept any value of a key that it ignores.
                continue;
            }
            let (status, code, message) = reply.error();
            assert_eq!(
                (status, code.as_str()),
                (422, "INVALID_INPUT"),
                "{path} {message}"
            );
            assert!(message.chars().count() < 1_000);
        }
    }
    let reply = house
        .ask(post("/api/v1/memory/add", &Value::Null).bytes("{\n  \"a\": ]"))
        .await;
    assert_eq!(
        reply.error().2,
        "the body is not valid JSON: expected value at line 2 column 8"
    );
}

/// Every field of every request with every kind of value: accepted, or refused with the field's name.
#[tokio::test]
async fn any_value_in_any_field_is_accepted_or_refused_by_name() {
    let house = House::new().await;
    let document: Value = serde_json::from_str(&gateway::openapi_json()).expect("JSON");
    let long = "x".repeat(100_000);
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(1e308),
        json!(9_007_199_254_740_993_i64),
        json!(""),
        json!("../../etc/passwd"),
        json!("a\u{0}b"),
        json!("\u{202e}🧶"),
        json!(long),
        json!([]),
        json!([1]),
        json!(vec!["x"; 2_000]),
        json!({}),
        json!({"AND": [{"OR": []}]}),
    ];
    for path in bodies().into_iter().filter(|path| path.starts_with("/api/v2")) {
        let name = path.trim_start_matches("/api/v2");
        let schema =
            &document["paths"][&path]["post"]["requestBody"]["content"]["application/json"]["schema"];
        let schema = schema["$ref"]
            .as_str()
            .expect("a name")
            .rsplit('/')
            .next()
            .expect("a name");
        let fields = document["components"]["schemas"][schema]["properties"].as_object();
        let mut fields: Vec<&str> = fields.expect("fields").keys().map(String::as_str).collect();
        fields.push("no_such_field");
        let mut body = crate::house::sample(name);
        body["no_such_field"] = json!("x".repeat(5 << 20));
        let reply = house.post(&path, &body).await;
        assert!(
            matches!(reply.status.as_u16(), 200 | 404 | 422),
            "{path} with 5 MiB: {}",
            reply.text
        );
        for field in fields {
            for value in &values {
                let mut body = crate::house::sample(name);
                body[field] = value.clone();
                let reply = house.post(&path, &body).await;
                if reply.status.is_success() {
                    continue;
                }
                let (status, code, message) = reply.error();
                let shown: String = value.to_string().chars().take(40).collect();
                if path.ends_with("/fork") && status == 409 {
                    // The copy of an earlier request in this test.
                    continue;
                }
                assert!(
                    matches!(status, 404 | 422),
                    "{path} {field}={shown}: {status} {message}"
                );
                assert!(
                    status == 404 || matches!(&*code, "INVALID_INPUT" | "PROVIDER_NOT_CONFIGURED"),
                    "{code}"
                );
                assert!(
                    (1..1_000).contains(&message.chars().count()),
                    "{path} {field}={shown}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_body_with_another_content_type_is_refused() {
    let house = House::new().await;
    let body = conversation("s", &TEA);
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "json",
        "",
        "application/jsonp",
        "\u{e9}/json",
    ] {
        let (status, code, message) = house
            .ask(post("/api/v1/memory/add", &body).header("content-type", kind))
            .await
            .error();
        assert_eq!((status, code.as_str()), (415, "UNSUPPORTED_FORMAT"), "{kind}");
        assert!(message.contains("application/json"));
    }
    for kind in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/vnd.x+json",
    ] {
        house
            .ask(post("/api/v1/memory/add", &body).header("content-type", kind))
            .await
            .data();
    }
    house
        .ask(post("/api/v1/memory/add", &body).without("content-type"))
        .await
        .data();
}

#[tokio::test]
async fn a_large_body_is_accepted_and_a_larger_one_refused() {
    let house = House::new().await;
    let large = |mebibytes: usize| conversation("s", &[("ada", &"tea ".repeat(mebibytes << 18))]);
    house.post("/api/v1/memory/add", &large(5)).await.data();
    let mut asynchronous = large(5);
    asynchronous["async_mode"] = json!(true);
    let (status, code, message) = house.post("/api/v1/memory/add", &asynchronous).await.error();
    assert_eq!((status, code.as_str()), (413, "PAYLOAD_TOO_LARGE"));
    assert!(message.contains("4 MiB"), "{message}");
    assert_eq!(house.ledger.everything().len(), 1, "a refused add leaves nothing");
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_with_and_without_a_length() {
    let settings = GatewaySettings {
        body_bytes_max: 1 << 20,
        ..GatewaySettings::default()
    };
    let house = House::with(settings, Zone::utc()).await;
    let body = conversation("s", &[("ada", &"tea ".repeat(1 << 19))]).to_string();
    let announced = post("/api/v1/memory/add", &Value::Null)
        .header("content-length", &body.len().to_string())
        .bytes(body.clone());
    let (status, code, message) = house.ask(announced).await.error();
    assert_eq!((status, code.as_str()), (413, "PAYLOAD_TOO_LARGE"));
    assert!(message.contains("1 MiB"), "{message}");
    let chunks: Vec<Result<Vec<u8>, std::io::Error>> =
        body.as_bytes().chunks(10_000).map(|c| Ok(c.to_vec())).collect();
    let request = Request::post("/api/v1/memory/add")
        .header("host", "localhost")
        .body(Body::from_stream(stream::iter(chunks)));
    let (status, code, _) = house.send(request.expect("a request")).await.error();
    assert_eq!((status, code.as_str()), (413, "PAYLOAD_TOO_LARGE"));
}

#[tokio::test]
async fn an_incomplete_body_stores_nothing() {
    let house = House::new().await;
    let parts = vec![
        Ok(b"{\"session_id\"".to_vec()),
        Err(std::io::Error::other("gone")),
    ];
    let request = Request::post("/api/v1/memory/add")
        .header("host", "localhost")
        .body(Body::from_stream(stream::iter(parts)));
    assert_eq!(
        house.send(request.expect("a request")).await.error().1,
        "BAD_REQUEST"
    );

    let never = stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let request = Request::post("/api/v1/memory/add")
        .header("host", "localhost")
        .body(Body::from_stream(never));
    let send = house.send(request.expect("a request"));
    let time_passes = async {
        loop {
            house.clock.advance(std::time::Duration::from_secs(10));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        reply = send => assert_eq!(reply.error().1, "BAD_REQUEST"),
        () = time_passes => unreachable!("it never ends"),
    }
    assert!(house.ledger.everything().is_empty());
}

#[tokio::test]
async fn names_that_are_paths_are_refused_everywhere() {
    let house = House::new().await;
    for bad in [
        "../x",
        "a/b",
        "..",
        ".",
        "a\\b",
        "a\u{0}b",
        "\u{202e}",
        "",
        &"x".repeat(129),
    ] {
        // A trigger has no tenant.
        for path in bodies().into_iter().filter(|path| !path.contains("/ome/")) {
            let name = path.rsplit_once("/api/v").map_or("", |(_, rest)| &rest[1..]);
            for key in ["app_id", "project_id", "user_id"] {
                let mut body = crate::house::sample(name);
                if key == "user_id" && body.get("user_id").is_none() {
                    continue;
                }
                body[key] = json!(bad);
                let (status, code, message) = house.post(&path, &body).await.error();
                assert_eq!(
                    (status, code.as_str()),
                    (422, "INVALID_INPUT"),
                    "{path} {key} {bad:?}"
                );
                assert!(message.starts_with(key), "{message}");
            }
        }
    }
    assert!(house.vault.paths().is_empty());
}

#[tokio::test]
async fn a_refused_add_accepts_none_of_its_messages() {
    let house = House::new().await;
    let mut body = conversation("s", &TEA);
    body["messages"][3]["timestamp"] = json!("soon");
    let (_, _, message) = house.post("/api/v1/memory/add", &body).await.error();
    assert!(message.starts_with("messages.3.timestamp: "), "{message}");
    let mut body = conversation("s", &TEA);
    body["messages"][3]["sender_id"] = json!("not a name");
    let (_, _, message) = house.post("/api/v1/memory/add", &body).await.error();
    assert!(message.starts_with("messages.3.sender_id: "), "{message}");
    assert!(house.ledger.everything().is_empty());
}

#[tokio::test]
async fn any_text_is_stored_verbatim() {
    let house = House::new().await;
    let hostile =
        "## ep_1\n### Content\n---\n<!-- quipu -->\r\n\u{0} \u{feff} 🧶 `~~~` {{x}} \\u0000 \u{2028}";
    house
        .remember("../../etc \u{0} 🧶", &[("ada", hostile), ("bot", "ok")])
        .await;
    let body = json!({"user_id": "ada", "query": "Content", "include_messages": 5});
    let data = house.post("/api/v1/memory/search", &body).await.data();
    let texts: Vec<&str> = data["messages"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|m| m["content"].as_str())
        .collect();
    assert!(texts.contains(&hostile), "{texts:?}");
}

const NO_MORE: &str = "internal error: see the server log for this request id";

#[tokio::test]
async fn a_failing_store_is_reported_without_details() {
    let house = House::new().await;
    house
        .gated
        .set(Plan::Fail("append", "ledger.sqlite of ada: disk full"));
    let reply = house.post("/api/v1/memory/add", &conversation("s", &TEA)).await;
    assert_eq!(
        reply.error(),
        (500, "INTERNAL_ERROR".to_owned(), NO_MORE.to_owned())
    );
    house.gated.set(Plan::Open);
    house
        .post("/api/v1/memory/add", &conversation("s", &TEA))
        .await
        .data();
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_next_request_is_served() {
    let search = json!({"user_id": "ada", "query": "tea", "filters": {"session_id": "s"}});
    let flush = json!({"session_id": "s"});
    let forget = json!({"session_id": "t"});
    for (call, path, body) in [
        ("append", "/api/v1/memory/add", conversation("s", &TEA)),
        ("buffer", "/api/v1/memory/flush", flush),
        ("tail", "/api/v1/memory/search", search),
        ("sweep", "/api/v1/memory/delete", forget),
    ] {
        let house = House::new().await;
        for _ in 0..2 {
            house.gated.set(Plan::Panic(call));
            let reply = house.post(path, &body).await;
            assert_eq!(
                reply.error(),
                (500, "INTERNAL_ERROR".to_owned(), NO_MORE.to_owned()),
                "{call}"
            );
            house.gated.set(Plan::Open);
        }
        house.post(path, &body).await.data();
        house.remember("s", &TEA).await;
        let found = json!({"user_id": "ada", "query": "sencha"});
        let found = house.post("/api/v1/memory/search", &found).await.data();
        assert!(
            !found["episodes"].as_array().expect("a list").is_empty(),
            "{call}: {found}"
        );
    }
}
