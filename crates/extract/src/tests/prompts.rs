//! The form of every prompt: one shape, a strict schema, stable instructions, and examples that obey their own rules.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use model::{Message, Zone};
use serde_json::Value;

use super::talk;
use crate::answer::parse_answer;
use crate::{Prompt, Tail, memcell_request};

/// The messages and the answer of each example, and the statements that it calls wrong.
fn examples(system: &str) -> Vec<(Vec<Message>, String, Vec<String>)> {
    let (_, examples) = system.split_once("in your answer.\n\n").expect("examples");
    let read = |example: &str| {
        let said = example.lines().filter_map(|line| line.split_once("): "));
        let said = said.map(|(head, text)| {
            let (_, who) = head.split_once("] ").expect("a head");
            let (name, role) = who.split_once(" (").expect("a role");
            let who = if role == "user" {
                name.to_lowercase()
            } else {
                "bot".to_owned()
            };
            format!("{who}: {text}")
        });
        let mut messages = talk(&said.collect::<Vec<_>>().join("\n"));
        for (message, line) in messages.iter_mut().zip(example.lines()) {
            let (_, time) = line.split_once('[').expect("a time");
            message.time = super::at(&format!("{}:00Z", time[..16].replace(' ', "T")));
        }
        let json = example.find('{').expect("an answer");
        let (answer, wrong) = example[json..].split_once("Wrong: ").expect("what is wrong");
        let wrong = wrong.split('"').filter(|text| text.len() > 1).map(str::to_owned);
        (messages, answer.to_owned(), wrong.collect())
    };
    examples.split("\n\n").map(read).collect()
}

fn system() -> String {
    memcell_request(&talk("alice: Hi"), &Zone::utc(), Tail::Closed).system
}

#[test]
fn the_examples_obey_the_rules_that_they_show() {
    let examples = examples(&system());
    assert_eq!(examples.len(), 2);
    for (messages, answer, wrong) in examples {
        let read = serde_json::from_str::<Value>(&answer).expect("strict JSON");
        let told = parse_answer(&answer, &messages, &Zone::utc(), Tail::Closed).expect("an answer");
        assert_eq!(told.dropped, []);
        assert_eq!(told.parts.len(), read["parts"].as_array().expect("a list").len());
        assert!(wrong.len() >= 3, "{wrong:?}");
    }
}

/// Weak models copy examples into their answers.
#[test]
fn a_copied_example_is_found_out() {
    for (_, answer, _) in examples(&system()) {
        let messages = talk("mia: The printer jams again.\nmia: My cat likes the box that it came in.");
        for answer in [
            answer.clone(),
            answer
                .replace("\"last\":3", "\"last\":2")
                .replace("\"last\":2},", "\"last\":1},"),
        ] {
            if let Ok(told) = parse_answer(&answer, &messages, &Zone::utc(), Tail::Closed) {
                assert!(told.parts.iter().all(|part| part.facts.is_empty()), "{told:?}");
                assert!(told.parts.iter().all(|part| part.summary.is_empty()), "{told:?}");
            }
        }
    }
}

/// A backend reads from its cache what did not change since the last request.
#[test]
fn a_request_begins_as_the_last_one_did() {
    let messages = talk("alice: My flat is in Porto.\nbob: Mine is in Rome.\nalice: It rains.");
    let said = |count: usize, tail| memcell_request(&messages[..count], &Zone::utc(), tail);
    let (first, second) = (said(2, Tail::Open), said(3, Tail::Closed));
    assert_eq!(first.system, second.system);
    let shared = first.user.split_once("</messages>").expect("marks").0;
    assert!(second.user.starts_with(shared), "{}", second.user);
    assert!(
        crate::tokens(&first.system) < 1_100,
        "{}",
        crate::tokens(&first.system)
    );
}

/// What of a schema an endpoint with strict structured output refuses: it would refuse the request, and every later one
/// would then go without a schema.
fn loose(schema: &Value, at: &str) -> Vec<String> {
    let names = |value: &Value| -> BTreeSet<String> {
        let list = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        list.chain(
            value
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str()),
        )
        .map(str::to_owned)
        .collect()
    };
    let is_open =
        schema["additionalProperties"] != false || names(&schema["required"]) != names(&schema["properties"]);
    let mut found = Vec::new();
    if schema["type"] == "object" && is_open {
        found.push(at.to_owned());
    }
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        found.extend(loose(inner, &format!("{at}.{key}")));
    }
    if schema["items"].is_object() {
        found.extend(loose(&schema["items"], &format!("{at}[]")));
    }
    found
}

/// The form of every prompt: instructions that say what is data and what to answer, a strict schema, and a text that only
/// changes with its version.
pub(crate) fn check_form(prompt: &Prompt, version_and_text: &Expect) {
    let mut text = text::Fnv::default();
    text.text(&prompt.system);
    text.text(&prompt.schema_json);
    version_and_text.assert_eq(&format!(
        "{} {:016x}",
        crate::signed(&prompt.schema_name),
        text.value()
    ));
    let schema: Value = serde_json::from_str(&prompt.schema_json).expect("JSON");
    assert_eq!(loose(&schema, "answer"), Vec::<String>::new());
    let system = &prompt.system;
    assert!(
        system.contains("data") && system.contains("Never do what"),
        "{system}"
    );
    assert!(system.contains("one JSON object and nothing else"), "{system}");
    assert!(crate::tokens(system) < 1_100, "{}", crate::tokens(system));
    assert!(!prompt.schema_name.is_empty() && prompt.tokens_max > 0);
}

/// A prompt's one example is what its schema asks for.
pub(crate) fn check_example(prompt: &Prompt) {
    let schema: Value = serde_json::from_str(&prompt.schema_json).expect("JSON");
    let example = prompt.system.split_once("\n{\"").expect("an example").1;
    let example = example.split_once("}\nWrong: ").expect("what is wrong").0;
    let example: Value = serde_json::from_str(&format!("{{\"{example}}}")).expect("JSON");
    let names = |value: &Value| {
        value
            .as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(names(&example), names(&schema["properties"]));
}

#[test]
fn the_request_for_parts_has_the_form() {
    let prompt = memcell_request(&talk("alice: Hi"), &Zone::utc(), Tail::Closed);
    check_form(&prompt, &expect!["memory_parts@prompt-2 6a08783d6f24b21d"]);
}
