//! Request ids, the envelope at unknown paths, and panics.

use serde_json::json;

use crate::house::{House, every_route, get, post};

#[tokio::test]
async fn a_valid_request_id_of_a_client_is_kept_and_others_are_replaced() {
    let house = House::new().await;
    for theirs in ["a", "trace-1.2:3@host+x_Y", &"x".repeat(128)] {
        for path in ["/health", "/nowhere"] {
            let reply = house.ask(get(path).header("x-request-id", theirs)).await;
            assert_eq!(reply.headers["x-request-id"], theirs);
        }
        let body = json!({"user_id": "ada", "query": "tea"});
        let reply = house
            .ask(post("/api/v1/memory/search", &body).header("x-request-id", theirs))
            .await;
        assert_eq!(reply.json()["request_id"], theirs);
    }
    for theirs in ["", "a b", "{}", "a\"b", &"x".repeat(129), "\u{e9}"] {
        let reply = house.ask(get("/health").header("x-request-id", theirs)).await;
        let ours = reply.headers["x-request-id"].to_str().expect("text");
        assert!(
            ours.len() == 32 && ours.bytes().all(|b| b.is_ascii_hexdigit()),
            "{theirs:?}: {ours}"
        );
    }
    let (one, two) = (house.get("/health").await, house.get("/health").await);
    assert_ne!(one.headers["x-request-id"], two.headers["x-request-id"]);
}

#[tokio::test]
async fn an_unknown_path_is_answered_in_the_envelope() {
    let house = House::new().await;
    for path in [
        "/",
        "/api",
        "/api/v1",
        "/api/v3/memory/add",
        "/api/v1/memory",
        "/api/v1/memory/add/",
        "/api/v1/ome",
        "/api/v1/knowledge",
        "/docs/",
        "/health/",
        "//health",
        "/%2e%2e/etc/passwd",
        "/health/..%2f",
    ] {
        let (status, code, _) = house.get(path).await.error();
        assert_eq!((status, code.as_str()), (404, "NOT_FOUND"), "{path}");
        let reply = house.post(path, &json!({})).await;
        // A request that can change something must come from the page.
        assert_eq!(reply.error().0, if path == "/" { 403 } else { 404 });
        assert_eq!(reply.json()["error"]["path"], path);
    }
}

#[tokio::test]
async fn a_wrong_method_gets_the_allowed_ones() {
    let house = House::new().await;
    for mut ask in every_route() {
        let right = ask.method;
        ask.method = "BREW";
        let path = ask.path.clone();
        let reply = house.ask(ask).await;
        let (status, code, _) = reply.error();
        assert_eq!((status, code.as_str()), (405, "METHOD_NOT_ALLOWED"), "{path}");
        assert!(
            reply.headers["allow"].to_str().expect("text").contains(right),
            "{path}"
        );
    }
    let mut ask = get("/health");
    ask.method = "BREW";
    assert_eq!(house.ask(ask).await.error().0, 405);
    let mut ask = get("/health");
    ask.method = "HEAD";
    let reply = house.ask(ask).await;
    assert_eq!((reply.status.as_u16(), reply.text.as_str()), (200, ""));
}

#[tokio::test]
async fn every_route_answers_in_its_envelope() {
    let house = House::new().await;
    for ask in every_route() {
        let path = ask.path.clone();
        let reply = house.ask(ask).await;
        assert!(reply.headers.contains_key("x-request-id"), "{path}");
        if path.starts_with("/api/") {
            if path.ends_with("/cascade/quiesce") {
                assert_eq!(reply.json()["quiesced"], true, "as its clients know it");
            } else if reply.status == 204 {
                assert_eq!(reply.text, "", "{path}");
            } else if path.contains("/memory/export") {
                assert!(
                    reply.text.starts_with("{\"quipu_export\":1,"),
                    "lines, as a file has them"
                );
            } else if reply.status.is_success() {
                reply.data();
            } else if path == "/api/v2/context/fork" {
                assert_eq!(reply.error().0, 409, "the other version made the copy");
            } else {
                assert_eq!(reply.error().0, 404, "{path}: what is asked for is not there");
            }
        } else {
            assert_eq!(reply.status, 200, "{path}");
        }
    }
}
