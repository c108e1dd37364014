//! A text as the words that are searched, the same for rows and for queries.
//!
//! Owns: what a word is in scripts with and without spaces. Never: stemming and folding, which the full-text index does.
//!
//! Words are letters and digits only, so that every tokenizer of the store splits them at the spaces put here.
//! Chinese, Japanese and Korean text becomes pairs of neighbouring characters: no dictionary is needed, a word is
//! found wherever it stands, and Korean endings do not hide it. Other signs, emoji above all, become one word each.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Longer words are cut; the store drops words of more than 40 bytes.
const WORD_BYTES_MAX: usize = 32;
/// More different words than that say nothing new about a question.
const QUERY_WORDS_MAX: usize = 200;

/// The words of a row, separated by spaces, in order and as often as they occur.
pub(crate) fn of_row(texts: &[&str]) -> String {
    let mut words = String::with_capacity(texts.iter().map(|text| text.len() + 8).sum());
    for text in texts {
        each_word(text, |word| {
            words.push_str(word);
            words.push(' ');
        });
    }
    words
}

/// The words of a query, each once; none when there is nothing to search for.
pub(crate) fn of_query(text: &str) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut words = String::new();
    each_word(text, |word| {
        if seen.len() < QUERY_WORDS_MAX && seen.insert(word.to_owned()) {
            words.push_str(word);
            words.push(' ');
        }
    });
    (!words.is_empty()).then_some(words)
}

/// What a character does to the word it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Part of a word between spaces.
    Letter,
    /// Part of a run without spaces.
    Ideograph,
    /// A word of its own.
    Sign,
    /// Joins what it stands between: it is not there.
    Joiner,
    Space,
}

fn class(c: char) -> Class {
    match c {
        _ if c.is_ascii() => {
            if c.is_ascii_alphanumeric() {
                Class::Letter
            } else {
                Class::Space
            }
        }
        '\u{200c}' | '\u{200d}' | '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' => Class::Joiner,
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}'
        | '\u{3100}'..='\u{318f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9d}'
        | '\u{20000}'..='\u{3ffff}' => Class::Ideograph,
        _ if c.is_alphanumeric() => Class::Letter,
        '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => Class::Sign,
        _ => Class::Space,
    }
}

fn each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut run = String::new();
    let mut of = Class::Space;
    for c in text.chars() {
        let next = class(c);
        if next == Class::Joiner {
            continue;
        }
        if next != of {
            end_run(&mut run, of, &mut take);
        }
        of = next;
        match next {
            Class::Letter | Class::Ideograph => run.extend(c.to_lowercase()),
            Class::Sign => {
                write!(run, "u{:x}", u32::from(c)).expect("a String takes every write");
                end_run(&mut run, of, &mut take);
            }
            Class::Space | Class::Joiner => {}
        }
    }
    end_run(&mut run, of, &mut take);
}

fn end_run(run: &mut String, of: Class, take: &mut impl FnMut(&str)) {
    if of == Class::Ideograph {
        take_pairs(run, take);
    } else if let Some(word) = run.get(..cut(run)).filter(|word| !word.is_empty()) {
        take(word);
    }
    run.clear();
}

/// Where a word of more than [`WORD_BYTES_MAX`] bytes is cut, at a character.
fn cut(word: &str) -> usize {
    let mut end = word.len().min(WORD_BYTES_MAX);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    end
}

fn take_pairs(run: &str, take: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    match starts.len() {
        0 | 1 => {}
        2 => take(run),
        _ => starts.windows(3).for_each(|pair| take(&run[pair[0]..pair[2]])),
    }
}

#[cfg(test)]
mod tests;
