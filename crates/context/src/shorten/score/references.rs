//! Which items refer to what others hold: by identifiers that few items share.
//!
//! Owns: the definition of an identifier, and how identifiers connect items. Never: other items than the given ones.

use std::borrow::Borrow;
use std::collections::HashMap;

use transcript::Item;

use crate::shorten::truncate::Unit;

/// Maximum bytes read at the head and at the tail of an item's text.
const READ_BYTES_MAX: usize = 16_384;

/// Maximum identifiers of one item.
const IDENTIFIERS_MAX: usize = 400;

/// Identifiers in more items than this, or than an eighth of all, are words of the talk.
const RARE_ITEMS_MAX: usize = 6;

/// References of earlier items to one item, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct References {
    /// How freshly others used its rare identifiers.
    pub referenced: f64,
    /// How many rare identifiers it holds.
    pub richness: f64,
}

/// For each item, the references of the others to it.
pub(super) fn of<I: Borrow<Item>>(items: &[I]) -> Vec<References> {
    let texts: Vec<String> = items.iter().map(|item| super::text(item.borrow())).collect();
    let found: Vec<Vec<&str>> = texts.iter().map(|text| identifiers(text)).collect();
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, identifiers) in found.iter().enumerate() {
        for identifier in identifiers {
            places.entry(identifier).or_default().push(index);
        }
    }
    let rare_max = RARE_ITEMS_MAX.max(items.len() / 8);
    let one = |(index, identifiers): (usize, &Vec<&str>)| {
        let mut rare = 0_usize;
        let mut used = 0.0_f64;
        for identifier in identifiers {
            let Some(places) = places.get(identifier).filter(|places| places.len() <= rare_max) else {
                continue;
            };
            rare += 1;
            let latest = places.last().copied().unwrap_or(index);
            if places.len() > 1 {
                used += 1.0 / (1.0 + (items.len() - 1 - latest) as f64 / 20.0);
            }
        }
        let richness = (rare as f64).ln_1p() / (IDENTIFIERS_MAX as f64).ln_1p();
        References {
            referenced: used / (used + 1.0),
            richness: richness.min(1.0),
        }
    };
    found.iter().enumerate().map(one).collect()
}

/// The distinct identifiers of a text, sorted: words that no dictionary has, because they hold a digit, an inner capital or
/// one of `_ - / . : @ #`. Of a long text its ends are read.
pub fn identifiers(text: &str) -> Vec<&str> {
    let (head, tail) = if text.len() <= 2 * READ_BYTES_MAX {
        (text, "")
    } else {
        (
            Unit::Bytes.head(text, READ_BYTES_MAX),
            Unit::Bytes.tail(text, READ_BYTES_MAX),
        )
    };
    let words = head.split(separates).chain(tail.split(separates));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    let mut found: Vec<&str> = words.filter(|word| is_identifier(word)).collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(IDENTIFIERS_MAX);
    found
}

fn separates(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | ':' | '@' | '#'))
}

fn is_identifier(word: &str) -> bool {
    if !(4..=200).contains(&word.len()) {
        return false;
    }
    let digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let joined = word
        .bytes()
        .any(|byte| matches!(byte, b'_' | b'/' | b'.' | b':' | b'@' | b'#'));
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let capital = word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
        && word.bytes().any(|byte| byte.is_ascii_lowercase());
    (digit && (letters > 0 || word.len() >= 5)) || (joined && letters > 1) || capital
}
