//! Predicates that are worth knowing a month later: home, work, family, health, tastes, events of a life, plans.
//!
//! Owns: which predicates count; the phrases are data, in `claims.txt`. Never: subjects (`statement`), or whether the
//! clause stands alone (`alone`).

use std::collections::HashMap;
use std::sync::LazyLock;

use model::{Timestamp, Zone};
use recall::time::{Tense, expressions};

use super::lexicon::{ADVERBS, Form, TALK, verb};
use super::retell::of_somebody;
use crate::dates::names_a_day;
use crate::slot::{Pattern, is_number, is_read, plain_words};
use crate::words::{Word, WordList, word_list, words};

/// What a clause must contain besides a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Often,
    Date,
    DateToCome,
    /// Nothing helps: the phrase tells of the moment or of the talk.
    Never,
}

struct Claim {
    phrase: Pattern,
    needs: Needs,
}

/// Words that alone go on with no statement.
static FILLERS: WordList =
    word_list!("sure no nope yes yeah yep yet well then now maybe honestly recently also so not");

/// The phrases by the words that they begin with.
static CLAIMS: LazyLock<HashMap<&'static str, Vec<Claim>>> = LazyLock::new(|| {
    let mut lists = HashMap::new();
    let mut claims: HashMap<&str, Vec<Claim>> = HashMap::new();
    for line in include_str!("claims.txt").lines() {
        match line.split_once(' ') {
            Some((name, words)) if name.starts_with('@') => {
                lists.insert(name, words.split(' ').collect());
                continue;
            }
            Some(("#", _)) => continue,
            _ => {}
        }
        let (phrase, needs) = match line.strip_prefix("! ") {
            Some(phrase) => (phrase, "never"),
            None => line.split_once(" | ").unwrap_or((line, "")),
        };
        let needs = match needs {
            "never" => Needs::Never,
            "often" => Needs::Often,
            "dated" => Needs::Date,
            "ahead" => Needs::DateToCome,
            _ => Needs::Nothing,
        };
        let phrase = Pattern::with_lists(phrase, &lists);
        for first in phrase.first_words() {
            let phrase = phrase.clone();
            claims.entry(first).or_default().push(Claim { phrase, needs });
        }
    }
    claims
});

/// Whether a text says when.
pub(super) fn is_dated(text: &str, said_at: Timestamp, zone: &Zone) -> bool {
    names_a_day(text) || !expressions(text, said_at, zone).is_empty()
}

/// One clause, as text and as words.
pub(super) struct Clause<'a> {
    pub(super) text: &'a str,
    pub(super) words: &'a [Word],
    pub(super) said_at: Timestamp,
    pub(super) zone: &'a Zone,
}

impl<'a> Clause<'a> {
    /// Its beginning, up to a word.
    pub(super) fn until(&self, end: usize) -> Self {
        let idle = |word: &Word| {
            matches!(
                word.text.as_str(),
                "and" | "but" | "so" | "or" | "because" | "ever" | "of" | "course" | "thankfully" | "luckily"
            )
        };
        let kept = self.words[..end]
            .iter()
            .rposition(|word| !idle(word))
            .map_or(0, |last| last + 1);
        let mut end = if end == self.words.len() { end } else { kept };
        // "… is an Android and sure".
        while end > 3 && idle(&self.words[end - 2]) && FILLERS.contains(self.word(end - 1)) {
            end -= 2;
        }
        let words: &'a [Word] = &self.words[..end];
        let text: &'a str = words
            .last()
            .map_or("", |last| &self.text[..self.text.len().min(last.range.end)]);
        Self {
            text: if end == self.words.len() { self.text } else { text },
            words,
            said_at: self.said_at,
            zone: self.zone,
        }
    }
}

impl Clause<'_> {
    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    pub(super) fn past_adverbs(&self, mut at: usize) -> usize {
        while ADVERBS.contains(self.word(at)) {
            at += 1;
        }
        at
    }

    /// Whether a statement about a subject is worth keeping: a phrase says so, or it changes what is known.
    pub(super) fn counts(&self, subject: &str, predicate: &str) -> bool {
        let text = format!("{subject} {predicate}.");
        self.lasts(subject, &text)
            .unwrap_or_else(|| is_read(subject, &text) && !is_bare_count(predicate))
    }

    /// Where the predicate ends of a subject at a place: before another one that does not count.
    pub(super) fn told_until(&self, subject: usize, name: &str) -> usize {
        let all = self.words.len();
        let is_own = self.word(subject).starts_with('i') || self.word(subject).starts_with("we");
        // "I'm into fitness and travel."
        let tastes = |word: &Word| {
            matches!(
                word.text.as_str(),
                "like" | "love" | "enjoy" | "hate" | "prefer" | "into"
            )
        };
        let is_taste = self.words[subject..].iter().take(4).any(tastes);
        let other = |at: &usize| {
            if self.is_quoted(*at) {
                return false;
            }
            let joined = self.word(*at) == "and";
            let begin = at + usize::from(joined);
            let acts = match self.word(self.past_adverbs(begin)) {
                "is" | "was" | "has" | "did" | "am" | "need" | "want" | "would" | "interested" | "don't"
                | "haven't" | "can't" | "didn't" | "won't" | "isn't" | "aren't" => joined,
                next => match verb(next) {
                    Some((base, Form::Past)) => {
                        joined || self.words[*at].breaks && !self.words[*at].capital && base != next
                    }
                    Some((_, Form::Third)) => joined && !is_own,
                    Some((_, Form::Base)) => joined && !(is_taste && self.ends_at(begin)),
                    None => joined && TALK.contains(next),
                    Some(_) => false,
                },
            };
            acts && !self.counts(name, &self.predicate(begin, name))
        };
        (subject + 3..all).find(other).unwrap_or(all)
    }

    /// Whether nothing follows a word without a comma.
    fn ends_at(&self, at: usize) -> bool {
        self.words.get(at + 1).is_none_or(|next| next.breaks)
    }

    /// Whether a word stands within quotation marks, such as those of a title.
    pub(super) fn is_quoted(&self, at: usize) -> bool {
        let marks = |text: &str| text.matches(['"', '“', '”']).count();
        let before = marks(&self.text[..self.words[at].range.start]);
        before % 2 == 1 && marks(self.text) > before
    }

    /// What the phrases say of a statement; none if none fits.
    pub(super) fn lasts(&self, subject: &str, text: &str) -> Option<bool> {
        let told = plain_words(&of_somebody(text));
        // "I" and "My sister" become "me" and "me's sister": as many words.
        let start = words(subject).len();
        let first = told.get(start).map_or("", |word| word.text.as_str());
        let claims = CLAIMS.get(first).map_or(&[][..], Vec::as_slice);
        let mut fitting = claims
            .iter()
            .filter(|claim| claim.phrase.find(&told, start).is_some());
        if fitting.clone().any(|claim| claim.needs == Needs::Never) {
            return Some(false);
        }
        fitting.any(|claim| self.has(claim.needs)).then_some(true)
    }

    fn has(&self, needs: Needs) -> bool {
        let when = || expressions(self.text, self.said_at, self.zone).into_iter();
        match needs {
            Needs::Nothing => true,
            Needs::Never => false,
            Needs::Often => is_often(self.words),
            Needs::Date => is_dated(self.text, self.said_at, self.zone),
            Needs::DateToCome => when().any(|found| {
                let later = self.zone.date(found.span.to.plus_millis(-1)) > self.zone.date(self.said_at);
                later && found.tense != Some(Tense::Past)
            }),
        }
    }
}

/// "Has got 4 bushes": of what, only the talk knows.
fn is_bare_count(predicate: &str) -> bool {
    let words = words(predicate);
    let got = usize::from(words.get(1).is_some_and(|word| word.text == "got"));
    let has = words.first().is_some_and(|word| {
        matches!(
            word.text.as_str(),
            "has" | "have" | "owns" | "own" | "got" | "keeps"
        )
    });
    let goes_on = words
        .get(got + 3)
        .is_some_and(|word| !word.breaks && word.text != "that");
    has && words.get(got + 1).is_some_and(is_number) && !goes_on
}

/// "Every day", "three times a week", "on Mondays".
fn is_often(words: &[Word]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let a_week = || {
            words
                .get(at + 1)
                .is_some_and(|next| matches!(next.text.as_str(), "day" | "week" | "month" | "year"))
        };
        match word.text.as_str() {
            "every" | "each" | "daily" | "weekly" | "twice" => true,
            "a" | "per" => a_week(),
            text => text.ends_with("days") && word.capital,
        }
    })
}
