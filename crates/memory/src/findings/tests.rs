//! Memories with and without findings.

use model::{Content, Message, MessageId, Name, Origin, Owner, Role, Scope, SessionId, SessionKey};
use proptest::prelude::*;

use super::*;

const NOW: i64 = 1_800_000_000_000;

fn fact(id: &str, body: &str) -> FiledEntry {
    let ann = Name::parse("ann").expect("a name");
    let whose = (Scope::default(), Owner::user(ann.clone()));
    let time = Timestamp::from_millis(NOW - 400 * DAY_MS);
    let entry = Entry {
        senders: vec![ann],
        body: body.to_owned(),
        ..Entry::new(EntryId::new(id), EntryKind::Fact, whose, time, Origin::User)
    };
    let path = "default/default/users/ann/fact/2026.md".into();
    FiledEntry { path, entry }
}

fn episode(id: &str, message: &str, text: &str) -> FiledEntry {
    let FiledEntry { path, entry } = fact(id, "About it.");
    let turn = Message {
        id: MessageId::new(message),
        session: SessionKey::new(Scope::default(), SessionId::parse("s").expect("an id")),
        sender: Name::parse("ann").expect("a name"),
        sender_name: None,
        role: Role::User,
        time: entry.time,
        content: Content::Text(text.to_owned()).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    };
    let entry = Entry {
        kind: EntryKind::Episode,
        sources: vec![turn.id.clone()],
        turns: vec![turn],
        ..entry
    };
    FiledEntry { path, entry }
}

fn found(memories: &[FiledEntry], known: &[&str]) -> Vec<(Fault, String)> {
    let known = known
        .iter()
        .map(|id| (Scope::default(), MessageId::new(*id)))
        .collect();
    judge(memories, &known, Timestamp::from_millis(NOW))
        .into_iter()
        .map(|finding| (finding.fault, finding.id.as_str().to_owned()))
        .collect()
}

fn one(fault: Fault, id: &str) -> Vec<(Fault, String)> {
    vec![(fault, id.to_owned())]
}

#[test]
fn a_memory_of_the_same_meaning_is_a_duplicate_of_the_oldest() {
    let mut memories = [
        fact(
            "a",
            "Ann lives in Lisbon with her two cats and an old, very loud parrot",
        ),
        fact(
            "b",
            "ann lives in Lisbon, with her two cats and an old very loud parrot.",
        ),
        fact("c", "Ann lives in Porto with one dog"),
    ];
    memories[0].entry.time = Timestamp::from_millis(NOW);
    assert_eq!(found(&memories, &[]), one(Fault::Duplicate, "a"));
    memories[1].entry.sources = vec![MessageId::new("m1")];
    memories[0].entry.sources = vec![MessageId::new("m1")];
    assert_eq!(found(&memories, &["m1", "m2"]), one(Fault::Duplicate, "a"));
    memories[0].entry.sources = vec![MessageId::new("m2")];
    assert_eq!(found(&memories, &["m1", "m2"]), [], "it was said twice");
    memories[0].entry.sources.clear();
    memories[1].entry.sources.clear();
    memories[0].entry.owner = Owner::user(Name::parse("bob").expect("a name"));
    assert_eq!(found(&memories, &[]), []);
}

#[test]
fn a_superseded_memory_is_no_duplicate_and_is_stale_after_half_a_year() {
    let mut memories = [fact("a", "Ann lives in Lisbon"), fact("b", "Ann lives in Lisbon")];
    memories[1].entry.supersedes = vec![EntryId::new("a")];
    assert_eq!(found(&memories, &[]), one(Fault::Stale, "a"));
    memories[1].entry.time = Timestamp::from_millis(NOW - 179 * DAY_MS);
    assert_eq!(found(&memories, &[]), []);
}

#[test]
fn an_ended_memory_is_stale() {
    let mut memory = fact("a", "The shop is closed");
    memory.entry.valid_until = Some(Timestamp::from_millis(NOW - 1));
    assert_eq!(found(std::slice::from_ref(&memory), &[]), one(Fault::Stale, "a"));
    let mut mark = memory.clone();
    mark.entry.labels = vec![model::WRONG.to_owned()];
    let mut other = mark.clone();
    other.entry.id = EntryId::new("b");
    let marks = [mark, other];
    assert_eq!(
        found(&marks, &[]),
        [],
        "marks of what was taken back are no memories"
    );
    memory.entry.valid_until = Some(Timestamp::from_millis(NOW));
    assert_eq!(found(&[memory], &[]), []);
}

#[test]
fn recalled_text_and_secrets_are_found_in_every_field() {
    let marked = format!("{RECALLED}>x</quipu-memory>");
    assert_eq!(found(&[fact("a", &marked)], &[]), one(Fault::Loop, "a"));
    assert_eq!(found(&[episode("e", "m", &marked)], &[]), one(Fault::Loop, "e"));
    let told = [episode("e", "m", "The password=hunter22 of the shed")];
    let findings = judge(&told, &BTreeSet::new(), Timestamp::from_millis(NOW));
    assert_eq!(findings[0].fault, Fault::Secret);
    assert!(!findings[0].why.contains("hunter22"), "{}", findings[0].why);
    assert_eq!(found(&[fact("a", "It is [redacted:password]")], &[]), []);
}

#[test]
fn a_memory_without_a_source_message_is_unsupported() {
    let mut memory = fact("a", "Ann plays the theremin");
    memory.entry.sources = vec![MessageId::new("m1"), MessageId::new("m2")];
    let memories = [memory, episode("e", "m3", "Hello")];
    let elsewhere = sources_elsewhere(&memories);
    assert_eq!(elsewhere[&Scope::default()].len(), 2);
    assert_eq!(found(&memories, &[]), one(Fault::Unsupported, "a"));
    assert_eq!(found(&memories, &["m2"]), []);
    let told = [memories[0].clone(), episode("e", "m1", "Hello")];
    assert_eq!(found(&told, &[]), []);
}

/// The ledger may still have the message, as after an undo.
#[test]
fn a_memory_made_of_deleted_memories_is_unsupported() {
    let mut ahead = fact("fs", "Ann will tune the theremin");
    ahead.entry.kind = EntryKind::Foresight;
    ahead.entry.sources = vec![MessageId::new("m1")];
    let memories = [ahead];
    assert_eq!(found(&memories, &["m1"]), one(Fault::Unsupported, "fs"));
    let mut supporting = fact("a", "Ann plays the theremin");
    supporting.entry.sources = vec![MessageId::new("m1")];
    let memories = [memories[0].clone(), supporting];
    assert_eq!(found(&memories, &["m1"]), []);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Comparing by the rarest words alone finds the same pairs as comparing every pair.
    #[test]
    fn no_pair_is_missed(texts in prop::collection::vec("([a-e]{1,2} ){0,14}", 0..14)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let sets: Vec<BTreeSet<&str>> = texts.iter().map(|text| text.split_whitespace().collect()).collect();
        let mut expected = Vec::new();
        for newer in 0..sets.len() {
            let alike = |older: &usize| {
                let both = sets[newer].intersection(&sets[*older]).count();
                let all = sets[newer].union(&sets[*older]).count();
                all > 0 && both * 10 >= all * 9
            };
            expected.extend((0..newer).find(alike).map(|older| (newer, older)));
        }
        prop_assert_eq!(near::repeats(&texts), expected);
    }
}
