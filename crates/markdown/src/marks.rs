//! The comment that a rendered page hides: an entry's id, its time and its metadata.
//!
//! Owns: the words of the comment, and the defaults for missing words. Never: the visible text.
//!
//! The first two words are the id and the time. Each other word is `key=value`, or a key alone if
//! the entry has no value where the default is one.

use std::collections::BTreeSet;

use model::{Entry, EntryId, EntryKind, MessageId, Origin, OwnerKind, Parent, ParentKind, SenderId, Zone};

use crate::escape::value_without;
use crate::keys::Key;
use crate::render::time;

/// The author of an entry without one in its comment. This default must never change, because files
/// rely on it.
const AUTHOR: &str = "rules/1";

/// A word of a comment, with escapes for characters that would end the word or the comment.
pub(crate) fn word(text: &str) -> String {
    value_without(text, |c| matches!(c, ' ' | '\t' | '<' | '>'))
}

/// The items with commas between; none without items.
fn list<'a>(items: impl Iterator<Item = &'a str>) -> Option<String> {
    let items: Vec<String> = items
        .map(|item| value_without(item, |c| matches!(c, ' ' | '\t' | '<' | '>' | ',')))
        .collect();
    (!items.is_empty()).then(|| items.join(","))
}

/// An entry's comment.
pub(crate) fn comment(entry: &Entry, zone: &Zone) -> String {
    let mut words = vec![word(entry.id.as_str()), time(entry.time, zone)];
    let mut push = |key: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("{key}={value}")));
    };
    push(
        "session",
        entry.session.as_ref().map(|session| word(session.as_str())),
    );
    push("valid_from", entry.valid_from.map(|at| time(at, zone)));
    push("valid_until", entry.valid_until.map(|at| time(at, zone)));
    push("supersedes", list(entry.supersedes.iter().map(EntryId::as_str)));
    push(
        "superseded_by",
        entry.superseded_by.as_ref().map(|id| word(id.as_str())),
    );
    push(
        "origin",
        (entry.origin != Origin::User).then(|| entry.origin.as_str().to_owned()),
    );
    push("labels", list(entry.labels.iter().map(String::as_str)));
    push(
        "confidence",
        entry.confidence_percent.map(|percent| percent.to_string()),
    );
    let usual = Usual::of(entry);
    let mut push_unusual = |key: &str, is_usual: bool, value: Option<String>| match value {
        _ if is_usual => {}
        Some(value) => words.push(format!("{key}={value}")),
        None => words.push(key.to_owned()),
    };
    let (author, parent) = (entry.author.as_deref(), entry.parent.as_ref());
    push_unusual("author", author == Some(AUTHOR), author.map(word));
    let told = parent.map(|parent| format!("{}:{}", parent.kind.as_str(), word(&parent.id)));
    push_unusual("parent", entry.parent == usual.parent, told);
    let sources = list(entry.sources.iter().map(MessageId::as_str));
    push_unusual("sources", entry.sources == usual.sources, sources);
    let senders = list(entry.senders.iter().map(SenderId::as_str));
    push_unusual("senders", entry.senders == usual.senders, senders);
    words.join(" ")
}

/// The words after the id as keys, and the keys without a value.
pub(crate) fn read(marks: &str, line: usize) -> (Vec<Key<'_>>, BTreeSet<&str>) {
    let (mut keys, mut bare) = (Vec::new(), BTreeSet::new());
    for (n, word) in marks.split(' ').filter(|word| !word.is_empty()).enumerate() {
        match word.split_once('=') {
            _ if n == 0 => keys.push(Key {
                line,
                name: "time",
                value: word,
            }),
            Some((name, value)) => keys.push(Key { line, name, value }),
            None => {
                bare.insert(word);
            }
        }
    }
    (keys, bare)
}

/// Completes an entry, parsed from its text, with the defaults for words that its comment lacks.
pub(crate) fn complete(entry: &mut Entry, says: impl Fn(&str) -> bool) {
    let usual = Usual::of(entry);
    if !says("author") {
        entry.author = Some(AUTHOR.to_owned());
    }
    if !says("parent") {
        entry.parent = usual.parent;
    }
    if !says("sources") {
        entry.sources = usual.sources;
    }
    if !says("senders") {
        entry.senders = usual.senders;
    }
    if !says("origin") {
        entry.origin = Origin::User;
    }
}

/// Defaults that follow from an entry's id, its owner and its messages.
struct Usual {
    parent: Option<Parent>,
    sources: Vec<MessageId>,
    senders: Vec<SenderId>,
}

impl Usual {
    fn of(entry: &Entry) -> Self {
        let senders: BTreeSet<&SenderId> = match entry.owner.kind {
            OwnerKind::User if entry.turns.is_empty() => [&entry.owner.id].into(),
            _ => entry.turns.iter().map(|turn| &turn.sender).collect(),
        };
        Self {
            parent: parent(entry),
            sources: entry.turns.iter().map(|turn| turn.id.clone()).collect(),
            senders: senders.into_iter().cloned().collect(),
        }
    }
}

/// The parent in an entry's id: an episode's id contains its segment's, a fact's contains its
/// episode's and a number.
fn parent(entry: &Entry) -> Option<Parent> {
    let own = entry
        .id
        .as_str()
        .strip_prefix(entry.kind.prefix())?
        .strip_prefix('_')?;
    match entry.kind {
        EntryKind::Episode => Some(Parent::new(ParentKind::Memcell, format!("mc_{own}"))),
        EntryKind::Fact => {
            let (episode, _) = own.rsplit_once('_')?;
            Some(Parent::new(ParentKind::Episode, format!("ep_{episode}")))
        }
        _ => None,
    }
}
