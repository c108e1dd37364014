//! Text to word pieces, cut as by the uncased BERT tokenizer.
//!
//! Owns: the vocabulary's lookup and the greedy cut. Never: rules for Unicode. Words that are not ASCII go
//! through the `tokenizers` crate's own normaliser and splitter, so both agree by construction; its
//! vocabulary would cost several megabytes and most of a cold start, this one costs 250 KB and about a
//! millisecond.
//!
//! One difference is intended: `[CLS]` and similar tokens in a text are five ordinary characters, never a
//! special token.

use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::{
    NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer,
};

/// A longer word is one unknown piece, as in the reference.
const WORD_CHARS_MAX: usize = 100;
/// No piece is longer.
const PIECE_BYTES_MAX: usize = 64;
const SLOTS: usize = 1 << 16;
const EMPTY: u16 = u16::MAX;

/// A vocabulary in the order of its ids, with an open-addressing table over it.
#[derive(Debug)]
pub(super) struct Vocab {
    /// One line for each piece.
    text: &'static str,
    /// The start of each line, and the end of the last one.
    starts: Vec<u32>,
    slots: Vec<u16>,
    unknown: u16,
    longest_bytes: usize,
}

impl Vocab {
    /// The vocabulary of that text, if it has `count` lines, none too long, and one of them is `[UNK]`.
    pub(super) fn new(text: &'static str, count: usize) -> Option<Self> {
        // The table is at most half full, and no id equals the mark of an empty slot.
        if count > SLOTS / 2 || !text.ends_with('\n') {
            return None;
        }
        let mut vocab = Self {
            text,
            starts: Vec::with_capacity(count + 1),
            slots: vec![EMPTY; SLOTS],
            unknown: 0,
            longest_bytes: 0,
        };
        let mut start = 0;
        for (id, line) in (0_u16..).zip(text.split_terminator('\n')) {
            vocab.starts.push(start);
            start += u32::try_from(line.len() + 1).ok()?;
            let (continued, piece) = parts(line);
            vocab.longest_bytes = vocab.longest_bytes.max(piece.len());
            if line == "[UNK]" {
                vocab.unknown = id;
            }
            let mut slot = first_slot(piece.bytes().fold(seed(continued), mixed));
            while vocab.slots[slot] != EMPTY {
                slot = (slot + 1) % SLOTS;
            }
            vocab.slots[slot] = id;
        }
        vocab.starts.push(start);
        let is_whole = vocab.starts.len() == count + 1 && vocab.unknown != 0;
        (is_whole && vocab.longest_bytes <= PIECE_BYTES_MAX).then_some(vocab)
    }

    /// Every piece, in the order of the ids.
    #[cfg(test)]
    pub(super) fn lines(&self) -> impl Iterator<Item = &'static str> {
        self.text.split_terminator('\n')
    }

    /// Calls `found` with each word of a text, in lower case and without accents, in order.
    pub(super) fn each_word(text: &str, found: &mut impl FnMut(&str)) {
        let mut lower = String::new();
        for chunk in text
            .split([' ', '\t', '\n', '\r'])
            .filter(|chunk| !chunk.is_empty())
        {
            if chunk.is_ascii() {
                lower.clear();
                lower.extend(
                    chunk
                        .chars()
                        .filter(|c| !c.is_ascii_control())
                        .map(|c| c.to_ascii_lowercase()),
                );
                ascii(&lower, found);
            } else {
                unicode(chunk, found);
            }
        }
    }

    /// Cuts one word, longest known piece first, and calls `found` with the ids; a word with an unknown rest
    /// is unknown as a whole.
    pub(super) fn cut(&self, word: &str, found: &mut impl FnMut(u16)) {
        if word.chars().count() > WORD_CHARS_MAX {
            return found(self.unknown);
        }
        let mut ids = [0_u16; WORD_CHARS_MAX];
        let mut cut = 0;
        let mut rest = word;
        while !rest.is_empty() {
            let Some((id, bytes)) = self.longest(rest, cut > 0) else {
                return found(self.unknown);
            };
            ids[cut] = id;
            cut += 1;
            rest = &rest[bytes..];
        }
        ids[..cut].iter().copied().for_each(found);
    }

    fn longest(&self, rest: &str, continued: bool) -> Option<(u16, usize)> {
        let end = rest.floor_char_boundary(self.longest_bytes);
        // The hash of each beginning, computed from the one before it.
        let mut hashes = [0; PIECE_BYTES_MAX];
        let mut hash = seed(continued);
        for (byte, kept) in rest[..end].bytes().zip(&mut hashes) {
            hash = mixed(hash, byte);
            *kept = hash;
        }
        let mut ends = (1..=end).rev().filter(|end| rest.is_char_boundary(*end));
        ends.find_map(|end| Some((self.id(hashes[end - 1], continued, &rest[..end])?, end)))
    }

    fn id(&self, hash: u32, continued: bool, piece: &str) -> Option<u16> {
        let mut slot = first_slot(hash);
        while self.slots[slot] != EMPTY {
            let id = self.slots[slot];
            if parts(self.line(id)) == (continued, piece) {
                return Some(id);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }

    fn line(&self, id: u16) -> &'static str {
        let at = |id: usize| usize::try_from(self.starts[id]).expect("offsets into a text in memory");
        &self.text[at(usize::from(id))..at(usize::from(id) + 1) - 1]
    }
}

fn ascii(chunk: &str, found: &mut impl FnMut(&str)) {
    let mut rest = chunk;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c.is_ascii_punctuation())
            .map_or(rest.len(), |at| at.max(1));
        let (word, after) = rest.split_at(end);
        found(word);
        rest = after;
    }
}

fn unicode(chunk: &str, found: &mut impl FnMut(&str)) {
    let mut normal = NormalizedString::from(chunk);
    BertNormalizer::default()
        .normalize(&mut normal)
        .expect("normalising cannot fail");
    let mut split = PreTokenizedString::from(normal);
    BertPreTokenizer
        .pre_tokenize(&mut split)
        .expect("splitting by characters cannot fail");
    for (word, ..) in split.get_splits(OffsetReferential::Normalized, OffsetType::Byte) {
        found(word);
    }
}

/// Whether a line of the vocabulary continues a word, and the line's text.
fn parts(line: &str) -> (bool, &str) {
    match line.strip_prefix("##") {
        Some(piece) if !piece.is_empty() => (true, piece),
        _ => (false, line),
    }
}

/// FNV-1a of a word.
pub(super) fn hash(word: &str) -> u32 {
    word.bytes().fold(seed(false), mixed)
}

/// The initial value of FNV-1a.
fn seed(continued: bool) -> u32 {
    0x811c_9dc5 ^ u32::from(continued)
}

fn mixed(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

/// The slot of a hash: the hash folded to the size of the table.
fn first_slot(hash: u32) -> usize {
    usize::from(u16::try_from((hash >> 16) ^ (hash & 0xffff)).expect("both halves have 16 bits"))
}
