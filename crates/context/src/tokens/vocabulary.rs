//! OpenAI's vocabularies and the models that use them.
//!
//! Owns: the vocabulary of a model's name, the patterns of its pieces, and its exact counts. Never: other vendors'
//! vocabularies.

use std::sync::LazyLock;

use crate::tokens::memo::Pieces;
use crate::tokens::ranks::Ranks;

/// A vocabulary with exact counts.
///
/// Its table is read at its first use and stays for the life of the process; see the crate's documentation for the
/// cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    O200k,
    Cl100k,
}

/// Prefixes of models' names. The first match decides.
const FAMILIES: [(Vocabulary, &str); 2] = [
    (
        Vocabulary::O200k,
        "gpt-4o gpt-4.1 gpt-4.5 gpt-5 gpt-oss chatgpt-4o codex-mini o1 o3 o4",
    ),
    (
        Vocabulary::Cl100k,
        "gpt-4 gpt-3.5 gpt-35 text-embedding-3 text-embedding-ada-002",
    ),
];

/// A longer piece is counted in parts of this size: for a long run of one mark, the vocabulary's own search costs fifty
/// times as much as for a text. Each cut adds at most one token to a hundred or more.
const PART_BYTES: usize = 8 * 1024;

/// A word with an optional mark before it and `'s` after it, up to three digits, marks with a space before and line
/// breaks after them, or white space.
const O200K_PIECE: &str = r"(?x)
    [^\r\n\p{L}\p{N}]? [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]* [\p{Ll}\p{Lm}\p{Lo}\p{M}]+ (?i: '(?:s|t|re|ve|m|ll|d) )?
    | [^\r\n\p{L}\p{N}]? [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+ [\p{Ll}\p{Lm}\p{Lo}\p{M}]* (?i: '(?:s|t|re|ve|m|ll|d) )?
    | \p{N}{1,3}
    | \x20? [^\s\p{L}\p{N}]+ [\r\n/]*
    | \s* [\r\n]+
    | \s+";

const CL100K_PIECE: &str = r"(?x)
    (?i: '(?:s|t|re|ve|m|ll|d) )
    | [^\r\n\p{L}\p{N}]? \p{L}+
    | \p{N}{1,3}
    | \x20? [^\s\p{L}\p{N}]+ [\r\n]*
    | \s* [\r\n]+
    | \s+";

impl Vocabulary {
    /// The vocabulary of a model; none for a model that is not known to be OpenAI's.
    ///
    /// Case and additions by routers do not matter: `openai/gpt-5`, `openai.gpt-oss-120b-1:0`,
    /// `ft:gpt-4o-2024-08-06:org::id`, `gpt-4.1-2025-04-14`.
    pub fn of_model(name: &str) -> Option<Self> {
        let is_of = |families: &str| families.split(' ').any(|family| model_is(name, family));
        let found = FAMILIES.iter().find(|(_, families)| is_of(families));
        found.map(|(vocabulary, _)| *vocabulary)
    }

    /// The exact tokens of a text, unless 8 KiB of it are one word or one run of marks: then within 1 % for that part.
    /// Text that looks like a special token counts as plain text.
    pub fn count(self, text: &str) -> usize {
        let mut sum = 0;
        self.pieces(text, |_, tokens| sum += tokens);
        sum
    }

    /// Passes each piece of the text, which the vocabulary never joins with its neighbours, and its tokens to `see`.
    pub(crate) fn pieces(self, text: &str, mut see: impl FnMut(&str, usize)) {
        let mut known = Pieces::take(self);
        let table = self.table();
        // Long runs consist of equal parts.
        let mut last = ("", 0);
        for piece in table.split(text) {
            if piece.len() <= PART_BYTES {
                see(piece, known.count(piece, |piece| table.count(piece.as_bytes())));
                continue;
            }
            let mut rest = piece;
            while !rest.is_empty() {
                let (part, after) = rest.split_at(rest.floor_char_boundary(PART_BYTES));
                if part != last.0 {
                    last = (part, table.count(part.as_bytes()));
                }
                see(part, last.1);
                rest = after;
            }
        }
        known.give_back(self);
    }

    fn table(self) -> &'static Ranks {
        static O200K: LazyLock<Ranks> = LazyLock::new(|| {
            let packed = include_bytes!(concat!(env!("OUT_DIR"), "/o200k"));
            Ranks::unpack(packed, O200K_PIECE)
        });
        static CL100K: LazyLock<Ranks> = LazyLock::new(|| {
            let packed = include_bytes!(concat!(env!("OUT_DIR"), "/cl100k"));
            Ranks::unpack(packed, CL100K_PIECE)
        });
        match self {
            Self::O200k => &O200K,
            Self::Cl100k => &CL100K,
        }
    }
}

/// Whether a model's name, without prefixes of routers and vendors, begins with the family's, followed by neither a
/// letter nor a digit.
pub(crate) fn model_is(name: &str, family: &str) -> bool {
    let name = name.trim().to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let name = name.strip_prefix("meta-").unwrap_or(name);
    let name = name.strip_prefix("openai.").unwrap_or(name);
    name.strip_prefix(family)
        .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}
