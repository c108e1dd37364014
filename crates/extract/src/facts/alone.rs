//! Whether a statement is understood by itself, when the talk around it is forgotten.
//!
//! Owns: words that point elsewhere ("this one", "there", "with it") and whether what they point at is in the clause.
//! Never: whether the statement is worth keeping (`claim`).

use text::is_stop_word;

use super::claim::Clause;
use super::lexicon::{ADVERBS, EMPTY_NOUNS, Form, STATES, TIME_UNITS, VAGUE, is_kin, verb};
use crate::dates::names_a_day;
use crate::words::{WordList, word_list};

/// Those that are no stop words.
static PREPOSITIONS: WordList = word_list!(
    "through during without around across along behind near inside onto toward towards between against like within over \
     under off down despite besides beyond upon per via"
);

/// Number of own words that explain a demonstrative: "this cosy café", not "this project".
const TOLD_WORDS_MIN: usize = 2;

impl Clause<'_> {
    /// Where the longest beginning of the clause ends that is understood by itself, as a place of words; none where
    /// not even its first part is. `from` is the subject.
    pub(super) fn understood(&self, from: usize) -> Option<usize> {
        let all = self.words.len();
        // Behind "and" there is a clause only where a verb or a subject follows.
        let goes_on = |at: usize| {
            let next = self.word(at);
            let acts = matches!(verb(next), Some((_, Form::Past | Form::Base | Form::Third)));
            acts || matches!(
                next,
                "it" | "it's"
                    | "they"
                    | "they're"
                    | "he"
                    | "she"
                    | "that"
                    | "that's"
                    | "this"
                    | "there"
                    | "is"
                    | "are"
            )
        };
        let joint = |at: &usize| {
            let word = &self.words[*at];
            match word.text.as_str() {
                "and" => goes_on(at + 1),
                "but" | "so" | "because" | "since" | "though" | "which" => true,
                _ => word.breaks && !self.text[..word.range.start].ends_with(['"', '“', '(']),
            }
        };
        let stray = (from..all).find(|at| !self.points_inside(from, *at) || self.is_stranded(*at));
        let Some(stray) = stray else { return Some(all) };
        (from + 3..=stray).rev().find(joint)
    }

    /// Whether a word points at nothing, or at something that the clause has named before.
    fn points_inside(&self, from: usize, at: usize) -> bool {
        let next = self.word(at + 1);
        match self.word(at) {
            "this" => self.is_time(at + 1) || self.tells_which(at + 1),
            "these" => self.is_time(at + 1),
            "those" => matches!(next, "who" | "in" | "with" | "of"),
            "that" | "that's" => self.is_joint(from, at),
            "here" => matches!(next, "in" | "at") && self.names(at + 2, at + 4),
            "there" => matches!(next, "is" | "are" | "was" | "were" | "will") || self.names(from + 1, at),
            "one" | "ones" => {
                matches!(self.word(at.wrapping_sub(1)), "no" | "any" | "every") || self.is_counted(at)
            }
            // "It's been years", "made it to the top".
            "it's" if next == "been" => true,
            "it" if matches!(next, "to" | "was" | "is" | "took")
                && self.is_form_of("make", at.wrapping_sub(1)) =>
            {
                true
            }
            "it" | "it's" | "its" => self
                .things(from, at)
                .any(|word| !is_plural(word) && !is_kin(word)),
            "they" | "them" | "their" | "they're" | "they've" => {
                self.things(from, at).any(is_plural) || self.has_and(from, at) || self.somebody(from, at)
            }
            "he" | "him" | "his" | "she" | "her" | "hers" | "he's" | "she's" => self.somebody(from, at),
            _ => true,
        }
    }

    /// Whether a preposition stands without what belongs to it: "something I've been working on for a while".
    fn is_stranded(&self, at: usize) -> bool {
        let next = self.words.get(at + 1).filter(|word| !word.breaks);
        let next = next.map_or("", |word| word.text.as_str());
        match self.word(at) {
            "with" | "about" | "of" | "into" | "for" => {
                matches!(next, "" | "for" | "since" | "at" | "and" | "but")
            }
            "on" => matches!(next, "for" | "since"),
            "since" => next.is_empty(),
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

    /// "This mentorship program for LGBTQ youth" says which; "this project" does not.
    fn tells_which(&self, at: usize) -> bool {
        let phrase = self.words.iter().skip(at).take_while(|word| !word.breaks);
        let phrase = phrase.take_while(|word| !is_stop_word(&word.text) || word.capital);
        let mut told = phrase.filter(|word| !VAGUE.contains(&word.text) && !ADVERBS.contains(&word.text));
        told.clone().any(|word| word.capital) || told.nth(TOLD_WORDS_MIN - 1).is_some()
    }

    /// Whether a "that" joins clauses: "a book that", "found out that"; not "with that name", "love that".
    fn is_joint(&self, from: usize, at: usize) -> bool {
        let before = if at > from { self.word(at - 1) } else { "" };
        let ends = self.words.get(at + 1).is_none_or(|word| word.breaks);
        let noun = at > from && (self.is_thing(at - 1) || is_kin(before) || TIME_UNITS.contains(before));
        (noun || matches!(before, "out" | "so" | "something" | "someone")) && !ends
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

    /// The nouns between two places, without verbs and fillers.
    fn things(&self, from: usize, to: usize) -> impl Iterator<Item = &str> {
        let places = (from + 1..to).filter(|at| self.is_thing(*at) || self.words[*at].capital);
        places.map(|at| self.word(at))
    }

    /// Whether a word is likely a noun. Many are verbs too, but not behind an article, an adjective or a preposition.
    fn is_thing(&self, at: usize) -> bool {
        let word = self.word(at);
        let idle = is_stop_word(word)
            || VAGUE.contains(word)
            || ADVERBS.contains(word)
            || TIME_UNITS.contains(word)
            || STATES.contains(word)
            || PREPOSITIONS.contains(word)
            || EMPTY_NOUNS.contains(word)
            || ["ly", "ed", "ing"].iter().any(|end| word.ends_with(end));
        let before = self.word(at.wrapping_sub(1));
        let follows_subject = matches!(before, "i" | "we" | "they" | "to" | "and" | "don't" | "will" | "")
            || ADVERBS.contains(before);
        let noun = match verb(word) {
            None => before != "to" && before != "how",
            Some((_, Form::Base | Form::Third)) => !follows_subject,
            Some(_) => false,
        };
        !idle && noun
    }

    fn is_form_of(&self, base: &str, at: usize) -> bool {
        verb(self.word(at)).is_some_and(|(of, _)| of == base)
    }

    fn names(&self, from: usize, to: usize) -> bool {
        let mut between = self.words.iter().take(to).skip(from);
        between.any(|word| word.capital && word.text != "i" && !word.text.starts_with("i'"))
    }

    fn somebody(&self, from: usize, to: usize) -> bool {
        let mut between = self.words.iter().take(to).skip(from);
        between.any(|word| is_kin(&word.text)) || self.names(from + 1, to)
    }

    fn has_and(&self, from: usize, to: usize) -> bool {
        self.words[from..to].iter().any(|word| word.text == "and") && self.things(from, to).count() > 1
    }
}

fn is_plural(word: &str) -> bool {
    let many = [
        "people", "children", "family", "team", "group", "staff", "everyone", "folks",
    ];
    (word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("'s")) || many.contains(&word)
}
