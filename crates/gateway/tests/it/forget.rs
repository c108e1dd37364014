//! Deleting and editing.

use serde_json::{Value, json};

use crate::house::{House, TEA, conversation};

async fn episodes(house: &House, user: &str) -> Vec<String> {
    let body = json!({"user_id": user, "memory_type": "episode"});
    let data = house.post("/api/v1/memory/get", &body).await.data();
    let ids = data["episodes"].as_array().expect("a list").iter();
    ids.map(|one| one["id"].as_str().expect("a string").to_owned())
        .collect()
}

async fn finds(house: &House, user: &str, query: &str) -> String {
    let body = json!({"user_id": user, "query": query, "include_messages": 50});
    house
        .post("/api/v1/memory/search", &body)
        .await
        .data()
        .to_string()
}

#[tokio::test]
async fn a_deleted_session_leaves_no_memory() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    house
        .remember(
            "t",
            &[("ada", "My bicycle is orange."), ("bot", "Orange, noted.")],
        )
        .await;
    // One message of the session is still in the buffer.
    house
        .post(
            "/api/v1/memory/add",
            &conversation("s", &[("ada", "And one more about sencha.")]),
        )
        .await
        .data();
    let data = house
        .post("/api/v2/memory/delete", &json!({"session_id": "s"}))
        .await
        .data();
    assert_eq!(data["filters"], json!(["session_id"]));
    assert!(
        data["count"].as_u64() > Some(0) && data["message_count"] == 5,
        "{data}"
    );
    assert!(!finds(&house, "ada", "sencha").await.contains("sencha"));
    assert!(finds(&house, "ada", "bicycle").await.contains("orange"));
    let again = house
        .post("/api/v2/memory/delete", &json!({"session_id": "s"}))
        .await
        .data();
    assert_eq!((&again["count"], &again["message_count"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn a_deleted_owner_leaves_the_memory_of_others() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    house
        .remember("b", &[("bob", "I collect sencha pots."), ("bot", "Nice pots.")])
        .await;
    let data = house
        .post("/api/v1/memory/delete", &json!({"user_id": "ada"}))
        .await
        .data();
    assert_eq!(data["filters"], json!(["user_id"]));
    assert!(!finds(&house, "ada", "sencha").await.contains("Alfama"));
    assert!(finds(&house, "bob", "sencha").await.contains("pots"));
}

#[tokio::test]
async fn deleting_an_owners_part_of_a_session_keeps_the_other_parts() {
    let house = House::new().await;
    let both = [
        ("ada", "The key is under the blue pot."),
        ("bob", "The blue pot, got it."),
    ];
    house.remember("s", &both).await;
    house.remember("t", &TEA).await;
    house
        .post(
            "/api/v1/memory/add",
            &conversation("s", &[("ada", "Moved: it is under the red pot now.")]),
        )
        .await
        .data();
    let body = json!({"session_id": "s", "user_id": "ada"});
    let data = house.post("/api/v1/memory/delete", &body).await.data();
    assert_eq!(data["filters"], json!(["user_id", "session_id"]));
    assert!(data["count"].as_u64() > Some(0), "{data}");
    let ada = finds(&house, "ada", "pot").await;
    assert!(!ada.contains("blue pot") && !ada.contains("red pot"), "{ada}");
    assert!(
        finds(&house, "ada", "sencha").await.contains("Alfama"),
        "her other session stays"
    );
    assert!(
        finds(&house, "bob", "pot").await.contains("blue pot"),
        "his memory stays"
    );
}

#[tokio::test]
async fn single_memories_are_deleted_and_unknown_ids_are_listed() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    house
        .remember(
            "a_ep_b",
            &[("ada_ep_x", "I keep bees on the roof."), ("bot", "Bees!")],
        )
        .await;
    let tea = episodes(&house, "ada").await.remove(0);
    let bees = episodes(&house, "ada_ep_x").await.remove(0);
    let body = json!({"memory_type": "episode", "memory_ids": [tea, "ada_ep_none", bees, "nobody_af_1"]});
    let data = house.post("/api/v2/memory/delete_by_ids", &body).await.data();
    assert_eq!(
        (&data["memory_type"], &data["success"]),
        (&json!("episode"), &json!(true))
    );
    assert_eq!(data["missing"], json!(["ada_ep_none", "nobody_af_1"]));
    assert!(data["count"].as_u64() >= Some(2), "{data}");
    assert!(episodes(&house, "ada").await.is_empty());
    assert!(episodes(&house, "ada_ep_x").await.is_empty());
    let facts = json!({"user_id": "ada", "memory_type": "atomic_fact"});
    assert_eq!(
        house.post("/api/v1/memory/get", &facts).await.data()["count"],
        0,
        "its facts went with it"
    );
    let again = house.post("/api/v2/memory/delete_by_ids", &body).await.data();
    assert_eq!(
        again["missing"].as_array().map(Vec::len),
        Some(4),
        "asking again is no error"
    );
}

#[tokio::test]
async fn an_edit_is_found_at_once() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let id = episodes(&house, "ada").await.remove(0);
    let body = json!({"id": id, "subject": "About coffee", "episode": "Ada now drinks espresso only."});
    let data = house.post("/api/v1/memory/edit", &body).await.data();
    assert_eq!(data, json!({"id": id, "changed": ["subject", "episode"]}));
    let list = house
        .post(
            "/api/v1/memory/get",
            &json!({"user_id": "ada", "memory_type": "episode"}),
        )
        .await
        .data();
    let episode = &list["episodes"][0];
    assert_eq!(episode["episode"], "Ada now drinks espresso only.");
    assert_eq!(episode["subject"], "About coffee");
    assert!(finds(&house, "ada", "espresso").await.contains("espresso only"));
    let files: Vec<String> = house
        .vault
        .paths()
        .iter()
        .map(|path| String::from_utf8(house.vault.bytes(path).expect("bytes")).expect("text"))
        .collect();
    assert!(files.iter().any(|file| file.contains("espresso only")));
}

#[tokio::test]
async fn an_edit_of_an_unknown_memory_is_not_found() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    for id in ["ada_ep_none", "bob_ep_1"] {
        let (status, code, message) = house
            .post("/api/v1/memory/edit", &json!({"id": id, "summary": "x"}))
            .await
            .error();
        assert_eq!((status, code.as_str()), (404, "NOT_FOUND"));
        assert_eq!(message, format!("memory `{id}` does not exist"));
    }
    let id = episodes(&house, "ada").await.remove(0);
    let as_agent = json!({"id": id, "agent_id": "ada", "summary": "x"});
    assert_eq!(
        house.post("/api/v1/memory/edit", &as_agent).await.error().0,
        404,
        "a user's is not an agent's"
    );
}

#[tokio::test]
async fn a_rebuild_restores_no_deleted_memory() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    house
        .post("/api/v1/memory/delete", &json!({"session_id": "s"}))
        .await
        .data();
    house.engine.rebuild().await.expect("rebuilt");
    assert!(!finds(&house, "ada", "sencha").await.contains("sencha"));
    let nothing: Vec<Value> = Vec::new();
    assert_eq!(episodes(&house, "ada").await.len(), nothing.len());
}

/// Ada's messages, one of them about Petra, each with its own id.
fn of_petra() -> Value {
    let said = [
        ("c1", "I live in Lisbon."),
        ("c2", "Petra's birthday is on the third of May."),
        ("c3", "My bicycle is orange."),
    ];
    let messages: Vec<Value> = (0i64..)
        .zip(said)
        .map(|(minute, (id, text))| {
            json!({"sender_id": "ada", "role": "user", "content": text, "message_id": id,
                "timestamp": crate::house::SAID + minute * 60_000})
        })
        .collect();
    json!({"session_id": "talk", "session_title": "Petra", "messages": messages, "wait": true})
}

#[tokio::test]
async fn messages_deleted_by_words_stay_out_until_a_request_accepts_them() {
    let house = House::new().await;
    let add = async |body: &Value| house.post("/api/v2/memory/add", body).await.data();
    add(&of_petra()).await;
    let flush = json!({"session_id": "talk", "wait": true});
    house.post("/api/v2/memory/flush", &flush).await.data();
    let words = json!({"user_id": "ada", "words": "PETRA"});
    let preview = house.post("/api/v2/memory/preview", &words).await.data();
    assert_eq!(preview["message_count"], 1, "{preview}");
    assert!(
        preview["messages"][0]["content"].to_string().contains("birthday"),
        "{preview}"
    );
    assert_eq!(preview["rewritten"].as_array().map(Vec::len), Some(1));
    let kept = json!({"user_id": "ada", "words": "petra", "keep": [preview["messages"][0]["id"]]});
    let nothing = house.post("/api/v2/memory/preview", &kept).await.data();
    assert_eq!(nothing["message_count"], 0, "{nothing}");
    let gone = house.post("/api/v2/memory/delete", &words).await.data();
    assert_eq!(gone["filters"], json!(["user_id", "words"]));
    for (of, in_preview) in [("count", "count"), ("message_count", "message_count")] {
        assert_eq!(gone[of], preview[in_preview], "{gone} {preview}");
    }
    assert_eq!(gone["rewritten_count"], 1);
    assert!(!finds(&house, "ada", "Petra birthday").await.contains("etra"));
    assert!(finds(&house, "ada", "bicycle").await.contains("orange"));

    let again = add(&of_petra()).await;
    assert_eq!(
        (&again["duplicates"], &again["forgotten"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(again["withheld"], json!([1]));
    assert_eq!(again["message_ids"].as_array().map(Vec::len), Some(2));
    let mut refused = of_petra();
    refused["accept_forgotten"] = json!(true);
    refused["messages"][0]["content"] = json!([{"type": "doc", "base64": "no base64!"}]);
    let refused = house.post("/api/v2/memory/add", &refused).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert_eq!(
        add(&of_petra()).await["withheld"],
        json!([1]),
        "a failed add accepts nothing"
    );
    assert!(!finds(&house, "ada", "Petra birthday").await.contains("etra"));
    let mut accepting = of_petra();
    accepting["accept_forgotten"] = json!(true);
    let back = add(&accepting).await;
    let counts = ["duplicates", "forgotten", "restored"].map(|key| &back[key]);
    assert_eq!(counts, [&json!(2), &json!(0), &json!(1)]);
    assert!(finds(&house, "ada", "Petra birthday").await.contains("Petra"));
}
