//! A fact's words, parsed once for every comparison.
//!
//! Owns: when two facts are the same. Never: supersession.

use std::collections::BTreeSet;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use model::text::{self, Fnv};

use crate::facts::closed::{denies, ends};
use crate::words::{Word, words};

/// Maximum number of trace bits that may differ between two equal facts: one more adverb, one word
/// with another ending.
const TRACES_DIFFER_MAX: u32 = 3;
/// Minimum share of common words of two equal facts.
const SAME_SHARE: (usize, usize) = (9, 10);

/// Hash of a word's stem. It is short, since an owner has many: two facts are the same if nearly all of them are.
pub(super) type WordStem = u32;

/// Parts of a fact for comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wording {
    /// One bit for the beginning of each longer word: a cheap test that distinguishes most facts.
    traces: u64,
    /// In order, each once.
    terms: Box<[WordStem]>,
    numbers: Box<[WordStem]>,
    is_negated: bool,
    /// Hash of all words except those of a negation.
    denied: u64,
}

impl Wording {
    pub(super) fn of(text: &str) -> Self {
        let said = words(text);
        let (texts, is_negated) = (word_set(text, &said), is_negated(&said));
        let is_number = |word: &&String| word.starts_with(|c: char| c.is_ascii_digit());
        Self {
            traces: traces(text),
            numbers: stems(texts.iter().filter(is_number)),
            terms: stems(texts.iter()),
            is_negated,
            denied: denied(&said, is_negated),
        }
    }

    /// Whether both say the same in nearly the same words; every number and every negation must agree.
    pub(super) fn says(&self, other: &Self) -> bool {
        if differ(self.traces, other.traces)
            || self.numbers != other.numbers
            || self.is_negated != other.is_negated
        {
            return false;
        }
        let is_common = |term: &&WordStem| other.terms.binary_search(term).is_ok();
        let common = self.terms.iter().filter(is_common).count();
        let all = self.terms.len() + other.terms.len() - common;
        common * SAME_SHARE.1 >= all * SAME_SHARE.0
    }

    /// Whether one negates the other in the same words.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        self.is_negated != other.is_negated && self.denied == other.denied
    }

    pub(super) fn terms(&self) -> &[WordStem] {
        &self.terms
    }

    /// Number of terms, however chosen, of which every equal fact has at least one.
    pub(super) fn telling_terms(&self) -> usize {
        let common_min = (self.terms.len() * SAME_SHARE.0).div_ceil(SAME_SHARE.1);
        self.terms.len() - common_min + 1
    }
}

/// The mark of a statement, 16 hexadecimal digits: identifies a withdrawn statement without storing
/// its words.
pub fn mark(text: &str) -> String {
    format!("{:016x}", Fnv::of(text::folded_text(text).as_bytes()))
}

/// Whether two texts say the same; most different ones are told apart without parsing their words.
pub(super) fn says_same(a: &str, b: &str) -> bool {
    a == b || (!differ(traces(a), traces(b)) && Wording::of(a).says(&Wording::of(b)))
}

fn differ(traces: u64, others: u64) -> bool {
    (traces ^ others).count_ones() > TRACES_DIFFER_MAX
}

/// The hashes of stems, in order, each once.
fn stems<'a>(words: impl Iterator<Item = &'a String>) -> Box<[WordStem]> {
    let stems: BTreeSet<WordStem> = words.map(|word| term(word)).collect();
    stems.into_iter().collect()
}

/// Hash of a word's stem.
#[expect(clippy::cast_possible_truncation, reason = "half of a hash is one too")]
fn term(word: &str) -> WordStem {
    hash(word) as WordStem
}

fn hash(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}

/// A text's words without endings, negations and words for "now" or "new"; a text without any such
/// word counts as one word.
fn word_set(text: &str, said: &[Word]) -> BTreeSet<String> {
    let telling = said.iter().filter(|word| {
        !denies(&word.text) && !ends(&word.text) && !matches!(&*word.text, "now" | "just" | "also" | "really")
    });
    let mut set = BTreeSet::new();
    for word in telling {
        text::each_word(&text[word.range.clone()], |_, word| {
            if !text::is_stop_word(word) {
                set.insert(text::stem(word).into_owned());
            }
        });
    }
    if set.is_empty() {
        BTreeSet::from([text.to_lowercase()])
    } else {
        set
    }
}

fn traces(text: &str) -> u64 {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 3);
    let bit = |word: &str| {
        let start = word
            .bytes()
            .take(3)
            .map(|byte| u64::from(byte.to_ascii_lowercase()));
        start.fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(byte)) % 64
    };
    words.fold(0, |traces, word| traces | 1 << bit(word))
}

/// Hash of a text's words except its negation: equal for "I eat meat" and "I don't eat meat
/// anymore".
fn denied(said: &[Word], is_negated: bool) -> u64 {
    let words = said.iter().map(|word| &*word.text);
    let kept = words.filter(|word| !is_negated || !denies(word) && !ends(word));
    let stems: BTreeSet<_> = kept.map(text::stem).collect();
    hash(&stems.into_iter().collect::<Vec<_>>().join(" "))
}

/// A text's words, and whether it is negated: equal for texts that say the same in the same words.
pub(crate) fn said_words(text: &str) -> (BTreeSet<String>, bool) {
    let said = words(text);
    (word_set(text, &said), is_negated(&said))
}

fn is_negated(said: &[Word]) -> bool {
    said.iter().any(|word| denies(&word.text))
}
