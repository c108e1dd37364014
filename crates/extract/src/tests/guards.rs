//! What of a model's answer is believed: each guard with a statement that only it stops.

use expect_test::{Expect, expect};
use model::Zone;
use serde_json::{Value, json};

use super::talk;
use crate::answer::parse_answer;
use crate::{Answer, Doubt, Tail};

const TALK: &str = "alice: Hi Bob, I moved to Lisbon last month.
     bob: Nice! I have a dog named Rex. Should I buy a horse?
     bot: Welcome to Lisbon! The tram 28 is famous.
     alice: Where do you work?
     bob: At the bakery on Main Street, since 2019. My password is Rex7.";

fn answered(lines: &str, part: &Value) -> Answer {
    let messages = talk(lines);
    let mut part = part.clone();
    part["last"] = messages.len().into();
    let answer = json!({"parts": [part]}).to_string();
    parse_answer(&answer, &messages, &Zone::utc(), Tail::Closed).expect("an answer")
}

/// A fact of a talk, or why it was left out.
fn judged(lines: &str, text: &str, cited: &Value) -> String {
    let fact = json!({"text": text, "messages": cited, "date": ""});
    let answer = answered(lines, &json!({"title": "", "summary": "", "facts": [fact]}));
    match (answer.parts[0].facts.as_slice(), answer.dropped.as_slice()) {
        ([fact], []) => fact.text.clone(),
        ([], [dropped]) => format!("dropped: {}", dropped.why),
        other => panic!("{other:?}"),
    }
}

fn check(text: &str, cited: &Value, expect: &Expect) {
    expect.assert_eq(&judged(TALK, text, cited));
}

#[test]
fn what_nobody_said_is_dropped() {
    let nobody = |what: &str| format!("dropped: nobody said `{what}`");
    for (text, what) in [
        ("Alice moved to Madrid in April 2023.", "Madrid"),
        ("Alice moved to Lisbon in March 2023.", "March"),
        ("Alice moved to Lisbon in April 2021.", "2021"),
        ("Carol moved to Lisbon in April 2023.", "Carol"),
    ] {
        assert_eq!(judged(TALK, text, &json!([1])), nobody(what), "{text}");
    }
    check(
        "Bob has 3 dogs named Rex.",
        &json!([2]),
        &expect!["dropped: nobody said `3`"],
    );
    check(
        "Bob has a dog and a parrot.",
        &json!([2]),
        &expect!["dropped: its words are not those of the cited messages"],
    );
    check(
        "Bob enjoys skydiving and expensive watches.",
        &json!([2]),
        &expect!["dropped: its words are not those of the cited messages"],
    );
}

#[test]
fn a_fact_cites_messages_of_persons_that_say_it() {
    let uncited = expect!["dropped: it cites no message of a person in its part"];
    for cited in [json!([]), json!([99]), json!([0]), json!([3]), Value::Null] {
        uncited.assert_eq(&judged(TALK, "Bob has a dog named Rex.", &cited));
    }
    // The right words, but of another message, or of another person.
    check(
        "Bob has a dog named Rex.",
        &json!([5]),
        &expect!["dropped: nobody said `Rex`"],
    );
    check(
        "Alice has a dog named Rex.",
        &json!([2]),
        &expect!["dropped: another person said it"],
    );
    check(
        "The tram 28 is famous.",
        &json!([1, 3]),
        &expect!["dropped: its words are not those of the cited messages"],
    );
    let answer = answered(TALK, &json!({"facts": ["Bob has a dog named Rex."]}));
    assert_eq!(answer.dropped[0].why, Doubt::Uncited, "a fact without its form");
    for cited in [json!([2]), json!(2), json!("2"), json!(["#2."])] {
        assert_eq!(
            judged(TALK, "Bob has a dog named Rex.", &cited),
            "Bob has a dog named Rex."
        );
    }
}

/// A weak model can repeat itself until it is cut off.
#[test]
fn of_too_many_facts_the_first_are_read() {
    let fact = |text: &str| json!({"text": text, "messages": [2], "date": ""});
    let given = |count: usize, text: &str| {
        let mut facts = vec![fact(text); count];
        facts.push(fact("Bob has a dog named Rex."));
        let answer = answered(TALK, &json!({"title": "", "summary": "", "facts": facts}));
        let last = answer.dropped.last().expect("something is left out").why.clone();
        (answer.parts[0].facts.len(), last)
    };
    let invented = || Doubt::Invented("Otto".to_owned());
    assert_eq!(given(99, "Bob has a dog named Otto."), (1, invented()));
    assert_eq!(given(100, "Bob has a dog named Otto."), (0, Doubt::TooMany));
}

#[test]
fn a_name_from_earlier_is_a_source_as_well() {
    let lines = "tom: My daughter Lea starts school. Is Otto a good name for a cat?
         ann: Mine is called Mia.
         tom: She can't stand carrots.";
    let sources = |text: &str| {
        let fact = json!({"text": text, "messages": [3], "date": ""});
        let answer = answered(lines, &json!({"title": "", "summary": "", "facts": [fact]}));
        let facts = answer.parts[0].facts.iter();
        facts
            .flat_map(|fact| fact.sources.iter().map(ToString::to_string))
            .collect::<Vec<_>>()
    };
    assert_eq!(sources("Tom's daughter Lea can't stand carrots."), ["m1", "m3"]);
    // Only asked, and said by somebody else.
    for text in [
        "Otto can't stand carrots.",
        "Tom's daughter Mila can't stand carrots.",
    ] {
        assert_eq!(sources(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_question_states_nothing_but_helps_its_answer() {
    check(
        "Bob buys a horse.",
        &json!([2]),
        &expect!["dropped: its words are not those of the cited messages"],
    );
    check(
        "Bob works at the bakery on Main Street since 2019.",
        &json!([5]),
        &expect!["Bob works at the bakery on Main Street since 2019."],
    );
}

#[test]
fn numbers_may_be_written_either_way() {
    let lines = "alice: I have two cats and stay for ten days.";
    let told = "Alice has 2 cats and stays for 10 days.";
    assert_eq!(judged(lines, told, &json!([1])), told);
    assert_eq!(
        judged(lines, "Alice has 3 cats and stays for ten days.", &json!([1])),
        "dropped: nobody said `3`"
    );
}

#[test]
fn secrets_and_shapeless_facts_are_dropped() {
    check(
        "The password of Bob is Rex7.",
        &json!([5]),
        &expect!["dropped: it may tell a secret"],
    );
    check("", &json!([2]), &expect!["dropped: it has no text, or too much"]);
    check(
        &"Bob has a dog named Rex. ".repeat(20),
        &json!([2]),
        &expect!["dropped: it has no text, or too much"],
    );
}

#[test]
fn a_relative_date_stays_as_it_was_said_and_may_be_written_out() {
    check(
        "Alice moved to Lisbon last month.",
        &json!([1]),
        &expect!["Alice moved to Lisbon last month."],
    );
    check(
        "Alice moved to Lisbon in April 2023.",
        &json!([1]),
        &expect!["Alice moved to Lisbon in April 2023."],
    );
}

#[test]
fn the_user_is_called_by_name() {
    check(
        "The user has a dog named Rex.",
        &json!([2]),
        &expect!["Bob has a dog named Rex."],
    );
    check(
        "User's dog is named Rex.",
        &json!([2]),
        &expect!["Bob's dog is named Rex."],
    );
}

#[test]
fn quoted_and_recalled_text_is_no_source() {
    let lines = "alice: > I own a castle in Wales. <quipu-memory>I keep bees in Wales.</quipu-memory> Look!";
    for text in ["Alice owns a castle in Wales.", "Alice keeps bees in Wales."] {
        assert_eq!(
            judged(lines, text, &json!([1])),
            "dropped: nobody said `Wales`",
            "{text}"
        );
    }
}

#[test]
fn what_is_quoted_or_supposed_is_not_stated() {
    let lines = "alice: Shorten this: \"I am Daniel and I moved to Leeds in January.\" I read \"The Sea\" every summer.
         alice: Maybe I'll keep bees. If I were rich I'd rent a yacht. I drink tea.";
    let unsaid = "dropped: its words are not those of the cited messages";
    for (text, cited, told) in [
        (
            "Daniel moved to Leeds in January.",
            1,
            "dropped: nobody said `Daniel`",
        ),
        ("Alice moved in January.", 1, "dropped: nobody said `January`"),
        (
            "Alice reads The Sea every summer.",
            1,
            "Alice reads The Sea every summer.",
        ),
        ("Alice keeps bees.", 2, unsaid),
        ("Alice rents a yacht.", 2, unsaid),
        ("Alice drinks tea.", 2, "Alice drinks tea."),
    ] {
        assert_eq!(judged(lines, text, &json!([cited])), told, "{text}");
    }
}

#[test]
fn facts_keep_the_language_of_the_talk() {
    let german = "jana: Ich bin gestern nach Köln gezogen und arbeite dort als Krankenpflegerin.";
    let told = "Jana ist am 7. Mai 2023 nach Köln gezogen.";
    assert_eq!(judged(german, told, &json!([1])), told);
    let told = "Jana arbeitet in Köln als Krankenpflegerin.";
    assert_eq!(judged(german, told, &json!([1])), told);
    assert_eq!(
        judged(
            german,
            "Jana moved to Köln and works there as a nurse.",
            &json!([1])
        ),
        "dropped: its words are not those of the cited messages"
    );
    for told in [
        "Jana ist am 07.05.2023 nach Köln gezogen.",
        "Jana ist am 2023-05-07 nach Köln gezogen.",
    ] {
        assert_eq!(judged(german, told, &json!([1])), told);
    }
    assert_eq!(
        judged(german, "Jana ist am 07.05.2021 nach Köln gezogen.", &json!([1])),
        "dropped: nobody said `07.05.2021`"
    );
    assert_eq!(
        judged(german, "Jana ist am 17. Mai 2023 nach Köln gezogen.", &json!([1])),
        "dropped: nobody said `17`"
    );
    assert_eq!(
        judged(
            german,
            "Jana ist nach Köln gezogen und hat 7 Katzen.",
            &json!([1])
        ),
        "dropped: nobody said `7`"
    );
    for (lines, told) in [
        (
            "sofia: Vivo en Sevilla desde 2019 y trabajo de enfermera.",
            "Sofia vive en Sevilla desde 2019.",
        ),
        (
            "luc: J'habite à Lyon, mon fils s'appelle Noé.",
            "Luc habite à Lyon.",
        ),
        (
            "mei: 我上个月搬到了里斯本，养了一只猫。",
            "Mei上个月搬到了里斯本。",
        ),
        (
            "aki: 先月リスボンに引っ越しました。",
            "Akiは2023年4月にリスボンに引っ越した。",
        ),
    ] {
        assert_eq!(judged(lines, told, &json!([1])), told);
    }
}

/// A fact stays when only its date is in doubt.
#[test]
fn a_date_is_one_that_was_meant() {
    let since = |text: &str, cited: usize, date: &str| {
        let fact = json!({"text": text, "messages": [cited], "date": date});
        let answer = answered(TALK, &json!({"title": "", "summary": "", "facts": [fact]}));
        let doubts: Vec<String> = answer
            .dropped
            .iter()
            .map(|dropped| dropped.why.to_string())
            .collect();
        let since = answer.parts[0].facts[0].valid_from.map(|at| at.to_string());
        (since, doubts)
    };
    let moved = "Alice moved to Lisbon.";
    assert_eq!(
        since(moved, 1, "2023-04-10"),
        (Some("2023-04-10T00:00:00Z".to_owned()), vec![])
    );
    assert_eq!(
        since(moved, 1, "2023-05-08"),
        (Some("2023-05-08T00:00:00Z".to_owned()), vec![])
    );
    let work = "Bob works at the bakery.";
    assert_eq!(
        since(work, 5, "2019"),
        (Some("2019-01-01T00:00:00Z".to_owned()), vec![])
    );
    let (none, doubts) = since(moved, 1, "2021-04-10");
    assert_eq!(
        (none, doubts),
        (
            None,
            vec!["the cited messages do not mean its date `2021-04-10`".to_owned()]
        )
    );
    assert_eq!(since(moved, 1, "2031-04-10"), (None, vec![]), "a day to come");
    assert_eq!(since(moved, 1, "last month"), (None, vec![]));
}

#[test]
fn a_summary_keeps_the_sentences_that_were_said() {
    let part = json!({
        "title": "The year 1984",
        "summary": "Alice moved to Lisbon in April 2023. She lives with Carol in a palace. Bob has a dog named Rex. \
                    Investors welcomed falling rates. It felt quite risky to invest.",
        "facts": [],
    });
    let answer = answered(TALK, &part);
    let why: Vec<String> = answer
        .dropped
        .iter()
        .map(|dropped| dropped.why.to_string())
        .collect();
    assert_eq!(answer.parts[0].title, "");
    assert_eq!(
        answer.parts[0].summary,
        "Alice moved to Lisbon in April 2023. Bob has a dog named Rex."
    );
    assert_eq!(
        why,
        [
            "nobody said `1984`",
            "nobody said `Carol`",
            "nobody said `Investors`",
            "its words are not those of the cited messages",
        ]
    );
}
