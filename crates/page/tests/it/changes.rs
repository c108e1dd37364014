//! Every change, through the forms that a browser without scripts posts.

use std::time::Duration;

use serde_json::json;

use crate::house::{TEA, get};
use crate::library::form as upload;
use crate::stage::{Stage, form};

const WHO: &str = "who=default/default/ada";

/// The value of a hidden field.
fn field<'a>(html: &'a str, name: &str) -> &'a str {
    let start = format!("name=\"{name}\" value=\"");
    let rest = html
        .split_once(&start)
        .unwrap_or_else(|| panic!("no {name} in {html}"))
        .1;
    rest.split('"').next().expect("a value")
}

#[tokio::test]
async fn an_edit_is_found_at_once_and_can_be_undone() {
    let stage = Stage::furnished().await;
    let id = stage.id_of("green tea").await;
    let path = format!("/page/memory/{id}?{WHO}");
    let view = stage.html(&path).await;
    // The view quotes the source message verbatim.
    assert!(
        view.contains("I moved to Lisbon in March and I drink green tea every morning."),
        "{view}"
    );
    let editing = stage.html(&format!("{path}&edit=1")).await;
    assert!(editing.contains("<textarea"), "{editing}");
    let saved = stage
        .submit(&path, &[("text", "Ada prefers oolong."), ("reach", "everywhere")])
        .await
        .text;
    assert!(
        saved.contains("Ada prefers oolong.") && saved.contains("Undo"),
        "{saved}"
    );
    assert!(
        stage
            .html("/page/memories?q=oolong")
            .await
            .contains("<mark>oolong</mark>")
    );
    let before = field(&saved, "text");
    assert!(before.contains("green tea"), "{before}");
    let undone = stage
        .submit(&path, &[("text", before), ("reach", "everywhere"), ("undo", "1")])
        .await
        .text;
    assert!(undone.contains("Taken back."), "{undone}");
    assert_eq!(stage.id_of("green tea").await, id);
}

#[tokio::test]
async fn an_answer_to_a_statement_changes_it_and_the_view_names_the_statement() {
    let stage = Stage::furnished().await;
    let path = format!("/page/review?{WHO}");
    let view = stage.html(&path).await;
    assert!(
        view.contains("green tea") && !view.contains("You confirmed it"),
        "{view}"
    );
    let id = stage.id_of("green tea").await;
    let answer = |verdict| [("id", &*id), ("verdict", verdict), ("skip", "0")];
    let kept = stage.submit(&path, &answer("keep")).await.text;
    assert!(
        kept.contains("Kept") && kept.contains("You confirmed it"),
        "{kept}"
    );
    let wrong = stage.submit(&path, &answer("wrong")).await.text;
    assert!(
        wrong.contains("Taken back: “") && wrong.contains("green tea") && wrong.contains("You took it back"),
        "{wrong}"
    );
    let back = stage.submit(&path, &answer("keep")).await.text;
    assert!(
        back.contains("You confirmed it") && !back.contains("You took it back"),
        "{back}"
    );
    let unknown = [("id", "ada_af_0"), ("verdict", "keep"), ("skip", "0")];
    let gone = stage.submit(&path, &unknown).await;
    assert_eq!(gone.status, 404, "{}", gone.text);
    let first = stage.html(&format!("{path}&skip=first")).await;
    assert!(first.contains("green tea"), "{first}");
    let beyond = stage.html(&format!("{path}&skip=5000")).await;
    assert!(
        beyond.contains("From the beginning") && !beyond.contains("Nothing to look at"),
        "{beyond}"
    );
    let other = stage.submit(&path, &answer("perhaps")).await;
    assert_eq!(other.status, 422, "{}", other.text);
}

#[tokio::test]
async fn a_fact_can_be_limited_to_its_project() {
    let stage = Stage::furnished().await;
    let id = stage.id_of("green tea").await;
    let path = format!("/page/memory/{id}?{WHO}");
    let text = stage.html(&format!("{path}&edit=1")).await;
    let text = text
        .split("<textarea")
        .nth(1)
        .and_then(|rest| rest.split('>').nth(1))
        .expect("a text");
    let text = text.split('<').next().expect("a text").replace("&#39;", "'");
    let saved = stage
        .submit(&path, &[("text", &text), ("reach", "project")])
        .await
        .text;
    assert!(saved.contains("only in this project"), "{saved}");
    let again = stage
        .submit(&path, &[("text", &text), ("reach", "project")])
        .await
        .text;
    assert!(!again.contains("Undo"), "nothing changed: {again}");
}

#[tokio::test]
async fn a_corrected_fact_offers_to_correct_the_profile_line_with_the_same_text() {
    let stage = Stage::furnished().await;
    let id = stage.id_of("green tea").await;
    let path = format!("/page/memory/{id}?{WHO}");
    let text = stage.text_of(&id).await;
    let line = stage.statement("Likes", &text).await;
    let saved = stage.submit(&path, &[("text", "Ada prefers oolong.")]).await.text;
    assert!(saved.contains("The profile of ada still says"), "{saved}");
    let (_, asked) = saved
        .split_once("class=\"notice warn twin\"")
        .expect("the question");
    let other = format!("/page/memory/{line}?{WHO}");
    assert!(
        asked.contains(&format!("action=\"/page/memory/{line}?")),
        "{asked}"
    );
    let changed = stage.submit(&other, &[("text", field(asked, "text"))]).await.text;
    assert!(
        changed.contains("Ada prefers oolong.") && changed.contains("Agents get the new line"),
        "{changed}"
    );
    // A script reads sources and history again, and selects them from the whole view.
    let changes = form(&other, &[("text", "Ada prefers oolong.")]).header("hx-request", "true");
    assert_eq!(stage.ask(changes).await.headers["hx-trigger"], "saved");
    let again = get(&other)
        .header("hx-request", "true")
        .header("hx-target", "behind");
    assert!(stage.ask(again).await.text.contains("<div id=\"behind\""));
    // Both texts agree now. After an edit of the profile line, the question names the fact.
    assert!(!changed.contains("still says"), "{changed}");
    let back = stage.submit(&other, &[("text", "Ada drinks milk.")]).await.text;
    assert!(
        back.contains("A fact still says: “Ada prefers oolong.”"),
        "{back}"
    );
}

#[tokio::test]
async fn a_refused_edit_changes_nothing_and_says_why() {
    let stage = Stage::furnished().await;
    let id = stage.id_of("green tea").await;
    let refused = stage
        .submit(&format!("/page/memory/{id}?{WHO}"), &[("text", "  ")])
        .await;
    assert_eq!(refused.status, 422);
    assert!(refused.text.contains("must not be empty"), "{}", refused.text);
    assert_eq!(stage.id_of("green tea").await, id);
}

#[tokio::test]
async fn the_preview_of_forgetting_lists_the_deleted_and_the_kept_texts() {
    let stage = Stage::new().await;
    stage.house.remember("tea", &TEA).await;
    let together = [("ada", "I live in Lisbon."), ("carl", "I keep bees in Porto.")];
    stage.house.remember("together", &together).await;
    let preview = stage.html(&format!("/page/forget?{WHO}&all=1")).await;
    for words in [
        "green tea",
        "In a session of several people",
        "carl",
        "together",
        "I live in Lisbon.",
    ] {
        assert!(preview.contains(words), "{words}: {preview}");
    }
    // A preview deletes nothing, and a wrong name confirms nothing.
    assert!(stage.html("/page/memories").await.contains("green tea"));
    let path = format!("/page/forget?{WHO}");
    let unsure = stage
        .submit(&path, &[("all", "1"), ("confirm", "bob")])
        .await
        .text;
    assert!(unsure.contains("Nothing was forgotten"), "{unsure}");
    let gone = stage
        .submit(&path, &[("all", "1"), ("confirm", "ada")])
        .await
        .text;
    assert!(
        gone.contains("Quipu forgot everything of ada in project default"),
        "{gone}"
    );
    let list = json!({"user_id": "ada", "memory_type": "atomic_fact"});
    let listed = stage.house.post("/api/v2/memory/get", &list).await.data();
    assert_eq!(listed["total_count"], 0);
    // The message that the preview listed as kept is still there.
    let search = json!({"user_id": "carl", "query": "Lisbon", "include_messages": 5});
    let found = stage.house.post("/api/v2/memory/search", &search).await.data();
    assert!(
        found["messages"].to_string().contains("I live in Lisbon."),
        "{found}"
    );
    let session = stage
        .html("/page/forget?who=default/default/carl&session=together")
        .await;
    assert!(
        session.contains("I keep bees") || session.contains("bees"),
        "{session}"
    );
    let gone = stage
        .submit(
            "/page/forget?who=default/default/carl",
            &[("session", "together")],
        )
        .await;
    assert!(gone.text.contains("Quipu forgot"), "{}", gone.text);
}

#[tokio::test]
async fn a_preview_of_an_episode_counts_the_memories_that_its_deletion_removes() {
    let stage = Stage::furnished().await;
    let list = json!({"user_id": "ada", "memory_type": "episode"});
    let listed = stage.house.post("/api/v2/memory/get", &list).await.data();
    let id = listed["episodes"][0]["id"].as_str().expect("an id").to_owned();
    let asked = json!({"user_id": "ada", "ids": [id]});
    let preview = stage.house.post("/api/v2/memory/preview", &asked).await.data();
    assert!(preview["memories"].to_string().contains("green tea"), "{preview}");
    assert_eq!(preview["message_count"], 4);
    let gone = stage
        .house
        .post("/api/v2/memory/delete_by_ids", &asked)
        .await
        .data();
    assert_eq!(gone["message_count"], preview["message_count"]);
    let memories = preview["memories"].as_array().expect("a list");
    assert_eq!(preview["count"], memories.len());
    assert_eq!(gone["count"], preview["count"]);
    for memory in memories {
        let id = memory["id"].as_str().expect("an id");
        let path = format!("/api/v2/memories/{id}?user_id=ada");
        assert_eq!(stage.house.get(&path).await.status, 404, "{id}");
    }
}

#[tokio::test]
async fn a_skill_is_approved_and_rejected() {
    let stage = Stage::furnished().await;
    let judged = async |verdict: &str| {
        let fields = [
            ("id", "coder_sk_1"),
            ("app_id", "default"),
            ("project_id", "default"),
            ("agent_id", "coder"),
            ("verdict", verdict),
        ];
        stage.submit("/page/skills", &fields).await
    };
    assert!(judged("approve").await.text.contains("Approved: agents get"));
    let search = json!({"agent_id": "coder", "query": "deploy billing"});
    let found = stage.house.post("/api/v2/memory/search", &search).await.data();
    assert_eq!(found["agent_skills"][0]["id"], "coder_sk_1");
    assert!(judged("reject").await.text.contains("Rejected: no agent gets"));
    assert_eq!(judged("delete").await.status, 422);
    // A field of the form cannot add a parameter to the API's address.
    let strange = [
        ("id", "coder_sk_1"),
        ("app_id", "default"),
        ("project_id", "default&agent_id=coder"),
        ("agent_id", "nobody"),
        ("verdict", "approve"),
    ];
    assert_eq!(stage.submit("/page/skills", &strange).await.status, 422);
}

#[tokio::test]
async fn a_message_is_pinned_and_released() {
    let stage = Stage::furnished().await;
    let pin = async |pinned: &str| {
        let path = format!("/page/conversation/pin?{WHO}");
        let reply = stage
            .submit(&path, &[("id", "kitchen"), ("item", "m0"), ("pinned", pinned)])
            .await;
        assert_eq!(reply.status, 303, "{}", reply.text);
        stage.html(&format!("/page/conversation?{WHO}&id=kitchen")).await
    };
    // The message must be in a request before it can be pinned.
    let assemble = json!({"user_id": "ada", "conversation_id": "kitchen", "window_tokens": 4096});
    stage
        .house
        .post("/api/v2/context/assemble", &assemble)
        .await
        .data();
    assert!(pin("true").await.contains("Unpin m0"));
    assert!(pin("false").await.contains("\"Pin m0"));
}

#[tokio::test]
async fn the_injected_memory_of_a_turn_is_shown_below_the_users_text() {
    let stage = Stage::furnished().await;
    let message = json!({"role": "user", "content": "Which green tea do I drink every morning?"});
    let append = json!({"user_id": "ada", "conversation_id": "morning", "messages": [message]});
    stage.house.post("/api/v2/context/append", &append).await.data();
    let assemble = json!({"user_id": "ada", "conversation_id": "morning", "window_tokens": 4096});
    let request = stage
        .house
        .post("/api/v2/context/assemble", &assemble)
        .await
        .data();
    assert!(
        request["messages"].to_string().contains("<quipu-memory"),
        "{request}"
    );
    let html = stage.html(&format!("/page/conversation?{WHO}&id=morning")).await;
    let (words, given) = html
        .split_once("What memory gave this turn")
        .expect("memory gave something");
    assert!(words.contains("Which green tea do I drink every morning?"));
    assert!(!words.contains("quipu-memory"), "{words}");
    assert!(
        given.contains("quipu-memory") && given.contains("Lisbon"),
        "{given}"
    );
}

#[tokio::test]
async fn a_document_is_uploaded_and_deleted() {
    let stage = Stage::new().await;
    let from_page = |path: &str, name: &str, bytes: &[u8]| {
        upload("POST", path, name, bytes).header("sec-fetch-site", "same-origin")
    };
    let stored = stage
        .ask(from_page("/page/documents", "bees.md", b"# Bees\n\nThey hum.\n"))
        .await;
    assert_eq!(stored.status, 303, "{}", stored.text);
    let place = stored.headers["location"].to_str().expect("text").to_owned();
    assert!(stage.html(&place).await.contains("Bees"));
    let refused = stage
        .ask(from_page("/page/documents", "x.bin", b"\0\x01\x02\x03"))
        .await;
    assert!(refused.status.is_client_error(), "{}", refused.text);
    assert!(refused.text.contains("role=\"alert\""));
    let (path, _) = place.split_once('?').expect("a query");
    let gone = stage.submit(&format!("{path}/delete"), &[]).await;
    assert_eq!(gone.status, 303);
    assert!(stage.html("/page/documents").await.contains("No document yet"));
    // The form names the tenant: the page forwards it without reading the form.
    let of_shop = stage.html("/page/documents?who=shop/eu/ada").await;
    for field in [
        "name=\"app_id\" value=\"shop\"",
        "name=\"project_id\" value=\"eu\"",
    ] {
        assert!(of_shop.contains(field), "{of_shop}");
    }
}

#[tokio::test]
async fn an_export_becomes_memory() {
    let stage = Stage::new().await;
    let ask = upload(
        "POST",
        "/page/import?who=default/default/ada",
        "notes.txt",
        b"I live in Oslo.\nI keep bees.\n",
    );
    let started = stage.ask(ask.header("sec-fetch-site", "same-origin")).await;
    assert_eq!(started.status, 303, "{}", started.text);
    let ended = async {
        loop {
            let html = stage.html(&format!("/page/import?{WHO}")).await;
            if html.contains("See the memories") {
                return html;
            }
            tokio::task::yield_now().await;
        }
    };
    let html = tokio::time::timeout(Duration::from_secs(20), ended)
        .await
        .expect("it ends");
    assert!(html.contains("2 messages"), "{html}");
    assert!(
        stage
            .html(&format!("/page/memories?{WHO}&q=Oslo"))
            .await
            .contains("Oslo")
    );
    let none = stage.ask(
        form("/page/import", &[])
            .header("content-type", "multipart/form-data; boundary=x")
            .bytes("--x--\r\n"),
    );
    assert_eq!(none.await.status, 422);
}

#[tokio::test]
async fn undoing_an_unknown_run_is_not_found() {
    let stage = Stage::furnished().await;
    let reply = stage.submit("/page/background/undo", &[("run", "r_none")]).await;
    assert_eq!(reply.status, 404);
    assert_eq!(stage.ask(get("/page/change/none")).await.status, 404);
}
