//! Literal cases: the figures, the messages known at a moment, and that no word of a person gets out.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Output};
use std::time::Duration;

use gateway::wire::AddRequest;
use gateway::wire::owners::OwnersData;
use serde_json::json;

use super::GENERAL;
use super::figures::{Figures, Scores};
use super::product::{person_of, places, refusal};
use super::questions::{Question, questions};
use super::talk::Talk;
use crate::turn::door::InjectedText;
use crate::turn::sets::stands;

/// A turn with memory that took a tenth of a second.
fn injected(memory: &str, tokens: usize) -> InjectedText {
    InjectedText {
        text: format!("\n\n{memory}\n\n<quipu-time>noon</quipu-time>"),
        tokens,
        took: Duration::from_millis(100),
    }
}

fn asked(line: &str) -> Question {
    questions(line).expect("a question").remove(0)
}

#[test]
fn questions_are_read_from_tabs_and_from_json() {
    let read = questions(
        "Where is the boat?\tFalmouth\tBrest\n\nWho is Ada?\t\r\n{\"question\": \"What tea?\", \"answer\": \"oolong\"}\n",
    );
    let question = |text: &str, answer: Option<&str>, overtaken: Option<&str>| Question {
        text: text.to_owned(),
        answer: answer.map(str::to_owned),
        overtaken: overtaken.map(str::to_owned),
    };
    assert_eq!(
        read.expect("three questions"),
        [
            question("Where is the boat?", Some("Falmouth"), Some("Brest")),
            question("Who is Ada?", None, None),
            question("What tea?", Some("oolong"), None),
        ]
    );
}

#[test]
fn a_bad_line_is_reported_by_its_number_alone() {
    for bad in [
        "zanzibar quagga",
        "zanzibar\tquagga\tquagga\tquagga",
        "\tquagga",
        "zanzibar\t\tquagga",
        "zanzibar\tquagga,,quagga",
        "zanzibar\tquagga/",
        "{\"question\": \"zanzibar\", \"quagga\": 1}",
        "{\"question\": \"zanzibar\"}",
        "{\"question\": [\"zanzibar\"], \"answer\": \"quagga\"}",
        "{zanzibar",
    ] {
        let error = questions(&format!("Where?\tOslo\n{bad}\n")).expect_err(bad);
        let shown = format!("{error:#}");
        assert!(shown.starts_with("line 2: "), "{bad}: {shown}");
        assert!(
            !shown.contains("zanzibar") && !shown.contains("quagga"),
            "{bad}: {shown}"
        );
    }
    assert!(questions("\n \n").is_err(), "no question is no table of zeros");
}

#[test]
fn answers_count_by_place_and_an_outdated_answer_only_without_the_right_one() {
    let printed = [
        "1. I am in Oslo",
        "2. tea",
        "3. tea",
        "4. the boat lies in Falmouth",
    ]
    .map(str::to_owned);
    let boat = asked("Where is the boat?\tFalmouth\tBrest");
    let tea = asked("What do I drink?\ttea");
    let oslo = asked("Where am I?\tOslo");
    let nobody = asked("Who is Ada?\t");
    let score = |question: &Question, memory: &str| {
        let mut scores = Scores::default();
        scores.add(question, &printed, &injected(memory, 9));
        scores
    };
    let old = score(&boat, "- I sailed to Brest");
    assert_eq!(
        (old.known, old.printed_first, old.printed),
        (1, 0, 0),
        "the fourth place"
    );
    assert_eq!((old.given, old.changed, old.overtaken_alone), (0, 1, 1));
    let both = score(&boat, "- until May: Brest\n- Falmouth");
    assert_eq!((both.given, both.changed, both.overtaken_alone), (1, 1, 0));
    let neither = score(&boat, "- tea");
    assert_eq!((neither.given, neither.overtaken_alone), (0, 0));
    let second = score(&tea, "");
    assert_eq!(
        (second.printed_first, second.printed, second.given, second.changed),
        (0, 1, 0, 0)
    );
    let first = score(&oslo, "- Oslo");
    assert_eq!((first.printed_first, first.printed, first.given), (1, 1, 1));
    let noise = score(&nobody, "- tea");
    assert_eq!((noise.known, noise.unknown, noise.unknown_given), (0, 1, 1));
    assert_eq!(score(&nobody, "").unknown_given, 0);
}

#[test]
fn printed_places_are_split_and_a_list_in_a_message_is_no_place() {
    let printed = "a warning\n\n 1. We need:\n    1. bread\n    2. tea\n    said by me, 3 May 2026\n\n10. the boat\n    lies here\n";
    assert_eq!(
        places(printed),
        [
            "1. We need: 1. bread 2. tea said by me, 3 May 2026",
            "10. the boat lies here"
        ]
    );
    assert!(places("nothing found\n").is_empty());
}

/// Messages at times as lines of an export: `(session, sender, time, text)`.
fn export(messages: &[(&str, &str, i64, &str)]) -> String {
    let head = json!({"quipu_export": 1, "user_id": "me"}).to_string();
    let lines = messages.iter().enumerate().map(|(at, (session, sender, time, text))| {
        let role = if *sender == "me" { "user" } else { "assistant" };
        let message = json!({
            "sender_id": sender, "role": role, "timestamp": time, "content": text, "message_id": format!("m_{at}"),
        });
        json!({"type": "message", "session": session, "message": message, "client_id": format!("c{at}")}).to_string()
    });
    let all: Vec<String> = std::iter::once(head).chain(lines).collect();
    all.join("\n")
}

fn texts(said: &[AddRequest]) -> Vec<String> {
    let messages = said.iter().flat_map(|add| &add.messages);
    let text = |message| serde_json::to_value(message).expect("JSON")["content"].clone();
    messages
        .map(|message| text(message).as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn at_a_moment_memory_knows_nothing_of_the_conversation_or_of_later_ones() {
    let talk = Talk::read(&export(&[
        ("late", "me", 50, "late one"),
        ("late", "me", 60, "late two"),
        ("first", "me", 10, "first one"),
        ("first", "bot", 55, "first goes on"),
        ("second", "bot", 20, "hello"),
        ("second", "me", 21, "second one"),
        ("third", "me", 30, "> a quotation\n"),
        ("third", "me", 40, "third one"),
        ("silent", "bot", 35, "nobody answers"),
    ]))
    .expect("lines");
    assert_eq!((talk.conversations.len(), talk.messages()), (5, 9));
    let moments = talk.later_half("me");
    let asked: Vec<&str> = moments.iter().map(|moment| &*moment.question).collect();
    assert_eq!(asked, ["third one", "late one"], "the later two of four");
    assert_eq!(texts(&moments[0].said), ["first one", "hello", "second one"]);
    assert_eq!(
        texts(&moments[1].said),
        ["> a quotation\n", "third one", "nobody answers"],
        "what is said in an earlier conversation after the moment is not known"
    );
    let ids = moments[0].said[0].messages[0].message_id.as_deref();
    assert_eq!(ids, Some("c2"), "the client's id, which an import would give");
    assert!(talk.later_half("somebody").is_empty());
    let broken = Talk::read("{}\n{\"type\": \"zanzibar\"}").expect_err("no line of an export");
    assert!(!format!("{broken:#}").contains("zanzibar"), "{broken:#}");
}

#[test]
fn a_message_counts_once_and_lines_of_core_memory_are_counted() {
    let line = export(&[("s", "me", 1, "tea")]).lines().nth(1).map(str::to_owned);
    let line = line.expect("a message");
    let page =
        json!({"type": "page", "name": "USER.md", "text": "# Me\n\n- I live in Oslo. [f]\n- tea\nmine\n"});
    let talk = Talk::read(&format!("{{}}\n{line}\n{line}\n{page}")).expect("lines");
    assert_eq!((talk.messages(), talk.core_lines), (1, 2));
}

#[test]
fn one_person_is_chosen_and_several_are_counted() {
    let owners = |users: &[(&str, &str, usize)]| OwnersData {
        owners: serde_json::from_value(
            users
                .iter()
                .map(|(user, project, memories)| {
                    json!({"app_id": "default", "project_id": project, "kind": "user", "id": user,
                        "memories": memories, "files": 1, "bytes": 1, "waiting": 0})
                })
                .collect(),
        )
        .expect("owners"),
    };
    let chosen = |users: &[(&str, &str, usize)], named| {
        person_of(&owners(users), named)
            .map(|person| (person.user, person.project))
            .map_err(|error| format!("{error:#}"))
    };
    let found = |user: &str, project: &str| Ok((user.to_owned(), project.to_owned()));
    assert_eq!(chosen(&[("ana", "default", 1)], None), found("ana", "default"));
    assert_eq!(
        chosen(&[("ana", "default", 1), ("me", "default", 1)], None),
        found("me", "default")
    );
    assert_eq!(
        chosen(
            &[("ana", "default", 1), ("ana", "work", 3), ("bob", "play", 9)],
            Some("ana")
        ),
        found("ana", "work")
    );
    let several = chosen(&[("ana", "default", 1), ("bob", "default", 1)], None).expect_err("two people");
    assert!(several.starts_with("2 people"), "{several}");
    assert!(!several.contains("ana") && !several.contains("bob"), "{several}");
    let stranger = chosen(&[("ana", "default", 1)], Some("bob")).expect_err("nobody");
    assert!(!stranger.contains("ana"), "{stranger}");
    chosen(&[], None).expect_err("nobody");
}

#[test]
fn a_refused_import_reports_only_its_exit_code_and_line() {
    let output = |code: i32, stdout: &str, stderr: &str| Output {
        status: ExitStatus::from_raw(code << 8),
        stdout: stdout.into(),
        stderr: stderr.into(),
    };
    let error =
        json!({"error": {"code": "INVALID_INPUT", "message": "line 7: zanzibar", "hint": null}}).to_string();
    assert_eq!(
        refusal(&output(2, "", &error)).as_deref(),
        Some("with exit code 2, at line 7")
    );
    assert_eq!(
        refusal(&output(2, "{\"messages\": 1}", &error)).as_deref(),
        Some("with exit code 2, at line 7"),
        "a file that breaks in the middle is refused"
    );
    assert_eq!(
        refusal(&output(101, "", "zanzibar")).as_deref(),
        Some("with exit code 101")
    );
    let skipped = json!({"messages": 0, "skipped": [{"what": "line 3, zanzibar", "why": "it has no time"}]})
        .to_string();
    assert_eq!(
        refusal(&output(1, &skipped, "")).as_deref(),
        Some("with exit code 1, at line 3"),
        "nothing is stored"
    );
    let some = skipped.replace("\"messages\":0", "\"messages\":9");
    assert_eq!(refusal(&output(1, &some, "")), None, "the rest is stored");
    assert_eq!(
        refusal(&output(0, "{\"memories\": 2, \"messages\": 0}", "")),
        None,
        "an export of Quipu"
    );
}

/// The words of a text other than numbers.
fn labels(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| c.is_whitespace() || "|(),".contains(c))
        .filter(|word| !word.is_empty() && word.parse::<f64>().is_err())
        .collect()
}

#[test]
fn the_table_has_labels_and_numbers_and_no_word_of_the_person() {
    let mut figures = Figures {
        conversations: 4,
        messages: 12,
        ..Figures::default()
    };
    figures.own.add(Some(&injected("- zanzibar", 40)));
    figures.own.add(Some(&injected("", 0)));
    figures.own.add(None);
    figures.general.add(Some(&injected("- quagga", 9)));
    let mut scores = Scores::default();
    let line = "Does a quagga live in zanzibar?\tquagga\tzanzibar";
    scores.add(
        &asked(line),
        &["1. quagga".to_owned()],
        &injected("- zanzibar", 9),
    );
    figures.questions = Some(scores);
    let table = figures.table();
    for row in [
        "| conversations | 4 |",
        "| first turns of the later half | 2 |",
        "| … given memory | 1 of 2 (50 %) |",
        "| … tokens, mean | 20 |",
        "| … time, p99 | 100.0 ms |",
        "| … refused by the server | 1 |",
        "| general questions given memory (bar: 10 %) | 1 of 1 (100 %) |",
        "| … printed first | 1 of 1 (100 %) |",
        "| … given to a turn | 0 of 1 (0 %) |",
        "| … the overtaken one given alone | 1 of 1 (100 %) |",
        "| … nothing known, but given | - |",
    ] {
        assert!(table.lines().any(|line| line == row), "{row}\n{table}");
    }
    let page = include_str!("../../../../docs/consolidation.md");
    for line in table.lines().filter(|line| line.starts_with("| ")) {
        let label = line.rsplit_once(" | ").expect("two columns").0;
        assert!(page.contains(label), "docs/consolidation.md has no row `{label}`");
    }
    // The labels are those of a table without any figures.
    let nobody = Figures {
        questions: Some(Scores::default()),
        ..Figures::default()
    };
    let mut fixed = nobody.table();
    fixed.push_str(" of % ms");
    let strange: Vec<&str> = labels(&table).difference(&labels(&fixed)).copied().collect();
    assert!(strange.is_empty(), "{strange:?}");
}

#[test]
fn the_general_questions_are_a_dozen() {
    assert_eq!(GENERAL.lines().filter(|line| !line.is_empty()).count(), 12);
}

#[test]
fn every_answer_of_the_example_occurs_in_its_persons_words() {
    let said: Vec<serde_json::Value> = include_str!("../../data/own-export.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a message"))
        .collect();
    let is_said = |key: &str| {
        let own = said.iter().filter(|message| message["role"] == "user");
        let mut texts = own.filter_map(|message| message["content"].as_str());
        texts.any(|text| stands(text, key))
    };
    let asked = questions(include_str!("../../data/own-questions.jsonl")).expect("questions");
    assert_eq!(asked.len(), 16);
    for Question {
        text,
        answer,
        overtaken,
    } in asked
    {
        for key in answer.iter().chain(&overtaken) {
            assert!(is_said(key) && !stands(&text, key), "{text}: {key}");
        }
    }
}
