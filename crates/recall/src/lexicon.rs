//! The words that a corpus knows.
//!
//! Owns: numbers for terms, and a memo of stems, so that each word form is analysed once. Never: forgetting: a corpus
//! keeps the vocabulary of rows that are gone, which is small and grows ever slower.

use std::collections::HashMap;

/// A term's number.
pub(crate) type Term = u32;

#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    /// Folded word forms; none for stop words.
    words: HashMap<Box<str>, Option<Term>>,
    stems: HashMap<Box<str>, Term>,
}

impl Lexicon {
    /// The term of a folded word, made known; none for a stop word.
    pub(crate) fn learn(&mut self, word: &str) -> Option<Term> {
        if let Some(term) = self.words.get(word) {
            return *term;
        }
        let term = (!text::is_stop_word(word)).then(|| {
            let stem = text::stem(word);
            let next = Term::try_from(self.stems.len()).expect("fewer than 2^32 terms");
            *self.stems.entry(stem.as_ref().into()).or_insert(next)
        });
        self.words.insert(word.into(), term);
        term
    }

    /// The term of a folded word, if rows have it.
    pub(crate) fn find(&self, word: &str) -> Option<Term> {
        match self.words.get(word) {
            Some(term) => *term,
            None => self.stems.get(text::stem(word).as_ref()).copied(),
        }
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        // A boxed text, its number and the table's overhead come to about this much for each word.
        (self.words.len() + self.stems.len()) * 56
    }
}
