//! Time expressions in a text ("yesterday", "last May", "two weeks before Christmas") as spans of
//! time.
//!
//! Owns: the meaning of an English expression at a certain time in a certain zone. Never: a clock,
//! or a guess: an ambiguous word ("may", "march", "fall", "second") counts only in a context that
//! decides it.
//!
//! Spans are whole days of the speaker's zone. Vague ones are as wide as people mean them: "two
//! weeks ago" is the seven days around that day, "a month ago" the thirty, "a year ago" the
//! calendar year. Seasons are northern. A date without a year is the next one if the sentence is
//! about the future ("I start on", "the wedding is on", "due"), the latest one if it is about the
//! past, else the nearest. A question to a memory ("photos from May") means the past unless it says
//! otherwise.
//!
//! Reading order: `calendar` (days), `words` (cutting), `tense` (ahead or behind), `grammar`
//! (meaning).

mod calendar;
mod grammar;
mod tense;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use model::{Timestamp, Zone};

pub use tense::Tense;
pub use words::NUMBERS;

/// A span of time: `from` included, `to` not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Span {
    /// Whether it contains an instant.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}

/// A time expression of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    /// Its place in bytes. Prepositions that only introduce ("in", "on") are not part of it; those
    /// with a meaning ("since") are.
    pub range: Range<usize>,
    pub span: Span,
    /// Tense of the sentence, past or future, if it shows one.
    pub tense: Option<Tense>,
}

/// The span of a question: of several expressions the narrowest, of equals the first.
pub(crate) fn narrowest(found: &[Expression]) -> Option<Span> {
    let spans = found.iter().map(|expression| expression.span);
    spans.min_by_key(|span| span.to.millis().saturating_sub(span.from.millis()))
}

/// Every expression of a text written at that time, in order; they do not overlap.
pub fn expressions(text: &str, said_at: Timestamp, zone: &Zone) -> Vec<Expression> {
    read(text, said_at, zone, false)
}

/// As [`expressions`], for a question to a memory.
pub fn asked(text: &str, asked_at: Timestamp, zone: &Zone) -> Vec<Expression> {
    read(text, asked_at, zone, true)
}

fn read(text: &str, at: Timestamp, zone: &Zone, asked: bool) -> Vec<Expression> {
    let found = grammar::find(text, zone.date(at), asked).into_iter();
    let found = found.map(|found| Expression {
        range: found.range,
        span: Span {
            from: zone.start_of(found.days.from),
            to: zone.start_of(found.days.to),
        },
        tense: found.tense,
    });
    found
        .filter(|expression| expression.span.from < expression.span.to)
        .collect()
}
