//! The order by a reranker's scores, on rankings of a real corpus.

use model::{Doc, DocKind, EntryId, EntryKind, Zone};

use super::Shortlist;
use crate::hit::{Hit, Ranking};
use crate::tests::{Ask, ann, ask, corpus, day, episode, fact, ids, turn};

/// Reranks with the score of the first text that a passage contains; 0 for any other.
fn reranked(ranking: &mut Ranking, question: &str, scores: &[(&str, f32)]) -> Vec<String> {
    let shortlist = Shortlist::of(ranking, question, &ann(), &Zone::utc());
    let score = |passage: &String| {
        let known = scores.iter().find(|(text, _)| passage.contains(text));
        known.map_or(0.0, |(_, score)| *score)
    };
    let scores: Vec<f32> = shortlist.passages.iter().map(score).collect();
    shortlist.order(ranking, &scores);
    shortlist.passages
}

fn scores(hits: &[Hit]) -> Vec<f32> {
    hits.iter().map(|hit| hit.score).collect()
}

fn successor(id: &str, at: i64, text: &str, of: &str) -> Doc {
    Doc {
        supersedes: vec![EntryId::new(of)],
        ..fact(id, day(at), text)
    }
}

#[test]
fn hits_are_ordered_by_the_reranker_and_places_keep_their_scores() {
    let corpus = corpus([
        turn("a", "s", day(1), "Ann", "The red car needs new tyres."),
        turn("b", "t", day(2), "Bob", "A red car stood before the house."),
        fact("f", day(3), "Ann drives a red car."),
    ]);
    let mut found = ask("red car").of(&corpus);
    assert_eq!(ids(&found.messages), ["b", "a"]);
    let all = [scores(&found.messages), scores(&found.memories)].concat();
    let passages = reranked(
        &mut found,
        "red car",
        &[("tyres", 7.5), ("house", 0.2), ("drives", -3.0)],
    );
    assert_eq!(ids(&found.messages), ["a", "b"]);
    assert_eq!(found.messages[0].why.rerank, Some(7.5));
    assert_eq!(found.memories[0].why.rerank, Some(-3.0));
    let mut now = [scores(&found.messages), scores(&found.memories)].concat();
    assert!(now.is_sorted_by(|a, b| a >= b), "{now:?}");
    let mut all = all;
    all.sort_by(f32::total_cmp);
    now.sort_by(f32::total_cmp);
    assert_eq!(all, now);
    let mut passages = passages;
    passages.sort();
    assert_eq!(
        passages,
        [
            "2023-01-02, Ann: The red car needs new tyres.",
            "2023-01-03, Bob: A red car stood before the house.",
            "2023-01-04: Ann drives a red car.",
        ]
    );
}

#[test]
fn no_hit_passes_its_successor() {
    let corpus = corpus([
        fact("old", day(1), "Ann works at Acme."),
        successor("middle", 5, "Ann works at Globex.", "old"),
        successor("new", 9, "Ann works at Initech.", "middle"),
        fact("other", day(3), "Ann works out at the gym."),
    ]);
    let question = "where does Ann work at Acme";
    let mut found = ask(question).of(&corpus);
    reranked(&mut found, question, &[("Acme", 9.0), ("gym", 5.0)]);
    assert_eq!(ids(&found.memories), ["new", "middle", "old", "other"]);
    // Before the changes, the first fact holds, and nothing ranks above it.
    let mut found = Ask {
        as_of: Some(day(2)),
        ..ask(question)
    }
    .of(&corpus);
    reranked(&mut found, question, &[("Acme", 9.0)]);
    assert_eq!(ids(&found.memories), ["old"]);
}

#[test]
fn an_episode_stays_behind_the_episode_of_its_successor() {
    let told = |id: &str, at: i64, text: &str| Doc {
        kind: DocKind::Entry(EntryKind::Episode),
        ..fact(id, day(at), text)
    };
    let in_episode = |doc: Doc, id: &str| Doc {
        parent: Some(episode(id)),
        ..doc
    };
    let corpus = corpus([
        told("e1", 1, "Ann talked about her work at Acme and about lunch."),
        in_episode(fact("old", day(1), "Ann works at Acme."), "e1"),
        told("e2", 9, "Ann talked about her new work."),
        in_episode(successor("new", 9, "Ann works at Initech.", "old"), "e2"),
    ]);
    let question = "where does Ann work";
    let mut found = ask(question).of(&corpus);
    assert_eq!(ids(&found.memories), ["e2", "e1"], "what the rule keeps");
    reranked(&mut found, question, &[("lunch", 9.0), ("Acme", 8.0)]);
    assert_eq!(ids(&found.memories), ["e2", "e1"]);
    let facts: Vec<_> = found.memories.iter().flat_map(|hit| ids(&hit.facts)).collect();
    assert_eq!(facts, ["new", "old"]);
}

#[test]
fn an_episode_comes_with_its_fact_that_succeeds_another() {
    let talk = Doc {
        kind: DocKind::Entry(EntryKind::Episode),
        ..fact("e", day(9), "Ann talked about her new work.")
    };
    let corpus = corpus([
        fact("old", day(1), "Ann works at Acme."),
        talk,
        Doc {
            parent: Some(episode("e")),
            ..successor("new", 9, "Ann works at Initech.", "old")
        },
        Doc {
            parent: Some(episode("e")),
            ..fact("desk", day(9), "Ann has a desk by the window.")
        },
    ]);
    let question = "where does Ann work";
    let mut found = ask(question).of(&corpus);
    assert_eq!(ids(&found.memories), ["e", "old"]);
    assert_eq!(ids(&found.memories[0].facts), ["new", "desk"]);
    reranked(&mut found, question, &[("Acme", 9.0), ("desk", 9.5)]);
    assert_eq!(ids(&found.memories), ["e", "old"]);
    assert_eq!(ids(&found.memories[0].facts), ["desk", "new"]);
}

#[test]
fn the_best_fifty_hits_are_reranked_and_the_others_stay_behind() {
    let said = |n: i64| format!("The red car number{n} was sold.");
    let corpus = corpus((0..60).map(|n| turn(&format!("t{n:02}"), "s", day(n), "Ann", &said(n))));
    let mut ask = ask("red car");
    ask.limit = 60;
    let mut found = ask.of(&corpus);
    let before: Vec<String> = ids(&found.messages).into_iter().map(str::to_owned).collect();
    let passages = reranked(&mut found, "red car", &[]);
    assert_eq!(passages.len(), 50);
    assert_eq!(ids(&found.messages), before, "of equals the first order stays");
    assert!(found.messages[49].why.rerank.is_some());
    assert!(found.messages[50].why.rerank.is_none());
}

#[test]
fn a_question_about_a_time_alone_has_no_passages() {
    let corpus = corpus([turn("a", "s", day(195), "Ann", "The red car needs new tyres.")]);
    for (question, count) in [
        ("What happened last week?", 0),
        ("What did Ann say about tyres last week?", 1),
    ] {
        let found = ask(question).of(&corpus);
        assert_eq!(found.messages.len(), 1, "{question}");
        let shortlist = Shortlist::of(&found, question, &ann(), &Zone::utc());
        assert_eq!(shortlist.passages.len(), count, "{question}");
    }
}

#[test]
fn a_long_text_gives_its_matching_sentences() {
    let noise = "Nothing of note was said that day. ".repeat(60);
    let text = format!("{noise}The red car was sold to Bob. {noise}");
    let corpus = corpus([turn("a", "s", day(1), "Ann", &text)]);
    let question = "red car";
    let found = ask(question).of(&corpus);
    let shortlist = Shortlist::of(&found, question, &ann(), &Zone::utc());
    let passage = &shortlist.passages[0];
    assert!(
        passage.contains("The red car was sold to Bob.") && passage.len() < 1_100,
        "{passage}"
    );
}
