//! Time expressions in a text ("yesterday", "last May", "two weeks before Christmas") as spans of time.
//!
//! Owns: what an English expression means when it is said at a certain time in a certain zone. Never: a clock, or a
//! guess: a word that need not be a time ("may", "march", "fall", "second") counts only in a context that says so.
//!
//! Spans are whole days of the speaker's zone. Vague ones are as wide as people mean them: "two weeks ago" is the
//! seven days around that day, "a month ago" the thirty, "a year ago" the calendar year. Seasons are northern.
//! A date without a year is the latest that has begun, or the next one in a clause about the future ("will", "plan").
//!
//! Reading order: `calendar` (days), `words` (cutting), `grammar` (meaning).

mod calendar;
mod grammar;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use model::{Timestamp, Zone};

/// A stretch of time: `from` included, `to` not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Span {
    /// Whether an instant lies in it.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}

/// The span that a question is about: of several expressions the narrowest, of equals the first.
pub fn resolve(text: &str, asked_at: Timestamp, zone: &Zone) -> Option<Span> {
    let found = expressions(text, asked_at, zone)
        .into_iter()
        .map(|(_, span)| span);
    found.min_by_key(|span| span.to.millis().saturating_sub(span.from.millis()))
}

/// Every expression of a text said at that time, in order, each with its place in bytes; they do not overlap.
/// Prepositions that only introduce ("in", "on") are not part of the place; those that mean something ("since") are.
pub fn expressions(text: &str, said_at: Timestamp, zone: &Zone) -> Vec<(Range<usize>, Span)> {
    let found = grammar::find(text, zone.date(said_at)).into_iter();
    found
        .map(|(range, days)| {
            let (from, to) = (zone.start_of(days.from), zone.start_of(days.to));
            (range, Span { from, to })
        })
        .filter(|(_, span)| span.from < span.to)
        .collect()
}
