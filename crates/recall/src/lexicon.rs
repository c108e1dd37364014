//! The vocabulary of a corpus.
//!
//! Owns: numbers for terms, and a memo of stems, so that each word form is analysed once in each
//! language. Never: forgetting: a corpus keeps the vocabulary of removed rows, which is small and
//! grows ever slower.

use foldhash::HashMap;
use model::text::Language;

/// A term's number.
pub(crate) type Term = u32;

/// Words that place a statement in time.
const TIME_WORDS: [&str; 25] = [
    "ago", "day", "days", "friday", "last", "monday", "month", "months", "next", "recently", "saturday",
    "since", "sunday", "thursday", "today", "tomorrow", "tonight", "tuesday", "wednesday", "week", "weekend",
    "weeks", "year", "years", "yesterday",
];

/// What is known of a word form in one language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// None for a stop word.
    pub(crate) term: Option<Term>,
    /// It places a statement in time.
    pub(crate) is_of_time: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    /// By language, folded word forms.
    words: [HashMap<Box<str>, Form>; Language::ALL.len()],
    stems: HashMap<Box<str>, Term>,
}

impl Lexicon {
    /// What is known of a folded word, registered if it is new.
    pub(crate) fn learn(&mut self, word: &str, language: Language) -> Form {
        let words = &mut self.words[language as usize];
        if let Some(form) = words.get(word) {
            return *form;
        }
        let term = (!language.is_stop_word(word)).then(|| {
            let stem = language.stem(word);
            let next = Term::try_from(self.stems.len()).expect("fewer than 2^32 terms");
            *self.stems.entry(stem.as_ref().into()).or_insert(next)
        });
        let form = Form {
            term,
            is_of_time: TIME_WORDS.binary_search(&word).is_ok(),
        };
        words.insert(word.into(), form);
        form
    }

    /// The term of a folded word, if it is known.
    pub(crate) fn find(&self, word: &str, language: Language) -> Option<Term> {
        match self.words[language as usize].get(word) {
            Some(form) => form.term,
            None => self.stems.get(language.stem(word).as_ref()).copied(),
        }
    }

    /// The terms of exactly this word in each language that has it: a name is the same in all of
    /// them.
    pub(crate) fn find_anywhere(&self, word: &str) -> impl Iterator<Item = Term> {
        self.words.iter().filter_map(move |words| words.get(word)?.term)
    }

    /// Estimated memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        // A boxed text, its number and the table's overhead take about this much for each word.
        let words: usize = self.words.iter().map(HashMap::len).sum();
        (words + self.stems.len()) * 56
    }
}
