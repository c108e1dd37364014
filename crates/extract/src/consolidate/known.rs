//! The facts from which consolidation can learn.
//!
//! Owns: the rule that only people teach. Never: reading a store.

use model::{Doc, DocKind, EntryKind, MessageId, Name, Origin, Timestamp, Zone};
use recall::time::{Tense, expressions};

/// A fact as consolidation sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownFact<'a> {
    pub id: &'a str,
    pub text: &'a str,
    pub time: Timestamp,
    pub sources: &'a [MessageId],
    /// Nothing took its place, it has no end, and what it says was to come has not passed, at the time of asking.
    pub is_current: bool,
}

/// Whether a memory of this origin comes from a person: said, written or imported.
pub(crate) fn is_taught(origin: Origin) -> bool {
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
        is_current: !is_superseded
            && row.valid_until.is_none_or(|until| now < until)
            && !has_passed(&row.text, row.time, now),
    })
}

/// Whether all that a statement says is to come was a day ago, wherever its day ended.
fn has_passed(text: &str, said_at: Timestamp, now: Timestamp) -> bool {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let dates = expressions(text, said_at, &Zone::utc());
    let to_come = |date: &recall::time::Expression| date.tense == Some(Tense::Future);
    dates.iter().any(to_come) && dates.iter().all(|date| date.span.to.plus_millis(DAY_MS) < now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_to_come_passes_and_what_happened_stays() {
        let zone = Zone::utc();
        let [said_at, now, later] = [
            "2026-04-22T10:00:00Z",
            "2026-04-27T10:00:00Z",
            "2026-11-26T10:00:00Z",
        ]
        .map(|time| zone.parse(time).expect("a time"));
        for text in [
            "I have an interview in Bristol on Tuesday (28 April 2026) at 10.",
            "My sister is getting married on 19 September 2026 in Lagos.",
        ] {
            assert!(!has_passed(text, said_at, now), "{text}");
            assert!(has_passed(text, said_at, later), "{text}");
        }
        for text in [
            "I moved to Bristol yesterday (21 April 2026).",
            "I have been vegan since March 2026.",
            "My sister is getting married on 19 September 2027.",
            "I live in Hull.",
        ] {
            assert!(!has_passed(text, said_at, later), "{text}");
        }
    }
}
