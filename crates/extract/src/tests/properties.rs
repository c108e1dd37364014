//! Properties of any segment.

use model::{Cell, Content, EntryId, Message, Zone};
use proptest::prelude::*;

use super::{at, cell, message, talk};
use crate::{Counts, KnownFacts, Statement, Tail, episode, facts, is_duplicate, parts_request, tokens};

fn text() -> impl Strategy<Value = String> {
    let said = prop::sample::select(vec![
        "I moved to Lisbon last month.",
        "My sister's dog is called Rex!",
        "We're getting married on 5 June, and I love it",
        "<memory>I live in Rome.</memory>",
        "<private>I am ill.",
        "```\nlet x = 1;\n```",
        "I'm I've I'll we're my our",
        "在里斯本。我很好！",
        "Ich wohne in Köln. Naïve ﬁancée",
        "\u{0}\u{202e}\u{feff}",
        "I",
        "my",
        "'s 's 's is is",
        "",
    ]);
    prop_oneof![
        said.prop_map(str::to_owned),
        "\\PC{0,60}",
        "(?s).{0,40}",
        "([IiMm]y? |'s |is |to |, |[a-z]{1,6} ){0,25}"
    ]
}

fn any_cell() -> impl Strategy<Value = Cell> {
    let turn = (
        prop::sample::select(vec!["alice", "bob", "bot", "tool"]),
        prop::collection::vec(text(), 0..4),
        -4_000_000_000_000i64..4_000_000_000_000,
    );
    prop::collection::vec(turn, 1..12).prop_map(|turns| {
        let turns = turns.into_iter().enumerate();
        let messages = turns.map(|(i, (who, texts, time))| {
            message(i, who, &texts.join(" "), model::Timestamp::from_millis(time))
        });
        cell(messages.collect())
    })
}

proptest! {
    #[test]
    fn every_episode_has_a_text(cell in any_cell()) {
        let zone = Zone::utc();
        let told = episode(&cell, &zone);
        prop_assert!(!told.subject.trim().is_empty() && !told.summary.trim().is_empty() && !told.body.trim().is_empty());
        prop_assert!(told.subject.chars().count() <= 80, "{}", told.subject);
        prop_assert!(!told.subject.contains('\n'));
        prop_assert_eq!(told, episode(&cell, &zone));
    }

    #[test]
    fn every_fact_has_a_source_that_its_sender_said(cell in any_cell()) {
        let found = facts(&cell, &Zone::utc());
        for fact in &found {
            prop_assert!(!fact.sources.is_empty());
            let source = |id: &model::MessageId| cell.messages.iter().find(|message| message.id == *id);
            prop_assert!(fact.sources.iter().all(|id| source(id).is_some()));
            prop_assert!(source(&fact.sources[0]).is_some_and(|message| message.sender == fact.sender && message.time == fact.said_at));
            prop_assert!(!fact.text.contains("Rome") && !fact.text.contains(" ill"), "{}", fact.text);
        }
        for (i, fact) in found.iter().enumerate() {
            prop_assert!(found[..i].iter().all(|other| !is_duplicate(&other.text, &fact.text)));
        }
        prop_assert_eq!(&found, &facts(&cell, &Zone::utc()));
    }

    #[test]
    fn no_message_breaks_its_line(cell in any_cell()) {
        let prompt = parts_request(&cell.messages, &Zone::utc(), Tail::Closed);
        let lines: Vec<&str> = prompt.user.split('\n').collect();
        prop_assert_eq!(lines.len(), cell.messages.len() + 3);
        prop_assert_eq!(prompt.user.matches(['<', '>']).count(), 4);
    }

    #[test]
    fn any_text_duplicates_itself(text in text()) {
        prop_assert!(is_duplicate(&text, &text));
        prop_assert!(tokens(&text) <= text.len());
    }
}

/// Words that the rules look for, in any order.
fn turns() -> impl Strategy<Value = String> {
    let words = "I we my our me us it it's he she they them this that there one the a new now again anymore no longer \
                 not isn't doesn't can't has had been is was are am moved left quit stopped started working living gave up \
                 off out from to at in on for with and but so because , ; - \" my wife sister dog number: 11 9:30 pm \
                 Lisbon Acme Rex nurse married favourite colour became have get got switched Monday June 2024 yesterday \
                 these days every week you please they promoted together with";
    let words: Vec<&'static str> = words.split_whitespace().collect();
    proptest::collection::vec(proptest::sample::select(words), 0..16).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn any_order_of_rule_words_is_read(older in turns(), newer in turns()) {
        let said = |text: &str, date: &str| facts(&cell(vec![message(1, "alice", text, at(date))]), &Zone::utc());
        let mut known = KnownFacts::default();
        for (n, fact) in said(&older, "2024-01-10T10:00:00Z").iter().enumerate() {
            let statement = Statement::new(&fact.text, fact.said_at);
            known.insert(EntryId::new(format!("af_{n}")), statement, Vec::new(), None);
        }
        for fact in said(&newer, "2024-06-20T10:00:00Z") {
            prop_assert!(!fact.text.is_empty() && !fact.text.contains('\n'));
            let statement = Statement::new(&fact.text, fact.said_at);
            prop_assert!(known.supersession(&statement, |_| Counts::Yes).supersedes.len() <= known.len());
        }
        drop(episode(&cell(talk(&format!("alice: {older}\nbob: {newer}"))), &Zone::utc()));
    }
}

fn huge(text: &str) -> Vec<Message> {
    let mut messages = talk("alice: x\nbob: I live in Oslo.");
    messages[0].content = Content::Text(text.repeat(1_000_000 / text.len())).into();
    messages
}

#[test]
fn a_message_of_a_megabyte_costs_only_the_part_that_is_read() {
    for text in [
        "a",
        "I live in Rome. ",
        "<",
        "<memory",
        "<b><memory/>",
        "。",
        "my dog's ",
        "{\"[",
        "I, ",
        "\n",
        "> ",
    ] {
        let cell = cell(huge(text));
        let told = episode(&cell, &Zone::utc());
        assert!(told.body.len() < 20_000, "{text}");
        assert!(
            facts(&cell, &Zone::utc())
                .iter()
                .any(|fact| fact.text == "Bob says: \"I live in Oslo\"."),
            "{text}"
        );
        assert!(
            parts_request(&cell.messages, &Zone::utc(), Tail::Closed)
                .user
                .len()
                < 20_000,
            "{text}"
        );
    }
}

#[test]
fn tokens_are_estimated_within_bounds() {
    assert_eq!(tokens(""), 0);
    assert_eq!(tokens("four"), 1);
    assert_eq!(tokens("里斯本"), 3);
}
