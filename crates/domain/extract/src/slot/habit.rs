//! "Alice browses with Firefox now": what somebody does in one way at a time, told as new.
//!
//! Owns: frames of a verb with its preposition that only one thing fills, where a word says that it is so now. Never:
//! attributes that have one value whatever is said (`rules`).

use super::Slot;
use super::pattern::value_end;
use super::rules::{Reading, is_calendar, is_number, joined, value_of};
use crate::facts::lexicon::{Form, verb};
use crate::words::{Word, WordList, word_list};

/// Verbs whose object is one of many, and those that tell of single occasions.
static LOOSE: WordList = word_list!(
    "have own like love hate enjoy prefer go come travel fly visit talk speak see hear find give make take do \
     start begin stop finish plan want need help think know believe move return arrive celebrate"
);

/// Verbs with one object at a time.
static SINGLE: WordList = word_list!("support teach study follow manage run wear ride coach date");

static PREPOSITIONS: WordList = word_list!("in at on with by from off under every");

/// How far behind the verb its preposition stands.
const OBJECT_WORDS_MAX: usize = 4;

/// Reads what is done, how, and with what.
pub(super) fn read(words: &[Word], start: usize) -> Option<Reading> {
    let (base, form) = verb(&words.get(start)?.text)?;
    if !matches!(form, Form::Third | Form::Base) || base == "be" {
        return None;
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
    let slot = Slot {
        subject: joined(&words[..start]),
        attribute: format!("{base} {} {kind}", without_articles(&frame)),
        value: value_of(value),
    };
    Some(Reading {
        slot,
        event: false,
        only_news: true,
    })
}

/// What sort of thing a value is: "works in sales" and "works in Berlin" do not exclude each other.
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
