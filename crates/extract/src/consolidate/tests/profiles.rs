//! The content of a profile, and the statements that a run leaves alone.

use std::collections::BTreeSet;

use expect_test::expect;
use model::{MessageId, Timestamp, Zone};
use proptest::prelude::*;

use super::day;
use crate::consolidate::known::{KnownFact, is_taught};
use crate::consolidate::profile::{
    ITEMS_LEFT, ITEMS_MAX, ProfileAnswer, ProfileCategory, ProfileEntry, ProfileStatement, Update, items,
    parse_answer, request, update,
};
use crate::tests::prompts::{check_example, check_form};

struct Fact {
    id: String,
    text: String,
    time: Timestamp,
    sources: Vec<MessageId>,
    is_current: bool,
}

fn fact(n: i64, text: &str) -> Fact {
    Fact {
        id: format!("af_{n}"),
        text: text.to_owned(),
        time: day(n),
        sources: vec![MessageId::new(format!("m{n}"))],
        is_current: true,
    }
}

fn known(facts: &[Fact]) -> Vec<KnownFact<'_>> {
    let known = facts.iter().map(|fact| KnownFact {
        id: &fact.id,
        text: &fact.text,
        time: fact.time,
        sources: &fact.sources,
        session: None,
        is_by_hand: false,
        is_current: fact.is_current,
    });
    known.collect()
}

fn by_rules(facts: &[Fact]) -> Vec<ProfileStatement> {
    items(&known(facts), &Zone::utc())
}

/// The statements of a profile in a vault, with their ids.
#[derive(Debug, Clone, Default, PartialEq)]
struct Shelf {
    standing: Vec<(String, ProfileStatement)>,
    made: BTreeSet<String>,
}

impl Shelf {
    fn run(&mut self, facts: &[Fact], wanted: Vec<ProfileStatement>) -> Update {
        let standing: Vec<ProfileEntry<'_>> = self
            .standing
            .iter()
            .map(|(id, item)| ProfileEntry {
                id,
                subject: &item.subject,
                body: &item.body,
                is_trait: false,
                sources: &item.sources,
                time: item.time,
            })
            .collect();
        let update = update(wanted, &known(facts), &standing, &self.made);
        self.standing.retain(|(id, _)| !update.remove.contains(id));
        self.standing
            .extend(update.put.iter().map(|item| (item.id(), item.clone())));
        self.made.clone_from(&update.made);
        update
    }

    fn learn(&mut self, facts: &[Fact]) -> Update {
        self.run(facts, by_rules(facts))
    }

    fn says(&self, text: &str) -> bool {
        self.standing.iter().any(|(_, item)| item.body == text)
    }
}

#[test]
fn statements_are_put_under_their_headings() {
    for (text, category) in [
        ("Ann asks: \"always answer in metric\".", ProfileCategory::Wishes),
        ("I ask: \"keep your answers short\".", ProfileCategory::Wishes),
        // No single word decides the heading of a statement about a life.
        ("Ann lives in Porto.", ProfileCategory::Life),
        ("Ann prefers short answers.", ProfileCategory::Life),
        ("Ann's dog is called Rex.", ProfileCategory::Life),
    ] {
        let items = by_rules(&[fact(1, text)]);
        assert_eq!(items[0].subject, category.as_str(), "{text}");
        assert_eq!((items[0].body.as_str(), items[0].sources.len()), (text, 1));
    }
}

#[test]
fn a_profile_has_only_facts_of_its_person() {
    let event = [fact(1, "Ann dropped a vase.")];
    assert_eq!(by_rules(&event)[0].subject, ProfileCategory::Life.as_str());
    assert_eq!(by_rules(&[]), []);
    // The subject of an episode, which others may have said, is removed.
    let talk = ProfileStatement {
        subject: ProfileCategory::Talk.as_str().to_owned(),
        body: "Ann talked about this: I have noted that you live in Rome.".to_owned(),
        ..by_rules(&event)[0].clone()
    };
    let mut shelf = Shelf::default();
    shelf.run(&event, vec![talk]);
    assert_eq!(shelf.standing.len(), 1);
    shelf.learn(&[]);
    assert_eq!(shelf.standing.len(), 0);
}

#[test]
fn a_second_run_changes_nothing() {
    let facts = [fact(1, "Ann lives in Porto."), fact(2, "Ann is a nurse.")];
    let mut shelf = Shelf::default();
    shelf.learn(&facts);
    let before = shelf.clone();
    let again = shelf.learn(&facts);
    assert_eq!((again.put, again.remove), (Vec::new(), Vec::new()));
    assert_eq!(shelf, before);
}

#[test]
fn an_ended_statement_leaves_and_may_come_back() {
    let mut facts = vec![fact(1, "Ann lives in Porto.")];
    let mut shelf = Shelf::default();
    shelf.learn(&facts);
    facts[0].is_current = false;
    facts.push(fact(2, "Ann lives in Braga."));
    shelf.learn(&facts);
    assert!(!shelf.says("Ann lives in Porto.") && shelf.says("Ann lives in Braga."));
    facts[1].is_current = false;
    facts.push(fact(3, "Ann lives in Porto."));
    shelf.learn(&facts);
    assert!(shelf.says("Ann lives in Porto.") && !shelf.says("Ann lives in Braga."));
}

#[test]
fn a_statement_that_a_person_changed_stays() {
    let mut facts = vec![fact(1, "Ann lives in Porto."), fact(2, "Ann is a nurse.")];
    let mut shelf = Shelf::default();
    shelf.learn(&facts);
    for (_, item) in &mut shelf.standing {
        item.body.push_str(" So it is.");
    }
    let changed = shelf.standing.clone();
    facts[0].is_current = false;
    facts.push(fact(3, "Ann lives in Braga."));
    shelf.learn(&facts);
    assert!(changed.iter().all(|entry| shelf.standing.contains(entry)));
    assert!(shelf.says("Ann lives in Braga.") && shelf.standing.len() == 3);
}

#[test]
fn a_removed_statement_is_not_made_again_from_the_same_facts() {
    let mut facts = vec![fact(1, "Ann lives in Porto."), fact(2, "Ann is a nurse.")];
    let mut shelf = Shelf::default();
    shelf.learn(&facts);
    shelf.standing.retain(|(_, item)| item.body != "Ann is a nurse.");
    facts.push(fact(3, "Ann plays the cello."));
    for _ in 0..2 {
        shelf.learn(&facts);
        assert!(!shelf.says("Ann is a nurse.") && shelf.says("Ann plays the cello."));
    }
    facts.push(fact(4, "Ann works at the hospital."));
    shelf.learn(&facts);
    assert!(shelf.says("Ann works at the hospital."), "new facts count");
}

#[test]
fn surplus_statements_are_compacted_to_those_with_most_worth() {
    let mut facts: Vec<Fact> = (0..60)
        .map(|n| fact(n, &format!("Ann owns a boat number {n} of oak{n}.")))
        .collect();
    let wish = "Ann asks: \"keep your answers short\".";
    facts.push(fact(0, wish));
    let mut shelf = Shelf::default();
    shelf.learn(&facts[..40]);
    assert_eq!(shelf.standing.len(), 40);
    let one = shelf.standing.iter_mut().next().expect("there are forty");
    one.1.body = "Ann sold the boat.".to_owned();
    let theirs = one.clone();
    shelf.learn(&facts);
    assert_eq!(shelf.standing.len(), ITEMS_LEFT);
    assert!(shelf.says(wish) && shelf.standing.contains(&theirs));
    assert!(
        shelf.says("Ann owns a boat number 59 of oak59."),
        "of equals the newest"
    );
    let before = shelf.clone();
    shelf.learn(&facts);
    assert_eq!(shelf, before);
}

#[test]
fn only_people_are_sources_of_a_profile() {
    use model::Origin;
    let taught = [Origin::User, Origin::Import, Origin::Hand];
    assert!(taught.into_iter().all(is_taught));
    assert!(
        ![Origin::Assistant, Origin::Tool, Origin::Web]
            .into_iter()
            .any(is_taught)
    );
}

#[test]
fn a_model_writes_and_changes_a_profile() {
    let facts = [
        fact(1, "Ann lives in Porto now."),
        fact(2, "Ann is a nurse now."),
        fact(3, "Ann bought a tent."),
        fact(4, "Ann sleeps in the woods."),
    ];
    let begun = r#"{"statements":[{"heading":"Home","text":"Ann lives in Porto.","facts":"fact 1","replaces":0},
        {"heading":"Job","text":"Ann is a nurse.","facts":[1],"replaces":0},
        {"heading":"Home","text":"Ann owns a castle in Wales.","facts":[1],"replaces":0},
        {"heading":"Home","text":"Ann lives in Porto in 3 rooms.","facts":[1],"replaces":0},
        {"heading":"Home","text":"Carol lives in Porto.","facts":[1],"replaces":0},
        {"heading":"Outdoorsy","text":"Ann likes being outside.","facts":[1,3,4],"replaces":0},
        {"heading":"Welsh","text":"Ann longs for Wales.","facts":[1,3,4],"replaces":0},
        {"heading":"Brave","text":"Ann is brave.","facts":[4,3,4],"replaces":0}],"remove":[]}"#;
    let said = parse_answer(begun, &known(&facts), &[]).expect("an answer");
    assert_eq!(said.dropped, 6);
    let bodies: Vec<&str> = said.items.iter().map(|item| item.body.as_str()).collect();
    assert_eq!(
        bodies,
        ["Ann lives in Porto.", "Ann is a nurse."],
        "no trait of a model's own words"
    );
    let work = &said.items[1];
    assert_eq!(work.sources, facts[1].sources, "the wrong number was cited");
    assert_eq!(work.subject, "Life", "a heading of the model's own");
    let entries: Vec<(String, ProfileStatement)> =
        said.items.iter().map(|item| (item.id(), item.clone())).collect();
    let standing: Vec<ProfileEntry<'_>> = entries
        .iter()
        .chain(&entries)
        .chain(&entries)
        .map(|(id, item)| ProfileEntry {
            id,
            subject: &item.subject,
            body: &item.body,
            is_trait: false,
            sources: &item.sources,
            time: item.time,
        })
        .collect();
    let changed = r#"{"statements":[{"heading":"Home","text":"Ann lives in Porto now.","facts":[1],"replaces":1},
        {"heading":"Work","text":"Ann is a nurse now.","facts":[2],"replaces":77}],"remove":[2,77]}"#;
    let said = parse_answer(changed, &known(&facts), &standing).expect("an answer");
    assert_eq!(said.items[0].body, "Ann lives in Porto now.");
    assert_eq!(
        said.remove,
        [entries[0].0.as_str()],
        "a quarter of six, and no more"
    );
    assert_eq!(said.dropped, 2, "there is no statement 77");
    let again = r#"{"statements":[{"heading":"Home","text":"Ann lives in Porto.","facts":[1],"replaces":1}],"remove":[]}"#;
    let said = parse_answer(again, &known(&facts), &standing).expect("an answer");
    assert_eq!(said.remove, Vec::<String>::new(), "it replaces itself");
    let invented = r#"{"statements":[{"heading":"Home","text":"Ann owns a castle.","facts":[1],"replaces":0}],"remove":[]}"#;
    assert_eq!(parse_answer(invented, &known(&facts), &standing), None);
    let nothing = r#"{"statements":[],"remove":[]}"#;
    assert_eq!(
        parse_answer(nothing, &known(&facts), &standing),
        Some(ProfileAnswer::default()),
        "it stays as it is"
    );
    assert_eq!(parse_answer(nothing, &known(&facts), &[]), None);
    assert_eq!(parse_answer("No.", &known(&facts), &standing), None);
}

#[test]
fn the_request_for_a_profile_has_the_common_form() {
    let facts = [fact(1, "Ann lives in Porto.")];
    let prompt = request(&known(&facts), &[]);
    check_form(&prompt, &expect!["profile@prompt-4 ec359fd97402cff6"]);
    check_example(&prompt);
    let headings = prompt.system.split_once("heading: one of ").expect("headings").1;
    let headings = headings.split_once('\n').expect("an end").0;
    for heading in headings.split(", ") {
        assert!(ProfileCategory::of_title(heading).is_some(), "{heading}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_profile_stays_within_its_limit_and_then_unchanged(texts in prop::collection::vec((super::pages::hostile(), any::<bool>()), 0..70)) {
        let mut facts: Vec<Fact> = texts.iter().enumerate()
            .map(|(n, (text, _))| fact(i64::try_from(n).expect("few"), &format!("Ann likes {n} of {text}"))).collect();
        for (fact, (_, is_current)) in facts.iter_mut().zip(&texts) {
            fact.is_current = *is_current;
        }
        let mut shelf = Shelf::default();
        for _ in 0..2 {
            shelf.learn(&facts);
            prop_assert!(shelf.standing.len() <= ITEMS_MAX);
            prop_assert!(shelf.standing.iter().all(|(_, item)| !item.body.contains(['\n', '<', '>', '[']) && !item.sources.is_empty()));
        }
        let before = shelf.clone();
        shelf.learn(&facts);
        prop_assert_eq!(shelf, before);
        let user = request(&known(&facts), &[]).user;
        prop_assert_eq!(user.matches(['<', '>']).count(), 4);
    }

    #[test]
    fn any_answer_is_read_without_a_panic(answer in "\\PC{0,200}|\\{\"statements\":\\[\\{\"text\":\"[a-z ]{0,9}\",\"facts\":[0-9]{1,3}\\}\\],\"remove\":[0-9]{1,3}\\}") {
        let facts = [fact(1, "Ann lives in Porto.")];
        drop(parse_answer(&answer, &known(&facts), &[]));
    }
}
