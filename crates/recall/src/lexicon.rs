//! The vocabulary of a corpus.
//!
//! Owns: numbers for terms, and a memo of stems, so that each word form is analysed once in each
//! language. Never: forgetting: a corpus keeps the vocabulary of removed rows, which is small and
//! grows ever slower.

use std::collections::HashMap;

use model::text::Language;

/// A term's number.
pub(crate) type Term = u32;

#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    /// By language, folded word forms; none for stop words.
    words: [HashMap<Box<str>, Option<Term>>; Language::ALL.len()],
    stems: HashMap<Box<str>, Term>,
}

impl Lexicon {
    /// The term of a folded word, registered if it is new; none for a stop word.
    pub(crate) fn learn(&mut self, word: &str, language: Language) -> Option<Term> {
        let words = &mut self.words[language as usize];
        if let Some(term) = words.get(word) {
            return *term;
        }
        let term = (!language.is_stop_word(word)).then(|| {
            let stem = language.stem(word);
            let next = Term::try_from(self.stems.len()).expect("fewer than 2^32 terms");
            *self.stems.entry(stem.as_ref().into()).or_insert(next)
        });
        words.insert(word.into(), term);
        term
    }

    /// The term of a folded word, if it is known.
    pub(crate) fn find(&self, word: &str, language: Language) -> Option<Term> {
        match self.words[language as usize].get(word) {
            Some(term) => *term,
            None => self.stems.get(language.stem(word).as_ref()).copied(),
        }
    }

    /// The terms of exactly this word in each language that has it: a name is the same in all of
    /// them.
    pub(crate) fn find_anywhere(&self, word: &str) -> impl Iterator<Item = Term> {
        self.words
            .iter()
            .filter_map(move |words| words.get(word).copied().flatten())
    }

    /// Estimated memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        // A boxed text, its number and the table's overhead take about this much for each word.
        let words: usize = self.words.iter().map(HashMap::len).sum();
        (words + self.stems.len()) * 56
    }
}
