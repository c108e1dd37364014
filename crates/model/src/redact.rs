//! Removes secrets from a text before it is written anywhere.
//!
//! Owns: the patterns of secrets and the mark that replaces one. Never: deciding where a text is
//! written, storing a secret, or a guarantee: a password that looks like an ordinary word, without
//! a hint near it, stays.
//!
//! Reading order: [`redact()`], then `shapes` (secrets with a form of their own), `assign` (values
//! recognised by their name), `sentences` (passwords in sentences), `cards` (payment card numbers).

mod assign;
mod cards;
mod sentences;
mod shapes;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

const MARK: &str = "[redacted:";
/// Minimum bytes of a run that a shape without hints contains.
const RUN_BYTES: usize = 20;
/// Maximum number of rounds. A replacement can reveal a secret next to it, which the next round
/// finds. Two rounds suffice except for texts made to need more; the limit keeps the work linear.
const ROUNDS_MAX: usize = 6;

/// The span of a secret in a text, in bytes, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FoundSecret {
    range: Range<usize>,
    kind: &'static str,
}

/// A pattern that is compiled at its first use.
struct LazyPattern {
    pattern: Cow<'static, str>,
    regex: OnceLock<Regex>,
}

impl LazyPattern {
    const fn new(pattern: &'static str) -> Self {
        Self {
            pattern: Cow::Borrowed(pattern),
            regex: OnceLock::new(),
        }
    }

    fn get(&self) -> &Regex {
        self.regex
            .get_or_init(|| Regex::new(&self.pattern).expect("a test compiles every pattern"))
    }
}

/// Whether a text in lower case contains one of these hints; without hints, whether it has a long
/// run of characters that keys consist of.
fn hints_at(small: &str, hints: &[&str]) -> bool {
    if hints.is_empty() {
        return has_run(small);
    }
    hints.iter().any(|hint| small.contains(hint))
}

fn has_run(small: &str) -> bool {
    let is_of_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+/=-".contains(byte);
    let mut runs = small
        .as_bytes()
        .chunk_by(|byte, next| is_of_key(byte) && is_of_key(next));
    runs.any(|run| run.len() >= RUN_BYTES)
}

/// A text in lower case, as case-insensitive patterns read it: ſ is an s.
fn in_small_letters(text: &str) -> String {
    let small = text.to_lowercase();
    if small.contains('ſ') {
        small.replace('ſ', "s")
    } else {
        small
    }
}

/// The text with every secret replaced by `[redacted:KIND]`; unchanged if there is none. A text
/// that was redacted stays as it is. The time is linear in the length.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    for _ in 0..ROUNDS_MAX {
        match round(&out) {
            Some(less) => out = Cow::Owned(less),
            None => break,
        }
    }
    out
}

/// The kinds of the marks in a text, in order.
pub fn marks(text: &str) -> Vec<&str> {
    let mut kinds = Vec::new();
    let mut rest = text;
    loop {
        let (_, mark, after) = split_at_mark(rest);
        if mark.is_empty() {
            return kinds;
        }
        kinds.push(&mark[MARK.len()..mark.len() - 1]);
        rest = after;
    }
}

/// One pass over the text between the marks; none, and no copy, if it found no secret.
fn round(text: &str) -> Option<String> {
    let mut out = String::new();
    let (mut copied, mut rest) = (0, text);
    while !rest.is_empty() {
        let (plain, _, after) = split_at_mark(rest);
        let from = text.len() - rest.len();
        for secret in secrets(plain) {
            let (start, end) = (from + secret.range.start, from + secret.range.end);
            // Overlapping secrets share one mark, which covers both.
            if copied <= start {
                out.extend([&text[copied..start], MARK, secret.kind, "]"]);
            }
            copied = copied.max(end);
        }
        rest = after;
    }
    (copied > 0).then(|| out + &text[copied..])
}

/// The text before the first mark, the mark, and the text after it. Without a mark, all text is
/// before it.
fn split_at_mark(text: &str) -> (&str, &str, &str) {
    let mut from = 0;
    while let Some(at) = text[from..].find(MARK).map(|at| at + from) {
        let body = at + MARK.len();
        let kind = text[body..]
            .bytes()
            .take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-')
            .count();
        let end = body + kind;
        if kind > 0 && text[end..].starts_with(']') {
            return (&text[..at], &text[at..=end], &text[end + 1..]);
        }
        from = body;
    }
    (text, "", "")
}

/// The secrets of a text without marks, in order of their beginnings.
fn secrets(plain: &str) -> Vec<FoundSecret> {
    let mut secrets = Vec::new();
    let small = in_small_letters(plain);
    shapes::find(plain, &small, &mut secrets);
    assign::find(plain, &small, &mut secrets);
    sentences::find(plain, &mut secrets);
    cards::find(plain, &mut secrets);
    // Stable sort: of two secrets with the same beginning, the one found first names the kind.
    secrets.sort_by_key(|secret| secret.range.start);
    secrets
}

#[cfg(test)]
mod tests;
