//! A byte-pair vocabulary: splitting a text into pieces, and the tokens of a piece.
//!
//! Owns: the ranks of the tokens, the pattern of the pieces, and the joining of pairs. Never: the vocabulary of a
//! model.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Read;
use std::iter;

use flate2::read::DeflateDecoder;
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

pub(crate) struct Ranks {
    /// Each token, and its place in the order of joining pairs.
    ranks: HashMap<&'static [u8], u32, BuildHasherDefault<TokenHash>>,
    piece: Regex,
}

/// A quick hash: the tokens are the binary's own, and no input adds one.
#[derive(Default)]
struct TokenHash(u64);

/// 2^64 divided by the golden ratio, odd.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for TokenHash {
    fn write(&mut self, bytes: &[u8]) {
        for some in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..some.len()].copy_from_slice(some);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(SPREAD).rotate_left(29);
    }

    fn write_usize(&mut self, length: usize) {
        self.write_u64(length as u64);
    }

    fn finish(&self) -> u64 {
        self.0.wrapping_mul(SPREAD)
    }
}

impl Ranks {
    /// Reads the table that `build.rs` packed. The tokens' bytes stay for the life of the process, like the vocabulary
    /// itself.
    ///
    /// # Panics
    ///
    /// If the table or the pattern is broken: both are part of the binary.
    pub(crate) fn unpack(packed: &[u8], piece: &str) -> Self {
        let mut tokens = Vec::new();
        DeflateDecoder::new(packed)
            .read_to_end(&mut tokens)
            .expect("the binary's own table");
        let mut rest: &'static [u8] = Vec::leak(tokens);
        // A token has seven bytes, its length included, or more.
        let mut ranks = HashMap::with_capacity_and_hasher(rest.len() / 7, BuildHasherDefault::default());
        let tokens = iter::from_fn(|| {
            let (length, bytes) = rest.split_first()?;
            let token;
            (token, rest) = bytes.split_at(usize::from(*length));
            Some(token)
        });
        ranks.extend(tokens.zip(0..));
        Self {
            ranks,
            piece: Regex::new(piece).expect("the binary's own pattern"),
        }
    }

    /// The pieces of a text; no token extends beyond a piece.
    pub(crate) fn split<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let mut rest = text;
        iter::from_fn(move || {
            let found = self.piece.find(Input::new(rest).anchored(Anchored::Yes))?;
            let (piece, after) = rest.split_at(found.end() - given_back(&rest[..found.end()], rest));
            rest = after;
            Some(piece)
        })
    }

    /// The tokens of a piece. Among all neighbouring pairs that form a token, the one with the lowest rank is joined
    /// first, the left one of equals, until no pair forms a token.
    pub(crate) fn count(&self, piece: &[u8]) -> usize {
        if piece.is_empty() || self.ranks.contains_key(piece) {
            return usize::from(!piece.is_empty());
        }
        let mut parts = Parts::of(piece.len());
        let mut pairs = BinaryHeap::new();
        let pair = |parts: &Parts, start: usize| {
            let end = parts.end_of_pair(start)?;
            Some(Reverse((*self.ranks.get(&piece[start..end])?, start, end)))
        };
        pairs.extend((0..piece.len()).filter_map(|start| pair(&parts, start)));
        while let Some(Reverse((_, start, end))) = pairs.pop() {
            // One of the two may have been joined with its other neighbour meanwhile.
            if parts.end_of_pair(start) == Some(end) {
                parts.join(start);
                pairs.extend(pair(&parts, start));
                pairs.extend(parts.before(start).and_then(|before| pair(&parts, before)));
            }
        }
        parts.left
    }
}

/// The bytes at the end of a piece that belong to the next one: the last character of a run of white space belongs to
/// the following word, unless the run ends the text or ends in a line break.
fn given_back(piece: &str, text: &str) -> usize {
    match piece.chars().next_back() {
        Some(last)
            if last.is_whitespace()
                && !matches!(last, '\r' | '\n')
                && last.len_utf8() < piece.len()
                && piece.len() < text.len() =>
        {
            last.len_utf8()
        }
        _ => 0,
    }
}

/// A piece divided into parts; each part is identified by its first byte.
struct Parts {
    /// For the start of a part, its end; [`INSIDE`] for the bytes inside it.
    ends: Vec<usize>,
    /// For the start of a part, the start of the previous one.
    befores: Vec<usize>,
    left: usize,
}

const INSIDE: usize = usize::MAX;

impl Parts {
    /// One part a byte.
    fn of(bytes: usize) -> Self {
        Self {
            ends: (1..=bytes).collect(),
            befores: (0..bytes).map(|start| start.wrapping_sub(1)).collect(),
            left: bytes,
        }
    }

    /// The end of the part after this one; none if either does not exist.
    fn end_of_pair(&self, start: usize) -> Option<usize> {
        // A byte inside a part has no end within the piece.
        self.ends.get(self.ends[start]).copied()
    }

    fn before(&self, start: usize) -> Option<usize> {
        start.checked_sub(1).map(|_| self.befores[start])
    }

    fn join(&mut self, start: usize) {
        let next = self.ends[start];
        self.ends[start] = self.ends[next];
        self.ends[next] = INSIDE;
        if let Some(before) = self.befores.get_mut(self.ends[start]) {
            *before = start;
        }
        self.left -= 1;
    }
}
