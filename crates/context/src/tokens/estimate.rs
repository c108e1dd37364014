//! The estimate for an unavailable vocabulary.
//!
//! Owns: the tokens in other vocabularies for each token of o200k and each letter in it. Never: the reports of a
//! backend; [`crate::tokens::Calibration`] turns the safe estimate into a close one.
//!
//! The base is the count by o200k. The addition is a sum over pieces and letters, so that the estimate of a whole is
//! the sum of the estimates of its parts, except at the seam. The weights are the largest that real vocabularies need
//! (`cargo bench -p context --bench error`). No piece has more tokens than bytes: every vocabulary in use can fall back
//! to bytes.

use crate::tokens::vocabulary::{Vocabulary, model_is};

const MILLI: usize = 1_000;
/// Addition for a punctuation mark, for any vocabulary and for a wide one: other vocabularies join fewer of them.
const MARK_MILLI: (usize, usize) = (180, 60);
/// Maximum run of spaces that small vocabularies have as one token.
const SPACES_MAX: usize = 16;

/// Prefixes of models with a vocabulary of some 128,000 tokens or more, trained on many languages.
const WIDE: &str = "codestral-2 deepseek devstral gemini gemma gemma2 gemma3 glm-4 glm-5 grok kimi llama-3 \
    llama-4 llama3 llama4 magistral ministral mistral-nemo mistral-small mistral-medium mistral-large \
    pixtral qwen qwen2 qwen2.5 qwen3 qwq";

/// The vocabularies for which an estimate must be safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Breadth {
    /// Also vocabularies of 32,000 tokens, trained mostly on English.
    #[default]
    Any,
    /// Vocabularies of some 128,000 tokens, trained on many languages.
    Wide,
}

impl Breadth {
    pub(crate) fn of_model(name: &str) -> Self {
        if WIDE.split(' ').any(|family| model_is(name, family)) {
            Self::Wide
        } else {
            Self::Any
        }
    }

    /// The tokens of a text, never too few.
    pub(crate) fn count(self, text: &str) -> usize {
        self.milli(text).div_ceil(MILLI)
    }

    fn milli(self, text: &str) -> usize {
        let mut milli = 0;
        Vocabulary::O200k.pieces(text, |piece, tokens| milli += self.piece_milli(piece, tokens));
        milli
    }

    /// Thousandths of a token for a piece, which the vocabulary never joins with its neighbours: a word, up to three
    /// digits, a run of marks or of white space.
    fn piece_milli(self, piece: &str, tokens: usize) -> usize {
        let bytes = piece.as_bytes();
        let base = tokens * self.pick(1_250, 1_130);
        let milli = if piece.trim().is_empty() {
            // Each byte other than a space counts, whatever its neighbours are.
            let runs = bytes.chunk_by(|left, right| *left == b' ' && *right == b' ');
            base.max(runs.map(|run| run.len().div_ceil(SPACES_MAX)).sum::<usize>() * MILLI)
        } else if piece.contains(is_rare) {
            // Each byte of a rare letter is a token. They are counted separately, because a bound of the whole piece
            // would hide them.
            let rare = piece.matches(is_rare).map(str::len).sum::<usize>() * MILLI;
            rare + piece.split(is_rare).map(|part| self.milli(part)).sum::<usize>()
        } else if !piece.is_ascii() {
            base + piece
                .chars()
                .filter_map(letter_milli)
                .map(|(any, wide)| self.pick(any, wide))
                .sum::<usize>()
        } else if bytes.iter().all(u8::is_ascii_digit) {
            // Most other vocabularies have no token of more than one digit.
            bytes.len() * MILLI
        } else if bytes[bytes.len() - 1].is_ascii_alphabetic() {
            base
        } else {
            base + self.marks_milli(bytes)
        };
        milli.min(bytes.len() * MILLI)
    }

    /// Addition for marks: other vocabularies join fewer of them, and at most one line end.
    fn marks_milli(self, bytes: &[u8]) -> usize {
        let ends = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
        let first_milli = if ends > 0 { self.pick(700, 60) } else { 0 };
        (bytes.len() - ends) * self.pick(MARK_MILLI.0, MARK_MILLI.1)
            + ends.saturating_sub(1) * MILLI
            + first_milli
    }

    fn pick(self, any: usize, wide: usize) -> usize {
        match self {
            Self::Any => any,
            Self::Wide => wide,
        }
    }
}

/// Addition for a letter to its tokens in o200k, for any vocabulary and for a wide one; none for a letter that a
/// vocabulary may contain only as bytes.
fn letter_milli(letter: char) -> Option<(usize, usize)> {
    let addition = match letter {
        '\n' | '\r' => (MILLI, MILLI),
        ' ' | '0'..='9' | 'A'..='Z' | 'a'..='z' => (0, 0),
        // Marks count as in a run of marks.
        '\0'..='\x7f' => MARK_MILLI,
        // Latin: common accents, then the rarer ones up to Vietnamese.
        '\u{80}'..='\u{ff}' => (1_000, 800),
        '\u{100}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => (2_200, 1_000),
        // Greek, Cyrillic.
        '\u{370}'..='\u{3ff}' => (920, 650),
        '\u{400}'..='\u{52f}' => (310, 80),
        // Hebrew, Arabic.
        '\u{590}'..='\u{5ff}' => (720, 110),
        '\u{600}'..='\u{6ff}' => (720, 60),
        // Devanagari, Thai.
        '\u{900}'..='\u{97f}' => (980, 820),
        '\u{e00}'..='\u{e7f}' => (1_250, 130),
        // Chinese, Japanese, Korean, with their punctuation and wide forms.
        '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}' => (400, 190),
        '\u{ac00}'..='\u{d7af}' => (830, 170),
        // Typographic punctuation.
        '\u{2010}'..='\u{203a}' => (300, 100),
        // Symbols; emoji, with their joiners and variation selectors.
        '\u{203b}'..='\u{25ff}' => (700, 1_000),
        '\u{200d}' | '\u{2600}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}' => (1_100, 1_300),
        _ => return None,
    };
    Some(addition)
}

fn is_rare(letter: char) -> bool {
    letter_milli(letter).is_none()
}
