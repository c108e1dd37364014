//! Counting by a tokenizer file that the user has.
//!
//! Owns: reading a `tokenizer.json` and counting with it in bounded pieces. Never: fetching one.

use std::fmt;

use tokenizers::Tokenizer;

/// The tokenizer encodes no more at once: its memory and its time per byte then do not grow with the text. Every cut may add
/// a token or two, which is below one in a thousand.
const PIECE_BYTES: usize = 16 * 1024;

/// That the bytes are not a tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfitTokenizer {
    /// Error of the file's reader.
    pub reason: String,
}

impl fmt::Display for UnfitTokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a usable `tokenizer.json`: {}", self.reason)
    }
}

impl std::error::Error for UnfitTokenizer {}

pub(crate) struct Local {
    pub(crate) name: String,
    tokenizer: Tokenizer,
}

impl Local {
    pub(crate) fn read(name: &str, json: &[u8]) -> Result<Self, UnfitTokenizer> {
        let unfit = |error: tokenizers::Error| UnfitTokenizer {
            reason: error.to_string(),
        };
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(unfit)?;
        // Files made for embedding cut or fill every text to one length.
        tokenizer.with_truncation(None).map_err(unfit)?;
        tokenizer.with_padding(None);
        Ok(Self {
            name: name.to_owned(),
            tokenizer,
        })
    }

    /// The tokens of a text; nothing if the tokenizer cannot encode it.
    pub(crate) fn count(&self, text: &str) -> Option<usize> {
        pieces(text)
            .map(|piece| Some(self.tokenizer.encode_fast(piece, false).ok()?.len()))
            .sum()
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The text in parts of at most [`PIECE_BYTES`], cut before white space if there is any.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let (piece, rest) = text.split_at(cut(text));
        text = rest;
        Some(piece)
    })
}

fn cut(text: &str) -> usize {
    if text.len() <= PIECE_BYTES {
        return text.len();
    }
    let end = text.floor_char_boundary(PIECE_BYTES);
    match text[..end].rfind(char::is_whitespace) {
        Some(space) if space > 0 => space,
        _ => end,
    }
}
