//! Files of every version so far, kept for ever.

use expect_test::{expect, expect_file};
use model::{
    Content, Entry, Message, MessageId, Parent, ParentKind, Role, SessionId, SessionKey, ToolCall, Zone,
};

use super::{berlin, entries, name, place, plain, problems};
use crate::{Place, new_file, parse, render};

const EPISODE: &str = include_str!("../../fixtures/v1/episodes.md");
const BY_HAND: &str = include_str!("../../fixtures/v1/by_hand.md");

fn at(zone: &Zone, text: &str) -> model::Timestamp {
    zone.parse(text).expect("a time")
}

fn episode() -> Entry {
    let zone = berlin();
    let turn = |id: &str, sender: &str, role, time: &str, text: &str| Message {
        id: MessageId::new(id),
        session: SessionKey::new(place().scope, SessionId::new("s1")),
        sender: name(sender),
        sender_name: None,
        role,
        time: at(&zone, time),
        content: Content::Text(text.to_owned()).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    };
    let mut first = turn(
        "m_1",
        "alice",
        Role::User,
        "2023-05-08T13:55",
        "I joined a pottery class!\n\n## Really\n",
    );
    first.sender_name = Some("Alice Hart".to_owned());
    let mut second = turn("m_2", "bot", Role::Assistant, "2023-05-08T13:55:30.250", "");
    second.tool_calls = vec![ToolCall {
        id: "call_1".to_owned(),
        name: "web_search".to_owned(),
        arguments: "{\"query\": \"pottery\"}".to_owned(),
    }];
    let mut third = turn(
        "m_3",
        "search",
        Role::Tool,
        "2023-05-08T13:55:31",
        "3 results\r\n\0",
    );
    third.tool_call_id = Some("call_1".to_owned());
    let mut entry = plain(
        "ep_20230508_0001",
        "Alice joins a pottery class",
        "Alice joined a pottery class.\nIt meets on Mondays.",
    );
    entry.session = Some(SessionId::new("s1"));
    entry.time = at(&zone, "2023-05-08T13:55:31");
    entry.author = Some("rules/1".to_owned());
    entry.parent = Some(Parent::new(ParentKind::Memcell, "mc_20230508_0001"));
    entry.sources = ["m_1", "m_2", "m_3"].map(MessageId::new).to_vec();
    entry.senders = vec![name("alice"), name("bot")];
    entry.summary = "Alice starts pottery.".to_owned();
    entry.turns = vec![first, second, third];
    entry
}

fn fact() -> Entry {
    let mut entry = plain(
        "af_20230508_0002",
        "Alice lives in Berlin",
        "Alice lives in Berlin.",
    );
    entry.kind = model::EntryKind::Episode;
    entry.valid_from = Some(at(&berlin(), "2023-05-01"));
    entry.valid_until = Some(at(&berlin(), "2024-01-01"));
    entry.supersedes = vec![model::EntryId::new("af_20210101_0001")];
    entry
}

#[test]
fn version_2_is_written_as_in_the_fixture() {
    let zone = berlin();
    let front = new_file(model::EntryKind::Episode, "2023-05-08".parse().expect("a date"));
    let text = format!(
        "{front}\n{}\n{}",
        render(&episode(), &zone),
        render(&fact(), &zone)
    );
    expect_file!["../../fixtures/v2/episodes.md"].assert_eq(&text);
}

#[test]
fn version_2_is_read_as_in_the_fixture() {
    let text = include_str!("../../fixtures/v2/episodes.md");
    let parsed = parse(text.as_bytes(), &place(), &Zone::utc());
    assert_eq!(entries(&parsed), [episode(), fact()]);
    assert_eq!(problems(&parsed), [""; 0]);
}

#[test]
fn version_2_of_statements_is_written_and_read_as_in_the_fixture() {
    let place = Place::of("default/default/users/alice/foresights/2023-05-08.md").expect("a place");
    let statement = |id: &str, body: &str, summary: &str| Entry {
        kind: model::EntryKind::Foresight,
        subject: String::new(),
        summary: summary.to_owned(),
        author: Some("rules/1".to_owned()),
        senders: vec![name("alice")],
        ..plain(id, "", body)
    };
    let all = [
        statement("fs_1", "Alice moves on 3 June 2023.", ""),
        statement(
            "fs_2",
            "Alice meets * (a star) *(soon)*.",
            "Said on 8 May 2023: “I meet *”",
        ),
        statement("fs_3", "- time: two\nlines", ""),
    ];
    let front = new_file(model::EntryKind::Foresight, "2023-05-08".parse().expect("a date"));
    let parsed = parse(front.as_bytes(), &place, &berlin());
    let added = crate::plan(front.as_bytes(), &parsed, &all, &berlin()).expect("there is room");
    let text = front + &added.text;
    expect_file!["../../fixtures/v2/foresights.md"].assert_eq(&text);
    let parsed = parse(text.as_bytes(), &place, &Zone::utc());
    assert_eq!((entries(&parsed), problems(&parsed)), (all.to_vec(), Vec::new()));
}

#[test]
fn a_file_of_version_1_becomes_one_of_version_2() {
    let now = crate::upgraded(EPISODE.as_bytes(), &place(), &berlin()).expect("version 1");
    let now = String::from_utf8(now).expect("text");
    assert!(now.starts_with("---\nquipu: 2\n"), "{now}");
    assert!(!now.contains("{#ep_"), "{now}");
    assert_eq!(
        entries(&parse(now.as_bytes(), &place(), &Zone::utc())),
        [episode(), fact()]
    );
    assert_eq!(crate::upgraded(now.as_bytes(), &place(), &berlin()), None);
    let by_hand = "## Pottery\n\nOn Mondays.\n";
    assert_eq!(crate::upgraded(by_hand.as_bytes(), &place(), &berlin()), None);
}

#[test]
fn version_1_is_read_as_in_the_fixture() {
    let parsed = parse(EPISODE.as_bytes(), &place(), &Zone::utc());
    assert_eq!(entries(&parsed), [episode(), fact()]);
    assert_eq!(problems(&parsed), [""; 0]);
}

#[test]
fn version_1_by_hand_is_read_as_in_the_fixture() {
    let place = Place::of("default/default/users/alice/facts/2023-05-08.md").expect("a place");
    let parsed = parse(BY_HAND.as_bytes(), &place, &berlin());
    let shown: Vec<String> = entries(&parsed)
        .iter()
        .map(|e| {
            let until = e.valid_until.map(|at| berlin().render(at));
            format!(
                "{} | {} | {} | {until:?} | {:?} | {:?}",
                e.id,
                e.subject,
                berlin().render(e.time),
                e.summary,
                e.body
            )
        })
        .collect();
    expect![[r#"
        af_hand_8685b16523816351 | Peanuts | 2023-05-08T00:00:00+02:00 | None | "" | "I am allergic to peanuts."
        af_hand_6faa3b5f89f0d33d | Bike | 2023-05-08T18:30:00+02:00 | Some("2024-05-08T00:00:00+02:00") | "My bike is blue." | "It stands in the cellar:\n\n- key: under the mat\n- lock: 1234\n\n## is how an entry starts, so this line has a backslash."
        af_hand_a580786e2e70ad72 | Peanuts | 2023-05-08T00:00:00+02:00 | None | "" | "Almonds are fine.""#]].assert_eq(&shown.join("\n"));
    assert_eq!(problems(&parsed), [""; 0]);
}
