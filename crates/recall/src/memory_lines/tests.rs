//! The text for a model, from rows to lines.

use expect_test::expect;
use model::{Doc, EntryId, MessageId, Role, Zone, text};

use std::collections::BTreeSet;

use super::stranger::names_a_stranger;
use super::{Reader, answers};
use crate::tests::{Ask, ann, ask, corpus, day, fact, turn};
use crate::{Corpus, memory_lines};

/// Test reader: the first paragraph is the account; the mark of a withdrawn statement is its
/// sentence.
struct Paragraphs;

impl Reader for Paragraphs {
    fn parts(&self, text: &str) -> (String, String) {
        let (own, material) = text.split_once("\n\n").unwrap_or((text, ""));
        (own.to_owned(), material.to_owned())
    }

    fn without(&self, text: &str, _: &str, marks: &BTreeSet<String>) -> String {
        marks
            .iter()
            .fold(text.to_owned(), |left, mark| left.replace(mark.as_str(), ""))
    }

    fn sentences<'a>(&self, text: &'a str) -> Vec<&'a str> {
        text.split_inclusive(['.', '!', '?']).map(str::trim).collect()
    }
}

/// The lines for a question, without their ids.
fn lines(corpus: &Corpus, question: &str) -> String {
    let ranking = Ask { ..ask(question) }.of(corpus);
    let told = memory_lines(&ranking, question, &ann(), &Zone::utc(), &Paragraphs);
    told.into_iter()
        .flat_map(|line| [line.text, "\n".to_owned()])
        .collect()
}

fn by(role: Role, doc: Doc) -> Doc {
    Doc {
        role: Some(role),
        ..doc
    }
}

#[test]
fn another_owners_memory_names_its_owner() {
    let bob = model::Owner::user(model::Name::parse("bob").expect("a name"));
    let of_bob = |doc: Doc| Doc {
        key: model::DocKey {
            owner: bob.clone(),
            ..doc.key
        },
        ..doc
    };
    let corpus = corpus([
        of_bob(turn("m1", "a", day(3), "bob", "We paint the boat in May.")),
        of_bob(fact("f1", day(4), "The boat lies in Lisbon.")),
        turn("m2", "b", day(5), "ann", "The boat needs a new sail."),
    ]);
    let ranking = ask("boat").of(&corpus);
    let told = |asker: &model::Owner| -> Vec<String> {
        let told = memory_lines(
            &ranking,
            "When do we paint the boat, and where does it lie?",
            asker,
            &Zone::utc(),
            &Paragraphs,
        );
        let mut lines: Vec<String> = told.into_iter().map(|line| line.text).collect();
        lines.sort();
        lines
    };
    let for_ann = [
        "2023-01-04, bob: We paint the boat in May.",
        "2023-01-05, bob: The boat lies in Lisbon.",
        "2023-01-06, user: The boat needs a new sail.",
    ];
    assert_eq!(told(&ann()), for_ann);
    let for_bob = [
        "2023-01-04, user: We paint the boat in May.",
        "2023-01-05: The boat lies in Lisbon.",
        "2023-01-06, ann: The boat needs a new sail.",
    ];
    assert_eq!(told(&bob), for_bob);
}

#[test]
fn a_line_has_the_speaker_and_the_date() {
    let corpus = corpus([
        turn("m1", "a", day(3), "ann", "We adopted a parrot. His name is Kiko!"),
        turn("m2", "a", day(3), "Bob", "My own parrot is called Rex."),
        turn("m3", "b", day(9), "ann", "What is my parrot called?"),
        turn("m4", "c", day(12), "ann", "The dentist moved me to Friday."),
        by(
            Role::Assistant,
            turn("m5", "b", day(9), "bot", "The name of the parrot is Kiko."),
        ),
        by(Role::Tool, turn("m6", "b", day(9), "bot", "parrot name: Kiko")),
        fact("f1", day(3), "Ann's parrot is called Kiko."),
    ]);
    expect![[r"
        2023-01-10, assistant: The name of the parrot is Kiko.
        2023-01-04, Bob: My own parrot is called Rex.
        2023-01-04, user: We adopted a parrot. His name is Kiko!
        2023-01-04: Ann's parrot is called Kiko.
        2023-01-13, user: The dentist moved me to Friday.
    "]]
    .assert_eq(&lines(&corpus, "What do you know of the parrot's name?"));
    assert_eq!(
        lines(&corpus, "How do I sort a list in Python?"),
        "",
        "nothing is sure enough"
    );
}

#[test]
fn a_fact_is_included_only_without_its_message() {
    let mut of_message = fact("f1", day(3), "Ann keeps bees in Turku.");
    of_message.sources = vec![MessageId::new("m1")];
    let said = turn("m1", "a", day(3), "ann", "I keep bees in Turku.");
    let question = "Where do my bees live?";
    assert_eq!(
        lines(&corpus([of_message.clone(), said]), question)
            .matches("bees")
            .count(),
        1
    );
    assert!(lines(&corpus([of_message.clone()]), question).contains("Ann keeps bees in Turku."));
    let mut newer = fact("f2", day(90), "Ann keeps bees in Oulu.");
    newer.supersedes = vec![EntryId::new("f1")];
    let told = lines(&corpus([of_message, newer]), question);
    assert!(told.contains("Oulu") && !told.contains("Turku"), "{told}");
}

#[test]
fn a_message_loses_its_withdrawn_statement_and_keeps_the_rest() {
    let wasps = "I keep wasps in Oulu.";
    let of_message = |id, text: &str, labels: &[&str]| Doc {
        sources: vec![MessageId::new("m1")],
        session: Some(model::SessionId::new("a")),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        ..fact(id, day(3), text)
    };
    let told = |label: &str| {
        let corpus = corpus([
            of_message("f1", "I keep bees in Turku.", &[]),
            of_message("f2", "You said that this is wrong.", &[label, wasps]),
            Doc {
                sources: vec![MessageId::new("m1")],
                ..turn(
                    "m1",
                    "a",
                    day(3),
                    "ann",
                    &format!("{wasps} The bees are in Turku."),
                )
            },
        ]);
        let about = |question| lines(&corpus, question);
        let gone = about("Do I keep wasps?");
        assert!(!gone.contains("user:"), "the rest does not answer: {gone}");
        about("Where do my bees live?")
    };
    let wrong = told(model::WRONG);
    assert!(
        wrong.contains("user: The bees are in Turku.") && !wrong.contains("Oulu"),
        "{wrong}"
    );
    let scene = told(model::SCENE);
    assert!(!scene.contains("user:"), "nothing of a scene: {scene}");
}

#[test]
fn a_pasted_text_is_marked_as_sent() {
    let letter =
        "The landlord wrote, can you help?\n\nDear Ms Quill,\n\nI have lived in Cardiff since January.";
    let corpus = corpus([turn("m1", "a", day(3), "ann", letter)]);
    let of = |question: &str| {
        let ranking = ask(question).of(&corpus);
        memory_lines(&ranking, question, &ann(), &Zone::utc(), &Paragraphs)
    };
    let living = &of("Where have I lived since January?")[0];
    assert!(!living.is_own);
    assert!(
        living
            .text
            .starts_with("2023-01-04, in a text that user sent: Dear Ms Quill,"),
        "{living:?}"
    );
    let own = &of("What did my landlord do?")[0];
    assert_eq!(own.text, "2023-01-04, user: The landlord wrote, can you help?");
    assert!(own.is_own);
}

#[test]
fn a_line_answers_with_most_of_the_question_in_a_sentence_or_in_meaning() {
    let said = |text: &str| turn("m1", "a", day(3), "ann", text);
    let best = |doc: Doc, question: &str| {
        let corpus = corpus([doc, turn("m2", "b", day(4), "ann", "The hall was painted.")]);
        let ranking = ask(question).of(&corpus);
        let told = memory_lines(&ranking, question, &ann(), &Zone::utc(), &Paragraphs);
        told.first().map(|line| (line.is_own, line.answers))
    };
    let group = "My writing group meets in the library.";
    assert_eq!(
        best(said(group), "Where does my writing group meet?"),
        Some((true, true))
    );
    assert_eq!(
        best(said(group), "What is my blood group?"),
        Some((true, false)),
        "one word in two"
    );
    let apart = "My writing was bad. The group was full.";
    assert_eq!(
        best(said(apart), "What is my writing group?"),
        Some((true, false)),
        "of two sentences"
    );
    let home = |text: &str| best(said(text), "Where is my home?");
    assert_eq!(home("My new home is in Lisbon."), Some((true, true)));
    assert_eq!(home("Somebody at home keeps a ferret."), Some((true, false)));
    let reply = by(Role::Assistant, said(group));
    assert_eq!(
        best(reply, "Where does my writing group meet?"),
        Some((false, true)),
        "an assistant said it"
    );
    let mut hit = ask("boat")
        .of(&corpus([said("The boat is old.")]))
        .messages
        .remove(0);
    let asked = text::term_set("What kind of boat?");
    hit.why.share = 0.2;
    hit.why.vector = 0.6;
    assert!(!answers(&hit, "The boat is old.", &asked, false));
    hit.why.vector = 0.8;
    assert!(
        answers(&hit, "The boat is old.", &asked, false),
        "nearly its meaning"
    );
    hit.why.share = 0.0;
    assert!(
        !answers(&hit, "The boat is old.", &asked, false),
        "and no word of it"
    );
}

#[test]
fn a_general_question_gets_no_lines_without_an_answer_among_them() {
    let corpus = corpus([
        turn("m1", "a", day(3), "ann", "Bordeaux is where the grapes were."),
        turn(
            "m2",
            "b",
            day(4),
            "ann",
            "The bridge of Mostar was rebuilt in 2004.",
        ),
    ]);
    assert_eq!(lines(&corpus, "Which grapes make port?"), "");
    assert!(lines(&corpus, "When was the bridge of Mostar rebuilt?").contains("2004"));
}

#[test]
fn an_ended_statement_is_marked_and_gives_way_to_a_current_one() {
    let made = |id, text, of: &str, until| model::Doc {
        sources: vec![MessageId::new(of)],
        valid_until: until,
        labels: until.iter().map(|_| model::ENDED.to_owned()).collect(),
        ..fact(id, day(3), text)
    };
    let told = |until| {
        corpus([
            made("f1", "I play the cello.", "m1", Some(until)),
            made("f2", "ann says: \"I play the theremin\".", "m2", Some(until)),
            made("f3", "My theremin stands in the hall.", "m2", None),
            made("f4", "I play the banjo.", "m4", Some(until)),
            turn(
                "m4",
                "d",
                day(3),
                "ann",
                "Ines makes my violins. i play the banjo.",
            ),
            turn("m1", "a", day(3), "ann", "I play the cello!"),
            turn(
                "m2",
                "b",
                day(3),
                "ann",
                "Well, I play the theremin. My theremin stands in the hall.",
            ),
        ])
    };
    let over = told(day(9));
    let cello = lines(&over, "Do I play the cello?");
    assert!(
        cello.contains("2023-01-04, ended by 2023-01-10, user: I play the cello!"),
        "{cello}"
    );
    let hall = lines(&over, "Does my theremin stand in the hall?");
    assert!(
        hall.contains("user: My theremin stands in the hall.") && !hall.contains("play the theremin"),
        "{hall}"
    );
    let violins = lines(&over, "Does Ines make my violins?");
    assert!(
        violins.contains("user: Ines makes my violins.") && !violins.contains("banjo"),
        "a small letter begins a sentence, too: {violins}"
    );
    let theremin = lines(&over, "Do I play the theremin?");
    assert!(
        theremin.contains("ended by 2023-01-10, user: Well, I play the theremin."),
        "{theremin}"
    );
    let mut again = told(day(9));
    again.upsert(turn("m3", "c", day(20), "ann", "I play the cello"));
    let cello = lines(&again, "Do I play the cello?");
    assert!(
        cello.contains("user: I play the cello") && !cello.contains("cello!"),
        "{cello}"
    );
    let holds = lines(&told(day(9_000)), "Do I play the theremin?");
    assert!(
        holds.contains("I play the theremin. My") && !holds.contains("ended"),
        "it has not ended yet: {holds}"
    );
}

#[test]
fn an_earlier_value_is_marked_as_earlier() {
    let mut old = fact("f1", day(3), "Ann lives in Graz.");
    old.sources = vec![MessageId::new("m1")];
    let mut new = fact("f2", day(90), "Ann lives in Vienna.");
    new.sources = vec![MessageId::new("m2")];
    new.supersedes = vec![EntryId::new("f1")];
    let corpus = corpus([
        old,
        new,
        turn("m1", "a", day(3), "ann", "I live in Graz."),
        turn(
            "m2",
            "b",
            day(90),
            "ann",
            "I live in Vienna these days, by the park.",
        ),
    ]);
    let told = lines(&corpus, "Where do I live?");
    let of = |city: &str| {
        told.lines()
            .find(|line| line.contains(city))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(of("Vienna").starts_with("2023-04-01, user: "), "{told}");
    assert!(
        of("Graz").is_empty() || of("Graz").contains("user earlier: "),
        "{told}"
    );
}

#[test]
fn a_long_message_gives_complete_matching_sentences() {
    let filler = "The weather was grey and nothing much went on in the street. ".repeat(12);
    let text = format!("{filler}Oh, and my phone number has changed. It's 07700 900866 now. {filler}");
    let corpus = corpus([turn("m1", "a", day(3), "ann", &text)]);
    let told = lines(&corpus, "What is my phone number?");
    assert!(
        told.contains("my phone number has changed. It's 07700 900866 now."),
        "{told}"
    );
    assert!(told.contains("… ") && told.trim_end().ends_with(" …"), "{told}");
    assert!(told.chars().count() < 400, "{told}");
}

#[test]
fn another_version_of_a_memory_file_is_left_out() {
    let version = |doc: Doc| Doc {
        labels: vec![model::CONFLICT.to_owned()],
        ..doc
    };
    let corpus = corpus([
        turn("m1", "a", day(3), "ann", "My boat lies in Lisbon."),
        version(turn(
            "m_hand_1",
            "a",
            day(3),
            "ann",
            "My boat lies in Porto, near the old mill.",
        )),
    ]);
    let said = lines(&corpus, "Where does my boat lie?");
    assert!(said.contains("Lisbon") && !said.contains("Porto"), "{said}");
}

#[test]
fn a_question_about_an_unknown_name_gets_no_lines() {
    let corpus = corpus([
        turn("m1", "a", day(3), "ann", "My sister Wilma keeps bees in Kenya."),
        turn("m2", "a", day(4), "ann", "We walked to the old mill."),
    ]);
    let is_about_a_stranger = |question: &str| names_a_stranger(question, &ask(question).of(&corpus));
    for question in [
        "Where does my sister keep bees?",
        "Where does Wilma keep bees?",
        // One of the names is known.
        "Does Wilma keep bees in Uganda?",
        "Hey Claude, where does my sister keep bees?",
        "Where did we walk on Monday?",
    ] {
        assert!(!is_about_a_stranger(question), "{question}");
    }
    assert!(!lines(&corpus, "Where does my sister keep bees?").is_empty());
    for question in [
        "Where does Petra keep bees?",
        "Does my sister still keep bees in Uganda?",
    ] {
        assert!(is_about_a_stranger(question), "{question}");
        assert_eq!(lines(&corpus, question), "");
    }
}
