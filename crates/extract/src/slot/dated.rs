//! "The launch has been moved to Friday": when a named thing is.
//!
//! Owns: slots whose value is a date. Never: turning it into an instant (`recall::time`).
//!
//! The slot belongs to the thing, without its owner: "my wedding" and "the wedding" are often the same, and facts are
//! only compared within one owner's memories.

use super::rules::{Reading, SUBJECT_WORDS_MAX, is_calendar, is_number, joined};
use crate::words::{Word, WordList, word_list};

static CHANGES: WordList =
    word_list!("rescheduled postponed pushed scheduled delayed set booked moved due brought");
static MOVES: WordList = word_list!("rescheduled postponed pushed delayed moved brought renamed");
static BE: WordList = word_list!("is was has got starts begins moved leaves departs");

/// Whether a word means that a date was set or moved.
pub(super) fn is_change(word: &Word) -> bool {
    CHANGES.contains(&word.text)
}

/// The subject of every date: whose thing it is does not matter.
pub(super) const EVENT: &str = "event";
const DATE_WORDS_MAX: usize = 4;

/// Reads "the thing is on date", "Alice moved the thing to date" and "Alice renamed the thing to name".
pub(super) fn read(words: &[Word]) -> Option<Reading> {
    if words.first()?.text == "the" {
        let be = (2..words.len().min(6)).find(|at| BE.contains(&words[*at].text))?;
        return of_thing(&words[be + 1..], &joined(&words[1..be]));
    }
    let moves = |at: &usize| MOVES.contains(&words[*at].text);
    let change = (1..words.len().min(SUBJECT_WORDS_MAX)).find(moves)?;
    // Of "the" or "their" thing there is one; "a" trip that was booked is one of many.
    let article = words.get(change + 1)?;
    let from = change + 2;
    if !matches!(article.text.as_str(), "the" | "their") {
        return None;
    }
    let is_to = |at: &usize| matches!(words[*at].text.as_str(), "to" | "for" | "on" | "until" | "from");
    let to = (from + 1..words.len().min(from + 5)).find(is_to)?;
    let thing = joined(&words[from..to]);
    if words[change].text == "renamed" {
        let subject = format!("{}'s {thing}", joined(&words[..change]));
        let value = joined(words.get(to + 1..)?);
        return Some(Reading {
            event: true,
            ..Reading::new(subject, "name", value)
        });
    }
    of_thing(&words[to..], &thing)
}

/// The time of day of "the thing".
pub(super) fn clock_of(words: &[Word]) -> Option<Reading> {
    let be = (2..words.len().min(6)).find(|at| BE.contains(&words[*at].text))?;
    (words[0].text == "the").then(|| clock(&words[be..], &joined(&words[1..be])))?
}

/// "Is at 10", "leaves at 9 am", "has been pushed to 11": the time of day of a thing, from the verb on.
pub(super) fn clock(words: &[Word], thing: &str) -> Option<Reading> {
    let is_at = |at: &usize| matches!(words[at - 1].text.as_str(), "at" | "to" | "until" | "for" | "by");
    let at = (2..words.len()).rev().filter(is_at).find(|at| {
        let word = &words[*at].text;
        let hour = word
            .split(':')
            .next()
            .and_then(|hour| hour.trim_end_matches(['a', 'p', 'm']).parse::<u8>().ok());
        let half = words
            .get(at + 1)
            .is_some_and(|next| matches!(next.text.as_str(), "am" | "pm" | "a.m" | "p.m"));
        let alone = words
            .get(at + 1)
            .is_none_or(|next| next.breaks || !is_calendar(next) && !next.text.ends_with('s'));
        hour.is_some_and(|hour| hour < 24) && (half || word.contains(':') || word.ends_with('m') || alone)
    })?;
    let changed = words.iter().take(at).any(is_change);
    let told = words[at - 1].text == "at" || changed;
    let near = at <= 5;
    let end = at
        + 1
        + usize::from(
            words
                .get(at + 1)
                .is_some_and(|next| next.text.starts_with(['a', 'p']) && next.text.len() <= 4),
        );
    (told && near && !thing.is_empty()).then(|| {
        let value = joined(&words[at..end.min(words.len())]);
        Reading::new(EVENT.to_owned(), format!("time of {thing}"), value)
    })
}

/// The date in the words after the verb: of several the last, as in "from Monday to Friday".
pub(super) fn of_thing(words: &[Word], thing: &str) -> Option<Reading> {
    let last_to = words
        .iter()
        .rposition(|word| matches!(word.text.as_str(), "to" | "until" | "till"));
    let start = last_to.unwrap_or(0);
    let first = start
        + words[start..]
            .iter()
            .position(|word| is_number(word) || is_calendar(word))?;
    let end = (first + 1..words.len().min(first + DATE_WORDS_MAX)).find(|at| words[*at].breaks);
    let value = &words[first..end.unwrap_or(words.len().min(first + DATE_WORDS_MAX))];
    if thing.is_empty() || !value.iter().any(is_calendar) {
        return None;
    }
    let attribute = format!("date of {thing}");
    Some(Reading::new(EVENT.to_owned(), attribute, joined(value)))
}
