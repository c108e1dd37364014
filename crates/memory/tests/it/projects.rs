//! Memory of a project stays there; a search also finds facts that hold for the person everywhere, and the memory of
//! others in a shared project.

use std::sync::Arc;

use memory::{EditEntry, Engine, Found, Search};
use model::{EntryId, Scope, SessionKey};

use testkit::faults::Mode;
use testkit::models::ScriptedChat;

use crate::stage::{Stage, flush, name, question, say, user};

fn project(named: &str) -> Scope {
    Scope::new(Scope::default().app, name(named))
}

/// A user says something in a project, and it becomes memory.
async fn remember(stage: &Stage, engine: &Engine, whose: &str, place: &str, text: &str) {
    let session = model::SessionId::new(format!("{whose}/{place}"));
    let key = SessionKey::new(project(place), session);
    say(engine, &key, whose, 0, text).await;
    engine.flush(flush(&key)).await.expect("it cuts");
    assert_eq!(stage.rest(engine).await, 0);
}

async fn ask(engine: &Engine, whose: &str, place: &str, with_person: bool, query: &str) -> Found {
    let search = Search {
        scope: project(place),
        with_person,
        ..question(whose, query)
    };
    engine.search(search).await.expect("it is answered")
}

/// The texts of all hits of a search.
fn texts(found: &Found) -> String {
    let facts = found.memories.iter().flat_map(|hit| &hit.facts);
    let hits = found.memories.iter().chain(facts).chain(&found.messages);
    let texts: Vec<&str> = hits.map(|hit| &*hit.doc.text).collect();
    texts.join("\n")
}

#[tokio::test]
async fn facts_about_a_person_are_found_in_every_project_and_messages_are_not() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let said = "I live in Lisbon. The build of the quay needs the wrench.";
    remember(&stage, &engine, "ann", "boat", said).await;
    remember(&stage, &engine, "ann", "default", "The violin is out of tune").await;
    for place in ["garden", "default"] {
        let found = texts(&ask(&engine, "ann", place, true, "Where does Ann live?").await);
        assert!(
            found.contains("I live in Lisbon") && !found.contains("wrench"),
            "{place}: {found}"
        );
        let found = texts(&ask(&engine, "ann", place, true, "violin").await);
        assert!(
            found.contains("violin"),
            "{place}: what was said outside of projects"
        );
        let found = texts(&ask(&engine, "ann", place, false, "Where does Ann live?").await);
        assert!(
            !found.contains("Lisbon"),
            "{place}: only where it is asked for: {found}"
        );
    }
    let found = texts(&ask(&engine, "bob", "garden", true, "Where does Ann live?").await);
    assert_eq!(found, "", "another person");
}

#[tokio::test]
async fn a_fact_changed_in_one_project_changes_in_all() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine, "ann", "boat", "I live in Lisbon.").await;
    let before = ask(&engine, "ann", "garden", true, "Where does Ann live?").await;
    assert!(texts(&before).contains("Lisbon"));
    // The rows of all projects are cached now, and follow writes, edits and deletions.
    remember(&stage, &engine, "ann", "garden", "I live in Porto.").await;
    let after = texts(&ask(&engine, "ann", "default", true, "Where does Ann live?").await);
    assert!(after.contains("Porto"), "{after}");
    let found = ask(&engine, "ann", "default", true, "Where does Ann live?").await;
    let porto = found.memories.iter().find(|hit| hit.doc.text.contains("Porto"));
    let id = EntryId::new(porto.expect("a fact").doc.key.id.clone());
    let only_here = |project_only| EditEntry {
        scope: project("garden"),
        owner: user("ann"),
        id: id.clone(),
        subject: None,
        summary: None,
        body: None,
        project_only: Some(project_only),
    };
    engine.edit(only_here(true)).await.expect("it is a fact");
    let elsewhere = texts(&ask(&engine, "ann", "default", true, "Where does Ann live?").await);
    assert!(!elsewhere.contains("Porto"), "{elsewhere}");
    let here = texts(&ask(&engine, "ann", "garden", true, "Where does Ann live?").await);
    assert!(here.contains("I live in Porto"), "{here}");
    engine.edit(only_here(false)).await.expect("it is a fact");
    let elsewhere = texts(&ask(&engine, "ann", "default", true, "Where does Ann live?").await);
    assert!(elsewhere.contains("Porto"), "{elsewhere}");
    let forget = memory::Forget::Owner(project("garden"), user("ann"));
    engine.forget(forget).await.expect("it is deleted");
    let after = texts(&ask(&engine, "ann", "default", true, "Where does Ann live?").await);
    assert!(!after.contains("Porto") && after.contains("Lisbon"), "{after}");
}

#[tokio::test]
async fn people_find_each_others_memory_only_in_a_shared_project() {
    let mut stage = Stage::default();
    stage.settings.shared = vec![project("boat")];
    let engine = stage.open().await;
    remember(&stage, &engine, "ann", "boat", "The mast is made of larch").await;
    remember(&stage, &engine, "ann", "garden", "The shed is made of larch").await;
    let found = ask(&engine, "bob", "boat", true, "larch").await;
    let first = found.messages.first().expect("a message");
    assert_eq!(first.doc.text, "The mast is made of larch");
    assert_eq!(first.doc.key.owner, user("ann"), "who taught it");
    assert_eq!(texts(&ask(&engine, "bob", "garden", true, "larch").await), "");
    drop(engine);
    stage.settings.shared.clear();
    let engine = stage.open().await;
    assert_eq!(
        texts(&ask(&engine, "bob", "boat", true, "larch").await),
        "",
        "switched off"
    );
}

#[tokio::test]
async fn a_models_facts_hold_in_all_projects_only_if_they_are_about_a_persons_life() {
    let answer = r#"{"parts":[{"last":2,"title":"The quay","summary":""}],
        "facts":["ann lives in Lisbon","ann's quay is built with the wrench"]}"#;
    let stage = Stage {
        chat: Some(Arc::new(ScriptedChat::answering(move |_| Ok(answer.to_owned())))),
        ..Stage::default()
    };
    let engine = stage.open().await;
    let key = SessionKey::new(project("boat"), model::SessionId::new("s"));
    say(&engine, &key, "ann", 0, "I live in Lisbon.").await;
    say(
        &engine,
        &key,
        "ann",
        1,
        "The quay of our town is built with the wrench.",
    )
    .await;
    engine.flush(flush(&key)).await.expect("it cuts");
    assert_eq!(stage.rest(&engine).await, 0);
    let facts = |found: &Found| {
        texts(found)
            .matches("ann's quay is built with the wrench")
            .count()
    };
    assert_eq!(
        facts(&ask(&engine, "ann", "boat", true, "What is the quay built with?").await),
        1
    );
    assert_eq!(
        facts(&ask(&engine, "ann", "garden", true, "What is the quay built with?").await),
        0
    );
    let found = texts(&ask(&engine, "ann", "garden", true, "Where does Ann live?").await);
    assert!(found.contains("live in Lisbon"), "{found}");
}

#[tokio::test]
async fn facts_of_a_cached_project_are_not_read_again() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine, "ann", "default", "I live in Lisbon.").await;
    drop(engine);
    for read in ["get", "count"] {
        let engine = stage.open().await;
        ask(&engine, "ann", "default", false, "Where does Ann live?").await;
        stage.faults.plan_next(read, Mode::Refuse);
        let found = texts(&ask(&engine, "ann", "default", true, "Where does Ann live?").await);
        assert!(found.contains("I live in Lisbon"), "{found}");
    }
}
