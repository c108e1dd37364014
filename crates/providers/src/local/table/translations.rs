//! Words of other languages, each with the three pieces of the table of the same meaning.
//!
//! Owns: the layout of `words-v1.bin` (written by `scripts/distill/words.py`, described in
//! `docs/internals/embeddings.md`), and finding words in text without spaces. Never: detecting the language
//! of a text; a word that English uses is not in the file.

use std::borrow::Cow;

use tokenizers::normalizers::BertNormalizer;
use tokenizers::{NormalizedString, Normalizer};

use super::vocab::{Vocab, hash};

pub(super) static FILE: &[u8] = include_bytes!("../../../assets/words-v1.bin");

const MAGIC: &[u8; 8] = b"QUIPUWRD";
const VERSION: [u8; 4] = 1_u32.to_le_bytes();
/// Magic, version, words, SHA-256 of the rest.
pub(super) const HEADER_BYTES: usize = 48;
/// Number of pieces that represent a word; each has this part of the weight.
pub(super) const PIECES: usize = 3;
/// Marks, in the first piece, a word that English has too.
const SHARED: u16 = 0x8000;
/// A text is in another language if at least this share of its words is not English. A third of this value
/// finds as much, twice this value less.
const FOREIGN_SHARE_MIN: f64 = 0.15;
/// Maximum characters of a known word of a text without spaces. A syllable of Korean is up to three of these
/// characters.
const WORD_CHARS_MAX: usize = 16;
/// The first letter of the scripts written without spaces, or with endings, from Hangul on.
const UNSPACED: char = '\u{1100}';

/// The meaning of a word of another language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meaning {
    /// Row ids of the table.
    pub(super) pieces: [u16; PIECES],
    /// Whether English has a word of the same letters, so that only the neighbouring words decide.
    pub(super) is_shared: bool,
}

impl Meaning {
    fn of(bytes: [u8; 2 * PIECES]) -> Self {
        let (each, _) = bytes.as_chunks::<2>();
        let pieces: [u16; PIECES] = std::array::from_fn(|piece| u16::from_le_bytes(each[piece]));
        Self {
            pieces: pieces.map(|piece| piece & !SHARED),
            is_shared: pieces[0] & SHARED != 0,
        }
    }
}

/// The words of this binary, read from the mapped file.
#[derive(Debug)]
pub(super) struct Translations {
    /// Hashes of the words, ascending.
    hashes: &'static [[u8; 4]],
    pieces: &'static [[u8; 2 * PIECES]],
}

impl Translations {
    /// The words of this binary.
    pub(super) fn of_binary() -> Option<Self> {
        Self::parse(FILE)
    }

    pub(super) fn parse(file: &'static [u8]) -> Option<Self> {
        let (header, rest) = file.split_at_checked(HEADER_BYTES)?;
        let known = header.starts_with(MAGIC) && header[8..12] == VERSION;
        let count = usize::try_from(u32::from_le_bytes(header[12..16].try_into().ok()?)).ok()?;
        let (hashes, pieces) = rest.split_at_checked(count.checked_mul(4)?)?;
        let words = Self {
            hashes: hashes.as_chunks().0,
            pieces: pieces.as_chunks().0,
        };
        (known && pieces.len() == count * 2 * PIECES).then_some(words)
    }

    /// The meaning of a word in lower case and without accents.
    pub(super) fn meaning(&self, word: &str) -> Option<Meaning> {
        let wanted = hash(word);
        let at = (self.hashes).binary_search_by_key(&wanted, |hash| u32::from_le_bytes(*hash));
        Some(Meaning::of(self.pieces[at.ok()?]))
    }

    /// Every hash and meaning, in the order of the hashes.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, Meaning)> {
        let hashes = self.hashes.iter().map(|hash| u32::from_le_bytes(*hash));
        hashes.zip(self.pieces.iter().map(|pieces| Meaning::of(*pieces)))
    }

    /// Whether a text is in another language: enough of its words are not English.
    pub(super) fn is_foreign(&self, text: &str) -> bool {
        let mut foreign = 0_u32;
        let left = self.take(text, &mut |_| foreign += 1);
        let mut words = foreign;
        Vocab::each_word(&left, &mut |word| {
            words += u32::from(word.starts_with(char::is_alphabetic));
            foreign += u32::from(self.meaning(word).is_some_and(|meaning| !meaning.is_shared));
        });
        foreign > 0 && f64::from(foreign) >= FOREIGN_SHARE_MIN * f64::from(words)
    }

    /// Finds the words of a text without spaces, the longest first. In the returned text a space replaces
    /// each.
    pub(super) fn take<'a>(&self, text: &'a str, found: &mut impl FnMut(Meaning)) -> Cow<'a, str> {
        if !text.contains(is_unspaced) {
            return Cow::Borrowed(text);
        }
        let mut normal = NormalizedString::from(text);
        BertNormalizer::new(true, false, Some(true), true)
            .normalize(&mut normal)
            .expect("normalising cannot fail");
        let mut rest = normal.get();
        let mut left = String::with_capacity(rest.len());
        while let Some(first) = rest.chars().next() {
            let bytes = if let Some((meaning, bytes)) = self.longest(rest) {
                found(meaning);
                left.push(' ');
                bytes
            } else {
                left.push(first);
                first.len_utf8()
            };
            rest = &rest[bytes..];
        }
        Cow::Owned(left)
    }

    /// The longest known word at the beginning of a text, and its length in bytes.
    fn longest(&self, text: &str) -> Option<(Meaning, usize)> {
        let letters = text
            .chars()
            .take(WORD_CHARS_MAX)
            .take_while(|letter| is_unspaced(*letter));
        let mut end = letters.map(char::len_utf8).sum();
        while end > 0 {
            if let Some(meaning) = self.meaning(&text[..end]) {
                return Some((meaning, end));
            }
            end = text.floor_char_boundary(end - 1);
        }
        None
    }
}

/// Whether a letter belongs to a script that is searched for words without spaces.
fn is_unspaced(letter: char) -> bool {
    letter >= UNSPACED && letter.is_alphabetic()
}
