//! The results of each strategy, and the messages from which it makes nothing.

use memory::{EditEntry, Forget, RecordedChange, Verdict};
use model::{EntryId, EntryKind, Origin, Owner, Page, Scope, SessionId, SessionKey};
use ports::By;
use ports::runs::{MemoryEvent, RunState};
use testkit::models::ScriptedChat;

use crate::strategies::stage::{Stage, hits, name, page, put, put_fact, search, texts, user};

const PROFILE: &str = "extract_user_profile";
const LIVES: &str = "Ann says: \"I live in Lisbon\".";
const NURSE: &str = "Ann says: \"I'm a nurse\".";
const FORESIGHT: &str = "extract_foresight";

#[tokio::test]
async fn a_user_with_one_episode_has_a_profile_after_a_quiet_minute() {
    let stage = Stage::default();
    let process = stage.open().await;
    stage
        .say(&process, "s", "ann", &["I live in Lisbon.", "I'm a nurse."])
        .await;
    let waiting = async {
        while hits(&process.engine, "ann", EntryKind::Profile).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    stage.drive(waiting).await;
    let profile = texts(&process.engine, "ann", EntryKind::Profile).await;
    assert_eq!(profile, [LIVES, NURSE]);
    let one = &hits(&process.engine, "ann", EntryKind::Profile).await[0].doc;
    assert!(!one.sources.is_empty() && one.key.id.starts_with("pf_"));
}

#[tokio::test]
async fn a_runs_writes_are_recorded_under_the_run_and_undone_with_it() {
    let stage = Stage::default();
    let process = stage.open().await;
    stage
        .say_twice(&process, "s", "ann", &["I live in Lisbon.", "I'm a nurse."])
        .await;
    let profiled = stage.run(&process, PROFILE).await;
    let dreamt = stage.run(&process, "dream").await;
    let made = page(&process.engine, Page::User).await + &page(&process.engine, Page::Memory).await;
    assert!(made.contains("nurse"), "{made}");
    process.engine.shutdown().await;
    let process = stage.open().await;
    let log = process
        .engine
        .history(None, None, (None, 100))
        .await
        .expect("it reads");
    let by = |id: &ports::RunId| {
        let is_ours = |change: &&RecordedChange| change.by.run().is_some_and(|run| run.id == *id);
        log.iter().filter(is_ours).count()
    };
    assert!(by(&profiled[0].id) > 0, "{log:#?}");
    assert!(by(&dreamt[0].id) > 0, "{log:#?}");
    assert!(log.iter().all(|change| change.by != By::Person), "{log:#?}");
    process
        .engine
        .undo(None, &dreamt[0].id)
        .await
        .expect("it is taken back");
    let left = page(&process.engine, Page::User).await + &page(&process.engine, Page::Memory).await;
    assert!(!left.contains("nurse"), "{left}");
}

#[tokio::test]
async fn core_memory_has_statements_of_two_days_and_confirmed_statements() {
    let stage = Stage::default();
    let process = stage.open().await;
    stage
        .say(&process, "one", "ann", &["I live in Lisbon. I'm a nurse."])
        .await;
    stage
        .say_twice(&process, "two", "ann", &["I live in Lisbon."])
        .await;
    let dreamt = async || {
        stage.run(&process, PROFILE).await;
        stage.run(&process, "dream").await;
        page(&process.engine, Page::User).await + &page(&process.engine, Page::Memory).await
    };
    let pages = dreamt().await;
    assert!(
        pages.contains("Lisbon") && !pages.contains("nurse"),
        "beside it: {pages}"
    );
    let (scope, owner) = (Scope::default(), user("ann"));
    let all = process.engine.review(&scope, &owner).await.expect("it is shown");
    let nurse = all.iter().find(|one| one.text == NURSE).expect("a fact");
    let kept = process
        .engine
        .answer(&scope, &owner, &nurse.id, Verdict::Keep)
        .await;
    assert_eq!(kept.expect("it is answered").statements.len(), 1);
    assert!(dreamt().await.contains("nurse"));
}

#[tokio::test]
async fn a_statement_under_an_earlier_heading_precedes_a_newer_one() {
    let stage = Stage::default();
    let process = stage.open().await;
    let (scope, owner) = (Scope::default(), user("ann"));
    let told = async |chat: &str, said: &str| {
        stage.say(&process, chat, "ann", &[said]).await;
        let all = process.engine.review(&scope, &owner).await.expect("it is shown");
        let id = &all
            .iter()
            .find(|one| one.text.contains(said))
            .unwrap_or_else(|| panic!("{all:?}"))
            .id;
        let kept = process.engine.answer(&scope, &owner, id, Verdict::Keep).await;
        kept.expect("it is answered");
        stage.run(&process, PROFILE).await;
        stage.run(&process, "dream").await;
        page(&process.engine, Page::User).await
    };
    told("one", "My home is in the town of Lisbon").await;
    told("two", "I bought a ticket for a trip").await;
    let user = told("three", "My job is nursing in a hospital").await;
    let places = ["Lisbon", "nursing", "ticket"].map(|word| user.find(word));
    assert!(places.is_sorted() && places[0].is_some(), "{user}");
}

#[tokio::test]
async fn a_statement_confirmed_before_it_was_a_fact_is_on_one_page() {
    let stage = Stage::default();
    let process = stage.open().await;
    let pasted = "Please fix the grammar:\n\nDear Ms Quill,\n\nI live in Hull now.";
    stage
        .say(&process, "one", "ann", &[pasted, "I play the cello."])
        .await;
    stage.run(&process, PROFILE).await;
    let (scope, owner) = (Scope::default(), user("ann"));
    let all = process.engine.review(&scope, &owner).await.expect("it is shown");
    let hull = all.iter().find(|one| one.text.contains("Hull")).expect("a doubt");
    let kept = process
        .engine
        .answer(&scope, &owner, &hull.id, Verdict::Keep)
        .await;
    assert_eq!(kept.expect("it is answered").statements.len(), 1);
    stage.run(&process, "dream").await;
    let page_of = async |of| page(&process.engine, of).await.matches("Hull").count();
    assert_eq!(page_of(Page::Memory).await, 1, "the profile does not tell it yet");
    let reviewed = MemoryEvent::Reviewed {
        scope: scope.clone(),
        owner: owner.clone(),
    };
    process
        .offline
        .events()
        .emit(vec![reviewed])
        .await
        .expect("it is told");
    stage.run(&process, PROFILE).await;
    stage.run(&process, "dream").await;
    assert_eq!((page_of(Page::Memory).await, page_of(Page::User).await), (0, 1));
}

#[tokio::test]
async fn an_episode_without_facts_makes_no_profile() {
    let stage = Stage::default();
    let process = stage.open().await;
    stage
        .say(
            &process,
            "s",
            "ann",
            &["Thunder over the northern harbour again!"],
        )
        .await;
    stage.run(&process, PROFILE).await;
    assert_eq!(hits(&process.engine, "ann", EntryKind::Profile).await.len(), 0);
}

#[tokio::test]
async fn only_statements_of_people_about_themselves_are_learnt() {
    let stage = Stage::default();
    let process = stage.open().await;
    stage.say(&process, "s", "ann", &["I live in Lisbon."]).await;
    stage.say(&process, "s", "bob", &["I live in Oslo."]).await;
    stage.say(&process, "s", "bot", &["I live in Rome."]).await;
    for (id, origin) in [
        ("af_a", Origin::Assistant),
        ("af_t", Origin::Tool),
        ("af_w", Origin::Web),
        ("af_h", Origin::Hand),
    ] {
        put_fact(
            &process.engine,
            id,
            origin,
            &format!("Ann owns a {origin:?} boat."),
        )
        .await;
    }
    stage.run(&process, PROFILE).await;
    stage.run(&process, "dream").await;
    let profile = texts(&process.engine, "ann", EntryKind::Profile).await;
    assert_eq!(profile, ["Ann owns a Hand boat.", LIVES]);
    let pages = page(&process.engine, Page::User).await + &page(&process.engine, Page::Memory).await;
    for word in ["Oslo", "Rome", "Assistant", "Tool", "Web"] {
        assert!(!pages.contains(word), "{word}: {pages}");
    }
}

/// A library may have a person's name, and its documents speak as people do.
#[tokio::test]
async fn a_library_teaches_nothing() {
    let stage = Stage::default();
    let process = stage.open().await;
    let library = Owner::library(name("ann"));
    for (kind, id) in [(EntryKind::Topic, "kt_1"), (EntryKind::Fact, "af_1")] {
        let body = "I live in Rome. Ann owns a boat.";
        put(&process.engine, library.clone(), kind, id, Origin::User, body).await;
    }
    stage
        .say_twice(&process, "s", "ann", &["I live in Lisbon."])
        .await;
    for strategy in [PROFILE, FORESIGHT, "dream"] {
        stage.run(&process, strategy).await;
    }
    let profile = texts(&process.engine, "ann", EntryKind::Profile).await;
    assert_eq!(profile, [LIVES]);
    let pages = page(&process.engine, Page::User).await + &page(&process.engine, Page::Memory).await;
    assert!(
        pages.contains("Lisbon") && !pages.contains("Rome") && !pages.contains("boat"),
        "{pages}"
    );
    let all = stage.vault.paths().into_iter().map(|path| path.to_string());
    let made = all.filter(|path| path.contains("/libraries/"));
    let kinds = ["/topics/", "/facts/"];
    let made: Vec<String> = made
        .filter(|path| kinds.iter().all(|kind| !path.contains(kind)))
        .collect();
    assert_eq!(made, Vec::<String>::new());
}

#[tokio::test]
async fn a_changed_or_removed_profile_statement_stays_so() {
    let stage = Stage::default();
    let process = stage.open().await;
    stage
        .say(&process, "s", "ann", &["I live in Lisbon.", "I'm a nurse."])
        .await;
    stage.run(&process, PROFILE).await;
    let profile = hits(&process.engine, "ann", EntryKind::Profile).await;
    let id = |text: &str| {
        let hit = profile.iter().find(|hit| hit.doc.text.contains(text));
        EntryId::new(hit.expect("it is there").doc.key.id.clone())
    };
    let edit = EditEntry {
        scope: Scope::default(),
        owner: user("ann"),
        id: id("nurse"),
        subject: None,
        summary: None,
        body: Some("Ann is a head nurse.".to_owned()),
        project_only: None,
    };
    process.engine.edit(edit).await.expect("it is changed");
    let forget = Forget::Entries(Scope::default(), user("ann"), vec![id("Lisbon")]);
    process.engine.forget(forget).await.expect("it is taken out");
    stage.say(&process, "t", "ann", &["I play the cello."]).await;
    stage.run(&process, PROFILE).await;
    let after = texts(&process.engine, "ann", EntryKind::Profile).await;
    assert_eq!(after, ["Ann is a head nurse.", "Ann says: \"I play the cello\"."]);
}

#[tokio::test]
async fn an_announcement_is_listed_found_and_ends() {
    let stage = Stage::default();
    let process = stage.open().await;
    // 2 March 2026 is a Monday.
    stage
        .say(&process, "s", "ann", &["I'm flying to Rome on Friday."])
        .await;
    stage.run(&process, FORESIGHT).await;
    let found = hits(&process.engine, "ann", EntryKind::Foresight).await;
    assert_eq!(found.len(), 1);
    let doc = &found[0].doc;
    assert_eq!(
        doc.valid_from.expect("it begins").to_string(),
        "2026-03-06T00:00:00Z"
    );
    assert_eq!(
        doc.valid_until.expect("it ends").to_string(),
        "2026-03-07T00:00:00Z"
    );
    assert!(doc.text.contains("Rome") && doc.summary.contains("Said on 2 March 2026"));
    let search = search(user("ann"), "Rome flight", 0);
    let answer = process.engine.search(search).await.expect("it answers");
    assert!(answer.memories.iter().any(|hit| hit.doc.key.id == doc.key.id));
    stage.run(&process, "dream").await;
    assert!(page(&process.engine, Page::Memory).await.contains(&*doc.key.id));
}

#[tokio::test]
async fn a_withdrawn_announcement_makes_no_event_when_it_is_repeated() {
    let stage = Stage::default();
    let process = stage.open().await;
    let rome = "I'm flying to Rome on 6 May 2026.";
    stage.say(&process, "s", "ann", &[rome]).await;
    stage.run(&process, FORESIGHT).await;
    let (scope, owner) = (Scope::default(), user("ann"));
    let all = process.engine.review(&scope, &owner).await.expect("it is shown");
    let wrong = process.engine.answer(&scope, &owner, &all[0].id, Verdict::Wrong);
    assert_eq!(wrong.await.expect("it is answered").derived, 1);
    stage.say_twice(&process, "t", "ann", &[rome]).await;
    stage.run(&process, FORESIGHT).await;
    assert_eq!(texts(&process.engine, "ann", EntryKind::Foresight).await, [""; 0]);
}

#[tokio::test]
async fn a_search_does_not_return_single_profile_statements() {
    let stage = Stage::default();
    let process = stage.open().await;
    stage.say(&process, "s", "ann", &["I live in Lisbon."]).await;
    stage.run(&process, PROFILE).await;
    let search = search(user("ann"), "Lisbon", 10);
    let answer = process.engine.search(search).await.expect("it answers");
    assert!(!answer.memories.is_empty());
    assert!(
        answer
            .memories
            .iter()
            .all(|hit| !hit.doc.key.id.starts_with("pf_"))
    );
}

#[tokio::test]
async fn core_memory_pages_follow_new_and_deleted_facts() {
    let stage = Stage::default();
    let process = stage.open().await;
    stage
        .say_twice(&process, "s", "ann", &["I live in Lisbon."])
        .await;
    stage.say_twice(&process, "t", "ann", &["I'm a nurse."]).await;
    stage.run(&process, PROFILE).await;
    stage.run(&process, "dream").await;
    let before = page(&process.engine, Page::User).await;
    assert!(
        before.contains(&format!("{LIVES} [pf_")) && before.contains(&format!("{NURSE} [pf_")),
        "{before}"
    );
    stage.run(&process, "dream").await;
    assert_eq!(
        page(&process.engine, Page::User).await,
        before,
        "nothing new: the same bytes"
    );
    for session in ["s", "s-again"] {
        let gone = SessionKey::new(Scope::default(), SessionId::new(session));
        let forgotten = process.engine.forget(Forget::Session(gone)).await;
        forgotten.expect("it forgets");
    }
    let after = page(&process.engine, Page::User).await;
    assert!(!after.contains("Lisbon") && after.contains("nurse"), "{after}");
}

#[tokio::test]
async fn a_model_is_asked_and_the_rules_serve_when_it_fails() {
    let answer = r#"{"statements":[
        {"heading":"Home","text":"Ann lives in Lisbon.","facts":[1],"replaces":0},
        {"heading":"Work","text":"Ann runs a bank in Zurich.","facts":[1],"replaces":0}],"remove":[]}"#;
    let stage = Stage::asking(ScriptedChat::answering(move |_| Ok(answer.to_owned())));
    let process = stage.open().await;
    stage.say(&process, "s", "ann", &["I live in Lisbon."]).await;
    let runs = stage.run(&process, PROFILE).await;
    assert_eq!((runs[0].state, runs[0].cost.calls), (RunState::Success, 1));
    assert_eq!(
        runs[0].change,
        "1 statement added, 0 removed; 1 of the model's statements left out as unsupported"
    );
    assert_eq!(
        texts(&process.engine, "ann", EntryKind::Profile).await,
        ["Ann lives in Lisbon."]
    );
    let stage = Stage::asking(ScriptedChat::unreachable());
    let process = stage.open().await;
    stage.say(&process, "s", "ann", &["I live in Lisbon."]).await;
    stage.run(&process, PROFILE).await;
    assert_eq!(texts(&process.engine, "ann", EntryKind::Profile).await, [LIVES]);
}

#[tokio::test]
async fn many_episodes_in_a_short_time_cause_one_model_call() {
    let stage = Stage::asking(ScriptedChat::answering(|_| {
        Ok("{\"statements\":[],\"remove\":[]}".to_owned())
    }));
    let process = stage.open().await;
    for n in 0..10 {
        let text = format!("I own the boat number {n}.");
        stage
            .say(&process, &format!("s{n}"), "ann", &[text.as_str()])
            .await;
    }
    let runs = stage.run(&process, PROFILE).await;
    assert_eq!(runs.len(), 1);
    let asked = stage.chat.as_ref().expect("it was given").requests();
    assert_eq!(asked.len(), 1, "one profile, no foresight to tell");
    let chars: usize = asked[0]
        .messages
        .iter()
        .map(|message| message.content.len())
        .sum();
    assert!(chars < 8_000, "{chars} characters");
}
