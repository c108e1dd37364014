//! Facts about a person in other projects, as a token of one project sees them.

use gateway::{Auth, GatewaySettings, Secret, Token, TokenRole};
use model::{Name, Scope, Zone};
use serde_json::{Value, json};

use crate::house::{House, conversation, post};

fn token(secret: &str, project: Option<&str>, person: bool) -> Token {
    let name = |text: &str| Name::parse(text).expect("a name");
    Token {
        secret: Secret::new(secret),
        role: TokenRole::Write,
        scope: project.map(|project| Scope::new(name("default"), name(project))),
        user: project.map(|_| name("ada")),
        person,
    }
}

#[tokio::test]
async fn only_a_project_token_with_person_sees_facts_from_other_projects() {
    let mut root = token("root", None, false);
    root.role = TokenRole::Admin;
    let auth = Auth {
        tokens: vec![
            root,
            token("site", Some("site"), false),
            token("trusted", Some("site"), true),
        ],
        ..Auth::default()
    };
    let settings = GatewaySettings {
        auth,
        ..GatewaySettings::default()
    };
    let house = House::with(settings, Zone::utc()).await;
    let mut add = conversation(
        "ada/notes",
        &[("ada", "I live in Lisbon. Mind the copper wrench.")],
    );
    add["project_id"] = "shop".into();
    house
        .ask(post("/api/v2/memory/add", &add).token("root"))
        .await
        .data();
    let flush = json!({"session_id": "ada/notes", "project_id": "shop", "wait": true});
    house
        .ask(post("/api/v2/memory/flush", &flush).token("root"))
        .await
        .data();

    let query = json!({"user_id": "ada", "query": "Where does Ada live?", "include_person": true,
        "include_messages": 5, "min_score": 0.0});
    let context = json!({"user_id": "ada", "query": "Where does Ada live?", "include_person": true});
    for (path, body) in [
        ("/api/v2/memory/search", &query),
        ("/api/v2/memory/context", &context),
    ] {
        let said = async |secret: &str, body: &Value| house.ask(post(path, body).token(secret)).await.text;
        assert!(!said("site", body).await.contains("Lisbon"), "{path}");
        let trusted = said("trusted", body).await;
        assert!(
            trusted.contains("Lisbon") && !trusted.contains("wrench"),
            "{path}: {trusted}"
        );
        let mut unasked = body.clone();
        unasked["include_person"] = false.into();
        assert!(!said("trusted", &unasked).await.contains("Lisbon"), "{path}");
    }
}
