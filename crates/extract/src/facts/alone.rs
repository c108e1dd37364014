//! Whether a statement is understood by itself, when the talk around it is forgotten.
//!
//! Owns: where what the speaker adds begins ("…, which was great"), and words that point outside of the clause ("this
//! one", "there", "with it"). Never: whether the statement is worth keeping (`claim`).

use text::is_stop_word;

use super::claim::Clause;
use super::clause::is_own_subject;
use super::lexicon::{Form, TIME_UNITS, VAGUE, is_kin, verb};
use super::statement::is_preposition;
use crate::dates::names_a_day;
use crate::words::{WordList, word_list};

/// Words behind a comma with which a remark begins, and not another piece of a list.
static REMARKS: WordList = word_list!(
    "which where who whom it it's that that's this they they're he she there i'm i as especially usually mostly mainly \
     particularly since like such if once when while even though just still not thanks actually because making \
     kinda sorta never nobody always haven't hasn't didn't honestly obviously apparently btw best worst"
);

/// What happened or goes on: "the festival" is one of which the talk has told.
static EVENTS: WordList = word_list!(
    "festival trip event course class workshop concert conference seminar ceremony reunion exhibition show tour match retreat \
     convention webinar"
);

fn is_inside(word: &str) -> bool {
    is_preposition(word) || matches!(word, "during" | "after" | "before")
}

/// Words behind an "and" with which a remark begins.
static POINTERS: WordList = word_list!("it it's its that that's they this there something he she she's he's");

impl Clause<'_> {
    /// Where the longest beginning of the clause ends that is understood by itself, as a place of words; none where
    /// not even its first part is. `from` is the subject.
    pub(super) fn understood(&self, from: usize) -> Option<usize> {
        let all = self.words.len();
        let end = (from + 2..all).find(|at| self.is_remark(*at)).unwrap_or(all);
        let stray = (from..end)
            .filter(|at| !self.is_quoted(*at))
            .find(|at| !self.points_inside(from, *at) || self.is_stranded(*at, end));
        let Some(stray) = stray else { return Some(end) };
        let joint = |at: &usize| {
            let word = &self.words[*at];
            let acts = || {
                let is = |at: usize, forms: &[Form]| {
                    verb(self.word(at)).is_some_and(|(_, form)| forms.contains(&form))
                };
                // "… and bad sleep sets them off".
                let begins = (at + 2..=at + 3).any(|at| is(at, &[Form::Past, Form::Third]));
                is(at + 1, &[Form::Past]) || begins && verb(self.word(at + 1)).is_none()
            };
            // Behind a joint without a comma stands what the statement is about ("the song that …"), and so it may
            // behind the comma in "a longer, duller book".
            let begins = is_stop_word(&word.text)
                && !matches!(word.text.as_str(), "more" | "most" | "very" | "less")
                || REMARKS.contains(&word.text)
                || word.text.starts_with(|c: char| c.is_ascii_digit())
                || word.text.ends_with("ing")
                || verb(&word.text).is_some();
            word.breaks && begins && !self.is_quoted(*at) || word.text == "and" && acts()
        };
        (from + 3..=stray).rev().find(joint)
    }

    /// Whether a remark about the statement begins, and no more of it.
    fn is_remark(&self, at: usize) -> bool {
        let (word, next) = (&self.words[at], self.word(at + 1));
        if self.is_quoted(at) {
            return false;
        }
        let between = &self.text[self.words[at - 1].range.end..word.range.start];
        if between.contains(['—', '–', ';', '…', '!', '?', '('])
            || between.contains(" -")
            || between.contains("- ")
        {
            return true;
        }
        // "I don't eat meat, Pieter does."
        let is_other = word.breaks && word.capital && !is_own_subject(&word.text);
        if is_other
            && (matches!(next, "is" | "does" | "has" | "was")
                || verb(next).is_some_and(|(_, form)| form == Form::Past))
        {
            return true;
        }
        match word.text.as_str() {
            _ if word.breaks && self.begins_another(at) => true,
            "but" | "because" | "although" | "though" | "cause" | "cuz" | "here's" | "heres" => true,
            "speaking" => next == "of",
            "check" | "look" => matches!(next, "out" | "at") && word.breaks,
            "so" => {
                word.breaks
                    || matches!(
                        next,
                        "i" | "i'm"
                            | "that"
                            | "it"
                            | "it's"
                            | "its"
                            | "im"
                            | "he"
                            | "she"
                            | "they"
                            | "there"
                            | "keep"
                            | "make"
                            | "give"
                            | "please"
                            | "no"
                            | "nothing"
                    )
            }
            "and" | "n" => {
                let other = word.breaks
                    && matches!(
                        next,
                        "the" | "while" | "when" | "now" | "recently" | "in" | "on" | "to"
                    );
                other || POINTERS.contains(next) || self.begins_another(at + 1)
            }
            "as" if next == "well" => false,
            "he" | "she" if next == "has" => false,
            "me" if word.breaks => next == "and",
            "have" if word.breaks => matches!(next, "been" | "always"),
            "he's" | "she's" | "they're" | "we're" if word.breaks => true,
            text => {
                let listed = self.word(at - 1).ends_with("ing");
                word.breaks && (REMARKS.contains(text) || text.ends_with("ing") && !listed && !word.capital)
            }
        }
    }

    /// Whether a statement with another subject begins: "and the early shift is killing me", "and mine is too".
    fn begins_another(&self, at: usize) -> bool {
        let ends = |at: &usize| self.words.get(*at).is_none_or(|word| word.breaks);
        let is_subject = matches!(
            self.word(at),
            "the"
                | "this"
                | "that"
                | "nobody"
                | "everyone"
                | "everybody"
                | "nothing"
                | "everything"
                | "mine"
                | "ours"
                | "their"
        );
        let end = (at + 1..=at + 5).find(ends).unwrap_or(at + 6);
        let acts = |at: usize| {
            matches!(
                self.word(at),
                "is" | "are" | "was" | "were" | "isn't" | "aren't" | "won't" | "will"
            )
        };
        is_subject && (at + 1..end).any(acts)
    }

    /// Whether a word points at nothing, or at a person or a time that the clause has named before.
    fn points_inside(&self, from: usize, at: usize) -> bool {
        let next = self.word(at + 1);
        match self.word(at) {
            "this" | "these" => self.is_time(at + 1),
            "the" if EVENTS.contains(next) && is_inside(self.word(at.wrapping_sub(1))) => {
                let after = self.words.get(at + 2).filter(|word| !word.breaks);
                after.is_some_and(|word| is_preposition(&word.text))
            }
            "here" => matches!(next, "in" | "at"),
            "there" => matches!(next, "is" | "are"),
            "then" => !matches!(
                self.word(at.wrapping_sub(1)),
                "since" | "by" | "until" | "till" | "from"
            ),
            "that" => {
                let before = if at > from { self.word(at - 1) } else { "" };
                if self.is_time(at + 1) {
                    return false;
                }
                let of_noun = at > from + 1 && matches!(self.word(at - 2), "a" | "an" | "the" | "my" | "our");
                !next.is_empty() && !is_stop_word(before) && (of_noun || verb(before).is_none())
            }
            "one" | "ones" => matches!(self.word(at.wrapping_sub(1)), "no" | "every") || self.is_counted(at),
            "them" if self.word(at.wrapping_sub(1)) == "for" => {
                self.words[from..at].iter().any(|word| is_kin(&word.text))
            }
            "he" | "him" | "his" | "she" | "her" | "hers" | "he's" | "she's" | "they" | "their" | "them" => {
                self.somebody(from, at)
            }
            "those" if next == "who" => true,
            "it" | "it's" | "it'll" | "its" | "that's" | "those" | "each"
                if next != "day" && next != "week" =>
            {
                false
            }
            "they're" | "they've" | "such" | "same" | "else" | "others" => false,
            _ => true,
        }
    }

    /// Whether a preposition stands without what belongs to it: "something I've been working on for a while".
    fn is_stranded(&self, at: usize, end: usize) -> bool {
        let next = self.words[..end].get(at + 1).filter(|word| !word.breaks);
        let next = next.map_or("", |word| word.text.as_str());
        match self.word(at) {
            "with" | "about" | "of" | "into" | "for" => {
                matches!(next, "" | "for" | "since" | "at" | "and" | "but")
            }
            "on" => matches!(next, "for" | "since"),
            "since" | "to" | "the" => next.is_empty(),
            _ => false,
        }
    }

    /// "This week", "these days", "this past Friday".
    fn is_time(&self, at: usize) -> bool {
        let word = self.word(at);
        (TIME_UNITS.contains(word) && !matches!(word, "today" | "yesterday" | "tomorrow" | "while" | "ago"))
            || matches!(word, "coming" | "time")
            || self
                .words
                .get(at)
                .is_some_and(|word| names_a_day(&self.text[word.range.clone()]))
    }

    /// Whether a "one" counts something or is one of some: "one brother", "one of the nurses"; not "a new one".
    fn is_counted(&self, at: usize) -> bool {
        let next = self.words.get(at + 1).filter(|word| !word.breaks);
        next.is_some_and(|word| {
            let idle = is_stop_word(&word.text)
                || VAGUE.contains(&word.text)
                || word.text == "last"
                || word.text == "next";
            word.text == "of" || !idle
        })
    }

    fn somebody(&self, from: usize, to: usize) -> bool {
        let own = |text: &str| text == "i" || text.starts_with("i'");
        let mut between = self.words[from..to].iter().enumerate();
        between.any(|(at, word)| is_kin(&word.text) || at > 0 && word.capital && !own(&word.text))
    }
}
