//! Adds and flushes.

use serde_json::{Value, json};

use crate::gate::Plan;
use crate::house::{House, SAID, TEA, conversation, post};

fn message(id: Option<&str>, text: &str) -> Value {
    let mut message = json!({"sender_id": "ada", "role": "user", "timestamp": SAID, "content": text});
    if let Some(id) = id {
        message["message_id"] = json!(id);
    }
    message
}

#[tokio::test]
async fn an_add_returns_the_id_of_each_message() {
    let house = House::new().await;
    for version in ["v1", "v2"] {
        let path = format!("/api/{version}/memory/add");
        let reply = house.post(&path, &conversation(version, &TEA)).await;
        assert_eq!(reply.status, 200);
        let data = reply.data();
        assert_eq!(data["message_count"], 4);
        assert_eq!(data["status"], "accumulated");
        assert_eq!(data["duplicates"], 0);
        let ids: Vec<&str> = data["message_ids"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(ids.len(), 4);
        assert!(ids.iter().all(|id| id.starts_with("m_20240508_")), "{ids:?}");
    }
    assert_eq!(house.ledger.everything().len(), 8);
}

#[tokio::test]
async fn a_repeated_message_is_stored_once() {
    let house = House::new().await;
    let body = json!({"session_id": "s", "messages": [
        message(Some("c1"), "same time"), message(Some("c2"), "same time"), message(None, "same time")
    ]});
    let first = house.post("/api/v1/memory/add", &body).await.data();
    let again = house.post("/api/v1/memory/add", &body).await.data();
    assert_eq!(
        (&first["duplicates"], &again["duplicates"]),
        (&json!(0), &json!(3))
    );
    assert_eq!(first["message_ids"], again["message_ids"]);
    assert_eq!(house.ledger.everything().len(), 3);
    // The same message id in another session is another message.
    let other = json!({"session_id": "t", "messages": [message(Some("c1"), "elsewhere")]});
    assert_eq!(
        house.post("/api/v1/memory/add", &other).await.data()["duplicates"],
        0
    );
}

#[tokio::test]
async fn a_flush_makes_memory_once() {
    let house = House::new().await;
    let flush = json!({"session_id": "s"});
    assert_eq!(
        house.post("/api/v2/memory/flush", &flush).await.data(),
        json!({"status": "no_extraction"})
    );
    house
        .post("/api/v2/memory/add", &conversation("s", &TEA))
        .await
        .data();
    assert_eq!(
        house.post("/api/v2/memory/flush", &flush).await.data(),
        json!({"status": "extracted"})
    );
    assert_eq!(
        house.post("/api/v2/memory/flush", &flush).await.data(),
        json!({"status": "no_extraction"})
    );
}

#[tokio::test]
async fn a_sessions_title_names_its_episodes() {
    let house = House::new().await;
    let key = format!("ghp_{}", "aB3dE6gH9j".repeat(4));
    for (session, title, subject) in [
        ("s", " Green\n tea ", "Green tea".to_owned()),
        (
            "long",
            &"tea ".repeat(50),
            format!("{}…", "tea ".repeat(20).trim_end()),
        ),
        ("secret", &format!("tea with {key}"), "tea with [".to_owned()),
    ] {
        let mut body = conversation(session, &TEA);
        body["session_title"] = json!(title);
        house.post("/api/v2/memory/add", &body).await.data();
        let flush = json!({"session_id": session, "wait": true});
        house.post("/api/v2/memory/flush", &flush).await.data();
        let asked = json!({"user_id": "ada", "memory_type": "episode", "filters": {"session_id": session}});
        let found = house.post("/api/v2/memory/get", &asked).await.data();
        let told = found["episodes"][0]["subject"].as_str().expect("a subject");
        assert!(told.starts_with(&subject) && told.chars().count() <= 80, "{told}");
        assert!(!told.contains(&key), "{told}");
    }
    let mut blank = conversation("blank", &TEA);
    blank["session_title"] = json!(" ");
    assert_eq!(house.post("/api/v2/memory/add", &blank).await.status, 200);
}

#[tokio::test]
async fn wait_in_body_or_query_answers_after_memory_is_written() {
    for (name, path, wait) in [
        ("body", "/api/v1/memory/flush", true),
        ("query", "/api/v1/memory/flush?wait=true", false),
    ] {
        let house = House::new().await;
        house
            .post("/api/v1/memory/add", &conversation("s", &TEA))
            .await
            .data();
        assert!(house.vault.paths().is_empty());
        house
            .post(path, &json!({"session_id": "s", "wait": wait}))
            .await
            .data();
        assert!(!house.vault.paths().is_empty(), "{name}");
        let list = json!({"user_id": "ada", "memory_type": "episode"});
        let listed = house.post("/api/v1/memory/get", &list).await.data();
        assert_eq!(listed["total_count"], 1, "{name}");
        let search = json!({"user_id": "ada", "query": "green tea"});
        let found = house.post("/api/v1/memory/search", &search).await.data();
        assert!(found["episodes"][0]["id"].is_string(), "{name}: {found}");
    }
    let house = House::new().await;
    // A day's pause ends the first segment; the add that finds the pause waits until the segment is written.
    let mut body = conversation("s", &TEA);
    body["messages"][3]["timestamp"] = json!(SAID + 86_400_000);
    body["wait"] = json!(true);
    assert_eq!(
        house.post("/api/v1/memory/add", &body).await.data()["status"],
        "extracted"
    );
    assert!(!house.vault.paths().is_empty());
}

#[tokio::test]
async fn a_deferred_add_waits_for_the_flush() {
    let house = House::new().await;
    let mut body = conversation("s", &TEA);
    body["messages"][3]["timestamp"] = json!(SAID + 86_400_000);
    body["defer_extraction"] = json!(true);
    assert_eq!(
        house.post("/api/v1/memory/add", &body).await.data()["status"],
        "accumulated"
    );
    assert!(house.ledger.everything().iter().all(|(_, cell)| cell.is_none()));
}

#[tokio::test]
async fn an_asynchronous_add_is_a_task() {
    let house = House::new().await;
    let mut body = conversation("s", &TEA);
    body["async_mode"] = json!(true);
    let reply = house.post("/api/v1/memory/add", &body).await;
    assert_eq!(reply.status, 202);
    let data = reply.data();
    assert_eq!(
        (&data["status"], &data["message_count"], &data["pending"]),
        (&json!("queued"), &json!(4), &json!(1))
    );
    let id = reply.json()["request_id"].as_str().expect("a string").to_owned();
    assert!(
        id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()),
        "{id}"
    );
    assert_eq!(reply.headers["x-request-id"], id.as_str());
    house.engine.settle().await.expect("settled");
    let task = house.get(&format!("/api/v2/tasks/{id}")).await.data();
    assert_eq!(
        (&task["id"], &task["status"], &task["task_type"]),
        (&json!(id), &json!("success"), &json!("memory_add"))
    );
}

#[tokio::test]
async fn a_clients_request_id_never_becomes_a_task_id() {
    let house = House::new().await;
    let mut body = conversation("s", &TEA);
    body["async_mode"] = json!(true);
    let theirs = "0123456789abcdef0123456789abcdef";
    let ask = || post("/api/v1/memory/add", &body).header("x-request-id", theirs);
    let (first, second) = (house.ask(ask()).await, house.ask(ask()).await);
    assert_eq!(first.headers["x-request-id"], theirs);
    let id = |reply: &crate::house::Reply| reply.json()["request_id"].as_str().expect("a string").to_owned();
    assert_ne!(id(&first), id(&second), "two tasks");
    assert_ne!(id(&first), theirs);
}

#[tokio::test]
async fn a_session_refuses_adds_beyond_its_maximum_of_tasks() {
    let house = House::new().await;
    // Tasks of the session do not finish.
    house.gated.set(Plan::Hold("buffer"));
    let mut body = conversation("s", &TEA[..1]);
    body["async_mode"] = json!(true);
    let most = house.engine.settings().session_pending_max;
    for pending in 1..=most {
        body["messages"][0]["content"] = json!(format!("Cup {pending} of tea"));
        let data = house.post("/api/v1/memory/add", &body).await.data();
        assert_eq!(data["pending"], pending);
    }
    body["messages"][0]["content"] = json!("One cup too many");
    let reply = house.post("/api/v1/memory/add", &body).await;
    let (status, code, _) = reply.error();
    assert_eq!((status, code.as_str()), (429, "QUEUE_SATURATED"));
    assert_eq!(reply.headers["retry-after"], "1");
    assert_eq!(
        house.ledger.everything().len(),
        most,
        "a refused add leaves nothing"
    );
    house.gated.set(Plan::Open);
    house.engine.settle().await.expect("settled");
    house.post("/api/v1/memory/add", &body).await.data();
}

#[tokio::test]
async fn parts_and_tool_calls_are_returned_unchanged() {
    let house = House::new().await;
    let body = json!({"session_id": "s", "messages": [
        {"sender_id": "ada", "sender_name": "Ada", "role": "user", "timestamp": SAID, "content": [
            {"type": "text", "text": "see"}, {"type": "image", "uri": "file:///a.png", "extras": {"w": 1.50}}]},
        {"sender_id": "bot", "role": "assistant", "timestamp": SAID + 1, "content": "",
         "tool_calls": [{"id": "t", "type": "function", "function": {"name": "look", "arguments": "{"}}]},
        {"sender_id": "look", "role": "tool", "timestamp": SAID + 2, "content": "a cat", "tool_call_id": "t"},
    ]});
    house.post("/api/v1/memory/add", &body).await.data();
    let search = json!({"user_id": "ada", "query": "cat", "filters": {"session_id": "s"}});
    let data = house.post("/api/v1/memory/search", &search).await.data();
    let back = data["unprocessed_messages"].as_array().expect("a list");
    assert_eq!(back.len(), 3, "{data}");
    for (back, sent) in back.iter().zip(body["messages"].as_array().expect("a list")) {
        for key in ["sender_id", "role", "content"] {
            assert_eq!(back[key], sent[key]);
        }
        assert_eq!(
            back["tool_calls"],
            sent.get("tool_calls").cloned().unwrap_or_default()
        );
        assert_eq!(
            back["tool_call_id"],
            sent.get("tool_call_id").cloned().unwrap_or_default()
        );
        assert_eq!(
            (&back["session_id"], &back["app_id"], &back["project_id"]),
            (&json!("s"), &json!("default"), &json!("default"))
        );
    }
    assert_eq!(back[0]["timestamp"], "2024-05-08T13:56:00Z");
    assert_eq!(back[0]["sender_name"], "Ada");
}
