//! Access with and without tokens.

use axum::http::HeaderValue;
use axum::http::header::HeaderName;
use model::Name;

use super::*;
use crate::routes::ACCESS;
use crate::settings::{Secret, Token, TokenRole};

fn scope(app: &str) -> Scope {
    Scope::new(
        Name::parse(app).expect("a name"),
        Name::parse("p").expect("a name"),
    )
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
            (
                name,
                HeaderValue::from_bytes(value.as_bytes()).expect("a header's value"),
            )
        })
        .collect()
}

fn ask(auth: &Auth, path: &str, pairs: &[(&str, &str)]) -> Result<Caller, ErrorCode> {
    let uri = path.parse().expect("a path");
    identify(auth, ACCESS, &uri, &headers(pairs)).map_err(|failure| failure.code)
}

fn with_tokens() -> Auth {
    let token = |secret: &str, scope, user: Option<&str>| Token {
        secret: Secret::new(secret),
        role: if user.is_some() {
            TokenRole::Write
        } else {
            TokenRole::Admin
        },
        scope,
        user: user.map(|user| Name::parse(user).expect("a name")),
        person: false,
    };
    Auth {
        tokens: vec![
            token("all-of-it", None, None),
            token("only-a", Some(scope("a")), None),
            token("carols", Some(scope("a")), Some("carol")),
        ],
        ..Auth::default()
    }
}

#[test]
fn without_tokens_only_this_machine_is_served() {
    let open = Auth::default();
    for host in [
        "localhost",
        "localhost:4777",
        "LocalHost:1",
        "127.0.0.1",
        "127.9.9.9:80",
        "[::1]",
        "[::1]:4777",
        "[::ffff:127.0.0.1]:80",
    ] {
        ask(&open, "/health", &[("host", host)]).expect(host);
    }
    for host in [
        "",
        "evil.example",
        "evil.example:4777",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "0.0.0.0:4777",
        "[::]",
        "[::1].evil.example",
        "user@localhost",
        "localhost:4777.evil",
        "\u{e9}vil",
    ] {
        assert_eq!(
            ask(&open, "/health", &[("host", host)]).err(),
            Some(ErrorCode::Forbidden),
            "{host}"
        );
    }
    assert_eq!(
        ask(&open, "/health", &[]).err(),
        Some(ErrorCode::Forbidden),
        "no host at all"
    );
}

#[test]
fn without_tokens_no_foreign_page_is_served() {
    let open = Auth::default();
    let from = |origin| {
        ask(
            &open,
            "/health",
            &[("host", "localhost:4777"), ("origin", origin)],
        )
        .err()
    };
    for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:8080"] {
        assert_eq!(from(origin), None, "{origin}");
    }
    for origin in [
        "null",
        "https://evil.example",
        "http://localhost.evil.example",
        "file://localhost",
        "\u{e9}",
    ] {
        assert_eq!(from(origin), Some(ErrorCode::Forbidden), "{origin}");
    }
}

#[test]
fn with_tokens_a_request_needs_a_known_token() {
    let auth = with_tokens();
    for given in [
        "Bearer wrong",
        "Bearer all-of-i",
        "Bearer all-of-it2",
        "Bearer",
        "Bearer ",
        "Basic all-of-it",
        "all-of-it",
        "",
    ] {
        let answer = ask(
            &auth,
            "/metrics",
            &[("host", "localhost"), ("authorization", given)],
        );
        assert_eq!(answer.err(), Some(ErrorCode::Unauthorized), "{given}");
    }
    assert_eq!(
        ask(&auth, "/health", &[("host", "localhost")]).err(),
        Some(ErrorCode::Unauthorized)
    );
    for given in ["Bearer all-of-it", "bearer all-of-it", "BEARER  all-of-it "] {
        // With a token, the server accepts any host name.
        let caller = ask(
            &auth,
            "/health",
            &[("host", "memory.example"), ("authorization", given)],
        )
        .expect(given);
        assert!(caller.sees_all());
        caller.enter(&scope("anything")).expect("every tenant is open");
        assert_eq!(caller.home, Scope::default());
    }
}

#[test]
fn a_bound_token_opens_only_its_tenant() {
    let caller = ask(&with_tokens(), "/health", &[("authorization", "Bearer only-a")]).expect("known");
    assert!(!caller.sees_all());
    assert_eq!(caller.home, scope("a"));
    caller.enter(&scope("a")).expect("its own");
    for other in [scope("b"), Scope::default()] {
        assert_eq!(
            caller.enter(&other).expect_err("another's").code,
            ErrorCode::Forbidden
        );
    }
}

#[test]
fn the_live_probe_needs_no_token() {
    for auth in [Auth::default(), with_tokens()] {
        ask(&auth, "/health/live", &[("host", "evil.example")]).expect("open");
        ask(&auth, "/health/live/more", &[("host", "evil.example")]).expect_err("not that one");
    }
}

#[test]
fn a_secret_is_compared_in_full_and_never_printed() {
    let secret = Secret::new("hunter2");
    assert!(secret.is("hunter2"));
    for other in ["", "hunter", "hunter22", "Hunter2", "hunter3"] {
        assert!(!secret.is(other), "{other}");
    }
    assert!(!Secret::new("").is(""), "an empty secret opens nothing");
    assert!(!format!("{:?}", with_tokens()).contains("only-a"));
}

#[test]
fn a_token_of_one_user_opens_no_shared_route() {
    let auth = with_tokens();
    let carol = |path| ask(&auth, path, &[("authorization", "Bearer carols")]);
    for path in [
        "/v1/chat/completions",
        "/v1/models",
        "/api/v1/memory/search",
        "/api/v2/memory/get",
        "/api/v2/memory/delete",
        "/api/v2/memory/add",
        "/api/v2/memory/flush",
        "/api/v1/memories/carol_ep_1",
        "/mcp",
    ] {
        let caller = carol(path).expect(path);
        let name = |name| Some(Name::parse(name).expect("a name"));
        assert_eq!(caller.as_user(None).expect("hers"), name("carol"));
        assert_eq!(caller.as_user(name("carol")).expect("hers"), name("carol"));
        assert!(caller.as_user(name("bob")).is_err(), "{path}");
    }
    for path in [
        "/health",
        "/metrics",
        "/api/v1/memory/import",
        "/api/v1/memory/search/",
        "/api/v1/history",
        "/api/v2/cache",
        "/api/v1/knowledge/search",
        "/api/v1/skills/bob_sk_1/approve",
        "/mcp/other",
        "/api/v3/memory/search",
    ] {
        assert_eq!(carol(path).err(), Some(ErrorCode::Forbidden), "{path}");
    }
}

#[test]
fn an_anthropic_api_key_header_carries_a_token_too() {
    let auth = with_tokens();
    let ask = |pairs: &[(&str, &str)]| ask(&auth, "/v1/messages", pairs);
    let caller = ask(&[("x-api-key", "only-a")]).expect("known");
    assert!(caller.keeps("x-api-key") && !caller.keeps("authorization"));
    let both = ask(&[("x-api-key", "sk-ant-1"), ("authorization", "Bearer only-a")]).expect("known");
    assert!(
        both.keeps("authorization") && !both.keeps("x-api-key"),
        "the other is the server's"
    );
    assert_eq!(
        ask(&[("x-api-key", "sk-ant-1")]).err(),
        Some(ErrorCode::Unauthorized)
    );
}
