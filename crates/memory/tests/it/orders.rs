//! Sessions of one owner that are written in another order than they were said.

use memory::{Engine, List, MemorySettings, Standing, Verdict};
use model::{EntryKind, Scope};

use crate::stage::{Stage, ask, flush, minute, question, say, session, user};

const DAY: i64 = 24 * 60;

/// Ann's homes, each told in a session of its own.
const HOMES: [(&str, &str, i64); 3] = [
    ("first", "My home is in Lisbon.", 0),
    ("second", "My new home is in Porto.", 20 * DAY),
    ("third", "My new home is in Faro.", 40 * DAY),
];

async fn remember(stage: &Stage, engine: &Engine, order: &[usize]) {
    for n in order {
        let (id, text, at) = HOMES[*n];
        say(engine, &session(id), "ann", at, text).await;
        engine.flush(flush(&session(id))).await.expect("it cuts");
        assert_eq!(stage.rest(engine).await, 0);
    }
}

/// What a search shows of the homes: each fact with its successor, each message with the later one, and which facts hold.
async fn shown(engine: &Engine, day: Option<i64>) -> Vec<String> {
    let mut search = question("ann", "Where is my home?");
    let as_of = day.map(|day| minute(day * DAY));
    search.as_of = as_of;
    let found = engine.search(search).await.expect("it is answered");
    let facts = found.memories.iter().flat_map(|hit| &hit.facts);
    let texts: Vec<(String, String)> = facts
        .clone()
        .map(|hit| (hit.doc.key.id.to_string(), hit.doc.text.clone()))
        .collect();
    let text = |id: &str| {
        texts
            .iter()
            .find(|(other, _)| other == id)
            .map(|(_, text)| text.clone())
    };
    let mut lines: Vec<String> = facts
        .map(|hit| {
            let newer = hit.superseded_by.as_ref().and_then(|id| text(id.as_str()));
            format!("{} then {newer:?}", hit.doc.text)
        })
        .collect();
    lines.sort();
    let said = found.messages.iter();
    lines.extend(said.map(|hit| format!("{}, earlier: {}", hit.doc.text, hit.later.is_some())));
    let list = List {
        as_of,
        standing: Some(Standing::Current),
        ..List::all(Scope::default(), user("ann"), EntryKind::Fact)
    };
    let holding = engine.list(list.clone()).await.expect("it is listed").hits;
    lines.extend(holding.iter().map(|hit| format!("{} holds", hit.doc.text)));
    let list = List {
        standing: None,
        ..list
    };
    let listed = engine.list(list).await.expect("it is listed").hits;
    lines.extend(listed.iter().map(|hit| {
        let newer = hit.superseded_by.as_ref().and_then(|id| text(id.as_str()));
        format!("{} listed before {newer:?}", hit.doc.text)
    }));
    lines
}

#[tokio::test]
async fn an_answer_does_not_depend_on_the_order_in_which_sessions_are_written() {
    for day in [None, Some(10), Some(30)] {
        let mut answers = Vec::new();
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]] {
            let stage = Stage::default();
            let engine = stage.open().await;
            remember(&stage, &engine, &order).await;
            answers.push((order, shown(&engine, day).await));
        }
        for (order, answer) in &answers {
            assert_eq!(*answer, answers[0].1, "{order:?} on day {day:?}");
        }
    }
}

/// The facts and whether each holds, after Ann said the texts of each day; the days are written in the order given.
async fn facts(days: &[(i64, &[&str])]) -> Vec<(String, bool)> {
    let stage = Stage::default();
    let engine = stage.open().await;
    for (day, texts) in days {
        let key = session(&format!("s{day}"));
        for (n, text) in (0..).zip(*texts) {
            say(&engine, &key, "ann", day * DAY + n, text).await;
        }
        engine.flush(flush(&key)).await.expect("it cuts");
        assert_eq!(stage.rest(&engine).await, 0);
    }
    listed(&engine).await
}

async fn listed(engine: &Engine) -> Vec<(String, bool)> {
    let list = |standing| List {
        standing: Some(standing),
        ..List::all(Scope::default(), user("ann"), EntryKind::Fact)
    };
    let mut facts = Vec::new();
    for standing in [Standing::Current, Standing::Superseded] {
        let listed = engine.list(list(standing)).await.expect("it is listed").hits;
        let is = standing == Standing::Current;
        facts.extend(listed.iter().map(|hit| (hit.doc.text.clone(), is)));
    }
    facts.sort();
    facts
}

#[tokio::test]
async fn a_statement_that_was_denied_and_is_said_again_holds() {
    let [one, two, denied, again]: [(i64, &[&str]); 4] = [
        (0, &["I eat meat."]),
        (1, &["I eat meat!"]),
        (20, &["I don't eat meat."]),
        (40, &["I eat meat"]),
    ];
    let in_order = facts(&[one, two, denied, again]).await;
    assert_eq!(
        in_order.iter().filter(|(_, holds)| *holds).count(),
        1,
        "{in_order:?}"
    );
    assert_eq!(facts(&[denied, one, two, again]).await, in_order);
    assert_eq!(facts(&[denied, two, one, again]).await, in_order);

    // The three segments of one session, written together.
    let stage = Stage::default();
    let engine = stage.open().await;
    say(&engine, &session("other"), "ann", denied.0 * DAY, denied.1[0]).await;
    engine.flush(flush(&session("other"))).await.expect("it cuts");
    assert_eq!(stage.rest(&engine).await, 0);
    engine.shutdown().await;
    let settings = MemorySettings {
        asks_only: true,
        ..stage.settings.clone()
    };
    let engine = Engine::start(stage.parts(), settings).await.expect("it starts");
    for (day, texts) in [one, two, again] {
        say(&engine, &session("s"), "ann", day * DAY, texts[0]).await;
        engine.flush(flush(&session("s"))).await.expect("it cuts");
    }
    engine.shutdown().await;
    let engine = stage.open().await;
    assert_eq!(stage.rest(&engine).await, 0);
    assert_eq!(listed(&engine).await, in_order);
}

#[tokio::test]
async fn facts_of_one_late_segment_replace_each_other() {
    let early: (i64, &[&str]) = (
        0,
        &["My rent is 900.", "My rent is 950 now.", "My rent is 950 now."],
    );
    let late: (i64, &[&str]) = (20, &["My rent is 1000 now."]);
    let in_order = facts(&[early, late]).await;
    assert_eq!(in_order.len(), 3, "{in_order:?}");
    assert_eq!(facts(&[late, early]).await, in_order);
}

#[tokio::test]
async fn of_an_owner_with_many_rows_a_late_fact_has_its_successor_without_a_word_of_it() {
    let mut stage = Stage::default();
    stage.settings.hot_rows_max = 0;
    let engine = stage.open().await;
    remember(&stage, &engine, &[1, 0]).await;
    engine.shutdown().await;
    let engine = stage.open().await;
    let mut search = question("ann", "Lisbon");
    search.method = recall::Method::Keyword;
    let found = engine.search(search).await.expect("it is answered");
    let mut facts = found
        .memories
        .iter()
        .flat_map(|hit| hit.facts.iter().chain([hit]));
    let lisbon = facts.find(|hit| hit.doc.is_fact() && hit.doc.text.contains("Lisbon"));
    assert!(lisbon.expect("it is found").superseded_by.is_some(), "{found:?}");
}

#[tokio::test]
async fn a_fact_that_its_person_ended_has_replaced_an_earlier_one() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine, &[1]).await;
    let (scope, owner) = (Scope::default(), user("ann"));
    let all = engine.review(&scope, &owner).await.expect("it is shown");
    let answered = engine.answer(&scope, &owner, &all[0].id, Verdict::Ended).await;
    answered.expect("it is answered");
    remember(&stage, &engine, &[0]).await;
    let list = List {
        standing: Some(Standing::Current),
        ..List::all(scope, owner, EntryKind::Fact)
    };
    let holding = engine.list(list).await.expect("it is listed").hits;
    assert!(holding.is_empty(), "{holding:?}");
}

#[tokio::test]
async fn a_fact_written_after_its_successor_holds_again_when_the_successor_is_withdrawn_or_it_is_kept() {
    for (word, verdict, holding) in [
        ("Porto", Verdict::Wrong, vec!["Lisbon"]),
        ("Lisbon", Verdict::Keep, vec!["Lisbon", "Porto"]),
    ] {
        let stage = Stage::default();
        let engine = stage.open().await;
        remember(&stage, &engine, &[1, 0]).await;
        let all = engine.review(&Scope::default(), &user("ann")).await;
        let all = all.expect("it is shown");
        let asked = all
            .iter()
            .find(|one| one.text.contains(word))
            .expect("it is listed");
        let answered = engine
            .answer(&Scope::default(), &user("ann"), &asked.id, verdict)
            .await;
        answered.expect("it is answered");
        let found = ask(&engine, "ann", "Where is my home?").await;
        let facts = found.memories.iter().flat_map(|hit| &hit.facts);
        let current = facts.filter(|hit| hit.superseded_by.is_none() && !hit.is_withdrawn);
        let mut current: Vec<&str> = current
            .filter_map(|hit| {
                ["Lisbon", "Porto"]
                    .into_iter()
                    .find(|home| hit.doc.text.contains(home))
            })
            .collect();
        current.sort_unstable();
        assert_eq!(current, holding, "{word} {verdict:?}");
    }
}
