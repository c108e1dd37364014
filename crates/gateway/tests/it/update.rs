//! Reading and patching one memory.

use serde_json::{Value, json};

use crate::house::{House, TEA};

async fn episode(house: &House) -> Value {
    let list = json!({"user_id": "ada", "memory_type": "episode"});
    let data = house.post("/api/v1/memory/get", &list).await.data();
    data["episodes"][0].clone()
}

fn id(item: &Value) -> &str {
    item["id"].as_str().expect("a string")
}

#[tokio::test]
async fn one_memory_has_the_form_of_a_listing() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let episode = episode(&house).await;
    let path = format!("/api/v2/memories/{}", id(&episode));
    let data = house.get(&path).await.data();
    assert_eq!(data["episodes"], json!([episode]));
    assert_eq!((&data["total_count"], &data["facts"]), (&json!(1), &json!([])));
    assert!(
        house
            .vault
            .bytes(episode["path"].as_str().expect("a path"))
            .is_some(),
        "{episode}"
    );
    let list = json!({"user_id": "ada", "memory_type": "atomic_fact"});
    let facts = house.post("/api/v1/memory/get", &list).await.data();
    let fact = &facts["facts"][0];
    let data = house
        .get(&format!("/api/v1/memories/{}?user_id=ada", id(fact)))
        .await
        .data();
    assert_eq!((&data["facts"], &data["episodes"]), (&json!([fact]), &json!([])));
}

#[tokio::test]
async fn an_unknown_memory_is_not_found() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let path = format!("/api/v1/memories/{}", id(&episode(&house).await));
    for (query, status) in [
        ("?agent_id=ada", 404),
        ("?app_id=other", 404),
        ("?user_id=bob", 422),
        ("?user_id=a/b", 422),
    ] {
        let reply = house.get(&format!("{path}{query}")).await;
        assert_eq!(reply.error().0, status, "{query} {}", reply.text);
    }
    for (id, status) in [
        ("ada_ep_none", 404),
        ("nonsense", 422),
        ("..%2F..%2Fx_ep_1", 422),
        ("%ff", 400),
        ("ada_ep_%00", 404),
    ] {
        let reply = house.get(&format!("/api/v1/memories/{id}")).await;
        assert_eq!(reply.error().0, status, "{id} {}", reply.text);
    }
    let (_, _, message) = house.get("/api/v1/memories/nonsense").await.error();
    assert!(message.starts_with("memory_id: "), "{message}");
    // Clients recognise a missing route by its 404.
    let feedback = house.post("/api/v2/memory/feedback", &json!({})).await;
    assert_eq!(feedback.error().0, 404);
}

#[tokio::test]
async fn a_patch_is_written_and_searchable() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let before = episode(&house).await;
    let patch = |patch: Value| {
        json!({"memory_type": "episode", "memory_id": id(&before), "patch": patch,
            "reason": {"code": "wrong_subject", "note": "n"}})
    };
    let text = format!("Ada drinks espresso only. {}", "And so on. ".repeat(40));
    let data = house
        .post("/api/v2/memory/update", &patch(json!({"episode": text})))
        .await
        .data();
    assert_eq!(
        (&data["id"], &data["episode"], &data["subject"]),
        (&before["id"], &json!(text), &before["subject"])
    );
    assert_eq!(
        (&data["unchanged"], &data["edited_at"]),
        (&json!(false), &json!("2026-03-02T09:00:00Z"))
    );
    let summary = data["summary"].as_str().expect("a string");
    assert!(
        summary.starts_with("Ada drinks espresso only.") && summary.chars().count() <= 201,
        "{summary}"
    );
    assert_eq!(episode(&house).await["episode"], text);

    let writes = house.vault.bytes(before["path"].as_str().expect("a path"));
    let again = house
        .post("/api/v2/memory/update", &patch(json!({"episode": text})))
        .await
        .data();
    assert_eq!(
        (&again["unchanged"], &again["edited_at"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(
        house.vault.bytes(before["path"].as_str().expect("a path")),
        writes
    );

    let both =
        patch(json!({"subject": "Coffee", "summary": "She drinks coffee.", "episode": "Ada drinks coffee."}));
    let data = house.post("/api/v1/memory/update", &both).await.data();
    assert_eq!(
        (&data["subject"], &data["summary"]),
        (&json!("Coffee"), &json!("She drinks coffee."))
    );
    let data = house
        .post("/api/v1/memory/update", &patch(json!({"subject": "Tea"})))
        .await
        .data();
    assert_eq!(data["summary"], "She drinks coffee.", "what is left out stays");
    let search = json!({"user_id": "ada", "query": "coffee"});
    let found = house.post("/api/v1/memory/search", &search).await.data();
    assert_eq!(found["episodes"][0]["episode"], "Ada drinks coffee.");
}

#[tokio::test]
async fn an_invalid_patch_is_refused_with_its_field() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let list = json!({"user_id": "ada", "memory_type": "atomic_fact"});
    let facts = house.post("/api/v1/memory/get", &list).await.data();
    let fact = id(&facts["facts"][0]).to_owned();
    let episode = id(&episode(&house).await).to_owned();
    let base = json!({"memory_type": "episode", "memory_id": episode, "patch": {"summary": "x"}});
    for (key, value, status, field) in [
        ("memory_type", json!("profile"), 422, "memory_type"),
        ("memory_type", json!("diary"), 422, "memory_type"),
        ("memory_type", Value::Null, 422, "memory_type"),
        ("memory_id", json!("ada_ep_none"), 404, "memory"),
        ("memory_id", json!("none"), 422, "memory_id"),
        ("memory_id", json!(fact), 422, "memory_id"),
        ("patch", json!({}), 422, "patch"),
        ("patch", json!([]), 422, "patch"),
        ("patch", json!({"body": "x"}), 422, "patch.body"),
        ("patch", json!({"episode": " "}), 422, "patch.episode"),
        ("patch", json!({"subject": "a\nb"}), 422, "patch.subject"),
        ("patch", json!({"summary": 5}), 422, "patch.summary"),
        ("version", json!(1), 422, "version"),
    ] {
        let mut body = base.clone();
        body[key] = value.clone();
        let reply = house.post("/api/v1/memory/update", &body).await;
        let (got, _, message) = reply.error();
        assert!(
            got == status && message.starts_with(field),
            "{key} {value}: {got} {message}"
        );
    }
}
