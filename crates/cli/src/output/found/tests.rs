//! The text output of a search.

use gateway::wire::SearchData;
use serde_json::{Value, json};

use super::{Look, found};
use crate::output::tests::SAID;

fn message(id: &str, score: f32, time: &str, content: &str) -> Value {
    json!({
        "id": id, "session_id": "s1", "sender_id": "ana", "sender_name": null, "role": "user",
        "content": content, "timestamp": time, "score": score, "episode_id": "ana_ep_1",
    })
}

fn fact(id: &str, score: f32, time: &str, of: &str, content: &str) -> Value {
    json!({
        "id": id, "content": content, "score": score, "timestamp": time, "episode_id": "ana_ep_1",
        "message_ids": [of], "path": "default/default/users/ana/facts/2024-06-10.md",
    })
}

fn data(messages: &[Value], facts: &[Value], episodes: &[Value]) -> SearchData {
    let data = json!({
        "episodes": episodes, "profiles": [], "agent_cases": [], "agent_skills": [],
        "unprocessed_messages": [], "facts": facts, "messages": messages,
    });
    serde_json::from_value(data).expect("an answer")
}

fn shown(data: &SearchData, look: Look<'_>) -> String {
    SAID.take();
    found(data, look).expect("printed");
    SAID.take()
}

fn moved() -> SearchData {
    let mut berlin = fact(
        "ana_af_1",
        0.3,
        "2024-06-10T18:00:00Z",
        "m1",
        "ana lives in Berlin.",
    );
    berlin["superseded_by"] = "ana_af_2".into();
    let episode = json!({
        "id": "ana_ep_1", "user_id": "ana", "app_id": "default", "project_id": "default", "session_id": "s1",
        "timestamp": "2024-06-10T18:00:00Z", "sender_ids": ["ana"], "summary": "Ana lives in Berlin.",
        "subject": "Ana lives in Berlin", "episode": "Ana lives in Berlin.", "type": "Conversation",
        "score": 0.9, "atomic_facts": [berlin], "message_ids": ["m1"], "path": "ana/episodes/1.md",
    });
    data(
        &[
            message(
                "m2",
                0.6,
                "2025-01-15T18:00:00Z",
                "I moved to Lisbon in December.",
            ),
            message(
                "m1",
                0.4,
                "2024-06-10T18:00:00Z",
                "I live in Berlin and work as a nurse.",
            ),
        ],
        &[
            fact(
                "ana_af_2",
                0.7,
                "2025-01-15T18:00:00Z",
                "m2",
                "ana lives in Lisbon.",
            ),
            berlin.clone(),
            fact(
                "ana_af_3",
                0.2,
                "2024-06-10T18:00:00Z",
                "m1",
                "ana works as a nurse.",
            ),
            fact(
                "ana_af_4",
                0.5,
                "2023-02-01T18:00:00Z",
                "m0",
                "ana's landlord is called Rui.",
            ),
        ],
        &[episode],
    )
}

#[test]
fn messages_are_listed_with_additional_and_past_facts() {
    let told = [
        " 1. I moved to Lisbon in December.",
        "    said by ana, 15 January 2025, 18:00",
        "    fact: ana lives in Lisbon.",
        "",
        " 2. ana's landlord is called Rui.",
        "    fact, 1 February 2023",
        "",
        " 3. I live in Berlin and work as a nurse.",
        "    said by ana, 10 June 2024, 18:00",
        "    past fact, until 15 January 2025: ana lives in Berlin.",
    ];
    let said = shown(&moved(), Look::default());
    assert_eq!(said.lines().collect::<Vec<_>>(), told, "{said}");
}

#[test]
fn hits_of_another_project_name_the_project() {
    let day = "2026-11-01T18:00:00Z";
    let mut here = message("m1", 0.9, day, "The boat is red.");
    here["project_id"] = "boat".into();
    let elsewhere = message("m2", 0.8, day, "The sesame is gone.");
    let mut known = fact("ana_af_1", 0.7, day, "m3", "ana sails.");
    known["project_id"] = "boat".into();
    let episode = json!({
        "id": "ana_ep_1", "user_id": "ana", "app_id": "default", "project_id": "default", "session_id": "s1",
        "timestamp": day, "sender_ids": ["ana"], "summary": "", "subject": "Tea", "episode": "Tea.",
        "type": "Conversation", "score": 0.6, "message_ids": ["m4"], "path": "ana/episodes/1.md",
    });
    let found = data(&[here, elsewhere], &[known], &[episode]);
    let about = |project| {
        let look = Look {
            project,
            ..Look::default()
        };
        let said = shown(&found, look);
        let about = said.lines().filter(|line| line.starts_with("    "));
        about.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    let [said, date] = ["said by ana, 1 November 2026, 18:00", "1 November 2026"];
    assert_eq!(
        about(Some("boat")),
        [
            said.to_owned(),
            format!("{said}, from project default"),
            format!("fact, {date}"),
            format!("episode, {date}, from project default"),
        ]
    );
    assert_eq!(
        about(None),
        [
            format!("{said}, from project boat"),
            said.to_owned(),
            format!("fact, {date}, from project boat"),
            format!("episode, {date}"),
        ]
    );
}

#[test]
fn ids_are_shown_on_request() {
    let look = Look {
        ids: true,
        ..Look::default()
    };
    let said = shown(&moved(), look);
    assert!(said.contains("    m2 in ana_ep_1\n"), "{said}");
    assert!(
        said.contains("    ana_af_4 default/default/users/ana/facts/2024-06-10.md\n"),
        "{said}"
    );
    assert!(!said.contains("score"), "{said}");
}

#[test]
fn explain_shows_every_hit() {
    let look = Look {
        explain: true,
        ..Look::default()
    };
    let said = shown(&moved(), look);
    for part in [
        "past fact",
        "fact: ana works as a nurse.",
        "ana_ep_1 ana/episodes/1.md",
        "episode, 10 June 2024",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn text_of_messages_cannot_control_the_terminal() {
    let said = message(
        "m1",
        0.5,
        "2025-01-15T18:00:00Z",
        "Tea\u{1b}]52;c;bad\u{7} is ready.",
    );
    let said = shown(&data(&[said], &[], &[]), Look::default());
    assert!(said.contains("Tea]52;c;bad is ready."), "{said:?}");
    assert_eq!(shown(&data(&[], &[], &[]), Look::default()), "nothing found\n");
}
