//! Searches and listings.

use gateway::GatewaySettings;
use model::Zone;
use serde_json::{Value, json};

use crate::house::{House, TEA};

const ARRAYS: [&str; 5] = [
    "episodes",
    "profiles",
    "agent_cases",
    "agent_skills",
    "unprocessed_messages",
];

async fn search(house: &House, changes: Value) -> Value {
    let mut body = json!({"user_id": "ada", "query": "green tea"});
    for (key, value) in changes.as_object().expect("an object") {
        body[key] = value.clone();
    }
    house.post("/api/v2/memory/search", &body).await.data()
}

fn list<'a>(data: &'a Value, key: &str) -> &'a Vec<Value> {
    data[key].as_array().unwrap_or_else(|| panic!("{key} in {data}"))
}

#[tokio::test]
async fn a_search_without_memory_has_empty_arrays() {
    let house = House::new().await;
    for method in ["keyword", "vector", "hybrid"] {
        let data = search(&house, json!({"method": method})).await;
        for array in ARRAYS.iter().chain(&["facts", "messages"]) {
            assert!(list(&data, array).is_empty());
        }
    }
    let body = json!({"agent_id": "bot", "query": "tea"});
    let data = house.post("/api/v1/memory/search", &body).await.data();
    assert!(list(&data, "episodes").is_empty());
}

#[tokio::test]
async fn an_episode_has_the_documented_fields() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let data = search(&house, json!({})).await;
    let episode = &list(&data, "episodes")[0];
    let keys: Vec<&String> = episode.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "id", "user_id", "app_id", "project_id", "session_id", "timestamp", "sender_ids", "summary",
            "subject", "episode", "type", "score", "atomic_facts", "message_ids", "path",
        ]
    );
    assert!(episode["id"].as_str().expect("a string").starts_with("ada_ep_"));
    assert_eq!(episode["type"], "Conversation");
    assert_eq!(
        (&episode["user_id"], &episode["session_id"]),
        (&json!("ada"), &json!("s"))
    );
    assert_eq!(episode["timestamp"], "2024-05-08T13:59:00Z");
    assert_eq!(list(episode, "message_ids").len(), 4);
    let score = episode["score"].as_f64().expect("a number");
    assert!(score > 0.0 && score <= 1.0);
}

#[tokio::test]
async fn facts_are_listed_alone_and_under_their_episode() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let data = search(&house, json!({"query": "sencha Alfama"})).await;
    let facts = list(&data, "facts");
    assert!(!facts.is_empty(), "{data}");
    for fact in facts {
        assert!(fact["id"].as_str().expect("a string").starts_with("ada_af_"));
        assert!(
            fact["episode_id"]
                .as_str()
                .expect("a string")
                .starts_with("ada_ep_")
        );
        assert!(!list(fact, "message_ids").is_empty());
        for episode in list(&data, "episodes")
            .iter()
            .filter(|episode| episode["id"] == fact["episode_id"])
        {
            let nested = list(episode, "atomic_facts");
            assert!(nested.iter().any(|nested| nested == fact), "{fact} in {nested:?}");
        }
    }
    let scores: Vec<f64> = facts.iter().filter_map(|fact| fact["score"].as_f64()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}

#[tokio::test]
async fn messages_come_only_when_asked_for() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    assert!(list(&search(&house, json!({})).await, "messages").is_empty());
    let data = search(&house, json!({"include_messages": 2})).await;
    let messages = list(&data, "messages");
    assert!(!messages.is_empty() && messages.len() <= 2, "{data}");
    let message = &messages[0];
    let keys: Vec<&String> = message.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "id", "session_id", "sender_id", "sender_name", "role", "content", "timestamp", "score",
            "episode_id",
        ]
    );
    assert!(TEA.iter().any(|(_, text)| message["content"] == *text));
    let told = &list(&data, "episodes")[0];
    assert_eq!(message["episode_id"], told["id"]);
    assert!(list(told, "message_ids").contains(&message["id"]));
}

#[tokio::test]
async fn an_acknowledged_message_is_found_before_extraction() {
    let house = House::new().await;
    house
        .post("/api/v1/memory/add", &crate::house::conversation("s", &TEA))
        .await
        .data();
    let data = search(&house, json!({"query": "sencha", "include_messages": 10})).await;
    let first = &list(&data, "messages")[0];
    assert!(
        first["content"].as_str().expect("a string").contains("sencha"),
        "{data}"
    );
    assert_eq!(first["episode_id"], Value::Null);
    assert!(
        list(&data, "unprocessed_messages").is_empty(),
        "no session was named"
    );
    let data = search(&house, json!({"filters": {"session_id": "s"}})).await;
    assert_eq!(list(&data, "unprocessed_messages").len(), 4);
}

#[tokio::test]
async fn explain_adds_reasons_only_on_request() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let plain = search(&house, json!({"include_messages": 5})).await;
    assert!(!plain.to_string().contains("explain"));
    let data = search(&house, json!({"include_messages": 5, "explain": true})).await;
    for array in ["episodes", "facts", "messages"] {
        for hit in list(&data, array) {
            let keys: Vec<&String> = hit["explain"].as_object().expect("an object").keys().collect();
            assert_eq!(
                keys,
                [
                    "keyword", "vector", "time", "freshness", "session", "neighbours", "terms"
                ]
            );
        }
    }
    let terms = list(&data, "messages")
        .iter()
        .flat_map(|hit| list(&hit["explain"], "terms"));
    assert!(
        terms.clone().any(|term| term == "tea" || term == "green"),
        "{:?}",
        terms.collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn filters_reach_the_search_and_the_listing() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    house
        .remember(
            "t",
            &[
                ("ada", "I also like green tea with mint."),
                ("bot", "Mint is fresh."),
            ],
        )
        .await;
    for (filters, want) in [
        (json!({"session_id": "s"}), vec!["s"]),
        (
            json!({"OR": [{"session_id": "s"}, {"session_id": "t"}]}),
            vec!["s", "t"],
        ),
        (json!({"timestamp": {"lt": "2020-01-01T00:00:00Z"}}), vec![]),
        (
            json!({"sender_id": {"in": ["ada"]}, "parent_type": "memcell"}),
            vec!["s", "t"],
        ),
        (json!({}), vec!["s", "t"]),
    ] {
        for path in ["/api/v1/memory/search", "/api/v1/memory/get"] {
            let mut body = json!({"user_id": "ada", "filters": filters});
            if path.ends_with("search") {
                body["query"] = json!("green tea");
            } else {
                body["memory_type"] = json!("episode");
            }
            let data = house.post(path, &body).await.data();
            let mut sessions: Vec<&str> = list(&data, "episodes")
                .iter()
                .filter_map(|episode| episode["session_id"].as_str())
                .collect();
            sessions.sort_unstable();
            assert_eq!(sessions, want, "{path} {filters}");
        }
    }
}

#[tokio::test]
async fn a_search_respects_top_k_and_min_score() {
    let house = House::new().await;
    for session in ["a", "b", "c"] {
        house.remember(session, &TEA).await;
    }
    let data = search(&house, json!({"top_k": 1})).await;
    assert_eq!(
        list(&data, "episodes").len()
            + list(&data, "facts")
                .iter()
                .filter(|fact| {
                    !list(&data, "episodes")
                        .iter()
                        .any(|episode| episode["id"] == fact["episode_id"])
                })
                .count(),
        1,
        "{data}"
    );
    let all = search(&house, json!({"top_k": -1})).await;
    assert_eq!(list(&all, "episodes").len(), 3);
    assert!(list(&search(&house, json!({"min_score": 1.0})).await, "episodes").is_empty());
    assert!(list(&search(&house, json!({"radius": 1.0})).await, "episodes").is_empty());
}

#[tokio::test]
async fn a_requested_but_missing_reranker_is_a_warning() {
    let house = House::new().await;
    house.remember("s", &[("ada", "I like tea.")]).await;
    for (wish, count) in [(json!(null), 0), (json!(false), 0), (json!(true), 1)] {
        let found = search(&house, json!({"enable_llm_rerank": wish, "explain": true})).await;
        assert_eq!(list(&found, "warnings").len(), count, "{found}");
        assert!(
            list(&found, "episodes")[0]["explain"].get("rerank").is_none(),
            "{found}"
        );
    }
}

#[tokio::test]
async fn a_method_that_needs_a_chat_model_is_refused_without_one() {
    let house = House::new().await;
    for method in ["agentic", "llm_multiround"] {
        for owner in ["user_id", "agent_id"] {
            let body = json!({owner: "ada", "query": "tea", "method": method});
            let (status, code, message) = house.post("/api/v1/memory/search", &body).await.error();
            assert_eq!((status, code.as_str()), (422, "PROVIDER_NOT_CONFIGURED"));
            assert!(
                message.contains(method) && message.contains("hybrid"),
                "{message}"
            );
        }
    }
}

#[tokio::test]
async fn without_the_embedding_model_the_search_uses_keywords_and_reports_it() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    assert_eq!(search(&house, json!({})).await["method"], "hybrid");
    house.embedder.set_failing(true);
    let data = search(&house, json!({})).await;
    assert_eq!(data["method"], "keyword");
    assert_eq!(list(&data, "episodes").len(), 1);
}

#[tokio::test]
async fn instants_are_shown_in_the_display_zone() {
    let zone = Zone::named("Asia/Tokyo").expect("a zone");
    let house = House::with(GatewaySettings::default(), zone).await;
    house.remember("s", &TEA).await;
    let data = search(&house, json!({"include_messages": 5})).await;
    for array in ["episodes", "facts", "messages"] {
        for hit in list(&data, array) {
            let at = hit["timestamp"].as_str().expect("a string");
            assert!(at.starts_with("2024-05-08T22:") && at.ends_with("+09:00"), "{at}");
        }
    }
    let reply = house.get("/nowhere").await;
    assert!(
        reply.json()["error"]["timestamp"]
            .as_str()
            .expect("a string")
            .ends_with("+09:00")
    );
}

#[tokio::test]
async fn a_listing_has_pages() {
    let house = House::new().await;
    for session in ["a", "b", "c"] {
        house.remember(session, &TEA).await;
    }
    let page = async |page: u32, order: &str| {
        let body = json!({"user_id": "ada", "memory_type": "episode", "page": page, "page_size": 2, "sort_order": order});
        house.post("/api/v1/memory/get", &body).await.data()
    };
    let first = page(1, "desc").await;
    assert_eq!((&first["total_count"], &first["count"]), (&json!(3), &json!(2)));
    let second = page(2, "desc").await;
    assert_eq!((&second["total_count"], &second["count"]), (&json!(3), &json!(1)));
    assert_eq!(page(3, "desc").await["count"], 0);
    assert_eq!(page(1_000_000, "asc").await["count"], 0);
    let ids = |data: &Value| -> Vec<Value> {
        list(data, "episodes")
            .iter()
            .map(|one| one["id"].clone())
            .collect()
    };
    let mut seen = [ids(&first), ids(&second)].concat();
    seen.sort_by_key(ToString::to_string);
    seen.dedup();
    assert_eq!(seen.len(), 3);
    let keys: Vec<&String> = list(&first, "episodes")[0]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(
        keys,
        [
            "id", "user_id", "app_id", "project_id", "session_id", "timestamp", "sender_ids", "summary",
            "subject", "episode", "type", "message_ids", "path",
        ]
    );
    for array in ["profiles", "agent_cases", "agent_skills", "facts"] {
        assert!(list(&first, array).is_empty());
    }
}

#[tokio::test]
async fn every_kind_can_be_listed() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let body = json!({"user_id": "ada", "memory_type": "atomic_fact", "sort_by": "updated_at"});
    let data = house.post("/api/v1/memory/get", &body).await.data();
    assert_eq!(data["count"], list(&data, "facts").len());
    assert!(!list(&data, "facts").is_empty());
    assert!(list(&data, "episodes").is_empty());
    for (owner, kind) in [
        ("user_id", "profile"),
        ("agent_id", "agent_case"),
        ("agent_id", "agent_skill"),
    ] {
        let data = house
            .post("/api/v1/memory/get", &json!({owner: "ada", "memory_type": kind}))
            .await
            .data();
        assert_eq!((&data["total_count"], &data["count"]), (&json!(0), &json!(0)));
        for array in ["episodes", "profiles", "agent_cases", "agent_skills"] {
            assert!(list(&data, array).is_empty());
        }
    }
}

#[tokio::test]
async fn an_episode_that_a_person_wrote_can_be_listed() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let path = house
        .vault
        .paths()
        .into_iter()
        .find(|path| path.contains("episode"))
        .expect("a file");
    let mut text = String::from_utf8(house.vault.bytes(&path).expect("bytes")).expect("text");
    text.push_str(
        "\n## By hand {#ep_by_hand}\n- time: 2024-05-08T20:00:00Z\n\nAda bought a kettle.\n\n<!-- end -->\n",
    );
    house.vault.write(&path, text);
    house.engine.sync().await.expect("synced");
    let body = json!({"user_id": "ada", "memory_type": "episode"});
    let data = house.post("/api/v1/memory/get", &body).await.data();
    assert_eq!(data["count"], 2, "{data}");
    let by_hand = &list(&data, "episodes")[0];
    assert_eq!(
        (&by_hand["id"], &by_hand["session_id"]),
        (&json!("ada_ep_by_hand"), &Value::Null)
    );
    let data = search(&house, json!({"query": "kettle"})).await;
    assert_eq!(list(&data, "episodes")[0]["id"], "ada_ep_by_hand");
}
