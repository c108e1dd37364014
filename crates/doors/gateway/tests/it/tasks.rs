//! Tasks.

use serde_json::{Value, json};

use crate::house::{House, TEA, conversation};

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
    house.engine.settle(None).await.expect("settled");
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
            "id",
            "status",
            "task_type",
            "error",
            "error_code",
            "created_at",
            "finished_at"
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
async fn only_what_a_request_made_is_a_task() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    assert_eq!(
        house.get("/api/v1/tasks").await.data()["total"],
        0,
        "writing an episode is nobody's task"
    );
}

#[tokio::test]
async fn a_task_that_is_not_there_is_told() {
    let house = House::new().await;
    for id in ["0123", "stats", "%00", "..%2f..%2fetc", "%ff"] {
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
async fn a_listing_that_is_wrong_is_told() {
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
