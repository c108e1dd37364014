//! Two people behind one gateway: neither gets the other's memory, conversation or branch, whatever they send.

use std::time::Duration;

use gateway::{Auth, GatewaySettings, Secret, Token, TokenRole};
use model::{Name, Scope};
use serde_json::{Value, json};
use testkit::backend::Backend;

use super::stage::{CHAT, MESSAGES, RESPONSES, Stage, echo, last};
use crate::gate::Plan;
use crate::house::{Ask, conversation, get, post};

const SECRET: &str = "My safe word is marzipan.";
const QUESTION: &str = "My safe word is what?";

fn turn(path: &str, said: &[&str]) -> Ask {
    let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
    let said = said.iter().enumerate();
    let messages: Vec<Value> = said
        .map(|(at, text)| json!({"role": role(at), "content": text}))
        .collect();
    let body = if path == RESPONSES {
        json!({"model": "tiny", "input": messages})
    } else {
        json!({"model": "tiny", "max_tokens": 64, "messages": messages})
    };
    post(path, &body)
}

/// The body that the server received, with injected memory.
fn received_body(backend: &Backend) -> String {
    String::from_utf8(last(backend).body.to_vec()).expect("text")
}

async fn knows(stage: &Stage, backend: &Backend, ask: Ask) -> bool {
    let got = stage.ask(ask).await;
    assert_eq!(got.status, 200, "{}", got.text());
    received_body(backend).contains("marzipan")
}

/// A stage on which ada stored a secret in an earlier session, and has a conversation with a name.
async fn adas(backend: &Backend, path: &str) -> Stage {
    let stage = Stage::new(backend.base_url()).await;
    stage.house.remember("earlier", &[("ada", SECRET)]).await;
    let named = turn(path, &["Hello there."]).header("x-quipu-conversation", "main");
    stage.ask(named).await;
    assert!(
        knows(&stage, backend, turn(path, &[QUESTION])).await,
        "she is told herself"
    );
    stage
}

#[tokio::test]
async fn no_header_or_history_opens_another_users_conversation() {
    for path in [CHAT, MESSAGES, RESPONSES] {
        let backend = Backend::start(echo()).await;
        let stage = adas(&backend, path).await;
        let mine = stage.ask(turn(path, &["Good morning."])).await;
        let id = mine.headers["x-quipu-conversation"]
            .to_str()
            .expect("text")
            .to_owned();
        for conversation in ["main", "ada/main", "earlier", &id, "px-", "bob/main"] {
            for said in [
                &["Hello there.", "nothing was asked", QUESTION][..],
                &["Good morning.", "nothing was asked", QUESTION],
                &[QUESTION],
            ] {
                let ask = turn(path, said)
                    .header("x-quipu-conversation", conversation)
                    .header("x-claude-code-session-id", "one")
                    .header("x-quipu-user", "bob");
                assert!(
                    !knows(&stage, &backend, ask).await,
                    "{path} {conversation} {said:?}"
                );
            }
        }
        // His message in a conversation of that name belongs to him only.
        let words = turn(path, &["I live in Bobtown."])
            .header("x-quipu-conversation", "main")
            .header("x-quipu-user", "bob");
        stage.ask(words).await;
        let all = stage.house.ledger.everything();
        let his = all
            .iter()
            .filter(|(message, _)| message.text().contains("Bobtown"));
        let senders: Vec<&str> = his.map(|(message, _)| message.sender.as_str()).collect();
        assert_eq!(senders, ["bob"], "{path}");
        let search = json!({"user_id": "ada", "query": "Bobtown", "include_messages": 20});
        let found = stage.house.ask(post("/api/v1/memory/search", &search)).await.text;
        assert!(!found.contains("I live in Bobtown"), "{path}: {found}");
        assert!(knows(&stage, &backend, turn(path, &[QUESTION])).await);
    }
}

#[tokio::test]
async fn only_its_owner_continues_a_response() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    let first = stage.ask(turn(RESPONSES, &[SECRET])).await;
    let next = |user: &str| {
        let body = json!({"model": "tiny", "input": "Go on.", "previous_response_id": first.json()["id"]});
        post(RESPONSES, &body).header("x-quipu-user", user)
    };
    let theirs = stage.ask(next("bob")).await;
    assert_ne!(
        theirs.headers["x-quipu-conversation"],
        first.headers["x-quipu-conversation"]
    );
    let own = stage.ask(next("ada")).await;
    assert_eq!(
        own.headers["x-quipu-conversation"],
        first.headers["x-quipu-conversation"]
    );
}

#[tokio::test]
async fn a_user_id_that_is_no_valid_name_has_its_own_memory() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    stage.house.remember("earlier", &[("ada", SECRET)]).await;
    let users = ["auth0|123", "J\u{f6}rg", "a b", "Jorg", &"q".repeat(200)];
    for user in users {
        let mut ask = turn(CHAT, &[&format!("I am called {user}-marker.")]);
        let mut body: Value = serde_json::from_slice(&ask.body).expect("JSON");
        body["user"] = json!(user);
        ask = ask.bytes(body.to_string());
        assert!(
            !knows(&stage, &backend, ask).await,
            "{user}: nobody else's memory"
        );
    }
    let header = turn(CHAT, &[QUESTION]).header("x-quipu-user", "auth0|123");
    assert!(!knows(&stage, &backend, header).await);
    let all = stage.house.ledger.everything();
    for user in users {
        let his = all
            .iter()
            .filter(|(message, _)| message.text().contains(&format!("{user}-marker")));
        let name = proxy::name_of(user).expect("a name");
        assert!(
            his.clone().count() == 1 && his.clone().all(|(message, _)| message.sender == name),
            "{user}"
        );
    }
}

#[tokio::test]
async fn a_trusted_header_names_the_user() {
    let backend = Backend::start(echo()).await;
    let settings = GatewaySettings {
        user_headers: vec!["x-openwebui-user-id".to_owned()],
        ..GatewaySettings::default()
    };
    for (settings, is_adas) in [(settings, false), (GatewaySettings::default(), true)] {
        let stage = Stage::with(backend.base_url(), settings).await;
        stage.house.remember("earlier", &[("ada", SECRET)]).await;
        let ask = turn(CHAT, &[QUESTION]).header("x-openwebui-user-id", "u7");
        assert_eq!(knows(&stage, &backend, ask).await, is_adas);
    }
}

#[tokio::test]
async fn a_users_token_decides_the_memory() {
    let backend = Backend::start(echo()).await;
    let scope = Scope::default();
    let token = |secret: &str, user: Option<&str>| Token {
        secret: Secret::new(secret),
        role: if user.is_some() {
            TokenRole::Write
        } else {
            TokenRole::Admin
        },
        scope: Some(scope.clone()),
        user: user.map(|user| Name::parse(user).expect("a name")),
        person: false,
    };
    let settings = GatewaySettings {
        auth: Auth {
            tokens: vec![token("shared", None), token("carols", Some("carol"))],
            ..Auth::default()
        },
        ..GatewaySettings::default()
    };
    let stage = Stage::with(backend.base_url(), settings).await;
    let said = conversation("earlier", &[("ada", SECRET)]);
    let told = stage.ask(post("/api/v1/memory/add", &said).token("shared")).await;
    assert_eq!(told.status, 200, "{}", told.text());
    let ask = || turn(CHAT, &[QUESTION]);
    assert!(
        knows(
            &stage,
            &backend,
            ask().token("shared").header("x-quipu-user", "ada")
        )
        .await
    );
    assert!(
        !knows(&stage, &backend, ask().token("carols")).await,
        "carol's, and not the default's"
    );
    let stolen = ask().token("carols").header("x-quipu-user", "ada");
    assert_eq!(
        stage.ask(stolen).await.failure(CHAT),
        (403, "FORBIDDEN".to_owned())
    );
    let search = |user: &str| {
        let body = json!({"user_id": user, "query": "safe word", "include_messages": 5});
        post("/api/v1/memory/search", &body).token("carols")
    };
    assert_eq!(stage.ask(search("ada")).await.status, 403);
    assert_eq!(stage.ask(search("carol")).await.status, 200);
    let all = post("/api/v1/memory/delete", &json!({"session_id": "earlier"})).token("carols");
    assert_eq!(stage.ask(all).await.status, 403);
    assert_eq!(
        stage.ask(get("/api/v1/history").token("carols")).await.status,
        403
    );
}

#[tokio::test]
async fn a_slow_search_serves_the_next_turn() {
    let backend = Backend::start(echo()).await;
    let stage = Stage::new(backend.base_url()).await;
    // There was no request yet, so no corpus of hers is cached.
    let said = conversation("earlier", &[("ada", SECRET)]);
    stage.house.ask(post("/api/v1/memory/add", &said)).await.data();
    stage.house.gated.set(Plan::Hold("tail"));
    let asked = || async {
        let got = stage.open(turn(CHAT, &[QUESTION])).await.complete().await;
        assert_eq!(got.status, 200, "{}", got.text());
        received_body(&backend).contains("marzipan")
    };
    let (knows, ()) = tokio::join!(asked(), async {
        stage.house.gated.reached().await;
        stage.house.clock.advance(Duration::from_secs(1));
    });
    assert!(!knows, "it goes without");
    stage.house.gated.set(Plan::Open);
    stage.proxy.rest().await;
    stage.house.gated.set(Plan::Fail("tail", "it is read once"));
    assert!(asked().await, "what the first turn's search read is at hand");
}
