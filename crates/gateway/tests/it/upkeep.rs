//! The index brought to what the Markdown says.

use model::Zone;
use serde_json::{Value, json};

use crate::house::{House, TEA, post, tokens};

#[tokio::test]
async fn a_sync_carries_hand_edits_over_and_a_rebuild_reads_all() {
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
async fn one_tenants_token_does_not_open_every_tenants_files() {
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
