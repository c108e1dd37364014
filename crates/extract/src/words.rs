//! A text cut into words that keep their places, for rules that look at word order.
//!
//! Owns: word boundaries, and the punctuation between two words. Never: stemming or stop words
//! (`text`).

use std::ops::Range;
use std::sync::LazyLock;

use foldhash::HashSet;

/// A word list of a rule, written as one text.
pub(crate) struct WordList(LazyLock<HashSet<&'static str>>);

impl WordList {
    pub(crate) const fn new(read: fn() -> HashSet<&'static str>) -> Self {
        Self(LazyLock::new(read))
    }

    pub(crate) fn contains(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

/// A [`WordList`] of the words in a text.
macro_rules! word_list {
    ($words:literal) => {
        $crate::words::WordList::new(|| $words.split_whitespace().collect())
    };
}
pub(crate) use word_list;

/// A word and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Lower case, with a plain apostrophe.
    pub(crate) text: String,
    /// Its place in the text, in bytes.
    pub(crate) range: Range<usize>,
    /// A comma, semicolon, dash, colon or bracket is just before it.
    pub(crate) breaks: bool,
    /// It is written with a capital letter.
    pub(crate) capital: bool,
}

/// The words of a text: letters and digits, with the signs that join them inside a word ("don't",
/// "e-mail", "a@b.org", "$5").
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut breaks = false;
    while let Some((start, first)) = chars.next() {
        let opens = matches!(first, '$' | '€' | '£' | '+' | '#')
            && chars.peek().is_some_and(|(_, c)| c.is_alphanumeric());
        if !first.is_alphanumeric() && !opens {
            breaks |= matches!(
                first,
                ',' | ';' | ':' | '(' | ')' | '—' | '–' | '[' | ']' | '|' | '\n' | '"' | '“' | '”'
            ) || (first == '-' && text[start + 1..].starts_with([' ', '-']));
            continue;
        }
        let mut end = start + first.len_utf8();
        while let Some(&(at, c)) = chars.peek() {
            let next = at + c.len_utf8();
            let joins = matches!(
                c,
                '\'' | '’' | '-' | '.' | '@' | '+' | '_' | '/' | '&' | ':' | ',' | '%'
            ) && text[next..].starts_with(char::is_alphanumeric)
                && (!matches!(c, ',' | ':') || inside_number(text, at, next));
            if !c.is_alphanumeric() && !joins && c != '%' {
                break;
            }
            end = next;
            chars.next();
        }
        // "C++", "C#".
        for mark in ["++", "#"] {
            if text[end..].starts_with(mark) && end - start == 1 {
                end += mark.len();
                chars.by_ref().take(mark.len()).for_each(drop);
            }
        }
        // "Disney+".
        if text[end..].starts_with('+')
            && first.is_uppercase()
            && !text[end + 1..].starts_with(char::is_alphanumeric)
        {
            end += 1;
            chars.next_if(|(_, c)| *c == '+');
        }
        let raw = &text[start..end];
        words.push(Word {
            text: raw.to_lowercase().replace('’', "'"),
            range: start..end,
            breaks,
            capital: raw.starts_with(char::is_uppercase),
        });
        breaks = false;
    }
    words
}

fn inside_number(text: &str, before: usize, after: usize) -> bool {
    text[..before].ends_with(|c: char| c.is_ascii_digit())
        && text[after..].starts_with(|c: char| c.is_ascii_digit())
}

/// A text cut to at most `chars_max` characters, at the end of a word where one is near, with an
/// ellipsis if anything was cut.
pub fn cut(text: &str, chars_max: usize) -> String {
    if model::head(text, chars_max).len() == text.len() {
        return text.to_owned();
    }
    let head = model::head(text, chars_max.saturating_sub(1));
    let at = head
        .rfind(char::is_whitespace)
        .filter(|at| *at * 2 > head.len())
        .unwrap_or(head.len());
    format!(
        "{}…",
        head[..at].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '—'))
    )
}

/// A text on one line, with single spaces and without control characters.
pub fn one_line(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    model::one_line(&clean)
}
