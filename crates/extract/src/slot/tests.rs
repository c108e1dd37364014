//! Supersession, from what people say to what it replaces.

use model::{EntryId, Timestamp, Zone};
use proptest::prelude::*;

use super::{Counts, KnownFacts, Statement, Supersession, is_duplicate, slot};
use crate::Fact;
use crate::facts;
use crate::tests::{at, cell, message};

fn said(text: &str, date: &str) -> Vec<Fact> {
    facts(&cell(vec![message(1, "alice", text, at(date))]), &Zone::utc())
}

fn statement(fact: &Fact) -> Statement {
    Statement::new(&fact.text, fact.said_at, fact.valid_from)
}

fn known(facts: &[Fact]) -> KnownFacts {
    let mut known = KnownFacts::default();
    for (n, fact) in facts.iter().enumerate() {
        known.insert(EntryId::new(format!("af_{n}")), statement(fact), Vec::new());
    }
    known
}

fn supersedes(new: &Fact, known: &KnownFacts) -> Vec<EntryId> {
    known.standing(&statement(new), |_| Counts::Yes).supersedes
}

/// How many of the older message's facts the newer message's facts take the place of.
fn replaced(older: &str, newer: &str) -> usize {
    let known = known(&said(older, "2024-01-10T10:00:00Z"));
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
        ("I live in Graz.", "me / residence / graz"),
        ("me lives in Graz.", "me / residence / graz"),
        ("My wife is called Eva.", "me's wife / name / eva"),
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
    let older = |date: &str| supersedes(&new, &known(&said("I live in Berlin.", date))).len();
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

/// Facts as people have them: changed ones, compatible ones, repeated ones, at different times.
fn some_facts() -> Vec<Statement> {
    let texts = [include_str!("changes.txt"), include_str!("both_true.txt")];
    let lines = texts.iter().flat_map(|text| pairs(text)).take(60);
    let messages = lines.flat_map(|(older, newer)| [older, newer]);
    let mut statements = Vec::new();
    for (n, text) in messages.enumerate() {
        let day = format!("2024-0{}-{:02}T10:00:00Z", 1 + n % 9, 1 + n % 28);
        statements.extend(said(text, &day).iter().map(statement));
    }
    statements
}

#[test]
fn many_facts_stand_to_a_new_one_as_each_of_them_does() {
    let facts = some_facts();
    let id = |n: usize| EntryId::new(format!("af_{n:04}"));
    let alone: Vec<KnownFacts> = facts
        .iter()
        .enumerate()
        .map(|(n, fact)| {
            let mut known = KnownFacts::default();
            known.insert(id(n), fact.clone(), Vec::new());
            known
        })
        .collect();
    let mut together = KnownFacts::default();
    for (n, fact) in facts.iter().enumerate() {
        together.insert(id(n), fact.clone(), Vec::new());
    }
    let mut seen = 0;
    for new in &facts {
        let each: Vec<Supersession> = alone
            .iter()
            .map(|known| known.standing(new, |_| Counts::Yes))
            .collect();
        let standing = Supersession {
            supersedes: each
                .iter()
                .flat_map(|standing| standing.supersedes.clone())
                .collect(),
            valid_until: each.iter().filter_map(|standing| standing.valid_until).min(),
        };
        seen += usize::from(standing != Supersession::default());
        assert_eq!(together.standing(new, |_| Counts::Yes), standing, "{new:?}");
        for (n, other) in facts.iter().enumerate() {
            let said = together.repeats(new, |one| only(one, &id(n)));
            assert_eq!(said, alone[n].repeats(new, |_| Counts::Yes), "{new:?} {other:?}");
        }
    }
    assert!(seen > 40, "{seen} of {} do anything", facts.len());
}

proptest! {
    #[test]
    fn what_repeats_a_fact_is_found_among_many(words in prop::collection::vec("[a-f]{4}", 1..14), many in prop::collection::vec(prop::collection::vec("[a-f]{4}", 1..14), 0..30), extra in "[a-f]{4}") {
        let when = at("2024-01-10T10:00:00Z");
        let text = words.join(" ");
        let mut known = KnownFacts::default();
        for (n, other) in many.iter().enumerate() {
            known.insert(EntryId::new(format!("af_{n}")), Statement::new(&other.join(" "), when, None), Vec::new());
        }
        let near = format!("{text} {extra}");
        let new = Statement::new(&near, when, None);
        let expected = many.iter().any(|other| is_duplicate(&other.join(" "), &near));
        prop_assert_eq!(known.repeats(&new, |_| Counts::Yes), expected);
        known.insert(EntryId::new("af_x"), Statement::new(&text, when, None), Vec::new());
        prop_assert_eq!(known.repeats(&new, |_| Counts::Yes), expected || is_duplicate(&text, &near));
    }
}

fn all_but(id: &EntryId, other: &EntryId) -> Counts {
    if id == other { Counts::No } else { Counts::Yes }
}

fn only(id: &EntryId, one: &EntryId) -> Counts {
    if id == one { Counts::Yes } else { Counts::No }
}

#[test]
fn what_was_superseded_holds_again_when_its_successor_goes() {
    let when = |day: &str| -> Timestamp { at(day) };
    let mut known = KnownFacts::default();
    let (berlin, lisbon) = (EntryId::new("af_1"), EntryId::new("af_2"));
    let lives = |place: &str, day: &str| Statement::new(&format!("Alice lives in {place}."), when(day), None);
    known.insert(
        berlin.clone(),
        lives("Berlin", "2024-01-01T00:00:00Z"),
        Vec::new(),
    );
    known.insert(
        lisbon.clone(),
        lives("Lisbon", "2024-02-01T00:00:00Z"),
        vec![berlin.clone()],
    );
    let again = lives("Berlin", "2024-03-01T00:00:00Z");
    assert!(!known.repeats(&again, |_| Counts::Yes));
    let standing = known.standing(&again, |_| Counts::Yes);
    assert_eq!(standing.supersedes, std::slice::from_ref(&lisbon));
    // Whoever does not know of Lisbon knows that Berlin holds; whoever knows more than is known here, that nothing does.
    assert!(known.repeats(&again, |id| all_but(id, &lisbon)));
    let replaced = |id: &EntryId| {
        if *id == lisbon {
            Counts::Replaced
        } else {
            Counts::Yes
        }
    };
    assert!(!known.repeats(&again, replaced));
    assert_eq!(known.standing(&again, replaced), Supersession::default());
    known.remove(&lisbon);
    assert!(known.repeats(&again, |_| Counts::Yes));
    assert!(!known.repeats(&again, |id| all_but(id, &berlin)));
    let oslo = lives("Oslo", "2023-12-01T00:00:00Z");
    assert_eq!(
        known.standing(&oslo, |_| Counts::Yes).valid_until,
        Some(when("2024-01-01T00:00:00Z"))
    );
    known.remove(&berlin);
    assert_eq!(known.standing(&oslo, |_| Counts::Yes), Supersession::default());
}
