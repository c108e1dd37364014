//! mem0's dialect: requests of its clients, and the fields that they read.

use std::time::Duration;

use gateway::{Auth, GatewaySettings, Secret, Token, TokenRole};
use model::{Name, Zone};
use serde_json::{Value, json};

use crate::house::{Ask, House, Reply, get, post, scope, tokens};

fn with_method(method: &'static str, ask: Ask) -> Ask {
    Ask { method, ..ask }
}

/// The body of a success.
fn read(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.json()
}

/// The status and the message of a failure.
fn refusal(reply: &Reply) -> (u16, String) {
    let body = reply.json();
    let detail = body["detail"].as_str().expect("mem0's clients read `detail`");
    assert!(body["code"].is_string(), "{body}");
    (reply.status.as_u16(), detail.to_owned())
}

/// Adds messages, and waits until their memories are written; the event is a task.
async fn add(house: &House, body: Value) {
    let added = read(&house.post("/v3/memories/add/", &body).await);
    assert_eq!(added["status"], "PENDING", "{added}");
    house.engine.settle().await.expect("settled");
    let path = format!("/api/v2/tasks/{}", added["event_id"].as_str().expect("an id"));
    assert_eq!(read(&house.get(&path).await)["data"]["status"], "success");
}

/// The memories that pass some filters, oldest first.
async fn listed(house: &House, filters: Value) -> Vec<Value> {
    let page = house.post("/v3/memories/", &json!({"filters": filters})).await;
    let page = read(&page);
    let mut results = page["results"].as_array().expect("a list").clone();
    assert_eq!(page["count"], results.len());
    results.reverse();
    results
}

fn texts(memories: &[Value]) -> Vec<&str> {
    let texts = memories.iter().map(|memory| memory["memory"].as_str());
    texts.collect::<Option<_>>().expect("each has a text")
}

#[tokio::test]
async fn a_memory_is_added_found_changed_and_deleted() {
    let house = House::new().await;
    let said = json!([{"role": "user", "content": "I'm allergic to nuts."},
        {"role": "assistant", "content": "Noted, no nuts."}]);
    add(&house, json!({"messages": said, "user_id": "ada"})).await;

    let memories = listed(&house, json!({"user_id": "ada"})).await;
    assert_eq!(texts(&memories), ["ada says: \"I'm allergic to nuts\"."]);
    assert_eq!(memories[0]["user_id"], "ada");
    assert_eq!(memories[0]["run_id"], Value::Null);
    let query = json!({"query": "which food is dangerous? nuts?", "filters": {"user_id": "ada"}});
    let found = read(&house.post("/v3/memories/search/", &query).await);
    assert_eq!(found["results"][0]["id"], memories[0]["id"], "{found}");
    assert!(found["results"][0]["score"].as_f64() > Some(0.0), "{found}");

    let path = format!("/v1/memories/{}/", memories[0]["id"].as_str().expect("an id"));
    assert_eq!(read(&house.get(&path).await), memories[0]);
    let change = with_method(
        "PUT",
        post(&path, &json!({"text": "Ada is allergic to peanuts."})),
    );
    assert_eq!(
        read(&house.ask(change).await)["memory"],
        "Ada is allergic to peanuts."
    );
    read(&house.ask(with_method("DELETE", get(&path))).await);
    assert_eq!(refusal(&house.get(&path).await).0, 404);
    // The deleted fact's messages do not become a memory in its place.
    assert_eq!(
        listed(&house, json!({"user_id": "ada"})).await,
        Vec::<Value>::new()
    );
    assert!(
        house.ledger.everything().is_empty(),
        "{:?}",
        house.ledger.everything()
    );
}

#[tokio::test]
async fn an_episode_without_facts_is_a_memory_with_its_messages() {
    let house = House::new().await;
    let body = json!({"messages": "What time is it in Lima?", "user_id": "ada", "infer": false});
    add(&house, body).await;
    let memories = listed(&house, json!({"user_id": "ada"})).await;
    assert_eq!(texts(&memories), ["What time is it in Lima?"]);
    let query = json!({"query": "Lima", "filters": {"user_id": "ada"}});
    let found = read(&house.post("/v3/memories/search/", &query).await);
    assert_eq!(
        found["results"][0]["memory"], "What time is it in Lima?",
        "{found}"
    );
    let path = format!("/v1/memories/{}/", memories[0]["id"].as_str().expect("an id"));
    let change = post(&path, &json!({"text": "Ada asked for Lima's time."}));
    read(&house.ask(with_method("PUT", change)).await);
    assert_eq!(
        texts(&listed(&house, json!({"user_id": "ada"})).await),
        ["Ada asked for Lima's time."]
    );
    read(&house.ask(with_method("DELETE", get(&path))).await);
    assert_eq!(
        listed(&house, json!({"user_id": "ada"})).await,
        Vec::<Value>::new()
    );
}

#[tokio::test]
async fn a_repeated_add_without_times_is_stored_once_a_day() {
    let house = House::new().await;
    let said =
        |text: &str| json!([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]);
    let body = |text: &str| json!({"messages": said(text), "user_id": "ada"});
    let count = async || house.ledger.everything().len();
    add(&house, body("I'm allergic to nuts.")).await;
    let once = count().await;
    house.clock.advance(Duration::from_mins(1));
    let again = read(
        &house
            .post("/v3/memories/add/", &body("I'm allergic to nuts."))
            .await,
    );
    assert!(
        again["message"]
            .as_str()
            .expect("a text")
            .contains("stored before"),
        "{again}"
    );
    house.engine.settle().await.expect("settled");
    assert_eq!(count().await, once);
    // An add with one other message is a different add: all its messages are stored.
    add(&house, body("I live in Lima.")).await;
    assert_eq!(count().await, 2 * once);
    house.clock.advance(Duration::from_hours(24));
    add(&house, body("I'm allergic to nuts.")).await;
    assert_eq!(count().await, 3 * once, "said again on another day");
    let dated =
        |seconds: i64| json!({"messages": said("I have a dog."), "user_id": "ada", "timestamp": seconds});
    for seconds in [1_772_000_000, 1_772_000_000, 1_772_000_060] {
        add(&house, dated(seconds)).await;
    }
    assert_eq!(count().await, 5 * once, "with a time, the time tells");
}

/// A house with messages of three owners, two of them in one run.
async fn peopled() -> House {
    let house = House::new().await;
    let said =
        |text: &str| json!([{"role": "user", "content": text}, {"role": "assistant", "content": "Fine."}]);
    for (text, ids) in [
        ("I'm allergic to nuts.", json!({"user_id": "ada"})),
        (
            "I live in Lisbon.",
            json!({"user_id": "ada", "run_id": "trip", "agent_id": "guide"}),
        ),
        ("I live in Porto.", json!({"user_id": "bob", "run_id": "trip"})),
        ("I live in a server.", json!({"agent_id": "guide"})),
        ("I live in Rome.", json!({"run_id": "alone"})),
    ] {
        house.clock.advance(Duration::from_mins(1));
        let mut body = json!({"messages": said(text)});
        body["filters"] = ids;
        add(&house, body).await;
    }
    house
}

#[tokio::test]
async fn filters_choose_owners_runs_agents_and_times() {
    let house = peopled().await;
    let cases = [
        (json!({"user_id": "ada"}), vec!["nuts", "Lisbon"]),
        (
            json!({"AND": [{"user_id": "ada"}, {"run_id": "trip"}]}),
            vec!["Lisbon"],
        ),
        (json!({"user_id": "ada", "run_id": "*"}), vec!["Lisbon"]),
        (
            json!({"AND": [{"user_id": "ada"}, {"agent_id": "guide"}]}),
            vec!["Lisbon"],
        ),
        (json!({"agent_id": "guide"}), vec!["server"]),
        (json!({"run_id": "trip"}), vec!["Lisbon", "Porto"]),
        (json!({"run_id": "alone"}), vec!["Rome"]),
        (
            json!({"user_id": {"in": ["ada", "bob"]}}),
            vec!["nuts", "Lisbon", "Porto"],
        ),
        (
            json!({"OR": [{"user_id": "bob"}, {"agent_id": "guide"}]}),
            vec!["Porto", "server"],
        ),
        (
            json!({"AND": [{"user_id": "*"}, {"run_id": "trip"}]}),
            vec!["Lisbon", "Porto"],
        ),
        (json!({"AND": [{"user_id": "ada"}, {"user_id": "bob"}]}), vec![]),
        (
            json!({"user_id": "ada", "created_at": {"gt": "2100-01-01"}}),
            vec![],
        ),
    ];
    for (filters, wanted) in cases {
        let memories = listed(&house, filters.clone()).await;
        let memories = texts(&memories);
        let fit = memories.len() == wanted.len();
        let fit = fit
            && memories
                .iter()
                .zip(&wanted)
                .all(|(memory, part)| memory.contains(part));
        assert!(fit, "{filters}: {memories:?}, not {wanted:?}");
    }
}

#[tokio::test]
async fn lists_have_pages_and_an_owner_or_a_run_is_deleted_with_its_memories() {
    let house = peopled().await;
    let all = json!({"filters": {"user_id": "*"}});
    let page = read(&house.post("/v3/memories/?page=2&page_size=1", &all).await);
    let link = |page: usize| json!(format!("/v3/memories/?page={page}&page_size=1"));
    let (count, previous, next) = (&page["count"], &page["previous"], &page["next"]);
    assert_eq!((count, previous, next), (&json!(4), &link(1), &link(3)));
    assert_eq!(page["results"].as_array().map(Vec::len), Some(1));
    let past = read(&house.post("/v3/memories/?page=9&page_size=1", &all).await);
    assert_eq!((&past["results"], &past["next"]), (&json!([]), &Value::Null));
    for path in [
        "/v1/memories/?agent_id=guide",
        "/v1/memories/?run_id=alone",
        "/v1/memories/?user_id=ada&run_id=trip",
    ] {
        read(&house.ask(with_method("DELETE", get(path))).await);
    }
    let left = listed(&house, json!({"user_id": "*"})).await;
    assert_eq!(left.len(), 2, "{left:?}");
    read(
        &house
            .ask(with_method("DELETE", get("/v1/memories/?user_id=bob")))
            .await,
    );
    assert_eq!(
        listed(&house, json!({"user_id": "bob"})).await,
        Vec::<Value>::new()
    );
}

#[tokio::test]
async fn older_versions_of_mem0s_api_are_not_found() {
    let house = House::new().await;
    let said = json!({"messages": "I'm allergic to nuts.", "query": "nuts", "filters": {"user_id": "ada"}});
    for path in [
        "/v1/memories/",
        "/v1/memories/search/",
        "/v2/memories/",
        "/v2/memories/search/",
        "/v1/batch/",
        "/v1/entities/",
        "/v1/memories/ada_1/history/",
    ] {
        let (status, detail) = refusal(&house.post(path, &said).await);
        let says = [&format!("Quipu has no `POST {path}`"), "/v3/memories/add/"];
        let says = says.iter().all(|part| detail.contains(*part));
        assert!(status == 404 && says, "{path}: {status} {detail}");
    }
    assert_eq!(refusal(&house.get("/v1/memories/?user_id=ada").await).0, 404);
    // A path without mem0's final slash belongs to the model server.
    let (status, detail) = refusal(&house.get("/v1/summary").await);
    assert!(status == 422 && detail.contains("no model server"), "{detail}");
    let beside = json!({"query": "nuts", "user_id": "ada"});
    let (status, detail) = refusal(&house.post("/v3/memories/search/", &beside).await);
    assert!(
        status == 422 && detail.contains("filters: name whose memories"),
        "{detail}"
    );
    house.engine.settle().await.expect("settled");
    assert!(house.ledger.everything().is_empty(), "nothing was added");
}

#[tokio::test]
async fn a_refusal_names_mem0s_fields() {
    let house = House::new().await;
    let said = |ids: Value| {
        let mut body = json!({"messages": "Hello."});
        body.as_object_mut()
            .expect("an object")
            .extend(ids.as_object().expect("an object").clone());
        body
    };
    for (path, body, words) in [
        ("/v3/memories/add/", said(json!({})), "`user_id`"),
        (
            "/v3/memories/add/",
            said(json!({"user_id": "auth0|1"})),
            "user_id: `|` is not allowed in an id",
        ),
        (
            "/v3/memories/add/",
            said(json!({"user_id": "ada", "app_id": "shop"})),
            "app_id: this token works in",
        ),
        ("/v3/memories/", json!({}), "filters: name whose memories"),
        (
            "/v3/memories/",
            json!({"filters": {"metadata": {"a": 1}}}),
            "filters.metadata: Quipu cannot filter by",
        ),
        (
            "/v3/memories/",
            json!({"filters": {"AND": [{}]}}),
            "filters.AND.0: must be an object",
        ),
        (
            "/v3/memories/search/",
            json!({"filters": {"user_id": "ada"}}),
            "a search needs a query",
        ),
    ] {
        let (status, detail) = refusal(&house.post(path, &body).await);
        assert!(
            status == 422 && detail.contains(words),
            "{path} {body}: {status} {detail}"
        );
    }
    for path in [
        "/v1/exports/",
        "/v1/feedback/",
        "/v2/entities/user/ada/profile/",
        "/api/v1/webhooks/projects/1/",
    ] {
        assert_eq!(refusal(&house.post(path, &json!({})).await).0, 404, "{path}");
    }
    let foreign = house
        .get("/v1/memories/3c90c3cc-0d44-4b50-8888-8dd25736052a/")
        .await;
    assert_eq!(refusal(&foreign).0, 404);
    let two = house
        .ask(with_method(
            "DELETE",
            get("/v1/memories/?user_id=ada&agent_id=guide"),
        ))
        .await;
    assert_eq!(refusal(&two).0, 422);
}

/// All answers about a user's memory that a holder of this token can get.
async fn seen(house: &House, secret: &str, id: &str) -> String {
    let filters = |owner: &str| json!({"query": "dessert", "filters": {"user_id": owner}});
    let asks = [
        post("/v3/memories/", &filters("ada")),
        post("/v3/memories/", &filters("*")),
        post("/v3/memories/", &json!({"filters": {"run_id": "ada/s"}})),
        post("/v3/memories/search/", &filters("ada")),
        get(&format!("/v1/memories/{id}/")),
        with_method(
            "PUT",
            post(&format!("/v1/memories/{id}/"), &json!({"text": "changed"})),
        ),
        with_method("DELETE", get(&format!("/v1/memories/{id}/"))),
        with_method("DELETE", get("/v1/memories/?user_id=ada")),
        with_method("DELETE", get("/v1/memories/?run_id=ada/s")),
    ];
    let mut words = String::new();
    for ask in asks {
        words.push_str(
            &house
                .ask(ask.header("authorization", &format!("Token {secret}")))
                .await
                .text,
        );
    }
    words
}

#[tokio::test]
async fn a_token_of_another_tenant_or_user_reads_and_changes_nothing() {
    let of = |secret: &str, user: &str| Token {
        secret: Secret::new(secret),
        role: TokenRole::Write,
        scope: Some(scope("a")),
        user: Some(Name::parse(user).expect("a name")),
        person: false,
    };
    let mut auth: Auth = tokens().auth;
    auth.tokens.extend([of("ada", "ada"), of("bob", "bob")]);
    let settings = GatewaySettings {
        auth,
        ..GatewaySettings::default()
    };
    let house = House::with(settings, Zone::utc()).await;
    assert_eq!(refusal(&house.get("/v1/ping/").await).0, 401);
    let mine = |ask: Ask| ask.header("authorization", "Token ada");
    assert_eq!(read(&house.ask(mine(get("/v1/ping/"))).await)["project_id"], "p");
    let body = json!({"messages": "My favourite dessert is marzipan.", "user_id": "ada", "run_id": "ada/s"});
    let added = read(&house.ask(mine(post("/v3/memories/add/", &body))).await);
    house.engine.settle().await.expect("settled");
    assert_eq!(added["status"], "PENDING", "{added}");
    let all = json!({"filters": {"user_id": "*"}});
    let before = read(&house.ask(mine(post("/v3/memories/", &all))).await);
    let id = before["results"][0]["id"].as_str().expect("an id");
    for stranger in ["b", "bob"] {
        let words = seen(&house, stranger, id).await;
        assert!(!words.contains("marzipan"), "{stranger}: {words}");
    }
    assert_eq!(read(&house.ask(mine(post("/v3/memories/", &all))).await), before);
}
