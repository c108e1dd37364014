//! A number that changes when any field of an entry changes.
//!
//! Owns: the order of the fields, and that each has its length before it. Never: protection against
//! a forger. The number is stored, so a change here makes every file look edited once.

use std::borrow::Cow;

use model::text::Fnv;
use model::{Content, Entry, Message, OwnerKind, Scope, Timestamp};

/// The digest of an entry, the same in every process and zone, and the same before writing and
/// after reading.
pub fn digest(entry: &Entry) -> u64 {
    let mut hash = Fields::default();
    hash.text(entry.id.as_str());
    hash.text(entry.kind.as_str());
    hash.scope(&entry.scope);
    hash.number(match entry.owner.kind {
        OwnerKind::User => 0,
        OwnerKind::Agent => 1,
        OwnerKind::Library => 2,
    });
    hash.text(entry.owner.id.as_str());
    hash.maybe(entry.session.as_ref().map(model::SessionId::as_str));
    hash.time(Some(entry.time));
    hash.time(entry.valid_from);
    hash.time(entry.valid_until);
    hash.list(entry.supersedes.iter().map(model::EntryId::as_str));
    hash.text(entry.origin.as_str());
    hash.maybe(entry.author.as_deref());
    hash.maybe(entry.parent.as_ref().map(|parent| parent.kind.as_str()));
    hash.maybe(entry.parent.as_ref().map(|parent| parent.id.as_str()));
    hash.list(entry.sources.iter().map(model::MessageId::as_str));
    hash.list(entry.senders.iter().map(model::SenderId::as_str));
    // Fields that earlier versions lacked do not change an earlier digest while they are empty.
    if !entry.labels.is_empty() || entry.confidence_percent.is_some() {
        hash.list(entry.labels.iter().map(String::as_str));
        hash.number(entry.confidence_percent.map_or(u64::MAX, u64::from));
    }
    hash.text(&entry.subject);
    hash.text(&entry.summary);
    hash.text(&entry.body);
    hash.number(entry.turns.len() as u64);
    for turn in &entry.turns {
        hash.turn(turn);
    }
    if let Some(id) = &entry.superseded_by {
        hash.text(id.as_str());
    }
    hash.0.value()
}

/// The text of a message's content in a file.
pub(crate) fn text_of(message: &Message) -> Cow<'_, str> {
    match &*message.content {
        Content::Text(text) => text.into(),
        Content::Parts(_) => message.text().into(),
    }
}

/// The fields of an entry, hashed one after the other.
#[derive(Default)]
struct Fields(Fnv);

impl Fields {
    fn number(&mut self, number: u64) {
        self.0.number(number);
    }

    fn text(&mut self, text: &str) {
        self.0.text(text);
    }

    fn maybe(&mut self, text: Option<&str>) {
        self.number(u64::from(text.is_some()));
        self.text(text.unwrap_or_default());
    }

    fn time(&mut self, at: Option<Timestamp>) {
        self.number(u64::from(at.is_some()));
        self.0.bytes(&at.unwrap_or_default().millis().to_le_bytes());
    }

    fn list<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a str>) {
        self.number(texts.len() as u64);
        texts.for_each(|text| self.text(text));
    }

    fn scope(&mut self, scope: &Scope) {
        self.text(scope.app.as_str());
        self.text(scope.project.as_str());
    }

    fn turn(&mut self, turn: &Message) {
        self.text(turn.id.as_str());
        self.scope(&turn.session.scope);
        self.text(turn.session.session.as_str());
        self.text(turn.sender.as_str());
        self.maybe(turn.sender_name.as_deref());
        self.text(turn.role.as_str());
        self.time(Some(turn.time));
        self.text(&text_of(turn));
        self.number(turn.tool_calls.len() as u64);
        for call in &turn.tool_calls {
            self.text(&call.id);
            self.text(&call.name);
            self.text(&call.arguments);
        }
        self.maybe(turn.tool_call_id.as_deref());
    }
}
