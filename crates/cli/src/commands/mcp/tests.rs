//! The MCP door on a real root: when the root is open, and the answers over HTTP.

use gateway::{Auth, Client, Gateway, GatewaySettings, Secret, Token, TokenRole};
use mcp::MemoryApi as _;
use model::{Name, Scope};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::clock::ManualClock;
use tokio::task::yield_now;

use super::*;
use crate::commands::tests::{desk, typed};
use crate::world::World;

const SEARCH: &str = "/api/v2/memory/search";

fn search(user: &str) -> ApiRequest {
    let body = json!({"user_id": user, "query": "boat", "include_messages": 3});
    ApiRequest {
        path: SEARCH.to_owned(),
        json: Some(body.to_string().into_bytes()),
    }
}

async fn found(root: &Root) -> String {
    let reply = root.ask(search("me")).await.expect("an answer");
    assert_eq!(reply.status, 200);
    String::from_utf8(reply.body).expect("text")
}

#[tokio::test]
async fn the_root_is_open_only_during_calls() {
    let folder = TempDir::new().expect("a folder");
    let here = || desk(folder.path(), &[]);
    typed(&here(), &["add My-boat-is-called-Marula."])
        .await
        .expect("it is stored");
    let clock = Arc::new(ManualClock::new());
    let root = Root::new(here(), clock.clone());
    let free = async || World::open(&here().root, &here().loaded.config, here().open_index, false).await;
    let work = async {
        assert!(found(&root).await.contains("Marula"));
        let taken = free().await.expect_err("it is open").exit;
        assert_eq!(taken, Exit::InUse);
        clock.sleeping(1).await;
        clock.advance(LINGER);
        loop {
            match free().await {
                Ok(world) => break world.shutdown().await,
                Err(_) => yield_now().await,
            }
        }
        assert!(found(&root).await.contains("Marula"), "it opens again");
    };
    tokio::select! {
        () = work => {}
        never = root.rest() => match never {},
    }
    root.close().await;
}

#[tokio::test]
async fn calls_follow_a_server_that_starts_or_stops() {
    let folder = TempDir::new().expect("a folder");
    let here = || desk(folder.path(), &[]);
    typed(&here(), &["add My-boat-is-called-Marula."])
        .await
        .expect("it is stored");
    let root = Root::new(here(), Arc::new(SystemClock::new()));
    assert!(found(&root).await.contains("Marula"));
    root.close().await;

    let world = World::open(folder.path(), &here().loaded.config, here().open_index, false)
        .await
        .expect("it opens");
    let gateway = Gateway::new(
        world.engine.clone(),
        GatewaySettings::default(),
        world.clock.clone(),
        world.ids.clone(),
    );
    let listener = gateway
        .bind("127.0.0.1:0".parse().expect("an address"))
        .await
        .expect("bound");
    let address = listener.local_addr().expect("an address");
    let notice = crate::serving::Notice::put(folder.path(), address, "key").expect("written");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = gateway.serve(listener, async { drop(stopped.await) });
    let asking = async {
        assert!(found(&root).await.contains("Marula"), "beside the server");
        stop.send(()).expect("it serves");
    };
    let (served, ()) = tokio::join!(serving, asking);
    served.expect("it served");
    drop(notice);
    world.shutdown().await;
    // The last of these values holds the root.
    drop((gateway, world));
    assert!(found(&root).await.contains("Marula"), "and without it");
    root.close().await;
}

/// A gateway with the MCP door, on a root with messages of two users.
async fn served(folder: &TempDir) -> (World, Client) {
    let here = desk(folder.path(), &[]);
    typed(
        &here,
        &[
            "add --session me/notes My-boat-is-called-Marula.",
            "add --user bob --session bob/notes My-boat-is-called-Petrel.",
        ],
    )
    .await
    .expect("it is stored");
    let world = World::open(folder.path(), &here.loaded.config, here.open_index, false)
        .await
        .expect("it opens");
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
            tokens: vec![token("all", None), token("bobs", Some("bob"))],
            ..Auth::default()
        },
        ..GatewaySettings::default()
    };
    let gateway = Gateway::new(
        world.engine.clone(),
        settings,
        world.clock.clone(),
        world.ids.clone(),
    );
    let door = mcp::routes(Client::here(&gateway), None, now(world.clock.clone()));
    let client = Client::here(&gateway.with_agents(door));
    (world, client)
}

/// Calls a tool with the protocol of 2025-06-18.
async fn called(client: &Client, headers: &[(&str, &str)], tool: &str, arguments: Value) -> (u16, Value) {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
    let accept = [
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-06-18"),
    ];
    let headers: Vec<_> = accept.iter().chain(headers).copied().collect();
    let mut reply = client
        .stream("/mcp", call.to_string().into_bytes(), &headers)
        .await
        .expect("an answer");
    let mut body = Vec::new();
    while let Some(piece) = reply.next().await.expect("it is whole") {
        body.extend_from_slice(piece.as_ref());
    }
    (reply.status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn a_token_has_the_same_access_through_mcp_as_through_the_api() {
    let folder = TempDir::new().expect("a folder");
    let (world, client) = served(&folder).await;
    let boat = || json!({"query": "what is the boat called?"});
    let said = async |headers: &[(&str, &str)]| {
        let (status, reply) = called(&client, headers, "search", boat()).await;
        (
            status,
            reply["result"]["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        )
    };
    assert_eq!(said(&[]).await.0, 401);
    let (_, text) = said(&[("authorization", "Bearer bobs")]).await;
    assert!(text.contains("Petrel") && !text.contains("Marula"), "{text}");
    let as_me = [("authorization", "Bearer all"), ("x-quipu-user", "me")];
    let (_, text) = said(&as_me).await;
    assert!(text.contains("Marula") && !text.contains("Petrel"), "{text}");
    let (status, _) = said(&[("authorization", "Bearer bobs"), ("x-quipu-user", "me")]).await;
    assert_eq!(status, 403);
    // The request names no user.
    let (_, text) = said(&[("authorization", "Bearer all")]).await;
    assert!(text.contains("x-quipu-user"), "{text}");
    // Bob's memories belong to bob.
    let bobs = [("authorization", "Bearer bobs")];
    let (_, kept) = called(&client, &bobs, "remember", json!({"text": "I keep a parrot."})).await;
    assert_eq!(
        kept["result"]["structuredContent"]["session"], "bob/notes",
        "{kept}"
    );
    let (_, kept) = called(
        &client,
        &bobs,
        "remember",
        json!({"text": "x", "session": "me/notes"}),
    )
    .await;
    assert_eq!(kept["result"]["isError"], true, "{kept}");
    world.shutdown().await;
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused_even_with_a_token() {
    let folder = TempDir::new().expect("a folder");
    let (world, client) = served(&folder).await;
    for (origin, wanted) in [
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost.evil.example", 403),
        ("http://localhost:3000", 200),
        ("http://127.0.0.1:4777", 200),
        ("http://[::1]:4777", 200),
    ] {
        let headers = [("authorization", "Bearer bobs"), ("origin", origin)];
        let (status, _) = called(&client, &headers, "profile", json!({})).await;
        assert_eq!(status, wanted, "{origin}");
    }
    world.shutdown().await;
}
