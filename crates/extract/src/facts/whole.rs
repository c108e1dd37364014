//! Whether a fact still says what its sentence said: none with its object, its place or its date cut off, and none with a
//! piece of another sentence at its end.
//!
//! Owns: the signs of a cut or a glued statement. Never: mending it; a statement with such a sign is left out.

use model::{Timestamp, Zone};
use recall::time::expressions;

use super::lexicon::{ADVERBS, Form, verb};
use super::plain;
use super::statement::Statement;
use crate::dates::names_a_month;
use crate::visible::FIRST_PERSON;
use crate::words::{Word, WordList, word_list, words};

/// Words that need another one behind them.
static OPEN: WordList = word_list!(
    "the a an my our their your his some any every each this these and or but nor so because if than as like into onto without \
     by during until till toward towards between among beside except per very really quite is are was were be \
     been being has have had will can can't does do did and/or who which what whose not no themselves myself itself"
);

/// Verbs that need an object.
static TRANSITIVE: WordList = word_list!(
    "watch use make get have take find give buy bring keep put help build share try see hear love like hate enjoy prefer \
     adore dislike hold catch do discover receive attend visit join choose become include"
);

/// What one asks for with "me": "write me an essay".
static ASKED: WordList = word_list!(
    "help tell give show write make explain suggest recommend send find create let draft plan remind"
);

/// Words behind which a question begins: "what is", "how do".
static QUESTIONS: WordList = word_list!("what which how where when why");

/// Words behind which a clause with a subject of its own begins.
static JOINTS: WordList = word_list!(
    "while when where whenever because since as after before until that who which what how and but so"
);

/// Words that follow a subject and need no ending.
static AUXILIARIES: WordList = word_list!(
    "is isn't was wasn't has hasn't had hadn't does doesn't did didn't will won't can can't cannot never felt thought knew \
     kept sent stood sat used"
);

pub(super) fn is_whole(told: &Statement, name: &str, said_at: Timestamp, zone: &Zone) -> bool {
    let predicate = plain(&told.predicate);
    let words = words(&predicate);
    let Some(last) = words.last() else {
        return false;
    };
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    // "Has for ten months": what for?
    let participle = usize::from(text(1) == "been");
    let is_answer = matches!(text(0), "has" | "have" | "had")
        && matches!(text(1 + participle), "for" | "since" | "over" | "about");
    let needs_more = OPEN.contains(&last.text)
        || verb(&last.text).is_some_and(|(base, form)| {
            TRANSITIVE.contains(base) && matches!(form, Form::Base | Form::Third | Form::Ing)
        });
    // "Has been playing about three weeks ago".
    let is_over = [" ago", " yesterday", " last "]
        .iter()
        .any(|when| predicate.contains(when));
    let is_past = participle == 1 && is_over && !predicate.contains("since");
    // "Has been waking early lately": and before?
    let is_of_late = participle == 1
        && [" lately", " recently"]
            .iter()
            .any(|when| told.predicate.contains(when));
    let points = words.iter().any(|word| word.text == "similar");
    !is_answer
        && !needs_more
        && !is_past
        && !is_of_late
        && !points
        && !asks(&words, name)
        && !goes_on_unknown(&words, name)
        && !is_dated_twice(&predicate, said_at, zone)
}

/// Whether a request or a question follows without a full stop: "… which hotel should I book", "… please write me an essay".
fn asks(words: &[Word], name: &str) -> bool {
    let name = name.to_lowercase();
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    (1..words.len()).any(|at| {
        let is_me = |at: usize| text(at) == name || matches!(text(at), "me" | "us");
        match text(at) {
            "please" | "pls" | "plz" | "kindly" | "shall" => true,
            asked if ASKED.contains(asked) && is_me(at + 1) => {
                !matches!(text(at - 1), "to" | "who" | "that" | "will" | "can" | "and")
            }
            word if QUESTIONS.contains(word) => {
                matches!(text(at + 1), "is" | "are" | "do" | "does" | "can")
                    && word != "where"
                    && word != "when"
            }
            _ => false,
        }
    })
}

/// Whether the speaker is the subject of a verb that no rule could give its ending: "while Ann ponder".
fn goes_on_unknown(words: &[Word], name: &str) -> bool {
    if name == FIRST_PERSON {
        return false;
    }
    let name = name.to_lowercase();
    let is_bare = |at: usize| {
        let joined =
            matches!(words[at - 1].text.as_str(), "and" | "or" | "but") || words[at - 1].text == name;
        joined && matches!(words[at].text.as_str(), "have" | "haven't" | "am" | "don't")
    };
    (1..words.len()).any(|at| {
        let opens = words[at].text == name && JOINTS.contains(&words[at - 1].text);
        let acts = words[at + 1..].iter().find(|word| !ADVERBS.contains(&word.text));
        is_bare(at)
            || opens
                && acts.is_some_and(|word| {
                    let known = AUXILIARIES.contains(&word.text)
                        || word.text.ends_with("ed")
                        || matches!(verb(&word.text), Some((_, Form::Third | Form::Past)));
                    // "When Ann's" and "where Ann ponders".
                    !known && !word.text.ends_with('s')
                })
    })
}

/// Whether one thing has two dates ("today, on June 9th"), or one that goes on in a bare number ("May 1st and 2nd").
fn is_dated_twice(text: &str, said_at: Timestamp, zone: &Zone) -> bool {
    let found = expressions(text, said_at, zone);
    let goes_on = |end: usize| {
        let rest = text[end..].trim_start();
        let rest = ["and ", "to ", "or ", "& ", "-", "–"]
            .iter()
            .find_map(|joint| rest.strip_prefix(joint));
        rest.is_some_and(|rest| {
            let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_ordinal = ["st", "nd", "rd", "th"].iter().any(|end| number.starts_with(end));
            number.len() < rest.len() && (is_ordinal || number.is_empty())
        })
    };
    let is_within = |one: usize, other: usize| {
        let (one, other) = (found[one].span, found[other].span);
        other.from <= one.from && one.to <= other.to
    };
    let is_of_one = |at: usize| {
        let between = &text[found[at - 1].range.end..found[at].range.start];
        let is_stretch = matches!(between.trim(), "to" | "until" | "till" | "through");
        let acts = words(between)
            .iter()
            .any(|word| verb(&word.text).is_some() || matches!(word.text.as_str(), "is" | "was"));
        !is_stretch && !acts && !is_within(at - 1, at) && !is_within(at, at - 1)
    };
    // "On Tuesday and Friday evenings" is every week.
    let is_day = |at: usize| {
        let said = &text[found[at].range.clone()];
        names_a_month(said)
            || said
                .split(' ')
                .any(|word| RELATIVE.contains(&word.to_lowercase()))
    };
    found
        .iter()
        .any(|date| names_a_month(&text[date.range.clone()]) && goes_on(date.range.end))
        || (1..found.len()).any(|at| is_day(at - 1) && is_day(at) && is_of_one(at))
}

/// Words of an expression that says which day it means.
static RELATIVE: WordList = word_list!("today yesterday tomorrow tonight last next this ago coming");
