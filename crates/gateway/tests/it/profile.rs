//! Profiles and upcoming events in answers.

use memory::Curate;
use model::{Entry, EntryId, EntryKind, Name, Origin, Owner, Scope, Timestamp};
use serde_json::{Value, json};

use crate::house::House;

fn ada() -> Owner {
    Owner::user(Name::parse("ada").expect("a name"))
}

fn entry(kind: EntryKind, id: &str, subject: &str, body: &str) -> Entry {
    let whose = (Scope::default(), ada());
    let time = Timestamp::from_millis(1_715_176_560_000);
    Entry {
        subject: subject.to_owned(),
        summary: "Said on 8 May 2024.".to_owned(),
        body: body.to_owned(),
        ..Entry::new(EntryId::new(id), kind, whose, time, Origin::User)
    }
}

async fn with_profile() -> House {
    let house = House::new().await;
    let mut shown = entry(
        EntryKind::Profile,
        "pf_2",
        "tea",
        "Ada keeps coming back to this: tea.",
    );
    shown.labels = vec!["trait".to_owned()];
    let mut ahead = entry(EntryKind::Foresight, "fs_1", "", "Ada flies to Rome.");
    ahead.valid_from = Some(Timestamp::from_millis(1_715_299_200_000));
    ahead.valid_until = Some(Timestamp::from_millis(1_715_472_000_000));
    let home = entry(EntryKind::Profile, "pf_1", "Home", "Ada lives in Porto.");
    let curate = Curate::new(&Scope::default(), &ada(), vec![home, shown, ahead], Vec::new());
    house.engine.curate(curate).await.expect("it is put");
    house
}

async fn get(house: &House, body: Value) -> Value {
    house.post("/api/v1/memory/get", &body).await.data()
}

#[tokio::test]
async fn a_profile_is_one_item_in_the_documented_form() {
    let house = with_profile().await;
    let body = json!({"user_id": "ada", "memory_type": "profile"});
    let data = get(&house, body.clone()).await;
    assert_eq!((&data["total_count"], &data["count"]), (&json!(1), &json!(1)));
    let profile = &data["profiles"][0];
    assert_eq!(
        profile["profile_data"],
        json!({
            "summary": "Ada lives in Porto.",
            "explicit_info": [{"category": "Home", "description": "Ada lives in Porto.", "evidence": "Said on 8 May 2024.",
                "id": "ada_pf_1", "message_ids": []}],
            "implicit_traits": [{"trait": "tea", "description": "Ada keeps coming back to this: tea.", "basis": "0 messages",
                "evidence": "Said on 8 May 2024.", "id": "ada_pf_2", "message_ids": []}],
            "profile_timestamp_ms": 1_715_176_560_000_i64,
        })
    );
    assert_eq!(
        (&profile["user_id"], &profile["score"]),
        (&json!("ada"), &Value::Null)
    );
    let mut second = body;
    second["page"] = json!(2);
    let data = get(&house, second).await;
    assert_eq!((&data["total_count"], &data["count"]), (&json!(1), &json!(0)));
    let data = get(&house, json!({"user_id": "bob", "memory_type": "profile"})).await;
    assert_eq!(data["profiles"], json!([]));
}

#[tokio::test]
async fn a_search_returns_the_whole_profile_only_on_request() {
    let house = with_profile().await;
    for included in [true, false] {
        let body = json!({"user_id": "ada", "query": "Porto tea", "include_profile": included});
        let data = house.post("/api/v1/memory/search", &body).await.data();
        let count = data["profiles"].as_array().expect("an array").len();
        assert_eq!(count, usize::from(included));
        assert_eq!((&data["facts"], &data["episodes"]), (&json!([]), &json!([])));
    }
}

#[tokio::test]
async fn an_event_is_listed_and_found_with_its_time_and_is_no_fact() {
    let house = with_profile().await;
    let listed = get(&house, json!({"user_id": "ada", "memory_type": "foresight"})).await;
    let body = json!({"user_id": "ada", "query": "Rome"});
    let found = house.post("/api/v1/memory/search", &body).await.data();
    assert_eq!((&listed["facts"], &found["facts"]), (&json!([]), &json!([])));
    for data in [&listed, &found] {
        let item = &data["foresights"][0];
        assert_eq!(item["content"], "Ada flies to Rome.");
        assert_eq!(item["start_time"], "2024-05-10T00:00:00Z");
        assert_eq!(
            (&item["end_time"], &item["duration_days"]),
            (&json!("2024-05-12T00:00:00Z"), &json!(2))
        );
    }
    assert!(found["foresights"][0]["score"].is_number() && listed["foresights"][0].get("score").is_none());
}

#[tokio::test]
async fn each_profile_operation_has_its_own_result() {
    let house = with_profile().await;
    let data = |category: &str, text: &str| json!({"category": category, "description": text});
    let operations = json!([
        {"action": "add", "type": "explicit_info", "data": data("Boat", "Ada sails a yawl.")},
        {"action": "update", "type": "explicit_info", "item_id": "ada_pf_1", "data": {"description": "Ada lives in Faro."}},
        {"action": "delete", "type": "implicit_traits", "item_id": "ada_pf_2"},
        {"action": "delete", "type": "explicit_info", "item_id": "ada_pf_9"},
        {"action": "add", "type": "explicit_info", "data": {"category": "Boat"}},
    ]);
    let body = json!({"user_id": "ada", "memory_type": "profile", "operations": operations});
    let edited = house.post("/api/v2/memory/edit", &body).await.data();
    let results = edited["results"].as_array().expect("a list");
    let status: Vec<&str> = results.iter().filter_map(|one| one["status"].as_str()).collect();
    assert_eq!(status, ["applied", "applied", "applied", "rejected", "rejected"]);
    assert_eq!(edited["applied"], 3);
    assert_eq!(results[4]["error"], "data.description: this field is required");
    let listed = get(&house, json!({"user_id": "ada", "memory_type": "profile"})).await;
    let profile = &listed["profiles"][0]["profile_data"];
    assert_eq!(&edited["profile"], profile);
    let mut texts: Vec<&str> = profile["explicit_info"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["description"].as_str())
        .collect();
    texts.sort_unstable();
    assert_eq!(texts, ["Ada lives in Faro.", "Ada sails a yawl."]);
    assert_eq!(profile["implicit_traits"], json!([]));
    let mut facts = body;
    facts["memory_type"] = json!("episode");
    assert_eq!(house.post("/api/v2/memory/edit", &facts).await.error().0, 422);
}
