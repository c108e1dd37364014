//! Documents: stored, found, changed and deleted, within one tenant.

use model::Zone;
use serde_json::{Value, json};

use crate::house::{House, Reply, get, post, tokens};
use crate::library::{DOCUMENTS, SEARCH, at, delete, form, patch, text, with_fields};

const GUIDE: &str = "# Guide\n\nHow the samovar is used.\n\n## Install\n\nPut the samovar on a table. \
    Fill it with water from the well. Light the charcoal in the pipe and wait until it hums softly, \
    for half an hour or so, while nobody touches it at all.\n\n## Clean\n\nVinegar takes the limescale off. \
    Rinse the kettle three times with cold water afterwards and let it dry upside down over night, or it \
    will taste of salad for a week.\n";

async fn search(house: &House, query: &str, more: Value) -> Vec<Value> {
    let mut body = json!({"query": query, "include_content": true});
    for (key, value) in more.as_object().into_iter().flatten() {
        body[key] = value.clone();
    }
    let data = house.post(SEARCH, &body).await.data();
    data["hits"].as_array().expect("hits").clone()
}

#[tokio::test]
async fn an_acknowledged_document_is_stored_and_listed() {
    let house = House::new().await;
    let stored = house
        .store("guide.md", GUIDE.as_bytes(), &[("source_type", "manual")])
        .await;
    let id = text(&stored, "doc_id");
    assert_eq!(stored["topic_count"], 3);
    assert_eq!(
        text(&stored, "md_path"),
        format!("default/default/libraries/default/topics/{id}.md")
    );
    let original = text(&stored, "original_file_path");
    assert_eq!(house.vault.bytes(original).expect("it is kept"), GUIDE.as_bytes());
    let document = house.get(&at(id)).await.data();
    let told = ["title", "source_name", "source_type", "original_file_path"].map(|key| text(&document, key));
    assert_eq!(told, ["Guide", "guide.md", "manual", original]);
    let topics = document["topics"].as_array().expect("topics");
    let paths: Vec<&str> = topics.iter().map(|topic| text(topic, "topic_path")).collect();
    assert_eq!(paths, ["Guide", "Guide > Install", "Guide > Clean"]);
    assert_eq!(topics[1]["depth"], 2);
    let [first, second] =
        [0, 1].map(|n| format!("/api/v1/knowledge/topics/{}", text(&topics[n], "topic_id")));
    let (first, second) = (house.get(&first).await.data(), house.get(&second).await.data());
    assert_eq!(
        first["children_topic_ids"],
        json!([format!("{id}_2"), format!("{id}_3")])
    );
    assert_eq!(
        (text(&second, "parent_topic_id"), text(&second, "topic_name")),
        (&*format!("{id}_1"), "Install")
    );
    assert!(text(&second, "content").starts_with("## Install"));
    let listed = house.get(DOCUMENTS).await.data();
    assert_eq!(
        (&listed["total"], &listed["documents"][0]["topic_count"]),
        (&json!(1), &json!(3))
    );
    let categories = house.get("/api/v2/knowledge/categories").await.data();
    let counted = categories["categories"].as_array().expect("categories");
    let sum: u64 = counted
        .iter()
        .filter_map(|category| category["document_count"].as_u64())
        .sum();
    assert_eq!((counted.len(), sum), (20, 1));
    let again = house
        .ask(form("POST", DOCUMENTS, "other.md", GUIDE.as_bytes()))
        .await
        .error();
    assert!(again.1 == "CONFLICT" && again.2.contains(id), "{again:?}");
}

#[tokio::test]
async fn a_document_is_found_by_words_and_by_meaning() {
    let house = House::new().await;
    house.store("guide.md", GUIDE.as_bytes(), &[]).await;
    for method in ["keyword", "vector", "hybrid"] {
        let hits = search(
            &house,
            "vinegar limescale kettle",
            json!({"method": method, "top_k": 2}),
        )
        .await;
        assert!(
            hits.len() <= 2 && text(&hits[0], "topic_path") == "Guide > Clean",
            "{method} {hits:?}"
        );
        assert_eq!(hits[0]["document"]["title"], "Guide");
        assert!(text(&hits[0], "content").contains("salad"));
        for hit in &hits {
            assert!(
                (0.0..=1.0).contains(&hit["score"].as_f64().expect("a score")),
                "{hit}"
            );
        }
    }
    assert!(
        search(&house, "vinegar", json!({"score_threshold": 1.1}))
            .await
            .is_empty()
    );
    let plain = search(&house, "vinegar", json!({"include_content": false})).await;
    assert!(plain[0]["content"].is_null());
}

#[tokio::test]
async fn files_of_real_programs_are_found() {
    let house = House::new().await;
    let files: [(&str, &[u8]); 3] = [
        ("reportlab.pdf", include_bytes!("../fixtures/reportlab.pdf")),
        ("typst.pdf", include_bytes!("../fixtures/typst.pdf")),
        ("cairo.pdf", include_bytes!("../fixtures/cairo.pdf")),
    ];
    for (name, bytes) in files {
        house.store(name, bytes, &[("title", name)]).await;
        let hits = search(
            &house,
            "café in Zürich opens at eight",
            json!({"method": "keyword"}),
        )
        .await;
        let from: Vec<&str> = hits.iter().map(|hit| text(hit, "source")).collect();
        assert!(from.contains(&name), "{name} {hits:?}");
    }
    house
        .store(
            "page.html",
            b"<html><body><h1>Tea</h1><p>Oolong</p><script>x()</script></body></html>",
            &[],
        )
        .await;
    let hits = search(&house, "oolong", json!({})).await;
    assert!(!text(&hits[0], "content").contains("x()"), "{hits:?}");
}

#[tokio::test]
async fn an_invalid_topic_id_is_refused_and_an_unknown_one_not_found() {
    let house = House::new().await;
    for (id, status) in [
        ("topic", 422),
        ("d_00_1", 422),
        ("d_000000000000_x", 422),
        ("d_000000000000_1", 404),
    ] {
        let reply = house.get(&format!("/api/v1/knowledge/topics/{id}")).await;
        assert_eq!(reply.status, status, "{id}: {}", reply.text);
        assert!(status == 404 || reply.text.contains("topic_id"), "{}", reply.text);
    }
}

#[tokio::test]
async fn a_tenant_sees_and_changes_no_document_of_another() {
    let house = House::with(tokens(), Zone::utc()).await;
    let stored = house
        .ask(form("POST", DOCUMENTS, "guide.md", GUIDE.as_bytes()).token("a"))
        .await
        .data();
    let id = text(&stored, "doc_id").to_owned();
    let topic = format!("/api/v1/knowledge/topics/{id}_2");
    let before = house.ask(get(&at(&id)).token("a")).await.data();
    let put = || form("PUT", &at(&id), "x.md", b"# Stolen");
    let title = json!({"title": "Stolen"});
    for ask in [get(&at(&id)), get(&topic), put(), patch(&at(&id), &title)] {
        let what = format!("{} {}", ask.method, ask.path);
        let reply = house.ask(ask.token("b")).await;
        assert_eq!(reply.error().0, 404, "{what}");
        assert!(!reply.text.contains("samovar"));
    }
    assert_eq!(house.ask(delete(&at(&id)).token("b")).await.status, 204);
    for ask in [
        get(DOCUMENTS),
        get("/api/v2/knowledge/categories"),
        post(SEARCH, &json!({"query": "samovar"})),
    ] {
        let reply = house.ask(ask.token("b")).await;
        reply.data();
        assert!(
            !reply.text.contains(&id) && !reply.text.contains("document_count\":1"),
            "{}",
            reply.text
        );
    }
    let named = |path: &str| format!("{path}?app_id=a&project_id=p");
    let mut body = json!({"query": "samovar", "title": "x", "app_id": "a", "project_id": "p"});
    let scope = [("app_id", "a"), ("project_id", "p")];
    let mut asks = vec![
        get(&named(&at(&id))),
        get(&named(&topic)),
        delete(&named(&at(&id))),
    ];
    asks.extend([
        get(&named(DOCUMENTS)),
        get(&named("/api/v2/knowledge/categories")),
    ]);
    asks.extend([post(SEARCH, &body), patch(&at(&id), &body)]);
    asks.push(with_fields("PUT", &at(&id), "x.md", b"# Stolen", &scope));
    asks.push(with_fields("POST", DOCUMENTS, "x.md", b"# Planted", &scope));
    for ask in asks {
        let what = format!("{} {}", ask.method, ask.path);
        assert_eq!(house.ask(ask.token("b")).await.error().0, 403, "{what}");
    }
    assert_eq!(house.ask(get(&at(&id)).token("a")).await.data(), before);
    // The same file is no duplicate in another tenant.
    let stored = house
        .ask(form("POST", DOCUMENTS, "guide.md", GUIDE.as_bytes()).token("b"))
        .await;
    assert_eq!(stored.status, 201);
    body["app_id"] = json!("b");
    // Each tenant has its own categories.
    let [ours, theirs] = ["a", "b"].map(|app| format!("{app}/p/libraries/default/.taxonomy.md"));
    assert!(house.vault.bytes(&theirs).is_some());
    house.vault.write(&ours, "- Secret plans: of a alone\n");
    let categories = house.ask(get("/api/v2/knowledge/categories").token("b")).await;
    assert!(!categories.text.contains("Secret"), "{}", categories.text);
    let moved = patch(&at(&id_of_b(&stored)), &json!({"category_id": "Secret plans"}));
    assert_eq!(house.ask(moved.token("b")).await.error().0, 422);
    assert!(
        house
            .ask(post(SEARCH, &body).token("b"))
            .await
            .text
            .contains("samovar")
    );
}

#[tokio::test]
async fn a_tenant_empties_only_its_own_library() {
    let house = House::with(tokens(), Zone::utc()).await;
    let store = |tenant| form("POST", DOCUMENTS, "guide.md", GUIDE.as_bytes()).token(tenant);
    let count = async |tenant| house.ask(get(DOCUMENTS).token(tenant)).await.data()["total"].clone();
    let empty = async |path: &str| house.ask(delete(path).token("b")).await.status.as_u16();
    assert_eq!(house.ask(store("a")).await.status, 201);
    assert_eq!(empty(DOCUMENTS).await, 204);
    assert_eq!(empty(&format!("{DOCUMENTS}?app_id=a&project_id=p")).await, 403);
    assert_eq!(house.ask(store("b")).await.status, 201);
    assert_eq!(empty(DOCUMENTS).await, 200);
    assert_eq!((count("a").await, count("b").await), (json!(1), json!(0)));
}

fn id_of_b(stored: &Reply) -> String {
    text(&stored.data(), "doc_id").to_owned()
}

#[tokio::test]
async fn a_document_is_no_message_of_a_user() {
    let house = House::new().await;
    house.store("guide.md", GUIDE.as_bytes(), &[]).await;
    house.remember("s", &[("ada", "The kettle is new.")]).await;
    for owner in [
        json!({"user_id": "ada"}),
        json!({"agent_id": "default"}),
        json!({"user_id": "default"}),
    ] {
        let mut body = json!({"query": "samovar vinegar limescale kettle", "top_k": 50});
        for (key, value) in owner.as_object().into_iter().flatten() {
            body[key] = value.clone();
        }
        let found = house.post("/api/v2/memory/search", &body).await;
        found.data();
        assert!(!found.text.contains("limescale"), "{owner}: {}", found.text);
    }
    let hits = search(&house, "kettle is new", json!({"top_k": 100})).await;
    assert!(
        !hits.is_empty() && hits.iter().all(|hit| !hit.to_string().contains("is new")),
        "{hits:?}"
    );
    // Forgetting a person keeps the library; deleting the library leaves nothing of it.
    let forget = json!({"user_id": "ada"});
    house.post("/api/v1/memory/delete", &forget).await.data();
    assert_eq!(house.get(DOCUMENTS).await.data()["total"], 1);
    let gone = house.ask(delete(DOCUMENTS)).await.data();
    assert_eq!(gone, json!({"deleted_documents": 1, "deleted_topics": 3}));
    assert_eq!(house.get(DOCUMENTS).await.data()["total"], 0);
    assert_eq!(house.library_files(), Vec::<String>::new());
    assert!(search(&house, "samovar", json!({"top_k": 100})).await.is_empty());
    assert_eq!(house.ask(delete(DOCUMENTS)).await.status, 204);
    let kept = json!({"user_id": "bob", "query": "kettle"});
    house.remember("t", &[("bob", "My kettle is old.")]).await;
    house.ask(delete(DOCUMENTS)).await;
    let found = house.post("/api/v2/memory/search", &kept).await;
    assert!(found.text.contains("old"), "{}", found.text);
    house.store("guide.md", GUIDE.as_bytes(), &[]).await;
    // An empty id does not mean the whole library.
    let unnamed = house.ask(delete(&at(""))).await;
    assert_eq!((unnamed.error().0, house.originals().len()), (404, 1));
}

#[tokio::test]
async fn a_partly_deleted_library_is_deleted_by_the_next_request() {
    let mut failed = 0;
    for n in 1..20 {
        let house = House::new().await;
        house.store("guide.md", GUIDE.as_bytes(), &[]).await;
        house.store("kept.md", b"# Kept\n\nA samovar is kept.", &[]).await;
        house.vault.fail_call(n);
        let reply = house.ask(delete(DOCUMENTS)).await;
        house.vault.fail_call(u64::MAX / 2);
        if reply.status != 200 {
            failed += 1;
            let again = house.ask(delete(DOCUMENTS)).await.status;
            assert!(again == 200 || again == 204, "call {n}: {again}");
        }
        assert_eq!(house.library_files(), Vec::<String>::new(), "call {n}");
        assert_eq!(house.get(DOCUMENTS).await.data()["total"], 0, "call {n}");
    }
    assert!(failed >= 2, "{failed}");
}

#[tokio::test]
async fn a_rebuilt_index_gives_the_same_answers() {
    let house = House::new().await;
    let stored = house.store("guide.md", GUIDE.as_bytes(), &[]).await;
    house.store("kept.md", b"# Kept\n\nA samovar is kept.", &[]).await;
    let id = text(&stored, "doc_id");
    let answers = async || {
        let found = search(&house, "samovar kettle", json!({})).await;
        let topic = house
            .get(&format!("/api/v1/knowledge/topics/{id}_2"))
            .await
            .data();
        let [one, all] = [house.get(&at(id)).await.data(), house.get(DOCUMENTS).await.data()];
        json!([found, topic, one, all])
    };
    let before = answers().await;
    house.engine.rebuild().await.expect("it is built");
    assert_eq!(answers().await, before);
}

#[tokio::test]
async fn a_persons_edits_of_the_file_are_found() {
    let house = House::new().await;
    let stored = house.store("guide.md", GUIDE.as_bytes(), &[]).await;
    let (id, path) = (text(&stored, "doc_id"), text(&stored, "md_path"));
    let file = String::from_utf8(house.vault.bytes(path).expect("is there")).expect("text");
    let file = file
        .replacen("## Guide <", "## Samovars <", 1)
        .replace("Vinegar takes", "Lemon juice takes")
        + "\n## My own note\n\nThe tap leaks since the flood.\n";
    house.vault.write(path, file);
    house.engine.sync().await.expect("synced");
    let hits = search(&house, "lemon juice", json!({"method": "keyword"})).await;
    assert_eq!(text(&hits[0], "topic_id"), format!("{id}_3"));
    assert_eq!(hits[0]["document"]["title"], "Samovars");
    let hits = search(&house, "leaks flood", json!({"method": "keyword"})).await;
    assert_eq!(
        (text(&hits[0], "topic_name"), text(&hits[0]["document"], "doc_id")),
        ("My own note", id)
    );
    let own = house
        .get(&format!(
            "/api/v2/knowledge/topics/{}",
            text(&hits[0], "topic_id")
        ))
        .await
        .data();
    assert_eq!(text(&own, "doc_id"), id);
    let taxonomy = "default/default/libraries/default/.taxonomy.md";
    assert!(house.vault.bytes(taxonomy).is_some());
    house.vault.write(taxonomy, "- Kettles: pots and samovars\n");
    let changed = house
        .ask(patch(
            &at(id),
            &json!({"category_id": "Kettles", "title": "Samovars"}),
        ))
        .await
        .data();
    assert_eq!(changed["updated_fields"], json!(["category_id"]));
    assert_eq!(
        house
            .get(&format!("{DOCUMENTS}?category_id=Kettles"))
            .await
            .data()["total"],
        1
    );
    assert!(search(&house, "lemon juice", json!({})).await[0]["category_id"] == "Kettles");
}

#[tokio::test]
async fn a_deleted_document_leaves_no_topic_and_no_file() {
    let house = House::new().await;
    let stored = house.store("guide.md", GUIDE.as_bytes(), &[]).await;
    let kept = house.store("kept.md", b"# Kept\n\nA samovar is kept.", &[]).await;
    let id = text(&stored, "doc_id");
    let gone = house.ask(delete(&at(id))).await.data();
    assert_eq!(gone, json!({"doc_id": id, "deleted_topics": 3}));
    assert!(
        house.library_files().iter().all(|path| !path.contains(id)),
        "{:?}",
        house.library_files()
    );
    for path in [at(id), format!("/api/v2/knowledge/topics/{id}_2")] {
        assert_eq!(house.get(&path).await.error().0, 404);
    }
    let hits = search(&house, "samovar", json!({"top_k": 100})).await;
    assert!(hits.iter().all(|hit| hit["document"]["doc_id"] == kept["doc_id"]) && !hits.is_empty());
    assert_eq!(house.ask(delete(&at(id))).await.status, 204);
    house.store("guide.md", GUIDE.as_bytes(), &[]).await;
}

#[tokio::test]
async fn a_failed_upload_leaves_no_document_and_no_file() {
    let mut failed = 0;
    for n in 1..20 {
        let house = House::new().await;
        house.get(DOCUMENTS).await.data();
        house.vault.fail_call(n);
        let reply = house
            .ask(form("POST", DOCUMENTS, "guide.md", GUIDE.as_bytes()))
            .await;
        house.vault.fail_call(u64::MAX / 2);
        house.engine.sync().await.expect("synced");
        let listed = house.get(DOCUMENTS).await.data();
        let there = (listed["total"].as_u64(), house.originals().len());
        if reply.status == 201 {
            assert_eq!(there, (Some(1), 1), "call {n}");
            continue;
        }
        failed += 1;
        assert_eq!(there, (Some(0), 0), "call {n}: {}", reply.text);
        assert!(
            search(&house, "samovar vinegar", json!({})).await.is_empty(),
            "call {n}"
        );
        house.store("guide.md", GUIDE.as_bytes(), &[]).await;
    }
    assert!(failed >= 3, "{failed}");
}

#[tokio::test]
async fn a_replacement_is_complete_or_has_no_effect() {
    let new = "# Handbook\n\nOnly coffee is served here.\n\n## Grind\n\nNot too fine.";
    let bare = |data: Value| data["topics"].to_string() + text(&data, "title") + text(&data, "source_name");
    let mut failed = 0;
    for n in 1..20 {
        let house = House::new().await;
        let stored = house.store("guide.md", GUIDE.as_bytes(), &[]).await;
        let id = text(&stored, "doc_id");
        let old = bare(house.get(&at(id)).await.data());
        house.vault.fail_call(n);
        let reply = house
            .ask(form("PUT", &at(id), "handbook.md", new.as_bytes()))
            .await;
        let is_done = reply.status == 200;
        failed += u32::from(!is_done);
        house.vault.fail_call(u64::MAX / 2);
        house.engine.sync().await.expect("synced");
        let document = house.get(&at(id)).await.data();
        assert_eq!(
            house.originals(),
            [text(&document, "original_file_path")],
            "call {n}"
        );
        let after = bare(house.get(&at(id)).await.data());
        let old_words = || async {
            let hits = search(&house, "vinegar", json!({"method": "keyword"})).await;
            hits.iter().any(|hit| hit.to_string().contains("Vinegar"))
        };
        let has_old = old_words().await;
        assert_eq!(after == old, has_old, "call {n}: {after}");
        assert!(!(is_done && has_old), "call {n}");
        let again = house
            .ask(form("PUT", &at(id), "handbook.md", new.as_bytes()))
            .await
            .data();
        assert_eq!((text(&again, "doc_id"), &again["topic_count"]), (id, &json!(2)));
        let document = house.get(&at(id)).await.data();
        assert_eq!(text(&document["topics"][1], "topic_id"), format!("{id}_2"));
        assert!(!old_words().await, "call {n}");
        assert_eq!(house.originals(), [text(&again, "original_file_path")]);
    }
    assert!(failed >= 3, "{failed}");
}
