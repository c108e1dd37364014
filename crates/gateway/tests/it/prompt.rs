//! Text for a prompt: for a message, and for the beginning of a session.

use memory::ReplacePage;
use model::{Name, Owner, Page, Scope, Zone};
use serde_json::{Value, json};

use crate::house::{House, TEA, conversation};

fn list<'a>(data: &'a Value, key: &str) -> &'a Vec<Value> {
    data[key].as_array().unwrap_or_else(|| panic!("{key} in {data}"))
}

async fn context(house: &House, query: &str, changes: Value) -> Value {
    let mut body = json!({"user_id": "ada", "query": query});
    for (key, value) in changes.as_object().expect("an object") {
        body[key] = value.clone();
    }
    house.post("/api/v2/memory/context", &body).await.data()
}

#[tokio::test]
async fn a_context_is_text_for_a_prompt_without_the_current_session() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    house
        .remember(
            "now",
            &[("ada", "My favourite tea house is by the river in Porto.")],
        )
        .await;
    let question = "What is my favourite tea?";
    let told = context(&house, question, json!({"session_id": "now"})).await;
    let text = told["context"].as_str().expect("text");
    assert!(
        text.starts_with("<quipu-memory") && text.ends_with("</quipu-memory>"),
        "{text}"
    );
    assert!(
        text.contains(", user: My favourite is sencha from a small shop in Alfama."),
        "{text}"
    );
    assert!(!text.contains("Porto"), "{text}");
    assert!(
        told["tokens"]
            .as_u64()
            .is_some_and(|tokens| (10..=350).contains(&tokens)),
        "{told}"
    );
    let search = json!({"user_id": "ada", "query": question, "include_messages": 9});
    let found = house.post("/api/v2/memory/search", &search).await.data();
    let messages: Vec<&Value> = list(&found, "messages")
        .iter()
        .map(|message| &message["id"])
        .collect();
    assert!(
        messages.contains(&&list(&told, "memory_ids")[0]),
        "{told} {messages:?}"
    );
    assert!(
        context(&house, question, json!({})).await["context"]
            .to_string()
            .contains("Porto")
    );
}

#[tokio::test]
async fn a_context_is_empty_for_an_unrelated_turn_and_within_max_tokens() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    for turn in ["thanks!", "Write a haiku about fog."] {
        let told = context(&house, turn, json!({})).await;
        assert_eq!(
            told,
            json!({"context": "", "memory_ids": [], "tokens": 0}),
            "{turn}"
        );
    }
    let short = context(&house, "What is my favourite tea?", json!({"max_tokens": 60})).await;
    assert!(
        short["tokens"].as_u64().is_some_and(|tokens| tokens <= 60),
        "{short}"
    );
    for (key, value) in [
        ("max_tokens", json!(0)),
        ("max_tokens", json!(9_000)),
        ("query", json!(" ")),
    ] {
        let mut body = json!({"user_id": "ada", "query": "tea"});
        body[key] = value;
        assert_eq!(
            house.post("/api/v2/memory/context", &body).await.error().0,
            422,
            "{key}"
        );
    }
}

#[tokio::test]
async fn a_context_leaves_out_known_memories() {
    let house = House::new().await;
    house.remember("s", &TEA).await;
    let question = "What is my favourite tea?";
    let told = context(&house, question, json!({})).await;
    let ids = list(&told, "memory_ids").clone();
    assert!(!ids.is_empty(), "{told}");
    let again = context(&house, question, json!({"known_ids": ids})).await;
    assert!(!again["context"].to_string().contains("sencha"), "{again}");
    let many = json!({"user_id": "ada", "query": question, "known_ids": vec!["m"; 1_001]});
    assert_eq!(house.post("/api/v2/memory/context", &many).await.error().0, 422);
}

#[tokio::test]
async fn a_session_opens_with_core_memory_and_the_latest_episodes() {
    let house = House::new().await;
    let opening = json!({"user_id": "ada"});
    let told = house.post("/api/v2/memory/context", &opening).await.data();
    assert_eq!(told, json!({"context": "", "memory_ids": [], "tokens": 0}));
    let told = [
        "I bought a kettle.",
        "I moved to Porto.",
        "I sold my boat Marula.",
        "I adopted a parrot named Kiko.",
    ];
    for (day, said) in told.into_iter().enumerate() {
        let at = format!("2024-05-{:02}T10:00:00Z", day + 1);
        let mut said = conversation(&format!("s{day}"), &[("ada", said)]);
        said["messages"][0]["timestamp"] = json!(Zone::utc().parse(&at).expect("a time").millis());
        house.post("/api/v2/memory/add", &said).await.data();
        let flush = json!({"session_id": said["session_id"], "wait": true});
        house.post("/api/v2/memory/flush", &flush).await.data();
    }
    let page = ReplacePage {
        scope: Scope::default(),
        owner: Owner::user(Name::parse("ada").expect("a name")),
        page: Page::User,
        before: None,
        text: "Ada drinks no coffee.\n".to_owned(),
    };
    assert!(house.engine.replace_page(page).await.expect("it writes"));
    let told = house.post("/api/v2/memory/context", &opening).await.data();
    let text = told["context"].as_str().expect("text");
    assert!(
        text.starts_with("<quipu-memory ") && text.ends_with("</quipu-memory>"),
        "{text}"
    );
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(
        place("no coffee") < place("Kiko") && place("Kiko") < place("Marula"),
        "{text}"
    );
    assert!(
        text.contains("Porto") && !text.contains("kettle"),
        "three of four: {text}"
    );
    assert_eq!(
        list(&told, "memory_ids").len(),
        3,
        "core memory has no id: {told}"
    );
    let short = json!({"user_id": "ada", "max_tokens": 60});
    let short = house.post("/api/v2/memory/context", &short).await.data();
    assert!(
        short["tokens"].as_u64().is_some_and(|tokens| tokens <= 60),
        "{short}"
    );
    assert!(short["context"].to_string().contains("no coffee"), "{short}");
}
