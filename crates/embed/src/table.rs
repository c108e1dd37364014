//! The distilled table inside the binary: one weighted int8 row for each word piece.
//!
//! Owns: the file's layout (written by `scripts/distill`, described in `docs/embeddings.md`) and mean pooling.
//! Never: a copy of the rows; they are read where the binary maps them, and only the rows a text needs.

mod vocab;

use std::sync::OnceLock;

use vocab::Vocab;

static FILE: &[u8] = include_bytes!("../assets/static-v1.bin");

const MAGIC: &[u8; 8] = b"QUIPUEMB";
const VERSION: u32 = 1;
/// Magic, version, dims, rows, bytes of vocabulary, SHA-256 of what follows.
const HEADER_BYTES: usize = 56;

/// Reading further would not change a mean much, and would let one line of a megabyte hold up the others.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// How many numbers a vector of the table has.
pub(crate) const DIMS: usize = 256;

/// The parsed table.
#[derive(Debug)]
pub(crate) struct Table {
    /// One for each row, weight of the piece included; 0 for pieces that mean nothing.
    scales: Vec<f32>,
    rows: &'static [u8],
    vocab: Vocab,
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
        let number =
            |at: usize| -> Option<u32> { Some(u32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?)) };
        let known = header.starts_with(MAGIC) && number(8)? == VERSION;
        let dims = usize::try_from(number(12)?).ok()?;
        let count = usize::try_from(number(16)?).ok()?;
        let vocab_bytes = usize::try_from(number(20)?).ok()?;
        let (scales, rest) = rest.split_at_checked(count.checked_mul(4)?)?;
        let (rows, vocab) = rest.split_at_checked(count.checked_mul(dims)?)?;
        if !known || dims != DIMS || vocab.len() != vocab_bytes {
            return None;
        }
        let scales = scales
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        let vocab = Vocab::new(std::str::from_utf8(vocab).ok()?, count)?;
        Some(Self { scales, rows, vocab })
    }

    /// The unit vector of a text; all zero when the table knows nothing in it.
    pub(crate) fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0_f32; DIMS];
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        self.vocab.pieces(text, &mut |piece| {
            let piece = usize::from(piece);
            let scale = self.scales[piece];
            if scale == 0.0 {
                return;
            }
            let row = &self.rows[piece * DIMS..(piece + 1) * DIMS];
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += scale * f32::from(value.cast_signed());
            }
        });
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        // Pieces can cancel out down to rounding noise, which is no direction.
        if length < 1e-6 {
            return vec![0.0; DIMS];
        }
        for x in &mut sum {
            *x /= length;
        }
        sum
    }
}

#[cfg(test)]
mod tests;
