//! Sessions of one owner that are written in another order than they were said.

use memory::{Engine, List, Standing, Verdict};
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
    let holding = engine.list(list).await.expect("it is listed").hits;
    lines.extend(holding.iter().map(|hit| format!("{} holds", hit.doc.text)));
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
