//! A text cut into sentences, in any script.
//!
//! Owns: the end of a sentence. Never: judging its content.

use model::text::Language;

use crate::words::{WordList, word_list};

/// Maximum bytes of a sentence; a longer one is cut here.
const SENTENCE_BYTES_MAX: usize = 1_000;

/// Words whose full stop does not end a sentence.
static ABBREVIATIONS: WordList =
    word_list!("mr mrs ms dr prof st jr sr vs etc e.g i.e approx no inc ltd co dept apt ave mt ft a.m p.m");

/// The sentences of a text, trimmed, without list marks; none is empty.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = unmarked(line.trim());
        let mut start = 0;
        let mut chars = line.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let mut end = at + c.len_utf8();
            let wide = matches!(c, '。' | '！' | '？' | '｡' | '．');
            // A picture may end a sentence.
            let picture = is_symbol(c) && line[end..].trim_start().starts_with(char::is_uppercase);
            if !wide && !picture && !matches!(c, '.' | '!' | '?' | '…') && end - start < SENTENCE_BYTES_MAX
            {
                continue;
            }
            while let Some((next, _)) = chars.next_if(|(_, c)| is_closing(*c)) {
                end = next + line[next..].chars().next().map_or(0, char::len_utf8);
            }
            let rest = &line[end..];
            let spaced =
                rest.is_empty() || rest.starts_with(char::is_whitespace) || rest.starts_with(is_symbol);
            let ends = wide
                || end - start >= SENTENCE_BYTES_MAX
                || (spaced && !(c == '.' && (is_abbreviated(&line[start..at]) || is_ordinal(line, at))));
            if ends {
                push(&mut found, &line[start..end]);
                start = end;
            }
        }
        push(&mut found, &line[start..]);
    }
    found
}

fn push<'a>(found: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(sentence);
    }
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        '.' | '!' | '?' | '…' | '。' | '！' | '？' | '"' | '\'' | '”' | '’' | ')' | ']' | '」' | '』' | '）'
    )
}

/// An emoji or another pictograph: people end sentences with them.
fn is_symbol(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}')
}

fn is_abbreviated(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or("");
    let word = word
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic) && word != "i";
    initial || ABBREVIATIONS.contains(&word)
}

/// Whether a full stop marks the number of a day: "am 20. Dezember". Before a stop word it ends the
/// sentence: "Ich bin 42. Ich wohne".
fn is_ordinal(line: &str, stop: usize) -> bool {
    let before = line[..stop]
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let is_day = (1..=2).contains(&before.len()) && before.bytes().all(|byte| byte.is_ascii_digit());
    let next = line[stop + 1..].split_whitespace().next().unwrap_or_default();
    is_day
        && next.starts_with(char::is_alphabetic)
        && Language::of(line) == Language::German
        && !Language::German.is_stop_word(&next.to_lowercase())
}

/// A line without its list or heading mark.
fn unmarked(line: &str) -> &str {
    let bare = line
        .trim_start_matches(['#', '*', '-', '•', '+', '_'])
        .trim_start();
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &bare[digits..];
    if (1..=2).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") ")) {
        return rest[2..].trim_start();
    }
    if bare.is_empty() { line } else { bare }
}
