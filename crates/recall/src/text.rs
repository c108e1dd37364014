//! Text analysis: a text becomes terms, the same way for rows and for queries.
//!
//! Owns: where words begin and end in any script, folding, stemming, stop words. Never: what terms weigh.
//!
//! Words of letters are lower-cased, freed of diacritics and stemmed as English; numbers stay whole ("1,000" is "1000",
//! "7th" is "7"); Han characters count one by one and in pairs, kana and hangul in pairs.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

/// Longer words are cut here: what has no spaces is not a word.
const WORD_BYTES_MAX: usize = 64;

/// The terms of a text, in order, with repetitions.
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    each_word(text, |_, word| {
        if !is_stop_word(word) {
            terms.push(stem(word).into_owned());
        }
    });
    terms
}

/// Calls `found` with each word's place and its folded form, not stemmed, stop words included.
pub fn each_word(text: &str, mut found: impl FnMut(Range<usize>, &str)) {
    let mut word = String::with_capacity(WORD_BYTES_MAX);
    let mut chars = text.char_indices().peekable();
    let mut pair = String::new();
    while let Some((start, first)) = chars.next() {
        if let Some(alone) = ideograph(first) {
            pair.clear();
            pair.push(first);
            let next = chars
                .peek()
                .copied()
                .filter(|(_, next)| ideograph(*next).is_some());
            let single = next.is_none()
                && text[..start]
                    .chars()
                    .next_back()
                    .is_none_or(|c| ideograph(c).is_none());
            if alone || single {
                found(start..start + first.len_utf8(), &pair);
            }
            if let Some((at, next)) = next {
                pair.push(next);
                found(start..at + next.len_utf8(), &pair);
            }
            continue;
        }
        if !is_letter(first) {
            continue;
        }
        word.clear();
        fold(first, &mut word);
        let mut end = start + first.len_utf8();
        while let Some(&(at, next)) = chars.peek() {
            let inside = is_letter(next) && ideograph(next).is_none();
            if !inside && !joins(text, at, next) {
                break;
            }
            if inside && word.len() < WORD_BYTES_MAX {
                fold(next, &mut word);
            } else if next == '.' {
                word.push('.');
            }
            end = at + next.len_utf8();
            chars.next();
            if is_apostrophe(next) && clitic(&text[end..]) {
                skip_letters(&mut chars, &mut end);
                break;
            }
        }
        let plain = ordinal(&word).unwrap_or(&word);
        if !plain.is_empty() {
            found(start..end, plain);
        }
    }
}

/// A folded word's stem; words that are not plain letters stay as they are.
pub fn stem(word: &str) -> Cow<'_, str> {
    if word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Stemmer::create(Algorithm::English).stem(word);
    }
    Cow::Borrowed(word)
}

/// Whether a folded word says too little to be looked for.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

const STOP_WORDS: [&str; 94] = [
    "a", "about", "after", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "before",
    "being", "but", "by", "can", "could", "did", "do", "does", "doing", "don", "for", "from", "had", "has",
    "have", "having", "he", "her", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "just", "me", "my", "no", "not", "of", "on", "or", "our", "ours", "out", "s", "she", "should", "so",
    "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "to", "too", "up", "us", "very", "was", "we", "were", "what", "when", "where", "which", "while",
    "who", "whom", "why", "will", "with", "would", "you", "your", "yours",
];

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c)
}

/// A combining mark: part of a word, dropped by folding.
fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

/// Whether a character of a script without spaces, and whether it means something alone.
fn ideograph(c: char) -> Option<bool> {
    match c {
        '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}' => Some(true),
        '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ac00}'..='\u{d7af}' => Some(false),
        _ => None,
    }
}

/// Whether a character between two letters or digits holds them together: "don't", "3.5", "1,000".
fn joins(text: &str, at: usize, c: char) -> bool {
    let rest = &text[at + c.len_utf8()..];
    let digit_before = text[..at].ends_with(|c: char| c.is_ascii_digit());
    let next = rest.bytes().next().unwrap_or(b' ');
    match c {
        '.' => digit_before && next.is_ascii_digit(),
        ',' => {
            digit_before
                && rest.len() >= 3
                && rest.bytes().take(3).all(|b| b.is_ascii_digit())
                && rest.as_bytes().get(3).is_none_or(|b| !b.is_ascii_digit())
        }
        c if is_apostrophe(c) => {
            rest.starts_with(|c: char| is_letter(c) && ideograph(c).is_none()) && !digit_before
        }
        _ => false,
    }
}

/// Whether what follows an apostrophe is an English ending: 's, 't, 'll.
fn clitic(rest: &str) -> bool {
    let len = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let ending = &rest[..len];
    let closed = !rest[len..].starts_with(is_letter);
    closed
        && ["s", "t", "d", "m", "ll", "re", "ve"]
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
}

fn skip_letters(chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>, end: &mut usize) {
    while let Some((at, c)) = chars.next_if(|(_, c)| c.is_ascii_alphabetic()) {
        *end = at + c.len_utf8();
    }
}

/// The number in "7th".
fn ordinal(word: &str) -> Option<&str> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|suffix| word.strip_suffix(suffix))?;
    digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits)
}

/// Pushes a letter in lower case and without diacritics, as far as a table of Latin letters knows them.
fn fold(c: char, into: &mut String) {
    if c.is_ascii() {
        into.push(c.to_ascii_lowercase());
        return;
    }
    if is_mark(c) {
        return;
    }
    // Full-width forms lie at a fixed distance from ASCII.
    if ('\u{ff01}'..='\u{ff5e}').contains(&c) {
        let ascii = char::from_u32(c as u32 - 0xfee0).unwrap_or(c);
        into.push(ascii.to_ascii_lowercase());
        return;
    }
    for lower in c.to_lowercase() {
        match latin(lower) {
            Some(plain) => into.push_str(plain),
            None if is_mark(lower) => {}
            None => into.push(lower),
        }
    }
}

fn latin(c: char) -> Option<&'static str> {
    Some(match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ǎ' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ơ' => "o",
        'œ' => "oe",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'þ' => "th",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ư' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
}
