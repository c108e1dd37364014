//! Text to entries and back, byte for byte.

use model::{Content, Message, MessageId, Part, PartKind, Role, SessionId, SessionKey, ToolCall, Zone};
use proptest::prelude::*;

use super::{berlin, entries, hostile, name, place, plain, read};
use crate::{Change, change, digest, new_file, parse, plan, render};

fn date() -> model::Date {
    "2023-05-08".parse().expect("a date")
}

fn file(entries: &[model::Entry], zone: &Zone) -> String {
    let rendered: Vec<String> = entries.iter().map(|entry| render(entry, zone)).collect();
    format!(
        "{}\n{}",
        new_file(model::EntryKind::Episode, date()),
        rendered.join("\n")
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_entries_are_read_back(all in hostile::entries(), zone in hostile::zone(), other in hostile::zone()) {
        let text = file(&all, &zone);
        // Another zone reads the same instants.
        let parsed = parse(text.as_bytes(), &place(), &other);
        prop_assert_eq!(&entries(&parsed), &all);
        prop_assert_eq!(&parsed.problems, &[]);
        prop_assert_eq!(&parsed.broken, &None);
        prop_assert_eq!(parsed.torn, None);
        let digests = |all: &[model::Entry]| all.iter().map(digest).collect::<Vec<_>>();
        prop_assert_eq!(digests(&entries(&parsed)), digests(&all));
    }

    #[test]
    fn any_facts_are_read_back(all in hostile::entries(), zone in hostile::zone(), cut in any::<prop::sample::Index>()) {
        let place = crate::Place::of("default/default/users/alice/facts/2023-05-08.md").expect("a place");
        let fact = |mut entry: model::Entry| {
            entry.kind = model::EntryKind::Fact;
            entry.subject.clear();
            entry.turns.clear();
            entry
        };
        let all: Vec<_> = all.into_iter().map(fact).collect();
        let front = new_file(model::EntryKind::Fact, date());
        let none = parse(front.as_bytes(), &place, &zone);
        let whole = [front.clone(), plan(front.as_bytes(), &none, &all, &zone).expect("there is room").text].concat();
        prop_assert_eq!(&entries(&parse(whole.as_bytes(), &place, &berlin())), &all, "{}", whole);
        prop_assert!(crate::ends_cleanly(whole.as_bytes()));
        // After a crash at any byte, the same append completes the file.
        let at = front.len() + cut.index(whole.len() - front.len());
        let torn = &whole.as_bytes()[..at];
        let parsed = parse(torn, &place, &zone);
        let plan = plan(torn, &parsed, &all, &zone).expect("there is room");
        let stays = &torn[..plan.cut.map_or(at, |cut| cut.at)];
        let again = [stays, plan.text.as_bytes()].concat();
        prop_assert_eq!(&entries(&parse(&again, &place, &zone)), &all, "{}", String::from_utf8_lossy(torn));
    }

    #[test]
    fn an_append_keeps_all_entries(first in hostile::entries(), second in hostile::entries(), tail in hostile::text()) {
        // Whatever a person left at the end, the appended entries are read completely.
        let zone = berlin();
        let mut bytes = file(&first, &zone).into_bytes();
        bytes.extend_from_slice(tail.as_bytes());
        let before = parse(&bytes, &place(), &zone);
        let plan = plan(&bytes, &before, &second, &zone).expect("there is room");
        let taken = before.ids();
        let expected: Vec<_> = second.iter().filter(|entry| !taken.contains(&entry.id)).cloned().collect();
        if let Some(cut) = plan.cut {
            bytes.truncate(cut.at);
        }
        bytes.extend_from_slice(plan.text.as_bytes());
        let after = entries(&parse(&bytes, &place(), &zone));
        prop_assert!(after.ends_with(&expected), "{}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn an_editor_may_convert_line_ends(all in hostile::entries()) {
        let text = file(&all, &berlin()).replace('\n', "\r\n");
        let parsed = read(&text);
        prop_assert_eq!(&entries(&parsed), &all);
        prop_assert_eq!(&parsed.problems, &[]);
        prop_assert!(crate::ends_cleanly(text.as_bytes()));
    }

    #[test]
    fn a_file_has_no_hidden_characters(all in hostile::entries()) {
        let text = file(&all, &berlin());
        let hidden = ['\u{2028}', '\u{2029}', '\u{feff}', '\u{202e}'];
        let is_shown = |c: char| c == '\n' || c == '\t' || !(c.is_control() || hidden.contains(&c));
        prop_assert!(text.chars().all(is_shown));
    }

    #[test]
    fn any_bytes_of_a_file_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), text in hostile::text()) {
        let mut whole = new_file(model::EntryKind::Episode, date()).into_bytes();
        whole.extend_from_slice(text.as_bytes());
        whole.extend_from_slice(&bytes);
        for bytes in [&whole, &bytes] {
            let parsed = parse(bytes, &place(), &berlin());
            prop_assert!(parsed.blocks.iter().all(|block| block.span.end <= bytes.len()));
        }
    }

    #[test]
    fn an_edit_changes_only_its_entry(all in hostile::entries(), new in hostile::entry(), pick in any::<prop::sample::Index>()) {
        let zone = berlin();
        let text = file(&all, &zone);
        let at = pick.index(all.len());
        let id = all[at].id.clone();
        let new = model::Entry { id: id.clone(), ..new };
        let replaced = change(text.as_bytes(), &read(&text), &[Change::Replace(&new)], &zone).expect("is there");
        let mut expected = all.clone();
        expected[at] = new;
        prop_assert_eq!(String::from_utf8(replaced).expect("text"), file(&expected, &zone));
        let removed = change(text.as_bytes(), &read(&text), &[Change::Remove(&id)], &zone).expect("is there");
        expected.remove(at);
        let parsed = parse(&removed, &place(), &zone);
        prop_assert_eq!(entries(&parsed), expected);
    }

    #[test]
    fn different_entries_have_different_digests(one in hostile::entry(), other in hostile::entry()) {
        prop_assert_eq!(digest(&one) == digest(&other), one == other);
    }
}

#[test]
fn a_line_of_a_megabyte_and_every_control_character_are_read_back() {
    let controls: String = (0..0x20).chain(0x7f..0xa0).filter_map(char::from_u32).collect();
    let long = "x ## \\".repeat(200_000);
    for text in [controls, long, "\n".repeat(1000), " ".repeat(1000)] {
        let entry = plain("ep_1", &text, &text);
        assert_eq!(entries(&read(&render(&entry, &berlin()))), [entry]);
    }
}

#[test]
fn ordinary_prose_is_written_without_escapes() {
    let body = "# Notes\n\nShe said: \"C:\\users\\new\" costs $5 — see `a_b`.\n\n- one\n- two\n\n> a quote\n\n---\n\n#### Deep\n| a | b |";
    let text = render(&plain("ep_1", "Alice & Bob #2", body), &berlin());
    assert!(text.contains(body), "{text}");
    assert!(
        text.starts_with("## Alice & Bob #2 <!--ep_1 2023-05-08T14:00:00+02:00 "),
        "{text}"
    );
}

fn message() -> Message {
    Message {
        id: MessageId::new("m"),
        session: SessionKey::new(place().scope, SessionId::new("s")),
        sender: name("bob"),
        sender_name: None,
        role: Role::User,
        time: model::Timestamp::from_millis(5),
        content: Content::Text("hi".to_owned()).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    }
}

fn parent(kind: model::ParentKind) -> model::Parent {
    let id = "x".to_owned();
    model::Parent { kind, id }
}

fn call() -> ToolCall {
    let [id, name, arguments] = ["1", "2", "3"].map(str::to_owned);
    ToolCall { id, name, arguments }
}

/// Each of these differs from the first in one field only.
#[test]
fn a_digest_depends_on_every_field() {
    let mut base = plain("ep_1", "s", "b");
    base.turns = vec![message()];
    let edits: Vec<fn(&mut model::Entry)> = vec![
        |_| {},
        |e| e.id = model::EntryId::new("ep_2"),
        |e| e.kind = model::EntryKind::Fact,
        |e| e.scope.app = name("x"),
        |e| e.scope.project = name("x"),
        |e| e.owner.kind = model::OwnerKind::Agent,
        |e| e.owner.id = name("bob"),
        |e| e.session = Some(SessionId::new("")),
        |e| e.session = Some(SessionId::new("s")),
        |e| e.time = e.time.plus_millis(1),
        |e| e.valid_from = Some(e.time),
        |e| e.valid_until = Some(e.time),
        |e| e.supersedes = vec![model::EntryId::new("ep_0")],
        |e| e.superseded_by = Some(model::EntryId::new("ep_0")),
        |e| e.origin = model::Origin::Hand,
        |e| e.author = Some(String::new()),
        |e| {
            e.parent = Some(parent(model::ParentKind::Memcell));
        },
        |e| {
            e.parent = Some(parent(model::ParentKind::Episode));
        },
        |e| e.sources = vec![MessageId::new("ep_0")],
        |e| e.senders = vec![name("ep_0")],
        |e| e.subject = String::new(),
        |e| e.summary = "x".to_owned(),
        |e| e.body = "bb".to_owned(),
        |e| e.turns.clear(),
        |e| e.turns[0].id = MessageId::new("n"),
        |e| e.turns[0].session.session = SessionId::new("t"),
        |e| e.turns[0].session.scope.app = name("x"),
        |e| e.turns[0].sender = name("bo"),
        |e| e.turns[0].sender_name = Some("bob".to_owned()),
        |e| e.turns[0].role = Role::Tool,
        |e| e.turns[0].time = model::Timestamp::from_millis(6),
        |e| e.turns[0].content = Content::Text("ho".to_owned()).into(),
        |e| {
            e.turns[0].tool_calls = vec![call()];
        },
        |e| e.turns[0].tool_call_id = Some("1".to_owned()),
    ];
    let digests: std::collections::BTreeSet<u64> = edits
        .iter()
        .map(|edit| {
            let mut entry = base.clone();
            edit(&mut entry);
            digest(&entry)
        })
        .collect();
    assert_eq!(digests.len(), edits.len());
}

#[test]
fn parts_of_a_message_have_the_digest_of_their_text() {
    let mut entry = plain("ep_1", "s", "");
    let part = |text: Option<&str>, kind| Part {
        kind,
        text: text.map(str::to_owned),
        uri: None,
        base64: Some("aGk=".to_owned()),
        ext: None,
        name: Some("a.png".to_owned()),
        extras_json: None,
    };
    let content = Content::Parts(vec![
        part(Some("see"), PartKind::Text),
        part(None, PartKind::Image),
    ])
    .into();
    entry.session = Some(SessionId::new("s"));
    entry.turns = vec![Message { content, ..message() }];
    let read = entries(&read(&render(&entry, &berlin())));
    assert_eq!(
        *read[0].turns[0].content,
        Content::Text("see\n[image: a.png]".to_owned())
    );
    assert_eq!(digest(&read[0]), digest(&entry));
}
