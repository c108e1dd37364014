//! What a fact is the current value of, and which older facts it takes the place of.
//!
//! Owns: slots, supersession, and when two facts say the same. Never: storing any of it; everything is read from the
//! facts' texts, so an edited or imported fact is treated like one of our own.
//!
//! Two things take an older fact's place: another value of the same slot ("lives in Lisbon" after "lives in Berlin"),
//! and a statement that the old value is over ("no longer works at Acme", "switched from Vim to Helix").
//!
//! Reading order: `pattern` (a small language for phrases), `rules` (what fills a slot; `possessive` and `dated` are
//! two of its kinds), `ending` (what is over). The phrases themselves are data: `phrases.txt`, `endings.txt`.

mod dated;
mod ending;
mod pattern;
mod possessive;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use model::{EntryId, Timestamp};
use recall::text::terms;

use crate::Fact;
use crate::facts::lexicon::ADVERBS;
use crate::words::words;
use rules::Reading;

/// An attribute that has one current value, and that value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Whose attribute, in lower case: `alice`, `alice's sister`.
    pub subject: String,
    /// Which, as in `residence` or `favourite food`.
    pub attribute: String,
    /// The value's words, in lower case.
    pub value: String,
}

/// How much earlier than an older statement an event may have begun and still be news: "last month" is wide.
const EVENT_SLACK_MILLIS: i64 = 62 * 86_400_000;
/// How many traces of two facts that say the same may differ: an adverb more, a word of another ending.
const TRACES_DIFFER_MAX: u32 = 3;
/// The share of two facts' words that must be common for them to say the same.
const SAME_SHARE: (usize, usize) = (9, 10);

/// The slot that a fact's text fills, if it fills one.
pub fn slot(text: &str) -> Option<Slot> {
    rules::read(text).map(|reading| reading.slot)
}

/// The older facts of the same owner that a new fact takes the place of; each comes with its text and the time when
/// it was said. Only facts said earlier are taken, and an event that lies well before them takes none.
pub fn supersedes(new: &Fact, older: &[(&EntryId, &str, Timestamp)]) -> Vec<EntryId> {
    let reading = rules::read(&new.text);
    let gone = ending::gone(&new.text);
    if reading.is_none() && gone.is_none() {
        return Vec::new();
    }
    let same_slot = |new: &Reading, text: &str| {
        may_be_of(text, &new.slot.subject) && rules::read(text).is_some_and(|old| replaces(new, &old))
    };
    let is_over = |text: &str| {
        reading.as_ref().is_some_and(|new| same_slot(new, text))
            || gone.as_ref().is_some_and(|gone| gone.ends(text))
    };
    let stale = |said: Timestamp| {
        let since = new.valid_from.unwrap_or(new.said_at);
        let event = reading.as_ref().is_none_or(|reading| reading.event);
        event && since.plus_millis(EVENT_SLACK_MILLIS) < said
    };
    let earlier = older
        .iter()
        .filter(|(_, _, said)| *said < new.said_at && !stale(*said));
    earlier
        .filter(|(_, text, _)| is_over(text))
        .map(|(id, _, _)| (*id).clone())
        .collect()
}

/// Whether a text begins with a subject's name, as far as that can be told without reading it.
fn may_be_of(text: &str, subject: &str) -> bool {
    let name = subject.split(' ').next().unwrap_or("");
    let name = name.strip_suffix("'s").unwrap_or(name);
    let start = text.get(..name.len());
    subject == dated::EVENT || !text.is_ascii() || start.is_some_and(|start| start.eq_ignore_ascii_case(name))
}

fn replaces(new: &Reading, old: &Reading) -> bool {
    new.slot.subject == old.slot.subject
        && new.slot.attribute == old.slot.attribute
        && !is_same_value(&new.slot.value, &old.slot.value)
}

/// Whether one value only says more of the other: "Lisbon" and "Lisbon, Portugal".
fn is_same_value(a: &str, b: &str) -> bool {
    let (a, b) = (word_set(a), word_set(b));
    a.is_subset(&b) || b.is_subset(&a)
}

fn word_set(text: &str) -> BTreeSet<String> {
    let said = words(text);
    let telling = said.iter().filter(|word| !ADVERBS.contains(&word.text));
    let set: BTreeSet<String> = telling
        .flat_map(|word| terms(&text[word.range.clone()]))
        .collect();
    if set.is_empty() {
        BTreeSet::from([text.to_lowercase()])
    } else {
        set
    }
}

/// Whether two facts say the same in nearly the same words; every number and every negation must agree.
pub fn is_duplicate(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    if (traces(a) ^ traces(b)).count_ones() > TRACES_DIFFER_MAX {
        return false;
    }
    let (left, right) = (word_set(a), word_set(b));
    let hard = |set: &BTreeSet<String>| -> BTreeSet<String> {
        set.iter()
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .cloned()
            .collect()
    };
    if hard(&left) != hard(&right) || is_negated(a) != is_negated(b) {
        return false;
    }
    let common = left.intersection(&right).count();
    common * SAME_SHARE.1 >= left.union(&right).count() * SAME_SHARE.0
}

/// One bit for each longer word's beginning: tells most different facts apart without reading them.
fn traces(text: &str) -> u64 {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 3);
    let bit = |word: &str| {
        let start = word
            .bytes()
            .take(3)
            .map(|byte| u64::from(byte.to_ascii_lowercase()));
        start.fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(byte)) % 64
    };
    words.fold(0, |traces, word| traces | 1 << bit(word))
}

fn is_negated(text: &str) -> bool {
    words(text).iter().any(|word| {
        word.text.ends_with("n't")
            || matches!(
                word.text.as_str(),
                "not" | "no" | "never" | "without" | "stopped" | "quit"
            )
    })
}
