//! Every view, with data and without.

use serde_json::json;

use crate::house::get;
use crate::stage::{Stage, VIEWS};

#[tokio::test]
async fn every_view_says_what_to_do_while_there_is_nothing() {
    let stage = Stage::new().await;
    for (path, words) in [
        ("/", "http://localhost/v1"),
        ("/page/memories", "Import an export"),
        ("/page/memories?q=tea", "Nothing is remembered yet"),
        ("/page/conversations", "http://localhost/v1"),
        ("/page/background", "quipu trigger dream"),
        ("/page/skills", "quipu init"),
        ("/page/documents", "quipu knowledge add"),
        ("/page/import", "Export data"),
        ("/page/health", "Everything works"),
        ("/page/forget?all=1", "nothing to forget"),
    ] {
        let html = stage.html(path).await;
        assert!(html.contains(words), "{path}: {html}");
    }
    assert_eq!(stage.view("/page/forget").await.status, 422);
    assert_eq!(stage.view("/page/memory/me_af_1").await.status, 404);
    assert_eq!(stage.view("/page/conversation?id=none").await.status, 404);
}

#[tokio::test]
async fn every_view_shows_what_there_is() {
    let stage = Stage::furnished().await;
    for (path, words) in [
        ("/", "</strong> summary<"),
        ("/page/memories?who=default/default/ada", "green tea"),
        ("/page/memories?kind=episode", "1 summary of a conversation"),
        ("/page/conversations", "kitchen"),
        ("/page/conversation?id=kitchen", "What is for dessert?"),
        (
            "/page/conversation/original?id=kitchen&item=m0",
            "What is for dessert?",
        ),
        ("/page/skills", "deploy billing --env staging"),
        ("/page/documents", "Tea"),
    ] {
        let html = stage.html(path).await;
        assert!(html.contains(words), "{path}: {html}");
    }
    let documents = stage.html("/page/documents").await;
    let at = documents
        .split("href=\"")
        .find(|rest| rest.starts_with("/page/document/"));
    let document = stage
        .html(at.and_then(|rest| rest.split('"').next()).expect("a link"))
        .await;
    assert!(document.contains("Green"), "{document}");
    // The last one: the first is the text before the headings.
    let topic = document
        .split("hx-get=\"")
        .filter(|rest| rest.starts_with("/page/topic/"))
        .last();
    let topic = topic.and_then(|rest| rest.split('"').next()).expect("a link");
    assert!(stage.html(topic).await.contains("Sencha is green."));
    let part = stage.ask(get(topic).header("hx-request", "true")).await.text;
    assert!(
        part.starts_with("<pre") && part.contains("Sencha is green."),
        "{part}"
    );
}

#[tokio::test]
async fn one_heading_one_main_and_a_place_in_the_navigation() {
    let stage = Stage::furnished().await;
    for path in VIEWS.iter().filter(|path| **path != "/page/sign-in") {
        let html = stage.html(path).await;
        assert_eq!(html.matches("<h1").count(), 1, "{path}");
        assert_eq!(html.matches("<main").count(), 1, "{path}");
        assert_eq!(html.matches("aria-current=\"page\"").count(), 1, "{path}");
        assert!(html.contains("<html lang=\"en\">"), "{path}");
    }
}

#[tokio::test]
async fn a_search_says_why_and_a_script_gets_the_results_alone() {
    let stage = Stage::furnished().await;
    let html = stage.html("/page/memories?q=sencha").await;
    assert!(
        html.contains(" match, with the word") && html.contains("<mark>sencha</mark>"),
        "{html}"
    );
    assert!(html.contains("In the original words"));
    let ask = get("/page/memories?q=sencha&who=default/default/ada").header("hx-request", "true");
    let part = stage.ask(ask).await.text;
    assert!(
        !part.contains("<html") && part.contains("<mark>sencha</mark>"),
        "{part}"
    );
}

#[tokio::test]
async fn lists_go_through_time() {
    let stage = Stage::new().await;
    stage.house.remember("one", &[("ada", "I live in Lisbon.")]).await;
    let later = json!({"session_id": "two", "messages": [{
        "sender_id": "ada", "role": "user", "timestamp": crate::house::SAID + 90 * 86_400_000_i64,
        "content": "I moved to Porto.",
    }]});
    stage.house.post("/api/v2/memory/add", &later).await.data();
    let flush = json!({"session_id": "two", "wait": true});
    stage.house.post("/api/v2/memory/flush", &flush).await.data();
    let all = stage.html("/page/memories?standing=all").await;
    assert!(all.contains("Lisbon") && all.contains("Porto"), "{all}");
    let then = stage.html("/page/memories?as_of=2024-06-01").await;
    assert!(then.contains("Lisbon") && !then.contains("Porto"), "{then}");
    let month = stage.html("/page/memories?month=2024-05&standing=all").await;
    assert!(
        month.contains("Lisbon") && !month.contains("moved to Porto"),
        "{month}"
    );
    // The time line has the months between, each a link.
    assert!(all.contains("June 2024: 0 facts, 0 summaries"), "{all}");
    let now = stage.html("/page/memories").await;
    let old = stage.html("/page/memories?standing=superseded").await;
    assert!(
        now.contains("moved to Porto") && !now.contains("lives in Lisbon"),
        "{now}"
    );
    assert!(old.contains("Lisbon") && !old.contains("moved to Porto"), "{old}");
}

#[tokio::test]
async fn what_is_less_sure_is_folded_and_a_word_that_nothing_has_is_named() {
    let stage = Stage::furnished().await;
    let html = stage.html("/page/memories?q=zzgrumbl").await;
    assert!(
        html.contains("Nothing has the word \u{201c}zzgrumbl\u{201d}. Similar ones:"),
        "{html}"
    );
    let two = stage.html("/page/memories?q=zzgrumbl+qqfrotz").await;
    assert!(two.contains("Nothing has these words. Similar ones:"), "{two}");
    let html = stage.html("/page/memories?q=Lisbon").await;
    let (sure, less) = html.split_once("Less sure: ").expect("a fold");
    assert!(
        sure.contains("<mark>lisbon</mark>") || sure.contains("<mark>Lisbon</mark>"),
        "{sure}"
    );
    assert!(!less.contains("<mark>"), "{less}");
    assert!(sure.contains(", best first."), "{sure}");
}

#[tokio::test]
async fn a_search_finds_lines_of_the_profile_by_their_words() {
    let stage = Stage::furnished().await;
    stage.statement("Work", "Ada repairs accordions.").await;
    for path in [
        "/page/memories?q=accordion",
        "/page/memories?q=accordion&kind=profile",
    ] {
        let html = stage.html(path).await;
        assert!(
            html.contains("Ada repairs accordions.") && html.contains("<mark>accordion</mark>"),
            "{path}: {html}"
        );
    }
    let html = stage.html("/page/memories?q=tea&kind=profile").await;
    assert!(
        !html.contains("accordions") && !html.contains("green tea"),
        "{html}"
    );
    let html = stage.html("/page/memories?q=accordion&as_of=2024-06-01").await;
    assert!(!html.contains("Ada repairs accordions."), "{html}");
}

#[tokio::test]
async fn numbers_agree_wherever_they_stand() {
    let stage = Stage::new().await;
    stage.house.remember("one", &[("ada", "I live in Lisbon.")]).await;
    let later = json!({"session_id": "two", "messages": [{
        "sender_id": "ada", "role": "user", "timestamp": crate::house::SAID + 90 * 86_400_000_i64,
        "content": "I moved to Porto.",
    }]});
    stage.house.post("/api/v2/memory/add", &later).await.data();
    let flush = json!({"session_id": "two", "wait": true});
    stage.house.post("/api/v2/memory/flush", &flush).await.data();
    let now = stage.html("/").await;
    assert!(
        now.contains("<strong>1</strong> fact holds<small>1 more no longer holds"),
        "{now}"
    );
    let list = stage.html("/page/memories").await;
    for view in [&now, &list] {
        assert!(view.contains("Rules make the memories"), "{view}");
    }
    assert!(list.contains("1 fact holds, the newest first."), "{list}");
    assert!(
        list.contains("1 fact holds, 1 more no longer holds; 2 summaries; 0 upcoming events"),
        "{list}"
    );
    // One source of what waits.
    let health = stage.html("/page/health").await;
    assert!(now.contains("0 tasks waiting"), "{now}");
    assert!(
        health.contains("Waiting<strong>0</strong><small>tasks, nothing blocked"),
        "{health}"
    );
}

#[tokio::test]
async fn an_event_that_is_over_is_no_upcoming_one() {
    let stage = Stage::new().await;
    stage.house.remember("tea", &[("ada", "I like tea.")]).await;
    // The clock stands in 2026; what was said is of 2024.
    stage.event("fs_1", 30).await;
    stage.event("fs_2", 3_000).await;
    let list = stage.html("/page/memories?kind=event").await;
    assert_eq!(
        list.matches("1 upcoming event").count(),
        2,
        "in the list and below the time line: {list}"
    );
    assert!(
        stage
            .html("/")
            .await
            .contains("<strong>1</strong> upcoming event<")
    );
}

#[tokio::test]
async fn nobody_is_called_me() {
    let stage = Stage::new().await;
    stage.house.remember("one", &[("me", "I live in Lisbon.")]).await;
    let now = stage.html("/").await;
    assert!(
        now.contains("Ask your memory") && now.contains(">you</option>"),
        "{now}"
    );
    let memories = stage.html("/page/memories").await;
    for words in [
        "where do I live?",
        "everything of you that would go",
        "Where from?",
    ] {
        assert!(memories.contains(words), "{words}: {memories}");
    }
    let named = stage.html("/page/memories?who=default/default/ada").await;
    assert!(named.contains("where does ada live?"), "{named}");
}
