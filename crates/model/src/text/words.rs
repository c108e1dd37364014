//! Text analysis: a text becomes terms, the same way for rows and for queries.
//!
//! Owns: word boundaries in any script, folding. Never: the weight of terms, or rules of a
//! language.
//!
//! Words of letters become lower case without diacritics; numbers stay complete ("1,000" is "1000",
//! "7th" is "7"). Text in scripts without spaces becomes pairs of neighbouring characters, with
//! their marks: no dictionary is needed, and a word is found at any place. Han characters also
//! count one by one.

use std::collections::BTreeSet;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::text::language::Language;

/// Maximum bytes of a word; a text this long without a space is not one word, and is cut here.
const WORD_BYTES_MAX: usize = 64;

/// The terms of a text, in order, with repetitions.
pub fn terms(text: &str) -> Vec<String> {
    let language = Language::of(text);
    let mut terms = Vec::new();
    each_word(text, |_, word| {
        if !language.is_stop_word(word) {
            terms.push(language.stem(word).into_owned());
        }
    });
    terms
}

/// The terms with which rows in any language are found, each once: the language of a few words is
/// uncertain.
pub fn query_terms(query: &str) -> Vec<String> {
    let language = Language::of(query);
    let mut found = terms(query);
    each_word(query, |_, word| {
        if !language.is_stop_word(word) {
            found.extend(Language::ALL.map(|other| other.stem(word).into_owned()));
        }
    });
    let mut seen = BTreeSet::new();
    found.retain(|term| seen.insert(term.clone()));
    found
}

/// The terms of a text, each once.
pub fn term_set(text: &str) -> BTreeSet<String> {
    terms(text).into_iter().collect()
}

/// The folded words of a text, in order, each with a space after it.
pub fn folded_text(text: &str) -> String {
    let mut words = String::new();
    each_word(text, |_, word| {
        words.push_str(word);
        words.push(' ');
    });
    words
}

/// Calls `found` with each word's place and its folded form, not stemmed, stop words included.
pub fn each_word(text: &str, mut found: impl FnMut(Range<usize>, &str)) {
    let mut word = String::with_capacity(WORD_BYTES_MAX);
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        if !first.is_alphanumeric() {
            continue;
        }
        let mut end = start + first.len_utf8();
        if is_unspaced(first) {
            while let Some((at, next)) = chars.next_if(|(_, c)| is_unspaced(*c) || is_combining_mark(*c)) {
                end = at + next.len_utf8();
            }
            each_pair(&text[start..end], |pair, folded| {
                found(start + pair.start..start + pair.end, folded);
            });
            continue;
        }
        word.clear();
        if let Some(plain) = plain_word(&text[start..]) {
            word.push_str(plain);
            word.make_ascii_lowercase();
            found(start..start + plain.len(), &word);
            chars.by_ref().take(plain.len() - 1).for_each(drop);
            continue;
        }
        word.push(first);
        while let Some(&(at, next)) = chars.peek() {
            let inside = is_letter(next) && !is_unspaced(next);
            if !inside && !joins(text, at, next) {
                break;
            }
            if inside && word.len() < WORD_BYTES_MAX || next == '.' {
                word.push(next);
            }
            end = at + next.len_utf8();
            chars.next();
            if is_apostrophe(next) && clitic(&text[end..]) {
                skip_letters(&mut chars, &mut end);
                break;
            }
            if is_apostrophe(next) && is_elided(&word) {
                // "l'homme" is two words, of which the first is an article.
                word.clear();
            }
        }
        fold(&mut word);
        let plain = ordinal(&word).unwrap_or(&word);
        if !plain.is_empty() {
            found(start..end, plain);
        }
    }
}

/// Calls `found` with the pairs of neighbouring characters of a run without spaces, and with each
/// Han character. A character here is a grapheme: a letter with its marks.
fn each_pair(run: &str, mut found: impl FnMut(Range<usize>, &str)) {
    let mut folded = String::new();
    let mut found = |range: Range<usize>| {
        folded.clear();
        folded.push_str(&run[range.clone()]);
        fold(&mut folded);
        // A letter may have any number of marks.
        folded.truncate(folded.floor_char_boundary(WORD_BYTES_MAX));
        found(range, &folded);
    };
    let mut characters = run.grapheme_indices(true).peekable();
    while let Some((start, character)) = characters.next() {
        let end = start + character.len();
        if character.len() == run.len() || character.starts_with(is_han) {
            found(start..end);
        }
        if let Some((next, other)) = characters.peek() {
            found(start..next + other.len());
        }
    }
}

/// The word at the beginning of a text, if a plain letter begins it, it has only such letters and digits, and nothing
/// behind can belong to it: the same word as in any script, found faster.
fn plain_word(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric();
    let len = bytes
        .iter()
        .take(WORD_BYTES_MAX)
        .take_while(|byte| is_plain(byte))
        .count();
    let ends_in_digit = text[..len].ends_with(|c: char| c.is_ascii_digit());
    let joins = |next: &u8| match next {
        b'\'' => true,
        b'.' | b',' => ends_in_digit,
        next => !next.is_ascii() || is_plain(next),
    };
    let is_whole = text.starts_with(|c: char| c.is_ascii_alphabetic()) && !bytes.get(len).is_some_and(joins);
    is_whole.then(|| &text[..len])
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || !c.is_ascii() && is_combining_mark(c)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

fn is_han(c: char) -> bool {
    matches!(
        c,
        '\u{3005}'..='\u{3007}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{323af}'
    )
}

/// Whether a letter belongs to a script without spaces between words, or to one such as Korean that
/// attaches endings to them. Tibetan is not among them: it marks the end of every syllable.
fn is_unspaced(c: char) -> bool {
    if c < '\u{e00}' {
        return false;
    }
    let is_of_script = matches!(
        c,
        '\u{e00}'..='\u{eff}' // Thai, Lao
            | '\u{1000}'..='\u{109f}' // Burmese
            | '\u{a9e0}'..='\u{a9ff}'
            | '\u{aa60}'..='\u{aa7f}'
            | '\u{1780}'..='\u{17ff}' // Khmer
            | '\u{3040}'..='\u{30ff}' // kana
            | '\u{31f0}'..='\u{31ff}'
            | '\u{ff66}'..='\u{ff9f}'
            | '\u{1100}'..='\u{11ff}' // hangul
            | '\u{ac00}'..='\u{d7ff}'
    );
    is_han(c) || is_of_script && c.is_alphanumeric()
}

/// Whether a character between two letters or digits joins them: "don't", "3.5", "1,000".
fn joins(text: &str, at: usize, c: char) -> bool {
    let rest = &text[at + c.len_utf8()..];
    let digit_before = || text[..at].ends_with(|c: char| c.is_ascii_digit());
    match c {
        '.' => digit_before() && rest.starts_with(|c: char| c.is_ascii_digit()),
        ',' => {
            digit_before()
                && rest.len() >= 3
                && rest.bytes().take(3).all(|b| b.is_ascii_digit())
                && rest.as_bytes().get(3).is_none_or(|b| !b.is_ascii_digit())
        }
        c if is_apostrophe(c) => {
            rest.starts_with(|c: char| is_letter(c) && !is_unspaced(c)) && !digit_before()
        }
        _ => false,
    }
}

/// Whether the text after an apostrophe is an English ending: 's, 't, 'll.
fn clitic(rest: &str) -> bool {
    let len = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let ending = &rest[..len];
    let closed = !rest[len..].starts_with(is_letter);
    closed
        && ["s", "t", "d", "m", "ll", "re", "ve"]
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
}

/// Whether a word before an apostrophe is a French or Italian article, pronoun or preposition without its vowel.
fn is_elided(word: &str) -> bool {
    let elided = [
        "c", "d", "j", "l", "m", "n", "s", "t", "qu", "jusqu", "lorsqu", "puisqu", "all", "dall", "dell",
        "nell", "sull", "un",
    ];
    elided.iter().any(|known| word.eq_ignore_ascii_case(known))
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

/// Folds a word: lower case, without compatibility forms and without the diacritics that people
/// leave out.
fn fold(word: &mut String) {
    if word.is_ascii() {
        word.make_ascii_lowercase();
        return;
    }
    let plain = word.nfkd().filter(|c| !is_diacritic(*c) && !c.is_whitespace());
    let mut folded = String::with_capacity(word.len());
    for c in plain.flat_map(char::to_lowercase).nfc() {
        match latin(c) {
            Some(letters) => folded.push_str(letters),
            None => folded.push(c),
        }
    }
    *word = folded;
}

/// A mark that does not change a word: an accent, or a selector of text or picture form. Vowels of
/// other scripts stay.
fn is_diacritic(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20f0}' | '\u{fe00}'..='\u{fe0f}')
}

/// Latin letters that Unicode does not decompose.
fn latin(c: char) -> Option<&'static str> {
    Some(match c {
        'æ' => "ae",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ı' => "i",
        'ł' => "l",
        'ø' => "o",
        'œ' => "oe",
        'ß' => "ss",
        'ŧ' => "t",
        'þ' => "th",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
