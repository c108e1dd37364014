//! Whether a statement is understood by itself, when the talk around it is forgotten.
//!
//! Owns: where what the speaker adds begins ("…, which was great"), and words that point outside of the clause ("this
//! one", "there", "with it"). Never: whether the statement is worth keeping (`claim`).

use text::is_stop_word;

use super::claim::Clause;
use super::lexicon::{Form, TIME_UNITS, VAGUE, is_kin, verb};
use crate::dates::names_a_day;
use crate::words::{WordList, word_list};

/// Words behind a comma with which a remark begins, and not another piece of a list.
static REMARKS: WordList = word_list!(
    "which where who whom it it's that that's this they they're he she there i'm i as especially usually mostly mainly \
     particularly since like such if once when while even though just still not thanks actually because making"
);

/// Words behind an "and" with which a remark begins.
static POINTERS: WordList = word_list!("it it's its that that's they this there something he she she's he's");

impl Clause<'_> {
    /// Where the longest beginning of the clause ends that is understood by itself, as a place of words; none where
    /// not even its first part is. `from` is the subject.
    pub(super) fn understood(&self, from: usize) -> Option<usize> {
        let all = self.words.len();
        let end = (from + 2..all).find(|at| self.is_remark(*at)).unwrap_or(all);
        let stray = (from..end).find(|at| !self.points_inside(from, *at) || self.is_stranded(*at, end));
        let Some(stray) = stray else { return Some(end) };
        let joint = |at: &usize| {
            let word = &self.words[*at];
            let acts = || verb(self.word(at + 1)).is_some_and(|(_, form)| form == Form::Past);
            word.breaks
                || matches!(
                    word.text.as_str(),
                    "that" | "who" | "where" | "when" | "while" | "since" | "as"
                )
                || word.text == "and" && acts()
        };
        (from + 3..=stray).rev().find(joint)
    }

    /// Whether a remark about the statement begins, and no more of it.
    fn is_remark(&self, at: usize) -> bool {
        let (word, next) = (&self.words[at], self.word(at + 1));
        let between = &self.text[self.words[at - 1].range.end..word.range.start];
        if between.contains(['—', '–', ';', '…', '!', '?'])
            || between.contains(" -")
            || between.contains("- ")
        {
            return true;
        }
        match word.text.as_str() {
            "but" | "because" | "although" | "though" | "cause" | "cuz" => true,
            "speaking" => next == "of",
            "that" => matches!(next, "i" | "we" | "i'm" | "i've"),
            "so" => word.breaks || matches!(next, "i" | "i'm" | "that" | "it" | "it's"),
            "and" => {
                let other = word.breaks
                    && matches!(
                        next,
                        "the" | "while" | "when" | "now" | "recently" | "in" | "on" | "to"
                    );
                other || POINTERS.contains(next)
            }
            "as" if next == "well" => false,
            "he" | "she" if next == "has" => false,
            text => {
                let listed = self.word(at - 1).ends_with("ing");
                word.breaks && (REMARKS.contains(text) || text.ends_with("ing") && !listed && !word.capital)
            }
        }
    }

    /// Whether a word points at nothing, or at a person or a time that the clause has named before.
    fn points_inside(&self, from: usize, at: usize) -> bool {
        let next = self.word(at + 1);
        match self.word(at) {
            "this" | "these" => self.is_time(at + 1),
            "here" => matches!(next, "in" | "at"),
            "there" => matches!(next, "is" | "are"),
            "that" => {
                let before = if at > from { self.word(at - 1) } else { "" };
                !next.is_empty() && !is_stop_word(before) && verb(before).is_none()
            }
            "one" | "ones" => matches!(self.word(at.wrapping_sub(1)), "no" | "every") || self.is_counted(at),
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
