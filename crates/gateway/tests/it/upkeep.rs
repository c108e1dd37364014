//! Updating the index from the Markdown files.

use model::Zone;
use serde_json::{Value, json};

use crate::house::{House, TEA, conversation, get, post, tokens};

#[tokio::test]
async fn a_sync_indexes_hand_edits_and_a_rebuild_reads_all_files() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    house.engine.sync().await.expect("synced");
    let path = house
        .vault
        .paths()
        .into_iter()
        .find(|path| path.contains("/facts/"))
        .expect("a file");
    let mut bytes = house.vault.bytes(&path).expect("bytes");
    bytes.extend_from_slice(b"\n## Ada owns a theremin\n");
    house.vault.write(&path, bytes);
    let synced = house.post("/api/v2/index/sync", &Value::Null).await.data();
    let keys: Vec<&String> = synced.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "files",
            "entries_added",
            "entries_changed",
            "entries_removed",
            "broken_files"
        ]
    );
    let search = json!({"user_id": "ada", "query": "theremin"});
    let found = house.post("/api/v1/memory/search", &search).await.data();
    assert!(found["facts"].to_string().contains("theremin"), "{found}");

    house.vault.write(&path, "---\nnot: [closed\n");
    let rebuilt = house.post("/api/v1/index/rebuild", &Value::Null).await.data();
    assert_eq!(rebuilt["files"], house.vault.paths().len());
    assert_eq!(rebuilt["broken_files"], 1);
    let synced = house.post("/api/v1/index/sync", &Value::Null).await.data();
    assert_eq!(synced["broken_files"], 1, "also when it was known before");
}

#[tokio::test]
async fn a_token_of_one_tenant_may_not_sync_or_rebuild_the_index() {
    let house = House::with(tokens(), Zone::utc()).await;
    for route in ["sync", "rebuild"] {
        let ask = || post(&format!("/api/v1/index/{route}"), &Value::Null);
        assert_eq!(house.ask(ask()).await.error().0, 401);
        assert_eq!(house.ask(ask().token("a")).await.error().0, 403);
        house.ask(ask().token("root")).await.data();
        let foreign = House::new()
            .await
            .ask(ask().header("origin", "https://evil.example"))
            .await;
        assert_eq!(foreign.error().0, 403);
    }
}

#[tokio::test]
async fn owners_have_counts_and_sizes_and_a_token_sees_its_own_tenant() {
    let house = House::with(tokens(), Zone::utc()).await;
    for app in ["a", "b"] {
        let mut body = conversation("s", &TEA);
        body["app_id"] = json!(app);
        body["project_id"] = json!("p");
        house
            .ask(post("/api/v2/memory/add", &body).token(app))
            .await
            .data();
        let flush = json!({"session_id": "s", "app_id": app, "project_id": "p", "wait": true});
        house
            .ask(post("/api/v2/memory/flush", &flush).token(app))
            .await
            .data();
    }
    house.engine.sync().await.expect("synced");
    let listed = |token: &'static str| house.ask(get("/api/v2/owners").token(token));
    let all = listed("root").await.data();
    let own = listed("a").await.data();
    let owners = |data: &Value| data["owners"].as_array().expect("owners").clone();
    assert_eq!(owners(&all).len(), 2 * owners(&own).len(), "{all}");
    let ada = owners(&own)
        .into_iter()
        .find(|owner| owner["id"] == "ada")
        .expect("Ada");
    assert_eq!((&ada["kind"], &ada["app_id"]), (&json!("user"), &json!("a")));
    let files = house
        .vault
        .paths()
        .into_iter()
        .filter(|path| path.starts_with("a/p/users/ada/"));
    let sizes: Vec<usize> = files
        .map(|path| house.vault.bytes(&path).expect("bytes").len())
        .collect();
    assert_eq!(ada["files"], sizes.len(), "{ada}");
    assert_eq!(ada["bytes"], sizes.iter().sum::<usize>(), "{ada}");
    assert!(ada["memories"].as_u64() >= Some(1), "{ada}");
}

#[tokio::test]
async fn a_user_with_messages_only_is_listed() {
    let house = House::new().await;
    let mut body = conversation("s", &TEA);
    body["project_id"] = json!("boat");
    house.post("/api/v2/memory/add", &body).await.data();
    let owners = async || house.get("/api/v2/owners").await.data()["owners"].clone();
    let listed = owners().await;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let ada = &listed[0];
    assert_eq!((&ada["id"], &ada["project_id"]), (&json!("ada"), &json!("boat")));
    assert_eq!((&ada["files"], &ada["waiting"]), (&json!(0), &json!(4)));
    let gone = json!({"user_id": "ada", "project_id": "boat"});
    house.post("/api/v2/memory/delete", &gone).await.data();
    assert_eq!(owners().await, json!([]));
}
