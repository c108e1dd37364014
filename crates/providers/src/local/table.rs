//! The distilled table inside the binary: for each word piece a weighted int8 row in parts, each from another
//! model.
//!
//! Owns: the file's layout (written by `scripts/distill`, described in `docs/internals/embeddings.md`) and
//! mean pooling. Never: a copy of the rows; they are read from the mapped binary, and only the rows that a
//! text needs.

mod translations;
mod vocab;

use std::sync::OnceLock;

use translations::{Meaning, Translations};
use vocab::Vocab;

static FILE: &[u8] = include_bytes!("../../assets/static-v2.bin");

const MAGIC: &[u8; 8] = b"QUIPUEMB";
const VERSION: usize = 2;
/// Magic, version, parts, dims of a part, rows, bytes of vocabulary, SHA-256 of the rest.
const HEADER_BYTES: usize = 60;

/// More text would hardly change a mean, and one line of a megabyte would delay other texts.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Number of parts of a vector. Each part gets unit length before it is weighed, so that no model dominates
/// for some texts.
const PARTS: usize = 2;
const PART_DIMS: usize = 128;
/// Dimensions of a vector of the table.
pub(crate) const DIMS: usize = PARTS * PART_DIMS;
/// Weight of each piece that represents a word of another language.
const WORD_SHARE: f32 = 1.0 / translations::PIECES as f32;
/// Pieces can cancel out to rounding noise; a shorter vector has no direction.
const LENGTH_MIN: f32 = 1e-6;

/// The parsed table.
#[derive(Debug)]
pub(crate) struct Table {
    /// Weight of each part.
    weights: [f32; PARTS],
    /// For each part of each row, including the weight of the piece; 0 for pieces without meaning.
    scales: Vec<[f32; PARTS]>,
    rows: &'static [[u8; DIMS]],
    vocab: Vocab,
    translations: Translations,
}

impl Table {
    /// The table of this binary, parsed at the first call.
    pub(crate) fn get() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| {
            Self::parse(FILE).expect("the table was checked by the tests of the build it is part of")
        })
    }

    fn parse(file: &'static [u8]) -> Option<Self> {
        let (header, rest) = file.split_at_checked(HEADER_BYTES)?;
        let number = |at: usize| -> Option<usize> {
            let bytes = header.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let shape = (number(8)?, number(12)?, number(16)?);
        let known = header.starts_with(MAGIC) && shape == (VERSION, PARTS, PART_DIMS);
        let (count, vocab_bytes) = (number(20)?, number(24)?);
        let (weights, rest) = rest.split_at_checked(4 * PARTS)?;
        let (scales, rest) = rest.split_at_checked(count.checked_mul(4 * PARTS)?)?;
        let (rows, vocab) = rest.split_at_checked(count.checked_mul(DIMS)?)?;
        if !known || vocab.len() != vocab_bytes {
            return None;
        }
        let floats = |bytes: &[u8; 4 * PARTS]| -> [f32; PARTS] {
            let (each, _) = bytes.as_chunks::<4>();
            std::array::from_fn(|part| f32::from_le_bytes(each[part]))
        };
        Some(Self {
            weights: floats(weights.try_into().ok()?),
            scales: scales.as_chunks().0.iter().map(floats).collect(),
            rows: rows.as_chunks().0,
            vocab: Vocab::new(std::str::from_utf8(vocab).ok()?, count)?,
            translations: Translations::of_binary()?,
        })
    }

    /// The unit vector of a text; all zero if the table knows none of its words.
    pub(crate) fn embed(&self, text: &str) -> Vec<f32> {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        let mut sum = vec![0.0_f32; DIMS];
        if self.translations.is_foreign(text) {
            let left = self
                .translations
                .take(text, &mut |meaning| self.add_meaning(meaning, &mut sum));
            Vocab::each_word(&left, &mut |word| match self.translations.meaning(word) {
                Some(meaning) => self.add_meaning(meaning, &mut sum),
                None => self.add_word(word, &mut sum),
            });
        } else {
            Vocab::each_word(text, &mut |word| self.add_word(word, &mut sum));
        }
        let (parts, _) = sum.as_chunks_mut::<PART_DIMS>();
        for (part, weight) in parts.iter_mut().zip(self.weights) {
            bring_to(weight, part);
        }
        bring_to(1.0, &mut sum);
        sum
    }

    fn add_word(&self, word: &str, numbers: &mut [f32]) {
        self.vocab.cut(word, &mut |piece| self.add(piece, 1.0, numbers));
    }

    fn add_meaning(&self, meaning: Meaning, numbers: &mut [f32]) {
        for piece in meaning.pieces {
            self.add(piece, WORD_SHARE, numbers);
        }
    }

    /// Adds `times` times the row of a piece.
    fn add(&self, piece: u16, times: f32, numbers: &mut [f32]) {
        let piece = usize::from(piece);
        let (parts, _) = numbers.as_chunks_mut::<PART_DIMS>();
        let (row, _) = self.rows[piece].as_chunks::<PART_DIMS>();
        for ((part, row), scale) in parts.iter_mut().zip(row).zip(self.scales[piece]) {
            if scale == 0.0 {
                continue;
            }
            for (number, value) in part.iter_mut().zip(row) {
                *number += times * scale * f32::from(value.cast_signed());
            }
        }
    }
}

/// Scales numbers with a direction to this length; others become zero.
fn bring_to(length: f32, numbers: &mut [f32]) {
    let own = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
    let factor = if own < LENGTH_MIN { 0.0 } else { length / own };
    for x in numbers {
        *x *= factor;
    }
}

#[cfg(test)]
mod tests;
