//! "Alice browses with Firefox now": habits with one value at a time, in a new statement.
//!
//! Owns: frames of a verb with its preposition that has only one value, if a word marks it as present or as complete;
//! and amounts of repeated actions. Never: attributes with one value in any wording (`rules`).

use super::pattern::value_end;
use super::rules::{Reading, is_calendar, is_number, joined, value_of};
use crate::facts::lexicon::{Form, TIME_UNITS, verb};
use crate::words::{Word, WordList, word_list};

/// Verbs whose object is one of many, and those that tell of single occasions.
static LOOSE: WordList = word_list!(
    "have own like love hate enjoy prefer go come travel fly visit talk speak see hear find give make take do \
     start begin stop finish plan want need help think know believe move return arrive celebrate"
);

/// Verbs with one object at a time.
static SINGLE: WordList = word_list!("support teach study follow manage run wear ride coach date");

/// Verbs of making and keeping: all that is one's own is made or kept in one place.
static MAKING: WordList =
    word_list!("draw write keep edit record store track manage host deploy design build");

static PREPOSITIONS: WordList = word_list!("in at on with by from off under every");

/// How far behind the verb its preposition stands.
const OBJECT_WORDS_MAX: usize = 4;

/// Reads what is done, how, and with what.
pub(super) fn read(words: &[Word], start: usize) -> Option<Reading> {
    let (base, form) = verb(&words.get(start)?.text)?;
    if !matches!(form, Form::Third | Form::Base) || base == "be" {
        return None;
    }
    if let Some(amount) = amount(words, start, base) {
        return Some(amount);
    }
    let rest = start + 1;
    let is_joint = |at: &usize| PREPOSITIONS.contains(&words[*at].text);
    let until = words.len().min(rest + OBJECT_WORDS_MAX);
    let clear = |at: &usize| !words[*at].breaks || *at == rest;
    let joint = (rest..until).take_while(clear).find(is_joint);
    let (frame, value) = match joint {
        // "Goes with" may be anything; "goes bouldering on" is one habit.
        Some(at) if at == rest && LOOSE.contains(base) => return None,
        Some(at) => (joined(&words[rest..=at]), at + 1),
        None if SINGLE.contains(base) => (String::new(), rest),
        None => return None,
    };
    let value = &words[value..value_end(words, value)];
    let kind = kind(value.first()?);
    let attribute = format!("{base} {} {kind}", without_articles(&frame));
    let made_in = MAKING.contains(base) && frame.starts_with("their ") && kind == "name";
    Some(Reading {
        only_news: !made_in,
        ..Reading::new(joined(&words[..start]), attribute, value_of(value))
    })
}

/// "Alice runs 5 km every morning": how much of it in each such time, which is one amount.
fn amount(words: &[Word], start: usize, base: &str) -> Option<Reading> {
    let each = |at: &usize| matches!(words[*at].text.as_str(), "a" | "per" | "every" | "each");
    let until = words.len().min(start + 2 + OBJECT_WORDS_MAX);
    let clear = |at: &usize| !words[*at].breaks;
    let each = (start + 3..until).take_while(clear).find(each)?;
    let end = (each + 1..words.len())
        .find(|at| words[*at].breaks)
        .unwrap_or(words.len());
    let is_time = words
        .get(each + 1)
        .is_some_and(|word| TIME_UNITS.contains(&word.text));
    if !is_time || !is_number(&words[each - 2]) {
        return None;
    }
    let what = joined(&words[start + 1..each - 2]);
    let (unit, time) = (&words[each - 1].text, joined(&words[each + 1..end]));
    let attribute = format!("{base} {what} {unit} each {time}");
    let amount = words[each - 2].text.clone();
    Some(Reading::new(joined(&words[..start]), attribute, amount))
}

/// Kind of a value: "works in sales" and "works in Berlin" do not exclude each other.
fn kind(word: &Word) -> &'static str {
    if is_calendar(word) || word.capital && word.text.ends_with("days") {
        "when"
    } else if is_number(word) {
        "number"
    } else if word.capital {
        "name"
    } else {
        "thing"
    }
}

fn without_articles(frame: &str) -> String {
    let telling = frame
        .split(' ')
        .filter(|word| !matches!(*word, "a" | "an" | "the" | "their" | "all" | "most"));
    telling.collect::<Vec<_>>().join(" ")
}
