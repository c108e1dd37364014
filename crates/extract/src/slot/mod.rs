//! Slots: the attribute whose value a fact states, and the older facts that it supersedes.
//!
//! Owns: slots, supersession, and when two facts are equal. Never: storing any of it; everything is read from the
//! facts' texts, so an edited or imported fact is treated like one of our own.
//!
//! Two things take an older fact's place: another value of the same slot ("lives in Lisbon" after "lives in Berlin"),
//! and a statement that the old value is over ("no longer works at Acme", "switched from Vim to Helix").
//!
//! Reading order: `pattern` (a small language for phrases), `rules` (phrases that fill a slot; `possessive`, `dated`
//! and `habit` are kinds of it), `ending` (ended facts), `wording` (repeated facts), `known` (all facts of an owner).
//! The phrases themselves are data: `phrases.txt`, `endings.txt`.

mod dated;
mod ending;
mod habit;
mod known;
mod pattern;
mod possessive;
mod rules;
#[cfg(test)]
mod tests;
mod wording;

use model::Timestamp;

pub(crate) use pattern::Pattern;
pub(crate) use rules::{is_number, plain_words};

pub use known::{Counts, KnownFacts, Statement, Supersession};
use rules::Reading;
use wording::word_set;

use crate::facts::of_somebody;

/// An attribute that has one current value, and that value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Owner of the attribute, in lower case: `alice`, `alice's sister`.
    pub subject: String,
    /// Which, as in `residence` or `favourite food`.
    pub attribute: String,
    /// The value's words, in lower case.
    pub value: String,
}

/// How much earlier than an older statement an event may have begun and still be news: "last month" is wide.
const EVENT_SLACK_MILLIS: i64 = 62 * 86_400_000;

/// The slot that a fact's text fills, if it fills one; the first where it fills several.
pub fn slot(text: &str) -> Option<Slot> {
    let readings = rules::read(&of_somebody(text))
        .into_iter()
        .filter(|reading| !reading.only_news);
    readings.map(|reading| reading.slot).next()
}

/// Whether a text about a subject states its present value, or an end.
pub(crate) fn is_read(subject: &str, text: &str) -> bool {
    let text = &*of_somebody(text);
    let subject = of_somebody(subject).to_lowercase();
    let is_own = |reading: &Reading| {
        let of = &reading.slot.subject;
        of == dated::EVENT
            || !subject.is_empty() && (subject.starts_with(of) || of.starts_with(&format!("{subject}'s")))
    };
    let readings = rules::read(text);
    let mut own = readings.iter().filter(|reading| is_own(reading));
    own.any(|reading| !reading.only_news && !reading.is_passing()) || ending::is_change(&subject, text)
}

/// Whether an event is so long before an older statement that it does not supersede it.
fn is_stale(is_event: bool, since: Timestamp, said: Timestamp) -> bool {
    is_event && since.plus_millis(EVENT_SLACK_MILLIS) < said
}

/// Whether a reading takes the place of an older one; `is_news`: its text says that it is so now.
fn replaces(new: &Reading, old: &Reading, is_news: bool) -> bool {
    (is_news || !new.only_news)
        && new.slot.subject == old.slot.subject
        && new.slot.attribute == old.slot.attribute
        && !is_same_value(&new.slot.value, &old.slot.value)
}

/// Whether one value only says more of the other: "Lisbon" and "Lisbon, Portugal".
fn is_same_value(a: &str, b: &str) -> bool {
    let (a, b) = (word_set(a), word_set(b));
    a.is_subset(&b) || b.is_subset(&a)
}

/// Whether two facts are the same in nearly the same words; every number and every negation must agree.
pub fn is_duplicate(a: &str, b: &str) -> bool {
    wording::says_same(a, b)
}
