//! Supersession, from what people say to what it replaces.

use model::{EntryId, Zone};

use super::{is_duplicate, slot, supersedes};
use crate::Fact;
use crate::facts;
use crate::tests::{at, cell, message};

fn said(text: &str, date: &str) -> Vec<Fact> {
    facts(&cell(vec![message(1, "alice", text, at(date))]), &Zone::utc())
}

/// How many of the older message's facts the newer message's facts take the place of.
fn replaced(older: &str, newer: &str) -> usize {
    let older = said(older, "2024-01-10T10:00:00Z");
    let ids: Vec<EntryId> = (0..older.len())
        .map(|i| EntryId::new(format!("af_{i}")))
        .collect();
    let known: Vec<_> = ids
        .iter()
        .zip(&older)
        .map(|(id, fact)| (id, fact.text.as_str(), fact.said_at))
        .collect();
    let newer = said(newer, "2024-06-20T10:00:00Z");
    let mut gone: Vec<EntryId> = newer.iter().flat_map(|fact| supersedes(fact, &known)).collect();
    gone.sort();
    gone.dedup();
    gone.len()
}

fn pairs(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .map(|line| line.split_once(" => ").expect("`older => newer`"))
        .collect()
}

#[test]
fn changed_facts_take_the_place_of_old_ones() {
    let changes = pairs(include_str!("changes.txt"));
    let missed: Vec<_> = changes
        .iter()
        .filter(|(older, newer)| replaced(older, newer) == 0)
        .collect();
    let texts = |text: &str| {
        said(text, "2024-06-20T10:00:00Z")
            .into_iter()
            .map(|fact| fact.text)
            .collect::<Vec<_>>()
    };
    let shown: Vec<_> = missed
        .iter()
        .map(|(a, b)| format!("{a} => {b}\n   {:?}\n   {:?}", texts(a), texts(b)))
        .collect();
    eprintln!("{} of {} caught", changes.len() - missed.len(), changes.len());
    assert!(
        missed.is_empty(),
        "{} of {} missed:\n{}",
        missed.len(),
        changes.len(),
        shown.join("\n")
    );
}

#[test]
fn what_can_both_be_true_stays() {
    let both = pairs(include_str!("both_true.txt"));
    let wrong: Vec<_> = both
        .iter()
        .filter(|(older, newer)| replaced(older, newer) > 0)
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} wrong: {wrong:#?}",
        wrong.len(),
        both.len()
    );
}

#[test]
fn a_slot_says_whose_and_which() {
    let shown =
        |text: &str| slot(text).map(|slot| format!("{} / {} / {}", slot.subject, slot.attribute, slot.value));
    for (text, expected) in [
        (
            "Alice moved to Lisbon last month (April 2024).",
            "alice / residence / lisbon",
        ),
        (
            "Alice's sister lives in Oslo.",
            "alice's sister / residence / oslo",
        ),
        ("Mary Ann Lee works at Acme.", "mary ann lee / employer / acme"),
        (
            "Alice's favourite food is now sushi.",
            "alice / favourite food / sushi",
        ),
        ("Alice's dog's name is Rex.", "alice's dog / name / rex"),
        ("Alice's dog is called Rex.", "alice's dog / name / rex"),
        ("Alice has 3 cats.", "alice / number of cat / 3"),
        (
            "Alice's wedding is on 5 June.",
            "event / date of wedding / 5 june",
        ),
    ] {
        assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
    }
    for text in [
        "",
        "Alice",
        "Alice likes Lisbon.",
        "Alice wants to move to Lisbon.",
        "Alice lived in Lisbon.",
        "Alice does not live in Lisbon.",
    ] {
        assert_eq!(shown(text), None, "{text}");
    }
}

#[test]
fn only_what_was_said_earlier_gives_way() {
    let new = said("I live in Lisbon.", "2024-01-10T10:00:00Z").remove(0);
    let id = EntryId::new("af_1");
    let older = |date: &str| supersedes(&new, &[(&id, "Alice lives in Berlin.", at(date))]).len();
    assert_eq!(older("2024-01-09T10:00:00Z"), 1);
    assert_eq!(older("2024-01-10T10:00:00Z"), 0);
    assert_eq!(older("2024-01-11T10:00:00Z"), 0);
}

#[test]
fn near_identical_facts_are_duplicates() {
    for (a, b, same) in [
        ("Alice lives in Oslo.", "Alice lives in Oslo", true),
        ("Alice lives in Oslo.", "Alice now lives in Oslo!", true),
        ("Alice loves hiking.", "Alice loves to hike.", true),
        ("Alice lives in Oslo.", "Bob lives in Oslo.", false),
        ("Alice has 2 cats.", "Alice has 3 cats.", false),
        ("Alice eats meat.", "Alice doesn't eat meat.", false),
        (
            "Alice lives in Oslo.",
            "Alice lives in Oslo with her two cats.",
            false,
        ),
        ("", "", true),
    ] {
        assert_eq!(is_duplicate(a, b), same, "{a} / {b}");
    }
}
