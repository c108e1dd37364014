//! The mount of the agents' door, and the routes that a user's token opens.

use axum::{Extension, Router};
use gateway::{Asker, Auth, Client, GatewaySettings, Secret, Token, TokenRole};
use model::{Name, Role, Scope, Zone};
use serde_json::{Value, json};

use crate::house::{Ask, House, conversation, get, post, sent};

/// A house with an administrator's token and a token of `ada`; `ada` and `bob` have stored messages.
async fn house() -> House {
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
    let auth = Auth {
        tokens: vec![token("root", None), token("ada", Some("ada"))],
        ..Auth::default()
    };
    let settings = GatewaySettings {
        auth,
        ..GatewaySettings::default()
    };
    let house = House::with(settings, Zone::utc()).await;
    for (session, who, text) in [
        ("ada/notes", "ada", "I like tea."),
        ("bob/notes", "bob", "I like marzipan."),
    ] {
        let add = post("/api/v2/memory/add", &conversation(session, &[(who, text)]));
        house.ask(add.token("root")).await.data();
        let flush = post(
            "/api/v2/memory/flush",
            &json!({"session_id": session, "wait": true}),
        );
        house.ask(flush.token("root")).await.data();
    }
    house
}

async fn fact(house: &House, user: &str) -> String {
    let list = json!({"user_id": user, "memory_type": "atomic_fact"});
    let listed = house
        .ask(post("/api/v2/memory/get", &list).token("root"))
        .await
        .data();
    listed["facts"][0]["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_users_token_opens_only_that_users_memories_by_id() {
    let house = house().await;
    let (own, others) = (fact(&house, "ada").await, fact(&house, "bob").await);
    let requests = |id: &str| -> [Ask; 3] {
        [
            get(&format!("/api/v2/memories/{id}")),
            post(
                "/api/v2/memory/edit",
                &json!({"id": id, "episode": "I like coffee."}),
            ),
            post("/api/v2/memory/delete_by_ids", &json!({"ids": [id]})),
        ]
    };
    let agents = own.replace("ada_af", "ada_ac");
    for id in [&others, &others.replace("bob_", "ada_af_bob_")] {
        for ask in requests(id) {
            let path = ask.path.clone();
            let refused = house.ask(ask.token("ada")).await;
            assert!(
                matches!(refused.status.as_u16(), 403 | 404),
                "{path}: {}",
                refused.text
            );
            assert!(!refused.text.contains("marzipan"), "{path}: {}", refused.text);
        }
    }
    // The agent of the same name is not the user, and a body cannot claim to be the agent.
    let as_agent = json!({"ids": [agents], "agent_id": "ada"});
    let refused = house
        .ask(post("/api/v2/memory/delete_by_ids", &as_agent).token("ada"))
        .await;
    assert_eq!(refused.error().0, 403);
    let still = house
        .ask(get(&format!("/api/v2/memories/{others}")).token("root"))
        .await
        .data();
    assert!(still.to_string().contains("marzipan"));
    for ask in requests(&own) {
        house.ask(ask.token("ada")).await.data();
    }
    let gone = house
        .ask(get(&format!("/api/v2/memories/{own}")).token("ada"))
        .await;
    assert_eq!(gone.error().0, 404);
}

#[tokio::test]
async fn a_users_token_adds_only_own_messages_to_own_sessions() {
    let house = house().await;
    let add = async |body: Value| house.ask(post("/api/v2/memory/add", &body).token("ada")).await;
    add(conversation("ada/notes", &[("ada", "I like figs.")]))
        .await
        .data();
    for body in [
        conversation("bob/notes", &[("ada", "I like figs.")]),
        conversation("notes", &[("ada", "I like figs.")]),
        conversation("adam/notes", &[("ada", "I like figs.")]),
        conversation("ada/notes", &[("bob", "I like figs.")]),
        conversation("ada/notes", &[("ada", "I like figs."), ("bot", "So do I.")]),
    ] {
        let (status, code, message) = add(body).await.error();
        assert_eq!((status, code.as_str()), (403, "FORBIDDEN"));
        assert!(message.contains("`ada/…`"), "{message}");
    }
}

/// In a shared project, others see the speaker's name: on every route with a name, it must be the token's user.
#[tokio::test]
async fn a_users_token_sends_no_other_speakers_name() {
    let house = house().await;
    let ask = async |path: &str, body: &Value| house.ask(post(path, body).token("ada")).await;
    let mut add = conversation("ada/notes", &[("ada", "Send all invoices to Adam.")]);
    let mem0 = |name: &str| {
        let said = json!({"role": "user", "content": "Send all invoices to Adam.", "name": name});
        json!({"user_id": "ada", "run_id": "ada/run", "messages": [said]})
    };
    for name in ["bob", "Bob", "ADA", "ada ", ""] {
        add["messages"][0]["sender_name"] = json!(name);
        for (path, body) in [
            ("/api/v1/memory/add", &add),
            ("/api/v2/memory/add", &add),
            ("/v3/memories/add/", &mem0(name)),
        ] {
            let refused = ask(path, body).await;
            let says = format!("this token speaks as `ada` and not as `{name}`");
            assert_eq!(refused.status, 403, "{path} {name}: {}", refused.text);
            assert!(refused.text.contains(&says), "{path} {name}: {}", refused.text);
        }
    }
    let told = || {
        let all = house.ledger.everything().into_iter();
        let told = all.filter(|(message, _)| message.text().contains("invoices"));
        told.map(|(message, _)| message).collect::<Vec<_>>()
    };
    assert_eq!(told(), []);
    add["messages"][0]["sender_name"] = json!("ada");
    ask("/api/v2/memory/add", &add).await.data();
    assert_eq!(ask("/v3/memories/add/", &mem0("ada")).await.status, 200);
    // Messages of a conversation belong to its owner, whatever name they contain.
    let named = |role: &str| json!({"role": role, "name": "bob", "content": "Send all invoices to Adam."});
    let place = json!({"conversation_id": "main", "messages": [named("user")]});
    ask("/api/v2/context/append", &place).await.data();
    let reply = json!({"conversation_id": "main", "message": named("assistant"), "agent_id": "bot"});
    ask("/api/v2/context/after_turn", &reply).await.data();
    house.engine.settle().await.expect("settled");
    let told = told();
    assert_eq!(told.len(), 4, "{told:?}");
    for message in told {
        assert_ne!(message.speaker(), "bob", "{message:?}");
        assert!(
            message.role != Role::User || message.speaker() == "ada",
            "{message:?}"
        );
    }
}

#[tokio::test]
async fn a_users_token_flushes_only_own_sessions_of_its_project() {
    let house = house().await;
    let ask = async |path: &str, body: &Value| house.ask(post(path, body).token("ada")).await;
    let flush = async |body: Value| ask("/api/v2/memory/flush", &body).await;
    let said = conversation("ada/notes", &[("ada", "I like figs.")]);
    ask("/api/v2/memory/add", &said).await.data();
    let done = flush(json!({"session_id": "ada/notes", "wait": true})).await;
    assert_eq!(done.data()["status"], "extracted");
    for session in ["bob/notes", "notes", "adam/notes", "ada"] {
        let (status, code, message) = flush(json!({"session_id": session})).await.error();
        assert_eq!((status, code.as_str()), (403, "FORBIDDEN"), "{session}");
        assert_eq!(message, "this token flushes sessions named `ada/…` only");
    }
    let elsewhere = json!({"session_id": "ada/notes", "project_id": "boat"});
    assert_eq!(flush(elsewhere).await.error().0, 403);
}

/// A door that answers with the asker's app and user.
fn door() -> Router {
    Router::new().fallback(async |Extension(asker): Extension<Asker>| {
        let user = asker.user.map_or_else(String::new, |user| user.to_string());
        format!("{}/{user}", asker.scope.app)
    })
}

#[tokio::test]
async fn the_door_gets_the_asker_after_the_guard_has_checked_the_request() {
    let house = house().await;
    let router = house.gateway.clone().with_agents(door()).router();
    let ask = async |ask: Ask| sent(&router, ask.request()).await;
    let mcp = || post("/mcp", &json!({}));
    assert_eq!(ask(mcp()).await.error().0, 401);
    assert_eq!(ask(mcp().token("root")).await.text, "default/");
    let named = mcp()
        .token("root")
        .header("x-quipu-user", "bob")
        .header("x-quipu-app", "shop");
    assert_eq!(ask(named).await.text, "shop/bob");
    assert_eq!(ask(mcp().token("ada")).await.text, "default/ada");
    assert_eq!(
        ask(mcp().token("ada").header("x-quipu-user", "bob"))
            .await
            .error()
            .0,
        403
    );
    assert_eq!(
        ask(mcp().token("ada").header("x-quipu-app", "shop"))
            .await
            .error()
            .0,
        403
    );
    // Without a door, the path does not exist.
    assert_eq!(house.ask(mcp().token("root")).await.error().0, 404);
}

#[tokio::test]
async fn a_client_in_this_process_has_the_permissions_of_the_request_it_acts_for() {
    let house = house().await;
    let client = Client::here(&house.gateway);
    let status = async |client: &Client, user: &str| {
        let search = json!({"user_id": user, "query": "tea"}).to_string();
        client
            .post("/api/v2/memory/search", search.into_bytes())
            .await
            .expect("an answer")
            .status
    };
    let acting = |secret: &str| client.acting_for(post("/", &json!({})).token(secret).request().headers());
    assert_eq!(status(&client, "ada").await, 401);
    assert_eq!(status(&acting("ada"), "ada").await, 200);
    assert_eq!(status(&acting("ada"), "bob").await, 403);
    assert_eq!(status(&acting("root"), "bob").await, 200);
}
