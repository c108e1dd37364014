//! A person's answers in a review: stored in the files, and applied to memories made of a statement.

use std::time::Duration;

use extract::consolidate::page::Own;
use memory::{Belief, Believed, Curate, Engine, EngineError, List, ReplacePage, Standing, Verdict};
use model::{Entry, EntryId, EntryKind, Page, Scope, SessionKey};
use ports::runs::MemoryEvent;

use crate::stage::{Stage, ask, finds, flush, minute, question, say, session, user, written};

async fn remember(stage: &Stage, engine: &Engine, key: &SessionKey, minute: i64, texts: &[&str]) {
    for (at, text) in (minute..).zip(texts) {
        say(engine, key, "ann", at, text).await;
    }
    engine.flush(flush(key)).await.expect("it cuts");
    assert_eq!(stage.rest(engine).await, 0);
}

/// A minute after every answer.
const LATER: i64 = 1_000_000;

async fn believed(engine: &Engine) -> Vec<Believed> {
    let all = engine.review(&Scope::default(), &user("ann")).await;
    all.expect("it is shown")
}

/// The id of the first listed statement with a word.
async fn id_of(engine: &Engine, word: &str) -> EntryId {
    let all = believed(engine).await;
    let found = all.iter().find(|one| one.text.contains(word));
    found.unwrap_or_else(|| panic!("no {word} in {all:?}")).id.clone()
}

async fn answer(engine: &Engine, word: &str, verdict: Verdict) {
    let id = id_of(engine, word).await;
    let answered = engine.answer(&Scope::default(), &user("ann"), &id, verdict).await;
    answered.expect("it is answered");
}

fn facts(stage: &Stage) -> Vec<Entry> {
    let entries = stage.vault.entries().into_iter().map(|(_, entry)| entry);
    entries.filter(|entry| entry.kind == EntryKind::Fact).collect()
}

fn has(beliefs: &[Believed], word: &str) -> bool {
    beliefs.iter().any(|one| one.text.contains(word))
}

/// Puts a profile statement in the words of a fact, and a page with lines about both and about another fact; returns
/// the last line.
async fn written_of(engine: &Engine, lisbon: &Entry, theremin: &Entry) -> String {
    let statement = Entry {
        sources: lisbon.sources.clone(),
        ..written("ann", EntryKind::Profile, "pf_1", 0, &lisbon.body)
    };
    let curate = Curate::new(&Scope::default(), &user("ann"), vec![statement], Vec::new());
    engine.curate(curate).await.expect("it is put");
    let line = |text: &str, id: &str| Own::new(text, [id]).expect("a line").line();
    let music = line("Music.", theremin.id.as_str());
    let text = format!(
        "by hand\n{}{}{music}",
        line("Home.", "pf_1"),
        line("Coast.", lisbon.id.as_str())
    );
    let page = ReplacePage {
        scope: Scope::default(),
        owner: user("ann"),
        page: Page::User,
        before: None,
        text,
    };
    assert!(engine.replace_page(page).await.expect("it is put"));
    music
}

#[tokio::test]
async fn a_wrong_statement_leaves_facts_profile_and_pages_and_its_message_stays() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine, &session("one"), 0, &["I live in Lisbon."]).await;
    remember(
        &stage,
        &engine,
        &session("two"),
        60,
        &["I live in Lisbon!", "I play the theremin."],
    )
    .await;
    let told = facts(&stage);
    let lisbon = told
        .iter()
        .find(|fact| fact.body.contains("Lisbon"))
        .expect("a fact");
    let theremin = told
        .iter()
        .find(|fact| fact.body.contains("theremin"))
        .expect("a fact");
    let music = written_of(&engine, lisbon, theremin).await;

    answer(&engine, "Lisbon", Verdict::Wrong).await;
    let after = believed(&engine).await;
    let beliefs: Vec<(Belief, bool)> = after
        .iter()
        .map(|one| (one.belief, one.text.contains("Lisbon")))
        .collect();
    assert_eq!(beliefs, [(Belief::Fact, false), (Belief::Withdrawn, true)]);
    let texts: Vec<String> = stage
        .vault
        .entries()
        .into_iter()
        .map(|(_, entry)| entry.body)
        .collect();
    assert!(!texts.iter().any(|text| text.contains("Lisbon")), "{texts:?}");
    let left = stage.pages.bytes("default/default/users/ann/USER.md");
    assert_eq!(left.as_deref(), Some(format!("by hand\n{music}").as_bytes()));
    let found = ask(&engine, "ann", "Where is Lisbon?").await;
    assert!(
        found
            .memories
            .iter()
            .all(|hit| hit.doc.kind != model::DocKind::Entry(EntryKind::Fact))
    );
    let of_lisbon = |hit: &&memory::Hit| hit.doc.text.contains("Lisbon");
    assert_eq!(
        found.messages.iter().filter(of_lisbon).count(),
        2,
        "messages stay"
    );
    assert!(
        found
            .messages
            .iter()
            .all(|hit| hit.is_withdrawn == hit.doc.text.contains("Lisbon"))
    );

    engine.shutdown().await;
    let engine = stage.open().await;
    engine.rebuild().await.expect("it is rebuilt");
    assert_eq!(believed(&engine).await, after, "the answer stands in the files");
}

#[tokio::test]
async fn a_superseded_fact_is_valid_again_after_the_later_one_is_withdrawn() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine, &session("one"), 0, &["My home is in Lisbon."]).await;
    remember(
        &stage,
        &engine,
        &session("two"),
        3_000,
        &["My new home is in Porto."],
    )
    .await;
    let before = believed(&engine).await;
    let is_ended = |one: &&Believed| one.belief == Belief::Ended && one.text.contains("Lisbon");
    assert!(
        before.iter().any(|one| is_ended(&one)) && has(&before, "Porto"),
        "{before:?}"
    );
    answer(&engine, "Porto", Verdict::Wrong).await;
    let after = believed(&engine).await;
    assert!(
        after[0].belief == Belief::Fact && after[0].text.contains("Lisbon"),
        "{after:?}"
    );
    assert!(
        after[1].belief == Belief::Withdrawn && after[1].text.contains("Porto"),
        "{after:?}"
    );
}

#[tokio::test]
async fn a_kept_superseded_fact_is_valid_together_with_the_later_one() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine, &session("one"), 0, &["My home is in Lisbon."]).await;
    let later = ["My new home is in Porto."];
    remember(&stage, &engine, &session("two"), 3_000, &later).await;
    answer(&engine, "Lisbon", Verdict::Keep).await;
    let is = |all: &[Believed]| -> Vec<(Belief, bool)> {
        all.iter()
            .map(|one| (one.belief, one.text.contains("Lisbon")))
            .collect()
    };
    let after = believed(&engine).await;
    assert_eq!(is(&after), [(Belief::Fact, false), (Belief::Confirmed, true)]);

    engine.shutdown().await;
    let engine = stage.open().await;
    engine.rebuild().await.expect("it is rebuilt");
    assert_eq!(believed(&engine).await, after, "the answer stands in the files");
}

#[tokio::test]
async fn a_scene_withdraws_its_whole_session_and_its_own_words_elsewhere() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(
        &stage,
        &engine,
        &session("play"),
        0,
        &["I have a wolf called Fang.", "I live in Lisbon."],
    )
    .await;
    remember(
        &stage,
        &engine,
        &session("again"),
        3_000,
        &["I have a wolf called Fang!", "I live in Lisbon!"],
    )
    .await;
    let all = believed(&engine).await;
    // A statement in the same words that was made of another message.
    let is_true =
        |one: &&Believed| one.text.contains("Lisbon") && one.session == Some(session("again").session);
    let lisbon = all.iter().find(is_true).expect("a fact");
    let again = all.iter().find(|one| one.text.contains("wolf")).expect("a fact");
    let statement = Entry {
        sources: lisbon.sources.clone(),
        ..written("ann", EntryKind::Profile, "pf_1", 0, &again.text)
    };
    let curate = Curate::new(&Scope::default(), &user("ann"), vec![statement], Vec::new());
    engine.curate(curate).await.expect("it is put");
    let played = all
        .iter()
        .filter(|one| one.session == Some(session("play").session));
    let wolf = played
        .clone()
        .find(|one| one.text.contains("wolf"))
        .expect("a fact");
    assert_eq!(played.count(), 2);
    let answered = engine
        .answer(&Scope::default(), &user("ann"), &wolf.id, Verdict::Scene)
        .await;
    let answered = answered.expect("it is answered");
    assert_eq!((answered.statements.len(), answered.derived), (3, 1));
    // The game continues in the same session.
    remember(
        &stage,
        &engine,
        &session("play"),
        4_000,
        &["I have three cannons."],
    )
    .await;
    let listed = engine
        .list(List::all(Scope::default(), user("ann"), EntryKind::Fact))
        .await;
    assert_eq!(listed.expect("a list").total, 1);
    let left = believed(&engine).await;
    let open: Vec<&Believed> = left.iter().filter(|one| one.belief.is_open()).collect();
    assert!(open.len() == 1 && is_true(&open[0]), "{left:?}");
    let found = ask(&engine, "ann", "Where do I live?").await;
    let withdrawn = |text: &str| {
        let mut messages = found.messages.iter();
        messages
            .find(|hit| &*hit.doc.text == text)
            .map(|hit| hit.is_withdrawn)
    };
    assert_eq!(
        (withdrawn("I live in Lisbon."), withdrawn("I live in Lisbon!")),
        (Some(true), Some(false))
    );
}

#[tokio::test]
async fn a_later_statement_of_a_scene_is_withdrawn_and_can_be_kept() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(
        &stage,
        &engine,
        &session("play"),
        0,
        &["I have a wolf called Fang."],
    )
    .await;
    answer(&engine, "wolf", Verdict::Scene).await;
    remember(
        &stage,
        &engine,
        &session("play"),
        4_000,
        &["I have three cannons."],
    )
    .await;
    let left = believed(&engine).await;
    let cannons = |all: &[Believed]| {
        let one = all.iter().find(|one| one.text.contains("cannons"));
        one.map(|one| one.belief)
    };
    assert_eq!(cannons(&left), Some(Belief::Withdrawn), "it can be brought back");
    answer(&engine, "cannons", Verdict::Keep).await;
    assert_eq!(cannons(&believed(&engine).await), Some(Belief::Confirmed));
    let named = facts(&stage)
        .into_iter()
        .filter(|fact| fact.body.contains("cannons"));
    assert_eq!(named.count(), 1);
}

#[tokio::test]
async fn another_statement_of_a_scene_is_asked_about_when_it_is_repeated() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let played = [
        "I have a wolf called Fang.",
        "It says:\n\nMy ship is called Dread.\n\nEnd.",
    ];
    remember(&stage, &engine, &session("play"), 0, &played).await;
    answer(&engine, "wolf", Verdict::Scene).await;
    let again = ["My ship is called Dread.", "My boat is called Olive."];
    remember(&stage, &engine, &session("later"), LATER, &again).await;
    let all = believed(&engine).await;
    let of = |word: &str| {
        all.iter()
            .find(|one| one.text.contains(word))
            .map(|one| one.belief)
    };
    assert_eq!(
        (of("ship"), of("boat")),
        (Some(Belief::Again), Some(Belief::Fact))
    );
    assert!(!facts(&stage).iter().any(|fact| fact.body.contains("ship")));
}

#[tokio::test]
async fn a_kept_statement_of_a_scene_comes_back_alone() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let played = [
        "I have a wolf called Fang.",
        "My sword is called Ember.",
        "It says:\n\nI live in Hull now.\n\nEnd.",
    ];
    remember(&stage, &engine, &session("play"), 0, &played).await;
    answer(&engine, "wolf", Verdict::Scene).await;
    answer(&engine, "sword", Verdict::Keep).await;
    let listed = engine
        .list(List::all(Scope::default(), user("ann"), EntryKind::Fact))
        .await;
    assert_eq!(listed.expect("a list").total, 1);
    let found = ask(&engine, "ann", "What is my sword called?").await;
    assert!(!found.messages.is_empty());
    for hit in &found.messages {
        assert_eq!(hit.is_withdrawn, !hit.doc.text.contains("sword"));
    }
    answer(&engine, "Hull", Verdict::Keep).await;
    let kept = believed(&engine).await;
    assert!(
        kept.iter()
            .any(|one| one.text.contains("Hull") && one.belief == Belief::Confirmed)
    );
}

#[tokio::test]
async fn a_kept_fact_is_confirmed_and_an_ended_one_is_superseded() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(
        &stage,
        &engine,
        &session("one"),
        0,
        &["I live in Lisbon.", "I play the theremin."],
    )
    .await;
    answer(&engine, "Lisbon", Verdict::Keep).await;
    let heard = stage.listener.heard();
    assert!(
        matches!(heard.last(), Some(MemoryEvent::Reviewed { .. })),
        "the profile follows: {heard:?}"
    );
    answer(&engine, "theremin", Verdict::Ended).await;
    let after = believed(&engine).await;
    let beliefs: Vec<Belief> = after.iter().map(|one| one.belief).collect();
    assert_eq!(beliefs, [Belief::Confirmed, Belief::Ended]);
    let now = memory::Search {
        asked_at: Some(minute(LATER)),
        ..question("ann", "What do I play?")
    };
    let found = engine.search(now).await.expect("it is answered");
    let theremin = found
        .messages
        .iter()
        .find(|hit| hit.doc.text.contains("theremin"));
    let ended = theremin.map(|hit| hit.ended.len());
    assert_eq!(ended, Some(1), "the message says that it no longer holds");
    let listed = |standing| List {
        standing: Some(standing),
        ..List::all(Scope::default(), user("ann"), EntryKind::Fact)
    };
    let ended = engine.list(listed(Standing::Superseded)).await.expect("a list");
    assert!(ended.hits.len() == 1 && ended.hits[0].doc.text.contains("theremin"));
    answer(&engine, "Lisbon", Verdict::Wrong).await;
    let after = believed(&engine).await;
    assert_eq!(
        after[1].belief,
        Belief::Withdrawn,
        "a confirmed fact can be taken back"
    );
    answer(&engine, "theremin", Verdict::Keep).await;
    answer(&engine, "Lisbon", Verdict::Ended).await;
    let after = believed(&engine).await;
    let beliefs: Vec<(Belief, bool)> = after
        .iter()
        .map(|one| (one.belief, one.text.contains("Lisbon")))
        .collect();
    assert_eq!(
        beliefs,
        [(Belief::Confirmed, false), (Belief::Ended, true)],
        "each answer can be changed"
    );
}

#[tokio::test]
async fn a_fact_with_its_correction_is_withdrawn_and_kept_as_one_statement() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let said = "I play the cello. I'm driving my Skoda Fabia, a 2009. no, it's a 2007.";
    remember(&stage, &engine, &session("one"), 0, &[said]).await;
    for (verdict, belief) in [
        (Verdict::Wrong, Belief::Withdrawn),
        (Verdict::Keep, Belief::Confirmed),
    ] {
        answer(&engine, "Skoda", verdict).await;
        let all = believed(&engine).await;
        let car: Vec<&Believed> = all.iter().filter(|one| one.text.contains("Skoda")).collect();
        assert!(
            car.len() == 1 && car[0].belief == belief && car[0].text.contains("a 2007"),
            "{all:?}"
        );
        assert!(has(&all, "cello") && all.len() == 2, "{all:?}");
    }
}

#[tokio::test]
async fn a_withdrawn_statement_that_is_repeated_is_asked_about_and_is_no_fact() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine, &session("one"), 0, &["I live in Lisbon."]).await;
    answer(&engine, "Lisbon", Verdict::Wrong).await;
    let lisbon = |stage: &Stage| {
        facts(stage)
            .iter()
            .filter(|fact| fact.body.contains("Lisbon"))
            .count()
    };

    // A copy of the message, as after a second import into another ledger.
    remember(&stage, &engine, &session("copy"), 0, &["I live in Lisbon."]).await;
    let after = believed(&engine).await;
    assert!(
        after.len() == 1 && after[0].belief == Belief::Withdrawn,
        "{after:?}"
    );
    assert_eq!(lisbon(&stage), 0);
    let found = ask(&engine, "ann", "Where do I live?").await;
    assert!(found.messages.iter().all(|hit| hit.is_withdrawn), "its copy, too");

    remember(&stage, &engine, &session("two"), LATER, &["I live in Lisbon!"]).await;
    let after = believed(&engine).await;
    assert!(after.len() == 1 && after[0].belief == Belief::Again, "{after:?}");
    assert_eq!(lisbon(&stage), 0);
    let found = ask(&engine, "ann", "Where do I live?").await;
    assert!(
        found.messages.iter().all(|hit| hit.is_withdrawn),
        "until it is answered"
    );
    stage.clock.advance(Duration::from_hours(24 * 365));
    answer(&engine, "Lisbon", Verdict::Wrong).await;
    let after = believed(&engine).await;
    assert!(
        after.len() == 1 && after[0].belief == Belief::Withdrawn,
        "{after:?}"
    );

    answer(&engine, "Lisbon", Verdict::Keep).await;
    let after = believed(&engine).await;
    assert!(
        after.len() == 1 && after[0].belief == Belief::Confirmed,
        "{after:?}"
    );
    assert_eq!((lisbon(&stage), facts(&stage).len()), (1, 1), "no mark is left");
    let found = ask(&engine, "ann", "Where do I live?").await;
    assert!(found.messages.iter().all(|hit| !hit.is_withdrawn));
}

#[tokio::test]
async fn a_withdrawn_statement_is_hidden_in_each_message_of_a_segment() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine, &session("one"), 0, &["I live in Lisbon."]).await;
    answer(&engine, "Lisbon", Verdict::Wrong).await;
    let again = [
        "\"I live in Lisbon. I own a ship.\" We laughed.",
        "I live in Lisbon.",
    ];
    remember(&stage, &engine, &session("two"), LATER, &again).await;
    let found = ask(&engine, "ann", "Where do I live?").await;
    let named = found
        .messages
        .iter()
        .filter(|hit| hit.doc.text.contains("Lisbon"));
    let withdrawn: Vec<bool> = named.map(|hit| hit.is_withdrawn).collect();
    assert_eq!(withdrawn, [true, true, true]);
}

#[tokio::test]
async fn an_ended_fact_stays_ended_in_a_copy_and_is_a_fact_again_when_it_is_repeated() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let theremin = "I play the theremin.";
    remember(&stage, &engine, &session("one"), 0, &[theremin]).await;
    remember(&stage, &engine, &session("two"), 24 * 60, &[theremin]).await;
    answer(&engine, "theremin", Verdict::Ended).await;
    let beliefs = async || -> Vec<Belief> {
        let all = believed(&engine).await;
        all.iter().map(|one| one.belief).collect()
    };

    // A copy of the message, as after a second import into another ledger.
    remember(&stage, &engine, &session("copy"), 0, &[theremin]).await;
    assert!(beliefs().await.iter().all(|belief| *belief == Belief::Ended));
    let now = memory::Search {
        asked_at: Some(minute(LATER)),
        ..question("ann", "What do I play?")
    };
    let found = engine.search(now).await.expect("it is answered");
    assert_eq!(found.messages.len(), 3);
    assert!(
        found.messages.iter().all(|hit| !hit.ended.is_empty()),
        "{found:?}"
    );

    remember(&stage, &engine, &session("again"), LATER, &[theremin]).await;
    assert_eq!(
        beliefs().await.first(),
        Some(&Belief::Fact),
        "its person is asked"
    );
}

#[tokio::test]
async fn a_statement_in_doubt_is_no_fact_until_its_person_confirms_it() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let pasted =
        "Please fix the grammar:\n\nDear Ms Quill,\n\nI live in Hull now.\n\nMy boat is called Nell.";
    remember(&stage, &engine, &session("one"), 0, &[pasted]).await;
    let before = believed(&engine).await;
    assert_eq!(before.len(), 2, "{before:?}");
    assert!(before.iter().all(|one| one.belief == Belief::Doubt), "{before:?}");
    assert_eq!(facts(&stage), []);
    answer(&engine, "boat", Verdict::Keep).await;
    answer(&engine, "Hull", Verdict::Wrong).await;
    let after = believed(&engine).await;
    let beliefs: Vec<Belief> = after.iter().map(|one| one.belief).collect();
    assert_eq!(beliefs, [Belief::Confirmed, Belief::Withdrawn]);
    assert!(finds(&engine, "ann", "boat", "My boat is called Nell").await);

    // A copy of the message, as after a second import into another ledger.
    remember(&stage, &engine, &session("copy"), 0, &[pasted]).await;
    let found = ask(&engine, "ann", "Where is Hull?").await;
    assert_eq!(found.messages.len(), 2);
    assert!(found.messages.iter().all(|hit| hit.is_withdrawn), "its copy, too");
    let beliefs: Vec<Belief> = believed(&engine).await.iter().map(|one| one.belief).collect();
    assert_eq!(beliefs, [Belief::Confirmed, Belief::Withdrawn]);
    let unknown = engine
        .answer(
            &Scope::default(),
            &user("ann"),
            &EntryId::new("af_0"),
            Verdict::Wrong,
        )
        .await;
    assert!(
        matches!(unknown, Err(EngineError::NotFound { .. })),
        "only what is shown can be answered"
    );
}
