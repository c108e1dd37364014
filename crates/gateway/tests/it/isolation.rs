//! One tenant never reads, lists, changes or deletes another's, on any route.

use model::Zone;
use serde_json::{Value, json};

use crate::house::{Ask, House, conversation, every_route, get, post, tokens};

const SECRET: &str = "marzipan";

/// Two tenants with the same names for everything; only the first one knows the secret.
async fn two_tenants() -> House {
    let house = House::with(tokens(), Zone::utc()).await;
    for (tenant, text) in [("a", SECRET), ("b", "porridge")] {
        let said = format!("The dessert is {text}, keep it safe.");
        let mut body = conversation("s", &[("ada", &said), ("bot", "Safe with me.")]);
        house
            .ask(post("/api/v1/memory/add", &body).token(tenant))
            .await
            .data();
        let flush = json!({"session_id": "s", "wait": true});
        house
            .ask(post("/api/v1/memory/flush", &flush).token(tenant))
            .await
            .data();
        let append = json!({"user_id": "ada", "conversation_id": "s",
            "messages": [{"role": "user", "content": said}, {"role": "assistant", "content": "Safe with me."}]});
        house
            .ask(post("/api/v1/context/append", &append).token(tenant))
            .await
            .data();
        body["async_mode"] = json!(true);
        house
            .ask(post("/api/v1/memory/add", &body).token(tenant))
            .await
            .data();
    }
    house.engine.settle().await.expect("settled");
    house
}

/// The answers that a tenant gets about itself, without parts that differ between requests.
async fn view(house: &House, tenant: &str) -> String {
    let search = json!({"user_id": "ada", "query": "dessert safe", "include_messages": 50,
        "filters": {"session_id": "s"}});
    let list = |kind: &str| json!({"user_id": "ada", "memory_type": kind});
    let asks = [
        post("/api/v1/memory/search", &search),
        post("/api/v1/memory/get", &list("episode")),
        post("/api/v1/memory/get", &list("atomic_fact")),
        get("/api/v1/tasks"),
        get("/api/v1/context/conversations?user_id=ada"),
    ];
    let mut text = String::new();
    for ask in asks {
        text.push_str(&house.ask(ask.token(tenant)).await.data().to_string());
    }
    let conversation = get("/api/v1/context/view?user_id=ada&conversation_id=s");
    let conversation = house.ask(conversation.token(tenant)).await;
    if conversation.status == 200 {
        text.push_str(&conversation.data().to_string());
    }
    text
}

/// Requests of the second tenant, with its own token, for itself and for the first tenant.
fn intrusions(episode: &str, task: &str) -> Vec<Ask> {
    let mut asks = Vec::new();
    for ask in every_route()
        .into_iter()
        // Documents have a test of their own; the tools are the same for every user.
        .filter(|ask| ask.path.starts_with("/api/") && !ask.path.contains("/knowledge/"))
        .filter(|ask| !ask.path.ends_with("/context/tools"))
    {
        let path = ask.path.replace("0123", task).replace("ada_ep_1", episode);
        if path.contains("/index/") {
            // Routes that a token of one tenant may not use.
            continue;
        }
        if ask.method == "GET" || path.ends_with("/retry") || path.contains("/skills/") {
            for query in ["", "app_id=a&project_id=p", "app_id=a", "project_id=default"] {
                let mark = if path.contains('?') { '&' } else { '?' };
                asks.push(Ask {
                    path: format!("{path}{mark}{query}"),
                    ..ask.clone()
                });
            }
            continue;
        }
        let mut body: Value = serde_json::from_slice(&ask.body).expect("JSON");
        if path.ends_with("by_ids") {
            body["ids"] = json!([episode]);
        } else if path.ends_with("edit") {
            body["id"] = json!(episode);
        } else if path.ends_with("update") {
            body["memory_id"] = json!(episode);
        }
        for (app, project) in [
            (None, None),
            (Some("a"), Some("p")),
            (Some("a"), None),
            (None, Some("default")),
        ] {
            let mut body = body.clone();
            if let Some(app) = app {
                body["app_id"] = json!(app);
            }
            if let Some(project) = project {
                body["project_id"] = json!(project);
            }
            asks.push(post(&path, &body));
        }
        // Also through filters, and as another kind of owner.
        if path.ends_with("search") || path.ends_with("get") {
            for key in ["app_id", "project_id", "owner_id"] {
                let mut body = body.clone();
                body["filters"] = json!({"OR": [{key: "a"}, {"session_id": "s"}]});
                asks.push(post(&path, &body));
            }
        }
    }
    asks
}

#[tokio::test]
async fn no_request_of_a_tenant_reads_or_changes_the_other_tenant() {
    let house = two_tenants().await;
    let before = view(&house, "a").await;
    assert!(before.contains(SECRET));
    let list = post(
        "/api/v1/memory/get",
        &json!({"user_id": "ada", "memory_type": "episode"}),
    );
    let episodes = house.ask(list.token("a")).await.data();
    let episode = episodes["episodes"][0]["id"].as_str().expect("an id").to_owned();
    let tasks = house.ask(get("/api/v1/tasks").token("a")).await.data();
    let task = tasks["items"][0]["id"].as_str().expect("an id").to_owned();
    for ask in intrusions(&episode, &task) {
        let named =
            ask.path.contains("app_id=a") || String::from_utf8_lossy(&ask.body).contains("\"app_id\":\"a\"");
        let default = ask.path.contains("project_id=default")
            || String::from_utf8_lossy(&ask.body).contains("\"project_id\":\"default\"");
        let filtered = String::from_utf8_lossy(&ask.body).contains("filters");
        let what = format!(
            "{} {} {}",
            ask.method,
            ask.path,
            String::from_utf8_lossy(&ask.body)
        );
        let reply = house.ask(ask.token("b")).await;
        assert!(!reply.text.contains(SECRET), "{what}: {}", reply.text);
        if filtered {
            assert_eq!(reply.error().1, "INVALID_INPUT", "{what}");
        } else if named || default {
            assert_eq!(
                (reply.status.as_u16(), reply.error().1.as_str()),
                (403, "FORBIDDEN"),
                "{what}"
            );
        }
    }
    // A task of the first tenant does not exist for the second.
    let reply = house.ask(get(&format!("/api/v1/tasks/{task}")).token("b")).await;
    assert_eq!(reply.error().0, 404);
    assert_eq!(view(&house, "a").await, before);
}

#[tokio::test]
async fn an_administrators_token_reaches_a_tenant_only_by_name() {
    let house = two_tenants().await;
    let search = |app: Option<&str>| {
        let mut body = json!({"user_id": "ada", "query": "dessert", "include_messages": 5});
        if let Some(app) = app {
            body["app_id"] = json!(app);
            body["project_id"] = json!("p");
        }
        post("/api/v1/memory/search", &body).token("root")
    };
    assert!(house.ask(search(Some("a"))).await.text.contains(SECRET));
    assert!(!house.ask(search(Some("b"))).await.text.contains(SECRET));
    assert!(!house.ask(search(None)).await.text.contains(SECRET));
}

#[tokio::test]
async fn a_delete_in_one_tenant_keeps_the_other() {
    for body in [
        json!({"session_id": "s"}),
        json!({"user_id": "ada"}),
        json!({"user_id": "ada", "session_id": "s"}),
    ] {
        let house = two_tenants().await;
        // A user's conversation is a session of that user.
        let conversation = json!({"session_id": "ada/s"});
        if body["session_id"] == "s" {
            let delete = post("/api/v1/memory/delete", &conversation);
            house.ask(delete.token("b")).await.data();
        }
        let before = view(&house, "a").await;
        house
            .ask(post("/api/v1/memory/delete", &body).token("b"))
            .await
            .data();
        assert!(!view(&house, "b").await.contains("porridge"), "{body}");
        assert_eq!(view(&house, "a").await, before, "{body}");
    }
}
