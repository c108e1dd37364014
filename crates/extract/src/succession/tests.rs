//! The effect of a new fact on older ones, with sentences that people say.

use model::{EntryId, Timestamp};
use proptest::prelude::*;

use super::{Counts, KnownFacts, Statement, Supersession, is_duplicate};
use crate::tests::at;

fn statement(text: &str, day: &str) -> Statement {
    Statement::new(text, at(day))
}

/// Whether the newer of two facts supersedes the older one.
fn replaced(older: &str, newer: &str) -> bool {
    let mut known = KnownFacts::default();
    known.insert(
        EntryId::new("af_0"),
        statement(older, "2024-01-10T10:00:00Z"),
        Vec::new(),
        None,
    );
    let standing = known.supersession(&statement(newer, "2024-06-20T10:00:00Z"), |_| Counts::Yes);
    !standing.supersedes.is_empty()
}

#[test]
fn a_new_value_of_a_unique_thing_supersedes_the_old_one() {
    for (older, newer) in [
        ("My boss is Anna.", "My boss is now Bram."),
        ("my boss is Anna", "My new boss is now Bram."),
        ("Ann's boss is Bert Lee.", "Ann's new boss is Cora Smith."),
        (
            "Ann says: \"my landlord is Mr Hill\".",
            "Ann says: \"My new landlord is Mrs Wood\".",
        ),
        ("My favourite food is ramen.", "My favourite food is sushi."),
        ("Our rent is $950.", "Our rent is now $1,080."),
        ("My phone number is 555-0101.", "My new phone number is 555-0199."),
        ("My office is in Leeds.", "My office is now in Bristol."),
        ("My dog's name is Rex.", "My dog's name is Max now."),
        ("My shoe size is 39.", "No, my shoe size is 40."),
    ] {
        assert!(replaced(older, newer), "{older} => {newer}");
    }
}

#[test]
fn a_negation_in_the_same_words_supersedes_the_statement() {
    for (older, newer) in [
        ("I eat meat.", "I don't eat meat."),
        ("I don't eat meat.", "I eat meat."),
        ("I work at Acme.", "I no longer work at Acme."),
        ("I work at Acme.", "I don't work at Acme anymore."),
        ("Ann is allergic to nuts.", "Ann is not allergic to nuts."),
        ("Ich esse Fleisch.", "Ich esse kein Fleisch mehr."),
    ] {
        assert!(replaced(older, newer), "{older} => {newer}");
    }
}

/// Pairs that can both be true: neither may end the other.
#[test]
fn two_compatible_statements_both_stay() {
    let pairs = include_str!("both_true.txt").lines();
    let pairs = pairs.map(|line| line.split_once(" => ").expect("`older => newer`"));
    let wrong: Vec<_> = pairs.filter(|(older, newer)| replaced(older, newer)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (older, newer) in [
        ("My sister is a nurse.", "My sister is a vegetarian."),
        ("My sister is Eva.", "My sister is 30."),
        ("My boss is Anna.", "My boss is Bram."),
        ("My sister is Anna.", "No, my sister is 30."),
        ("My shoe size is 39.", "My feet are no joke, my shoe size is 40."),
        ("My office is in Leeds.", "My office is near Leeds."),
        ("My home is in Lisbon.", "My home is in Lisbon, Portugal."),
        ("I like Radiohead.", "I like The National."),
        ("I live in Porto.", "I live in Lisbon."),
        ("My daughter is 9.", "My daughter is 5."),
        ("My phone number is 555-0101.", "My phone number is 555-0199."),
        ("My office is in Leeds.", "My office is in New York."),
        ("My boss is Anna, and I work at Acme.", "My new boss is Bram."),
        ("Ich habe Katzen im Haus.", "Ich habe mehr Katzen im Haus."),
        ("Tengo gatos en casa.", "Ya tengo gatos en casa."),
        ("Eu moro em Porto.", "Eu moro no Porto."),
    ] {
        assert!(!replaced(older, newer), "{older} => {newer}");
    }
}

#[test]
fn only_an_earlier_statement_is_superseded() {
    let new = statement("My rent is now $900.", "2024-01-10T10:00:00Z");
    let older = |day: &str| {
        let mut known = KnownFacts::default();
        known.insert(
            EntryId::new("af_0"),
            statement("My rent is now $800.", day),
            Vec::new(),
            None,
        );
        known.supersession(&new, |_| Counts::Yes)
    };
    assert_eq!(older("2024-01-09T10:00:00Z").supersedes.len(), 1);
    assert_eq!(older("2024-01-10T10:00:00Z"), Supersession::default());
    let later = older("2024-01-11T10:00:00Z");
    assert_eq!(
        (later.supersedes.len(), later.superseded_by),
        (0, Some((at("2024-01-11T10:00:00Z"), EntryId::new("af_0"))))
    );
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

/// Facts of a person: changed ones, compatible ones, repeated ones, at different times.
fn some_facts() -> Vec<Statement> {
    let changed = (0..16).flat_map(|n| {
        let name = ["Anna", "Bram", "Cora", "Dina"][n % 4];
        [
            format!("My boss is now {name}."),
            format!("My office is now in {name}ville."),
            format!("I {}eat meat.", if n % 2 == 0 { "" } else { "don't " }),
            format!("Our rent is now {}.", 900 + n),
        ]
    });
    let both = include_str!("both_true.txt").lines().take(30);
    let both = both.flat_map(|line| line.split(" => ")).map(str::to_owned);
    let dated = changed.chain(both).enumerate();
    dated
        .map(|(n, text)| statement(&text, &format!("2024-0{}-{:02}T10:00:00Z", 1 + n % 9, 1 + n % 28)))
        .collect()
}

#[test]
fn the_index_finds_the_same_relations_as_a_comparison_with_each_fact() {
    let facts = some_facts();
    let id = |n: usize| EntryId::new(format!("af_{n:04}"));
    let alone: Vec<KnownFacts> = facts
        .iter()
        .enumerate()
        .map(|(n, fact)| {
            let mut known = KnownFacts::default();
            known.insert(id(n), fact.clone(), Vec::new(), None);
            known
        })
        .collect();
    let mut together = KnownFacts::default();
    for (n, fact) in facts.iter().enumerate() {
        together.insert(id(n), fact.clone(), Vec::new(), None);
    }
    let mut seen = 0;
    for new in &facts {
        let each: Vec<Supersession> = alone
            .iter()
            .map(|known| known.supersession(new, |_| Counts::Yes))
            .collect();
        let standing = Supersession {
            supersedes: each
                .iter()
                .flat_map(|standing| standing.supersedes.clone())
                .collect(),
            superseded_by: each
                .iter()
                .filter_map(|standing| standing.superseded_by.clone())
                .min(),
        };
        seen += usize::from(standing != Supersession::default());
        assert_eq!(together.supersession(new, |_| Counts::Yes), standing, "{new:?}");
        for (n, other) in facts.iter().enumerate() {
            let said = together.repeats(new, |one| only(one, &id(n)));
            assert_eq!(said, alone[n].repeats(new, |_| Counts::Yes), "{new:?} {other:?}");
        }
    }
    assert!(seen > 40, "{seen} of {} do anything", facts.len());
}

proptest! {
    #[test]
    fn a_repetition_is_found_among_many_facts(words in prop::collection::vec("[a-f]{4}", 1..14), many in prop::collection::vec(prop::collection::vec("[a-f]{4}", 1..14), 0..30), extra in "[a-f]{4}") {
        let when = at("2024-01-10T10:00:00Z");
        let text = words.join(" ");
        let mut known = KnownFacts::default();
        for (n, other) in many.iter().enumerate() {
            known.insert(EntryId::new(format!("af_{n}")), Statement::new(&other.join(" "), when), Vec::new(), None);
        }
        let near = format!("{text} {extra}");
        let new = Statement::new(&near, when);
        let expected = many.iter().any(|other| is_duplicate(&other.join(" "), &near));
        prop_assert_eq!(known.repeats(&new, |_| Counts::Yes), expected);
        known.insert(EntryId::new("af_x"), Statement::new(&text, when), Vec::new(), None);
        prop_assert_eq!(known.repeats(&new, |_| Counts::Yes), expected || is_duplicate(&text, &near));
    }
}

proptest! {
    #[test]
    fn changed_facts_have_the_relations_of_fresh_ones(
        steps in prop::collection::vec((0..6usize, prop::option::of(0..40usize), prop::option::of(0..6usize), prop::option::of(0..6usize)), 1..40),
    ) {
        let facts = some_facts();
        let id = |n: usize| EntryId::new(format!("af_{n}"));
        let mut lived = KnownFacts::default();
        let mut last = std::collections::BTreeMap::new();
        for (n, fact, old, newer) in steps {
            lived.remove(&id(n));
            last.remove(&n);
            if let Some(fact) = fact {
                let links = (Vec::from_iter(old.map(id)), newer.map(id));
                lived.insert(id(n), facts[fact].clone(), links.0.clone(), links.1.clone());
                last.insert(n, (facts[fact].clone(), links));
            }
        }
        let mut fresh = KnownFacts::default();
        for (n, (fact, (supersedes, superseded_by))) in last {
            fresh.insert(id(n), fact, supersedes, superseded_by);
        }
        prop_assert_eq!(lived.len(), fresh.len());
        for new in &facts {
            prop_assert_eq!(lived.supersession(new, |_| Counts::Yes), fresh.supersession(new, |_| Counts::Yes));
            prop_assert_eq!(lived.repeats(new, |_| Counts::Yes), fresh.repeats(new, |_| Counts::Yes));
        }
    }
}

fn all_but(id: &EntryId, other: &EntryId) -> Counts {
    if id == other { Counts::No } else { Counts::Yes }
}

fn only(id: &EntryId, one: &EntryId) -> Counts {
    if id == one { Counts::Yes } else { Counts::No }
}

#[test]
fn a_superseded_fact_holds_again_without_its_successor() {
    let when = |day: &str| -> Timestamp { at(day) };
    let mut known = KnownFacts::default();
    let (berlin, lisbon) = (EntryId::new("af_1"), EntryId::new("af_2"));
    let lives =
        |place: &str, day: &str| Statement::new(&format!("Alice's home is now in {place}."), when(day));
    known.insert(
        berlin.clone(),
        lives("Berlin", "2024-01-31T20:00:00Z"),
        Vec::new(),
        None,
    );
    known.insert(
        lisbon.clone(),
        lives("Lisbon", "2024-02-01T00:00:00Z"),
        vec![berlin.clone()],
        None,
    );
    let again = lives("Berlin", "2024-02-01T10:00:00Z");
    assert!(!known.repeats(&again, |_| Counts::Yes));
    let standing = known.supersession(&again, |_| Counts::Yes);
    assert_eq!(standing.supersedes, std::slice::from_ref(&lisbon));
    // Without Lisbon, Berlin holds. If a fact outside the set superseded Lisbon, no known fact
    // holds.
    assert!(known.repeats(&again, |id| all_but(id, &lisbon)));
    let replaced = |id: &EntryId| {
        if *id == lisbon {
            Counts::Replaced
        } else {
            Counts::Yes
        }
    };
    assert!(!known.repeats(&again, replaced));
    assert_eq!(known.supersession(&again, replaced), Supersession::default());
    known.remove(&lisbon);
    assert!(known.repeats(&again, |_| Counts::Yes));
    assert!(!known.repeats(&again, |id| all_but(id, &berlin)));
    let oslo = lives("Oslo", "2023-12-01T00:00:00Z");
    assert_eq!(
        known.supersession(&oslo, |_| Counts::Yes).superseded_by,
        Some((when("2024-01-31T20:00:00Z"), berlin.clone()))
    );
    known.remove(&berlin);
    assert_eq!(
        known.supersession(&oslo, |_| Counts::Yes),
        Supersession::default()
    );
}

#[test]
fn a_statement_repeated_on_another_day_is_kept_once_more() {
    let mut known = KnownFacts::default();
    let repeats =
        |known: &KnownFacts, day: &str| known.repeats(&statement("I live in Porto.", day), |_| Counts::Yes);
    for (id, day, later) in [
        ("af_1", "2024-01-01T10:00:00Z", "2024-01-01T20:00:00Z"),
        ("af_2", "2024-01-02T10:00:00Z", "2024-05-01T10:00:00Z"),
    ] {
        assert!(!repeats(&known, day), "{day}");
        known.insert(
            EntryId::new(id),
            statement("I live in Porto.", day),
            Vec::new(),
            None,
        );
        assert!(repeats(&known, later), "{later}");
    }
}
