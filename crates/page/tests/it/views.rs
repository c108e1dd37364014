//! Every view, with and without data.

use serde_json::json;

use crate::house::get;
use crate::stage::{Stage, VIEWS};

#[tokio::test]
async fn every_empty_view_names_the_next_step() {
    let stage = Stage::new().await;
    for (path, words) in [
        ("/", "http://localhost/v1"),
        ("/page/memories", "Import an export"),
        ("/page/memories?q=tea", "Nothing is remembered yet"),
        ("/page/conversations", "http://localhost/v1"),
        ("/", "quipu runs start dream"),
        ("/page/skills", "quipu init"),
        ("/page/documents", "quipu knowledge add"),
        ("/page/import", "Export data"),
        ("/", "Everything works"),
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
async fn every_view_shows_its_data() {
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
    // The last one: the first topic is the text before the headings.
    let topic = document
        .split("hx-get=\"")
        .filter(|rest| rest.starts_with("/page/topic/"))
        .last();
    let topic = topic.and_then(|rest| rest.split('"').next()).expect("a link");
    assert!(stage.html(topic).await.contains("Sencha is green."));
    // A script selects only the text of that view.
    assert!(document.contains("hx-select=\"pre\""), "{document}");
}

#[tokio::test]
async fn the_old_address_of_a_view_redirects_to_its_part_of_the_first_view() {
    let stage = Stage::new().await;
    for part in ["background", "health"] {
        let reply = stage.view(&format!("/page/{part}?who=default/default/ada")).await;
        assert_eq!(reply.status, 308, "{}", reply.text);
        let place = reply.headers["location"].to_str().expect("an address");
        assert_eq!(place, format!("/?who=default/default/ada#{part}"));
        assert!(stage.html(place).await.contains(&format!("<h2 id=\"{part}\">")));
    }
}

#[tokio::test]
async fn every_view_has_one_heading_one_main_and_a_current_link() {
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
async fn a_search_shows_reasons_and_a_script_gets_only_the_results() {
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
async fn lists_filter_by_date_month_and_standing() {
    let stage = Stage::new().await;
    stage
        .house
        .remember("one", &[("ada", "My home is in Lisbon.")])
        .await;
    let later = json!({"session_id": "two", "messages": [{
        "sender_id": "ada", "role": "user", "timestamp": crate::house::SAID + 90 * 86_400_000_i64,
        "content": "My new home is in Porto.",
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
        month.contains("Lisbon") && !month.contains("home is in Porto"),
        "{month}"
    );
    // The time line also has the months between, each with a link.
    assert!(all.contains("June 2024: 0 facts, 0 summaries"), "{all}");
    let now = stage.html("/page/memories?kind=fact").await;
    let old = stage.html("/page/memories?standing=superseded").await;
    assert!(
        now.contains("home is in Porto") && !now.contains("home is in Lisbon"),
        "{now}"
    );
    assert!(
        old.contains("Lisbon") && !old.contains("home is in Porto"),
        "{old}"
    );
}

#[tokio::test]
async fn less_sure_hits_are_folded_and_an_unmatched_word_is_named() {
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
async fn a_search_finds_profile_lines_by_their_words() {
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
async fn counts_agree_between_the_views() {
    let stage = Stage::new().await;
    stage
        .house
        .remember("one", &[("ada", "My home is in Lisbon.")])
        .await;
    let later = json!({"session_id": "two", "messages": [{
        "sender_id": "ada", "role": "user", "timestamp": crate::house::SAID + 90 * 86_400_000_i64,
        "content": "My new home is in Porto.",
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
    assert!(
        list.contains("1 fact holds, 2 summaries of conversations, the newest first."),
        "{list}"
    );
    assert!(
        list.contains("1 fact holds, 1 more no longer holds; 2 summaries; 0 upcoming events"),
        "{list}"
    );
    // Both places count the same waiting tasks.
    assert!(now.contains("0 tasks waiting"), "{now}");
    assert!(
        now.contains("Waiting<strong>0</strong><small>tasks, nothing blocked"),
        "{now}"
    );
}

#[tokio::test]
async fn a_past_event_is_not_counted_as_upcoming() {
    let stage = Stage::new().await;
    stage.house.remember("tea", &[("ada", "I like tea.")]).await;
    // The clock is in 2026; the messages are of 2024.
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
    let both = stage.html("/page/memories?kind=event&standing=all").await;
    assert!(
        both.contains("2 events, the newest first.") && !both.contains("Upcoming event"),
        "{both}"
    );
}

#[tokio::test]
async fn the_page_calls_the_default_user_you() {
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

#[tokio::test]
async fn verbatim_messages_are_listed_above_facts_and_facts_above_summaries() {
    let stage = Stage::furnished().await;
    let html = stage
        .html("/page/memories?q=green+tea&who=default/default/ada")
        .await;
    let html = html
        .split("<details class=\"less\"")
        .next()
        .expect("the sure ones");
    let at = |mark: &str| html.find(mark).unwrap_or_else(|| panic!("no {mark} in {html}"));
    assert!(at("<blockquote") < at("<article"), "{html}");
    assert!(html.rfind("kind fact") < html.find("kind summary"), "{html}");
}

#[tokio::test]
async fn an_unfiltered_list_has_every_kind_and_ticked_memories_are_forgotten_together() {
    let stage = Stage::furnished().await;
    stage.statement("Home", "Ada rows to work.").await;
    let list = "/page/memories?who=default/default/ada&standing=";
    let html = stage.html(list).await;
    for mark in [
        "kind profile",
        "kind fact",
        "kind summary",
        "1 line of the profile, ",
    ] {
        assert!(html.contains(mark), "{mark}: {html}");
    }
    let ticks: Vec<&str> = html
        .split("form=\"ticked\" name=\"id\" value=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(
        ticks.len(),
        html.matches("<article").count(),
        "each memory can be ticked"
    );
    let facts: Vec<&&str> = ticks.iter().filter(|id| id.contains("_af_")).take(2).collect();
    let both = format!(
        "/page/forget?who=default/default/ada&id={}&id={}",
        facts[0], facts[1]
    );
    let preview = stage.html(&both).await;
    assert!(preview.contains("Forget 2 memories of ada?"), "{preview}");
    let fields = facts.iter().map(|id| ("id", **id)).chain([("sure", "1")]);
    let gone = stage.submit(&both, &fields.collect::<Vec<_>>()).await.text;
    assert!(gone.contains("2 memories of ada"), "{gone}");
    let html = stage.html(list).await;
    assert!(facts.iter().all(|id| !html.contains(**id)), "{html}");
    let nothing = stage.view("/page/forget?who=default/default/ada").await;
    assert!(nothing.text.contains("tick what to forget"), "{}", nothing.text);
}

#[tokio::test]
async fn the_list_names_conversations_by_title_or_first_message() {
    let stage = Stage::furnished().await;
    let html = stage.html("/page/conversations?who=default/default/ada").await;
    assert!(
        html.contains(">What is for dessert?</a> <small>not yet memory"),
        "{html}"
    );
    assert!(
        html.contains("/page/memory/ada_ep_"),
        "what was added is there too: {html}"
    );
}

#[tokio::test]
async fn every_line_of_the_shared_context_links_to_its_deletion() {
    let stage = Stage::furnished().await;
    let html = stage.html("/page/given?who=default/default/ada").await;
    let lines = html.matches("<li><a class=\"cross\"").count();
    assert!(lines > 0, "{html}");
    for rest in html.split("class=\"cross\" href=\"").skip(1) {
        let address = rest
            .split('"')
            .next()
            .expect("an address")
            .replace("&#38;", "&")
            .replace("&amp;", "&");
        let preview = stage.html(&address).await;
        assert!(
            !preview.contains("There is nothing to forget"),
            "{address}: {preview}"
        );
    }
}

#[tokio::test]
async fn an_htmx_form_gets_the_whole_view_and_errors_replace_nothing() {
    let stage = Stage::furnished().await;
    let html = stage.html("/page/memories?who=default/default/ada").await;
    assert!(
        html.contains(r#"{"code":"...","swap":false,"error":true}"#),
        "{html}"
    );
    let box_ = html
        .split("<div id=\"trouble\"")
        .nth(1)
        .expect("a place for what fails");
    assert!(box_.contains("hidden") && box_.contains("Try again"), "{box_}");
    let ask = get("/page/memories?who=default/default/ada")
        .header("hx-request", "true")
        .header("hx-target", "main");
    assert!(stage.ask(ask).await.text.contains("<main id=\"main\""));
}
