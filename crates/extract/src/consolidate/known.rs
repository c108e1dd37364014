//! The facts from which consolidation can learn.
//!
//! Owns: the rule that only people teach. Never: reading a store.

use model::{Doc, DocKind, EntryKind, MessageId, Name, Origin, Timestamp};

/// A fact as consolidation sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownFact<'a> {
    pub id: &'a str,
    pub text: &'a str,
    pub time: Timestamp,
    pub sources: &'a [MessageId],
    /// Nothing took its place, and it has no end, at the time of asking.
    pub is_current: bool,
}

/// Whether a memory of this origin comes from a person: said, written or imported.
pub fn is_taught(origin: Origin) -> bool {
    match origin {
        Origin::User | Origin::Import | Origin::Hand => true,
        Origin::Assistant | Origin::Tool | Origin::Web => false,
    }
}

/// The fact of a row, if it is a person's statement about themselves: from a person, and by `owner` if the row names a
/// speaker. `is_superseded`: another row supersedes it.
pub fn of_row<'a>(row: &'a Doc, owner: &Name, is_superseded: bool, now: Timestamp) -> Option<KnownFact<'a>> {
    let is_own = row.senders.is_empty() || row.senders.contains(owner);
    let is_learnt = row.kind == DocKind::Entry(EntryKind::Fact) && is_taught(row.origin) && is_own;
    is_learnt.then(|| KnownFact {
        id: &row.key.id,
        text: &row.text,
        time: row.time,
        sources: &row.sources,
        is_current: !is_superseded && row.valid_until.is_none_or(|until| now < until),
    })
}
