//! Export and import of a user's memory into another house: known messages, and forgotten ones.

use gateway::{Auth, GatewaySettings, Secret, Token, TokenRole};
use model::{Name, Scope, Zone};
use serde_json::{Value, json};

use crate::house::{House, conversation, get, post};

const SAID: [(&str, &str); 4] = [
    ("ada", "I live in Porto and drink tea."),
    ("bot", "Porto is lovely."),
    ("ada", "My neighbour Dario plays the tuba."),
    ("ada", "I keep bees on the roof."),
];

/// An add in which every message has the client's own id.
fn sent(session: &str) -> Value {
    let mut body = conversation(session, &SAID);
    let messages = body["messages"].as_array_mut().expect("messages").iter_mut();
    for (at, message) in messages.enumerate() {
        message["message_id"] = json!(format!("client-{at}"));
    }
    body
}

async fn add(house: &House, body: &Value) -> (Value, Value) {
    let added = house.post("/api/v2/memory/add", body).await.data();
    (added["duplicates"].clone(), added["forgotten"].clone())
}

async fn flush(house: &House, session: &str) -> Value {
    let flush = json!({"session_id": session, "wait": true});
    house.post("/api/v2/memory/flush", &flush).await.data()["status"].clone()
}

async fn forget(house: &House, words: &str) {
    let words = json!({"user_id": "ada", "words": words});
    house.post("/api/v2/memory/delete", &words).await.data();
}

async fn export(house: &House) -> String {
    house.get("/api/v2/memory/export?user_id=ada").await.text
}

async fn import(house: &House, text: &str) -> Value {
    let import = post("/api/v2/memory/import", &Value::Null).bytes(text);
    let import = import.header("content-type", "application/jsonl");
    house.ask(import).await.data()
}

/// A house in which Ada has forgotten Dario, with one written and one open session.
async fn after_forgetting() -> House {
    let house = House::new().await;
    for session in ["s", "open"] {
        assert_eq!(add(&house, &sent(session)).await, (json!(0), json!(0)));
    }
    flush(&house, "s").await;
    forget(&house, "Dario").await;
    house
}

#[tokio::test]
async fn an_import_stores_messages_once_and_keeps_forgotten_ones_out() {
    let (here, there) = (after_forgetting().await, House::new().await);
    let text = export(&here).await;
    assert!(!text.contains("Dario") && text.contains("client-1"), "{text}");
    let first = import(&there, &text).await;
    assert_eq!(
        (&first["new_memories"], &first["new_messages"]),
        (&first["memories"], &json!(3))
    );
    assert_eq!(export(&there).await, text);
    let again = import(&there, &text).await;
    assert_eq!(
        (&again["new_memories"], &again["new_messages"]),
        (&json!(0), &json!(0))
    );
    for session in ["s", "open"] {
        assert_eq!(
            add(&there, &sent(session)).await,
            (json!(4), json!(1)),
            "{session}"
        );
    }
    assert_eq!(flush(&there, "s").await, "no_extraction");
    assert!(!export(&there).await.contains("Dario"));
    // Both houses keep the message out, until a request accepts it.
    forget(&there, "Porto").await;
    assert_eq!(add(&there, &sent("s")).await, (json!(4), json!(3)));
    let mut wanted = sent("s");
    wanted["accept_forgotten"] = true.into();
    assert_eq!(add(&there, &wanted).await, (json!(1), json!(0)));
    assert!(export(&there).await.contains("Dario"));
}

#[tokio::test]
async fn lines_of_older_exports_are_read_and_invalid_lines_refused_by_number() {
    let (here, there) = (after_forgetting().await, House::new().await);
    let text = export(&here).await;
    let of_before = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("json");
        line.as_object_mut().expect("an object").remove("client_id");
        let messages = line.get_mut("messages").and_then(Value::as_array_mut);
        for message in messages.into_iter().flatten() {
            message.as_object_mut().expect("an object").remove("client_id");
        }
        (line["type"] != "forgotten").then(|| line.to_string() + "\n")
    };
    let old: String = text.lines().filter_map(of_before).collect();
    assert!(!old.contains("client"), "{old}");
    let taken = import(&there, &old).await;
    assert_eq!(taken["new_memories"], taken["memories"]);
    let head = text.lines().next().expect("a line");
    let wrong = format!("{head}\n{{\"type\":\"forgotten\",\"digests\":[\"Dario\"]}}\n");
    let import = post("/api/v2/memory/import", &Value::Null).bytes(wrong);
    let import = import.header("content-type", "application/jsonl");
    let (status, _, message) = there.ask(import).await.error();
    assert_eq!(
        (status, message.as_str()),
        (422, "line 2: a digest has 64 hex digits")
    );
}

#[tokio::test]
async fn a_users_token_exports_no_digests_of_others() {
    let token = |secret: &str, role, user: Option<&str>| Token {
        secret: Secret::new(secret),
        role,
        scope: user.map(|_| Scope::default()),
        user: user.map(|user| Name::parse(user).expect("a name")),
        person: false,
    };
    let auth = Auth {
        tokens: vec![
            token("root", TokenRole::Admin, None),
            token("ada", TokenRole::Write, Some("ada")),
        ],
        ..Auth::default()
    };
    let settings = GatewaySettings {
        auth,
        ..GatewaySettings::default()
    };
    let house = House::with(settings, Zone::utc()).await;
    let as_root = async |path: &str, body: &Value| house.ask(post(path, body).token("root")).await.data();
    as_root("/api/v2/memory/add", &sent("s")).await;
    let words = json!({"user_id": "ada", "words": "Dario"});
    as_root("/api/v2/memory/delete", &words).await;
    let exported = async |secret: &str| {
        let export = get("/api/v2/memory/export?user_id=ada").token(secret);
        house.ask(export).await.text
    };
    let digests = "{\"type\":\"forgotten\",\"digests\":[\"";
    assert!(exported("root").await.contains(digests));
    let own = exported("ada").await;
    assert!(own.contains("client-0") && !own.contains(digests), "{own}");
}
