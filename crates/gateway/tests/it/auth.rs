//! Authentication and web pages.

use model::Zone;
use serde_json::{Value, json};

use crate::house::{Ask, House, Reply, every_route, get, post, tokens};

#[tokio::test]
async fn every_route_but_the_live_probe_needs_a_token() {
    let house = House::with(tokens(), Zone::utc()).await;
    for (given, status) in [
        (None, 401),
        (Some("wrong"), 401),
        (Some("root"), 0),
        (Some("a"), 0),
    ] {
        for ask in every_route() {
            let path = ask.path.clone();
            let ask = match given {
                Some(secret) => ask.token(secret),
                None => ask,
            };
            let reply = house.ask(ask).await;
            let refused = matches!(reply.status.as_u16(), 401 | 403);
            if path == "/health/live" {
                assert!(!refused);
            } else if status == 401 {
                let (status, code, _) = reply.error();
                assert_eq!((status, code.as_str()), (401, "UNAUTHORIZED"), "{path}");
                assert_eq!(reply.headers["www-authenticate"], "Bearer");
            } else {
                let for_all = ["/index/", "/ome/", "/cascade/"]
                    .iter()
                    .any(|part| path.contains(part));
                let for_all = for_all || path == "/metrics";
                assert_eq!(refused, for_all && given == Some("a"), "{path}");
            }
        }
    }
    // Without a token, an unknown path looks like any other.
    assert_eq!(house.get("/nowhere").await.error().0, 401);
}

#[tokio::test]
async fn without_tokens_a_foreign_host_or_page_is_refused() {
    let house = House::new().await;
    for ask in every_route() {
        let path = ask.path.clone();
        if path == "/health/live" {
            continue;
        }
        let (status, code, _) = house.ask(ask.header("host", "evil.example")).await.error();
        assert_eq!((status, code.as_str()), (403, "FORBIDDEN"), "{path}");
    }
    for ask in every_route() {
        if ask.path != "/health/live" {
            assert_eq!(
                house
                    .ask(ask.header("origin", "https://evil.example"))
                    .await
                    .error()
                    .0,
                403
            );
        }
    }
    assert!(house.ledger.everything().is_empty());
}

#[tokio::test]
async fn a_bound_token_sees_no_file_names_of_other_tenants() {
    let house = House::with(tokens(), Zone::utc()).await;
    for ask in every_route()
        .into_iter()
        .filter(|ask| ask.path.ends_with("/memory/add"))
    {
        house.ask(ask.token("a")).await.data();
    }
    let flush = crate::house::post(
        "/api/v1/memory/flush?wait=true",
        &crate::house::sample("/memory/flush"),
    );
    house.ask(flush.token("a")).await.data();
    let path = house.vault.paths().first().cloned().expect("a file");
    house.vault.write(&path, "---\nnot: [closed\n");
    house.engine.sync().await.expect("synced");
    let health =
        async |secret| -> Value { house.ask(crate::house::get("/health").token(secret)).await.json() };
    let all = health("root").await;
    assert_eq!(all["status"], "degraded", "{all}");
    assert!(all.to_string().contains("ada"), "{all}");
    let theirs = health("b").await;
    assert_eq!(theirs["status"], "degraded");
    assert!(!theirs.to_string().contains("ada"), "{theirs}");
}

/// The preflight request of a browser before a page's request; returns the allowed origin.
async fn preflight(house: &House, path: &str, origin: &str) -> Option<String> {
    let ask = Ask {
        method: "OPTIONS",
        ..get(path)
    };
    let ask = ask
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization,content-type");
    let reply = house.ask(ask).await;
    assert_eq!(reply.status, 200, "{path}");
    let told = |name: &str| Some(reply.headers.get(name)?.to_str().expect("text").to_owned());
    assert_eq!(told("access-control-allow-methods").as_deref(), Some("POST"));
    assert_eq!(
        told("access-control-allow-headers").as_deref(),
        Some("authorization,content-type")
    );
    assert_eq!(
        told("access-control-allow-credentials"),
        None,
        "a page has no password of ours"
    );
    told("access-control-allow-origin")
}

#[tokio::test]
async fn a_local_page_may_call_and_a_foreign_page_only_with_a_token() {
    let (here, foreign) = ("http://localhost:3000", "https://chat.example");
    let (open, closed) = (House::new().await, House::with(tokens(), Zone::utc()).await);
    for path in ["/v1/chat/completions", "/api/v2/memory/search", "/v1/models"] {
        assert_eq!(preflight(&open, path, here).await.as_deref(), Some(here));
        assert_eq!(preflight(&open, path, foreign).await, None);
        assert_eq!(preflight(&closed, path, foreign).await.as_deref(), Some(foreign));
    }
    let search = json!({"user_id": "ada", "query": "tea"});
    let ask = |origin| post("/api/v2/memory/search", &search).header("origin", origin);
    let readable = |reply: Reply| reply.headers.contains_key("access-control-allow-origin");
    assert!(readable(open.ask(ask(here)).await));
    assert!(!readable(open.ask(ask(foreign)).await));
    let refused = closed.ask(ask(foreign)).await;
    assert_eq!(refused.status, 401);
    assert!(readable(refused), "a page may read why");
    assert!(readable(closed.ask(ask(foreign).token("root")).await));
}
