//! Cache of counts. Most words of a text occurred before, and a long text is often counted twice: to check whether it
//! fits, and to keep it.
//!
//! Owns: for each thread, a table of short pieces by vocabulary, and the last long text. Invariant: texts are compared
//! byte for byte, so a count never belongs to another text. Never: growing; a new entry replaces an old one.

use std::cell::Cell;
use std::ops::RangeInclusive;

use crate::tokens::meter::CountSource;
use crate::tokens::vocabulary::Vocabulary;

const PIECE_BYTES_MAX: usize = 14;
const SLOTS_BITS: u32 = 14;
/// Sizes of remembered texts: a shorter one is counted as quickly, a longer one would take too much memory.
const TEXT_BYTES: RangeInclusive<usize> = 1 << 10..=256 << 10;
/// Spreads the bits of a key; 2^128 divided by the golden ratio, odd.
const SPREAD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;

thread_local! {
    static O200K: Cell<Pieces> = const { Cell::new(Pieces(Vec::new())) };
    static CL100K: Cell<Pieces> = const { Cell::new(Pieces(Vec::new())) };
    static LAST: Cell<Option<LastText>> = const { Cell::new(None) };
}

/// A long text, its counter, and its tokens.
struct LastText {
    text: String,
    by: CountSource,
    tokens: usize,
}

/// The tokens of a text; not counted again if it is the last long text.
pub(crate) fn text(by: CountSource, text: &str, count: impl FnOnce() -> usize) -> usize {
    if !TEXT_BYTES.contains(&text.len()) {
        return count();
    }
    let mut last = LAST.take().unwrap_or_else(|| LastText {
        text: String::new(),
        by,
        tokens: 0,
    });
    if last.by != by || last.text != text {
        last.tokens = count();
        last.by = by;
        text.clone_into(&mut last.text);
    }
    let tokens = last.tokens;
    LAST.set(Some(last));
    tokens
}

/// A piece with a NUL at its end, its length in the last byte, and its tokens.
#[derive(Clone, Copy)]
struct Slot {
    key: [u8; 15],
    tokens: u8,
}

const EMPTY: Slot = Slot {
    key: [0; 15],
    tokens: 0,
};

/// The table of one vocabulary; taken from its thread while a text is counted.
#[derive(Default)]
pub(crate) struct Pieces(Vec<Slot>);

impl Pieces {
    pub(crate) fn take(vocabulary: Vocabulary) -> Self {
        let mut pieces = of(vocabulary, Cell::take);
        if pieces.0.is_empty() {
            pieces.0 = vec![EMPTY; 1 << SLOTS_BITS];
        }
        pieces
    }

    pub(crate) fn give_back(self, vocabulary: Vocabulary) {
        of(vocabulary, |cell| cell.set(self));
    }

    /// The tokens of a piece.
    pub(crate) fn count(&mut self, piece: &str, count: impl FnOnce(&str) -> usize) -> usize {
        if piece.is_empty() || piece.len() > PIECE_BYTES_MAX {
            return count(piece);
        }
        let mut key = [0; 15];
        key[..piece.len()].copy_from_slice(piece.as_bytes());
        key[PIECE_BYTES_MAX] = piece.len().to_le_bytes()[0];
        let slot = &mut self.0[place(key)];
        if slot.key != key {
            let tokens = count(piece);
            let Ok(tokens) = u8::try_from(tokens) else {
                return tokens;
            };
            *slot = Slot { key, tokens };
        }
        usize::from(slot.tokens)
    }
}

fn of<T>(vocabulary: Vocabulary, act: impl FnOnce(&Cell<Pieces>) -> T) -> T {
    match vocabulary {
        Vocabulary::O200k => O200K.with(act),
        Vocabulary::Cl100k => CL100K.with(act),
    }
}

fn place(key: [u8; 15]) -> usize {
    let mut bytes = [0; 16];
    bytes[..15].copy_from_slice(&key);
    let spread = u128::from_le_bytes(bytes).wrapping_mul(SPREAD);
    usize::try_from(spread >> (u128::BITS - SLOTS_BITS)).expect("a few bits")
}
