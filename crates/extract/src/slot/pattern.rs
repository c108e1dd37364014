//! A small language for phrases, so that rules are data.
//!
//! `a|b` is one of several words, `[a|b]` one that may be missing, `+ing` a word that ends so, `$` the end of a clause, `.` that of a noun phrase, `~` skips one to four words, `<` captures the old
//! value and `*` the new one (one to six words, as few as the rest of the phrase allows; at the phrase's end as many
//! as belong together). `A` is "a", "an", "the", "their" or nothing, `_` up to three adjectives. Among several words, `A` is an
//! article, `NAME` a name, `NATION` one of a people, `NUM` a number and `TELLS` a word with a meaning of its own.
//!
//! Owns: matching. Never: the meaning of a phrase (`rules`).

use std::collections::HashMap;
use std::ops::Range;

use text::is_stop_word;

use super::rules::{is_calendar, is_number};
use crate::facts::lexicon::{EMPTY_NOUNS, GENERIC_NOUNS, NATIONS, TIME_UNITS, VAGUE};
use crate::words::{Word, WordList, word_list};

const SKIP_MAX: usize = 4;
const ADJECTIVES_MAX: usize = 3;
const VALUE_WORDS_MAX: usize = 6;

/// Words that end a value.
static STOPS: WordList = word_list!(
    "with for that because since after before for last next this on in but so where which who now again already about \
     around until till when while to from as at by instead yesterday today tomorrow is was has it's its \
     anymore and ago these though if over than"
);

/// Words that follow a noun phrase and do not go on with it.
static AFTER_NOUN: WordList = word_list!(
    "named called last next yesterday today tomorrow ago two three since near together who whose which"
);

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPiece {
    One(Vec<&'static str>),
    Doing,
    End,
    NounEnd,
    Maybe(Vec<&'static str>),
    Skip,
    Adjectives,
    Old,
    New,
}

/// A phrase ready to be matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern(Vec<PatternPiece>);

/// Where a phrase's values stand, as places of words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PatternMatch {
    pub(super) old: Option<Range<usize>>,
    pub(super) new: Option<Range<usize>>,
}

const ARTICLES: [&str; 7] = ["a", "an", "the", "their", "his", "her", "some"];

impl Pattern {
    pub(super) fn new(text: &'static str) -> Self {
        Self::with_lists(text, &HashMap::new())
    }

    /// A phrase with `@` in front of the names of lists.
    pub(crate) fn with_lists(text: &'static str, lists: &HashMap<&'static str, Vec<&'static str>>) -> Self {
        let any = |words: &'static str| {
            let words = words.split('|');
            words
                .flat_map(|word| lists.get(word).cloned().unwrap_or_else(|| vec![word]))
                .collect()
        };
        let piece = |word: &'static str| match word {
            "~" => PatternPiece::Skip,
            "_" => PatternPiece::Adjectives,
            "+ing" => PatternPiece::Doing,
            "$" => PatternPiece::End,
            "." => PatternPiece::NounEnd,
            "<" => PatternPiece::Old,
            "*" => PatternPiece::New,
            "A" => PatternPiece::Maybe(ARTICLES.to_vec()),
            _ => match word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
                Some(words) => PatternPiece::Maybe(any(words)),
                None => PatternPiece::One(any(word)),
            },
        };
        Self(text.split_whitespace().map(piece).collect())
    }

    /// The words that it can begin with.
    pub(crate) fn first_words(&self) -> Vec<&'static str> {
        let mut first = Vec::new();
        for piece in &self.0 {
            match piece {
                PatternPiece::Maybe(any) => first.extend(any),
                PatternPiece::One(any) => {
                    first.extend(any);
                    break;
                }
                _ => break,
            }
        }
        first
    }

    /// Matches the words from `start` on.
    pub(crate) fn find(&self, words: &[Word], start: usize) -> Option<PatternMatch> {
        let mut found = PatternMatch::default();
        step(&self.0, words, start, &mut found).then_some(found)
    }
}

fn step(pieces: &[PatternPiece], words: &[Word], at: usize, found: &mut PatternMatch) -> bool {
    let Some((piece, rest)) = pieces.split_first() else {
        return true;
    };
    let here = words.get(at).map(|word| word.text.as_str());
    let is_one = |any: &[&str]| {
        words
            .get(at)
            .is_some_and(|word| any.iter().any(|one| fits(one, word)))
    };
    match piece {
        PatternPiece::One(any) => is_one(any) && step(rest, words, at + 1, found),
        PatternPiece::End => words.get(at).is_none_or(|word| word.breaks) && step(rest, words, at, found),
        PatternPiece::NounEnd => {
            let ends = |word: &Word| {
                word.breaks || word.capital || is_stop_word(&word.text) || AFTER_NOUN.contains(&word.text)
            };
            words.get(at).is_none_or(ends) && step(rest, words, at, found)
        }
        PatternPiece::Doing => {
            here.is_some_and(|here| here.ends_with("ing")) && step(rest, words, at + 1, found)
        }
        PatternPiece::Maybe(any) => {
            (is_one(any) && step(rest, words, at + 1, found)) || step(rest, words, at, found)
        }
        PatternPiece::Adjectives => {
            let described = words.iter().skip(at).take(ADJECTIVES_MAX);
            let last = described
                .take_while(|word| !word.breaks && !is_stop_word(&word.text))
                .count();
            (0..=last).any(|n| step(rest, words, at + n, found))
        }
        PatternPiece::Skip => {
            (1..=SKIP_MAX).any(|n| at + n <= words.len() && step(rest, words, at + n, found))
        }
        PatternPiece::Old | PatternPiece::New => {
            let longest = value_end(words, at);
            let mut ends = at + 1..=longest;
            let mut try_end = |end: usize| {
                if !step(rest, words, end, found) {
                    return false;
                }
                let slot = if *piece == PatternPiece::Old {
                    &mut found.old
                } else {
                    &mut found.new
                };
                *slot = Some(at..end);
                true
            };
            if rest.is_empty() {
                longest > at && try_end(longest)
            } else {
                ends.any(try_end)
            }
        }
    }
}

/// Whether a word is the one of a phrase, or of its kind.
fn fits(one: &str, word: &Word) -> bool {
    match one {
        "A" => ARTICLES.contains(&word.text.as_str()),
        "NAME" => is_name(word),
        "NATION" => NATIONS.contains(&word.text),
        "NUM" => is_number(word),
        "TELLS" => tells(word),
        text => word.text == text,
    }
}

fn is_name(word: &Word) -> bool {
    word.capital && word.text != "i" && !is_calendar(word)
}

fn tells(word: &Word) -> bool {
    let idle: [&WordList; 4] = [&VAGUE, &EMPTY_NOUNS, &GENERIC_NOUNS, &TIME_UNITS];
    !is_stop_word(&word.text) && !word.breaks && !idle.iter().any(|list| list.contains(&word.text))
}

/// Where a value that begins at `at` ends at the latest.
pub(super) fn value_end(words: &[Word], at: usize) -> usize {
    let mut end = at;
    while end < words.len() && end - at < VALUE_WORDS_MAX {
        let word = &words[end];
        if end > at && word.breaks {
            break;
        }
        // "the Bank of England" and "Guns and Roses" go on; "in" and "at" do not.
        let joined = word.text == "and" && end > at && words.get(end + 1).is_some_and(|next| next.capital);
        if STOPS.contains(&word.text) && !joined {
            break;
        }
        end += 1;
    }
    end
}
