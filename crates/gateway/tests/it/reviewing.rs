//! Statements believed of a person, over HTTP: listed in pages, and answered by the person.

use serde_json::{Value, json};

use crate::house::{House, TEA};

async fn review(house: &House, more: &Value) -> Value {
    let mut ask = json!({"user_id": "ada"});
    let fields = more.as_object().expect("fields").clone();
    ask.as_object_mut().expect("fields").extend(fields);
    house.post("/api/v2/memory/review", &ask).await.data()
}

#[tokio::test]
async fn a_statement_is_listed_with_its_source_and_answered() {
    let house = House::new().await;
    house.remember("tea", &TEA).await;
    let all = review(&house, &json!({})).await;
    let first = &all["statements"][0];
    assert_eq!(first["belief"], "fact", "{all}");
    assert_eq!(first["session_id"], "tea");
    assert!(first["message_ids"][0].is_string() && first["timestamp"].is_string());
    assert_eq!(all["total_count"], all["open_count"]);
    let one = review(&house, &json!({"skip": 1, "limit": 1})).await;
    assert_eq!(one["statements"][0], all["statements"][1]);

    let answer = |verdict: &str| json!({"user_id": "ada", "id": first["id"], "verdict": verdict});
    let kept = house.post("/api/v2/memory/answer", &answer("keep")).await.data();
    assert_eq!(
        kept,
        json!({"facts": 1, "statements": [first["text"]], "derived": 0})
    );
    let after = review(&house, &json!({})).await;
    let open = |data: &Value| data["open_count"].as_u64().expect("a number");
    assert_eq!(open(&after) + 1, open(&all));
    house.post("/api/v2/memory/answer", &answer("wrong")).await.data();
    let again = house.post("/api/v2/memory/answer", &answer("wrong")).await.data();
    assert_eq!(again, json!({"facts": 0, "statements": [], "derived": 0}));
    let unknown = json!({"user_id": "ada", "id": "ada_af_0", "verdict": "wrong"});
    let unknown = house.post("/api/v2/memory/answer", &unknown).await.error();
    assert!(unknown.0 == 404 && unknown.2.contains("af_0"), "{unknown:?}");
    let search = json!({"user_id": "ada", "query": first["text"]});
    let found = house.post("/api/v2/memory/search", &search).await.data();
    assert!(
        !found["facts"]
            .to_string()
            .contains(first["id"].as_str().expect("an id")),
        "{found}"
    );
}

#[tokio::test]
async fn an_answer_about_an_episode_is_refused_with_the_command_to_delete_it() {
    let house = House::new().await;
    house.remember("tea", &TEA).await;
    let list = json!({"user_id": "ada", "memory_type": "episode"});
    let listed = house.post("/api/v2/memory/get", &list).await.data();
    let id = listed["episodes"][0]["id"].as_str().expect("an id");
    let answer = json!({"user_id": "ada", "id": id, "verdict": "wrong"});
    let (status, _, words) = house.post("/api/v2/memory/answer", &answer).await.error();
    let bare = id.trim_start_matches("ada_");
    assert_eq!(status, 422, "{words}");
    let command = format!("`quipu forget {bare} --user ada`");
    assert!(words.contains(&command), "{words}");
    let forget = json!({"user_id": "ada", "ids": [id]});
    let gone = house.post("/api/v2/memory/delete_by_ids", &forget).await.data();
    assert!(gone["count"].as_u64() > Some(0), "{gone}");
}

#[tokio::test]
async fn an_invalid_review_request_is_refused_with_its_field() {
    let house = House::new().await;
    let answer = json!({"user_id": "ada", "id": "ada_af_1", "verdict": "perhaps"});
    let (status, _, words) = house.post("/api/v2/memory/answer", &answer).await.error();
    assert!(
        status == 422 && words.contains("verdict") && words.contains("keep"),
        "{words}"
    );
    let answer = json!({"user_id": "ada", "id": "bob_af_1", "verdict": "keep"});
    let (status, _, words) = house.post("/api/v2/memory/answer", &answer).await.error();
    assert!(status == 422 && words.contains("ada"), "{words}");
    let (status, _, words) = house
        .post("/api/v2/memory/review", &json!({"user_id": "ada", "limit": 0}))
        .await
        .error();
    assert!(status == 422 && words.contains("limit"), "{words}");
}
