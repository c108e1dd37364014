//! Later statements that put earlier ones in doubt without proof.
//!
//! Owns: when an earlier statement may no longer hold. Never: ending it; both stay facts, with
//! their dates.

use std::collections::BTreeSet;

use model::Timestamp;

use super::is_duplicate;
use super::owned::{Owned, is_new};
use super::wording::said_words;
use crate::facts::closed::{denies, ends, was};
use crate::words::{Word, words};

/// A person's statement, parsed once.
#[derive(Debug)]
pub struct Remark<'a> {
    text: &'a str,
    said_at: Timestamp,
    words: BTreeSet<String>,
    numbers: BTreeSet<String>,
    owned: Option<Owned>,
    /// It is negated, or says that something has ended, is in the past, or is new.
    is_change: bool,
}

impl<'a> Remark<'a> {
    /// Reads a statement.
    pub fn new(text: &'a str, said_at: Timestamp) -> Self {
        let changes = |word: &Word| is_new(word) || [denies, ends, was].iter().any(|is| is(&word.text));
        let is_change = words(text).iter().any(changes);
        let (numbers, words) = said_words(text).0.into_iter().partition(|word| is_number(word));
        Self {
            text,
            said_at,
            words,
            numbers,
            owned: Owned::read(text),
            is_change,
        }
    }

    /// Whether an earlier statement may no longer hold: this one gives the same thing another
    /// value; or it has most of its words, and says that something has changed; or it has all of
    /// them except other numbers.
    pub fn doubts(&self, earlier: &Self) -> bool {
        let common = self.words.intersection(&earlier.words).count();
        let is_near = common * 2 > earlier.words.len();
        let counts_other = self.numbers.is_disjoint(&earlier.numbers)
            && !self.numbers.is_empty()
            && !earlier.numbers.is_empty()
            && common == earlier.words.len();
        let owned = self.owned.as_ref().zip(earlier.owned.as_ref());
        let is_other = owned.is_some_and(|(new, old)| new.differs(old));
        earlier.said_at < self.said_at
            && (is_other || is_near && self.is_change || counts_other)
            && !is_duplicate(self.text, earlier.text)
    }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}
