//! Tasks.

use serde_json::{Value, json};

use crate::gate::Plan;
use crate::house::{House, TEA, conversation, post, tokens};

async fn queue(house: &House, session: &str) -> String {
    let mut body = conversation(session, &TEA[..1]);
    body["async_mode"] = json!(true);
    let reply = house.post("/api/v1/memory/add", &body).await;
    reply.json()["request_id"].as_str().expect("a string").to_owned()
}

#[tokio::test]
async fn tasks_are_listed_newest_first() {
    let house = House::new().await;
    let mut ids = Vec::new();
    for session in ["s", "t", "s"] {
        ids.push(queue(&house, session).await);
        house.clock.advance(std::time::Duration::from_secs(1));
    }
    house.engine.settle().await.expect("settled");
    let data = house.get("/api/v2/tasks").await.data();
    assert_eq!(
        (&data["total"], &data["page"], &data["page_size"]),
        (&json!(3), &json!(1), &json!(20))
    );
    let items = data["items"].as_array().expect("a list");
    let listed: Vec<&str> = items.iter().filter_map(|item| item["id"].as_str()).collect();
    ids.reverse();
    assert_eq!(listed, ids);
    let keys: Vec<&String> = items[0].as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "id", "status", "task_type", "session_id", "error", "error_code", "created_at", "finished_at"
        ]
    );
    assert_eq!(items[2]["created_at"], "2026-03-02T09:00:00Z");
    assert!(items[0]["finished_at"].is_string());

    let total =
        async |query: &str| house.get(&format!("/api/v1/tasks?{query}")).await.data()["total"].clone();
    assert_eq!(total("session_id=s").await, 2);
    assert_eq!(total("status=success").await, 3);
    assert_eq!(total("status=queued").await, 0);
    assert_eq!(total("session_id=none").await, 0);
    assert_eq!(total("app_id=other").await, 0);
    let page = house.get("/api/v1/tasks?page=2&page_size=2").await.data();
    assert_eq!(
        (&page["total"], page["items"].as_array().map(Vec::len)),
        (&json!(3), Some(1))
    );
    assert_eq!(
        house.get("/api/v1/tasks?page_size=5000").await.data()["page_size"],
        100
    );
}

#[tokio::test]
async fn only_tasks_of_requests_are_listed() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    assert_eq!(
        house.get("/api/v1/tasks").await.data()["total"],
        0,
        "writing an episode is nobody's task"
    );
}

#[tokio::test]
async fn an_unknown_task_is_not_found() {
    let house = House::new().await;
    for id in ["0123", "%00", "..%2f..%2fetc", "%ff"] {
        let reply = house.get(&format!("/api/v1/tasks/{id}")).await;
        let (status, _, _) = reply.error();
        assert!(status == 404 || status == 400, "{id} {status}");
    }
    let (status, code, message) = house.get("/api/v1/tasks/0123").await.error();
    assert_eq!(
        (status, code.as_str(), message.as_str()),
        (404, "NOT_FOUND", "task `0123` does not exist")
    );
}

#[tokio::test]
async fn an_invalid_listing_of_tasks_is_refused() {
    let house = House::new().await;
    for (query, field) in [
        ("status=done", "status"),
        ("page=0", "page"),
        ("page=x", "page"),
        ("page_size=0", "page_size"),
        ("page_size=-1", "page_size"),
        ("app_id=a%2Fb", "app_id"),
        ("session_id=", "session_id"),
    ] {
        let (status, code, message) = house.get(&format!("/api/v1/tasks?{query}")).await.error();
        assert_eq!((status, code.as_str()), (422, "INVALID_INPUT"), "{query}");
        assert!(message.starts_with(&format!("{field}: ")), "{query}: {message}");
    }
    let one: Value = house.get("/api/v1/tasks/0123?app_id=a%2Fb").await.json();
    assert_eq!(one["error"]["code"], "INVALID_INPUT");
}

#[tokio::test]
async fn tasks_are_counted_within_a_time_span() {
    let house = House::new().await;
    queue(&house, "s").await;
    house.engine.settle().await.expect("settled");
    house.clock.advance(std::time::Duration::from_hours(1));
    queue(&house, "s").await;
    queue(&house, "t").await;
    house.engine.settle().await.expect("settled");
    house.remember("u", &TEA).await;
    let data = house.get("/api/v2/tasks/stats").await.data();
    let counts = json!({"failed": 0, "pending": 0, "processing": 0, "queued": 0, "success": 3});
    assert_eq!(
        data,
        json!({"by_status": counts, "start": "2026-02-23T10:00:00Z", "end": "2026-03-02T10:00:00Z", "total": 3}),
        "what no request made is nobody's task"
    );
    let total = async |query: &str| {
        let data = house.get(&format!("/api/v1/tasks/stats?{query}")).await.data();
        let listed = house.get(&format!("/api/v1/tasks?{query}")).await.data();
        assert_eq!(data["total"], listed["total"], "the listing takes the same times");
        data["total"].clone()
    };
    assert_eq!(total("start=2026-03-02T09:30:00Z").await, 2);
    assert_eq!(
        total("end=2026-03-02T10:00:00Z").await,
        1,
        "an end does not belong to it"
    );
    assert_eq!(
        total("start=2026-03-02T09:30:00Z&end=2026-03-02T09:45:00Z").await,
        0
    );
    assert_eq!(total("start=1772445600000").await, 2, "as epoch milliseconds too");
    assert_eq!(total("app_id=other").await, 0);
    for (query, field) in [
        ("start=soon", "start"),
        ("end=", "end"),
        ("start=2026-03-03&end=2026-03-02", "start"),
        ("app_id=a%2Fb", "app_id"),
    ] {
        for route in ["tasks", "tasks/stats"] {
            let (status, _, message) = house.get(&format!("/api/v1/{route}?{query}")).await.error();
            assert!(
                status == 422 && message.starts_with(&format!("{field}: ")),
                "{route} {query}: {message}"
            );
        }
    }
}

/// A house with a memory that could not be written; returns it with the id of the failed task.
async fn with_a_failed_task() -> (House, String) {
    let rules = memory::MemorySettings {
        attempts_max: 1,
        ..memory::MemorySettings::default()
    };
    let house = House::ruled(tokens(), rules).await;
    house.gated.set(Plan::Panic("cell"));
    for (path, body) in [
        ("/api/v1/memory/add", conversation("s", &TEA)),
        ("/api/v1/memory/flush", json!({"session_id": "s"})),
    ] {
        house.ask(post(path, &body).token("a")).await.data();
    }
    house.engine.settle().await.expect("settled");
    let failed = crate::house::get("/api/v1/tasks?status=failed&all=true").token("a");
    let page = house.ask(failed).await.data();
    assert_eq!(page["total"], 1, "{page}");
    let task = &page["items"][0];
    assert_eq!(
        (&task["task_type"], &task["session_id"]),
        (&json!("memory_write"), &json!("s"))
    );
    assert_eq!(task["error_code"], "replays_exhausted");
    let id = task["id"].as_str().expect("a string").to_owned();
    (house, id)
}

#[tokio::test]
async fn only_its_own_tenant_retries_a_failed_task() {
    let (house, id) = with_a_failed_task().await;
    let health: Value = house.ask(crate::house::get("/health").token("root")).await.json();
    assert_eq!(health["tasks"]["failed"], 1);
    assert!(
        health["problems"][0]
            .as_str()
            .expect("words")
            .contains("quipu runs retry"),
        "{health}"
    );
    house.gated.set(Plan::Open);
    let retry = |version: &str, id: &str| post(&format!("/api/{version}/tasks/{id}/retry"), &Value::Null);
    assert_eq!(house.ask(retry("v1", &id).token("b")).await.error().0, 404);
    assert_eq!(
        house.ask(retry("v1", &id).token("root")).await.error().0,
        404,
        "it is not the default tenant's"
    );
    assert_eq!(house.ask(retry("v1", "none").token("a")).await.error().0, 404);
    let task = house.ask(retry("v2", &id).token("a")).await.data();
    assert_eq!(
        (&task["id"], &task["status"], &task["finished_at"]),
        (&json!(id), &json!("queued"), &Value::Null)
    );
    house.engine.settle().await.expect("settled");
    let done = house
        .ask(crate::house::get(&format!("/api/v1/tasks/{id}")).token("a"))
        .await
        .data();
    assert_eq!(
        (&done["status"], &done["error"]),
        (&json!("success"), &Value::Null)
    );
    let (status, code, message) = house.ask(retry("v1", &id).token("a")).await.error();
    assert_eq!((status, code.as_str()), (409, "CONFLICT"), "{message}");
    let search = json!({"user_id": "ada", "query": "sencha"});
    let found = house
        .ask(post("/api/v1/memory/search", &search).token("a"))
        .await
        .data();
    assert!(
        !found["episodes"].as_array().expect("a list").is_empty(),
        "{found}"
    );
}
