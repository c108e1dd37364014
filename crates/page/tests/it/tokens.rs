//! The page on a server with tokens.

use gateway::{Auth, GatewaySettings, Secret, Token, TokenRole};
use model::{Name, Scope};
use serde_json::json;

use crate::house::{Ask, conversation, get, post, sent};
use crate::stage::{Stage, VIEWS, form};

/// A stage with an administrator's token and a token of `ada`; `ada` and `bob` have stored messages.
async fn stage() -> Stage {
    let token = |secret: &str, user: Option<&str>| Token {
        secret: Secret::new(secret),
        role: if user.is_some() {
            TokenRole::Write
        } else {
            TokenRole::Admin
        },
        scope: user.map(|_| Scope::default()),
        user: user.map(|user| Name::parse(user).expect("a name")),
        person: false,
    };
    let settings = GatewaySettings {
        auth: Auth {
            tokens: vec![token("root;key \"x", None), token("ada-key", Some("ada"))],
            ..Auth::default()
        },
        ..GatewaySettings::default()
    };
    let stage = Stage::with(settings).await;
    for (session, who, text) in [
        ("ada/notes", "ada", "I like tea."),
        ("bob/notes", "bob", "I like marzipan."),
    ] {
        let add = post("/api/v2/memory/add", &conversation(session, &[(who, text)]));
        let flush = post(
            "/api/v2/memory/flush",
            &json!({"session_id": session, "wait": true}),
        );
        for ask in [add, flush] {
            let router = stage.house.gateway.router();
            let reply = sent(&router, ask.header("x-api-key", "root;key \"x").request()).await;
            assert_eq!(reply.status, 200, "{}", reply.text);
        }
    }
    stage
}

/// Signs in, and returns the cookie.
async fn signed_in(stage: &Stage, token: &str) -> String {
    let reply = stage.submit("/page/sign-in", &[("token", token)]).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    let cookie = reply.headers["set-cookie"].to_str().expect("text");
    for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "{cookie}");
    cookie.split(';').next().expect("a pair").to_owned()
}

fn with(ask: Ask, cookie: &str) -> Ask {
    ask.header("cookie", &format!("other=1; {cookie}"))
}

#[tokio::test]
async fn without_a_token_every_view_redirects_to_the_sign_in_form() {
    let stage = stage().await;
    for path in VIEWS {
        let reply = stage.view(path).await;
        if path == "/page/sign-in" {
            assert_eq!(reply.status, 200);
        } else {
            assert_eq!(reply.status, 303, "{path}: {}", reply.text);
            assert_eq!(reply.headers["location"], "/page/sign-in");
            let part = stage.ask(get(path).header("hx-request", "true")).await;
            assert_eq!(part.status, 401);
            assert_eq!(part.headers["hx-redirect"], "/page/sign-in");
        }
        assert!(!reply.text.contains("marzipan"));
    }
    assert_eq!(stage.view("/page/now/live").await.status, 303);
    let forget = form(
        "/page/forget?who=default/default/bob",
        &[("all", "1"), ("confirm", "bob")],
    );
    assert_eq!(stage.ask(forget).await.status, 303);
    assert_eq!(
        stage.submit("/page/sign-in", &[("token", "wrong")]).await.status,
        401
    );
    assert_eq!(stage.ask(with(get("/"), "quipu_token=00ff")).await.status, 303);
    assert_eq!(stage.ask(with(get("/"), "quipu_token=6")).await.status, 303);
}

#[tokio::test]
async fn the_cookie_opens_the_page_and_no_other_route() {
    let stage = stage().await;
    let cookie = signed_in(&stage, "ada-key").await;
    let reply = stage.ask(with(get("/page/memories"), &cookie)).await;
    assert_eq!(reply.status, 200);
    assert!(reply.text.contains("tea"), "{}", reply.text);
    let search = json!({"user_id": "ada", "query": "tea"});
    let api = stage
        .ask(with(post("/api/v2/memory/search", &search), &cookie))
        .await;
    assert_eq!(api.status, 401);
    // Over TLS, the cookie is marked `Secure`.
    let behind = form("/page/sign-in", &[("token", "ada-key")]).header("origin", "https://localhost");
    let reply = stage.ask(behind).await;
    assert!(
        reply.headers["set-cookie"]
            .to_str()
            .expect("text")
            .ends_with("; Secure")
    );
    let out = stage.ask(with(form("/page/sign-out", &[]), &cookie)).await;
    assert!(
        out.headers["set-cookie"]
            .to_str()
            .expect("text")
            .contains("Max-Age=0")
    );
}

#[tokio::test]
async fn a_users_token_opens_only_that_users_memory() {
    let stage = stage().await;
    let cookie = signed_in(&stage, "ada-key").await;
    for path in VIEWS {
        let reply = stage.ask(with(get(path), &cookie)).await;
        assert!(!reply.text.contains("bob"), "{path}: {}", reply.text);
    }
    for path in [
        "/page/memories?who=default/default/bob",
        "/page/forget?all=1&who=default/default/bob",
        "/page/import",
    ] {
        let reply = stage.ask(with(get(path), &cookie)).await;
        assert_eq!(reply.status, 403, "{path}");
        assert!(!reply.text.contains("marzipan"), "{path}");
    }
    // The first view leaves out the parts that the token does not open.
    let now = stage.ask(with(get("/"), &cookie)).await.text;
    for part in ["background", "health"] {
        assert!(!now.contains(&format!("<h2 id=\"{part}\">")), "{part}: {now}");
    }
    let forget = form(
        "/page/forget?who=default/default/bob",
        &[("all", "1"), ("confirm", "bob")],
    );
    assert_eq!(stage.ask(with(forget, &cookie)).await.status, 403);

    let cookie = signed_in(&stage, "root;key \"x").await;
    let bob = stage
        .ask(with(get("/page/memories?who=default/default/bob"), &cookie))
        .await;
    assert!(bob.text.contains("marzipan"));
}
