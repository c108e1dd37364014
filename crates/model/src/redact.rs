//! Taking secrets out of a text before it is written anywhere.
//!
//! Owns: the patterns of secrets and the mark that replaces one. Never: deciding what is written, storing a secret, or
//! a guarantee: a password that looks like an ordinary word, without a hint near it, stays.
//!
//! Reading order: [`redact()`], then `shapes` (secrets known by their own form), `assign` (values known by the name they are
//! given to), `cards` (numbers that pay).

mod assign;
mod cards;
mod shapes;

use std::borrow::Cow;
use std::ops::Range;

const MARK: &str = "[redacted:";
/// A cut can lay bare what stood behind it; each round only sees what earlier ones left. Two suffice but for texts made to
/// need more, and the bound keeps the work linear.
const ROUNDS_MAX: usize = 6;

/// A stretch of a text, in bytes, that holds a secret of that kind.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FoundSecret {
    range: Range<usize>,
    kind: &'static str,
}

/// The text with every secret replaced by `[redacted:KIND]`; the text itself where there is none. A text that was redacted
/// stays as it is. The time is linear in the length.
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

/// One pass over what lies between the marks; nothing if nothing was found.
fn round(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut found = false;
    let mut rest = text;
    loop {
        let (plain, mark, after) = split_at_mark(rest);
        found |= clean(plain, &mut out);
        out.push_str(mark);
        if after.is_empty() {
            break;
        }
        rest = after;
    }
    found.then_some(out)
}

/// The text before the first mark, the mark, the text after it. Without a mark, all text is before it.
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

/// Appends `plain` without its secrets; returns whether it had any.
fn clean(plain: &str, out: &mut String) -> bool {
    let mut secrets = Vec::new();
    shapes::find(plain, &mut secrets);
    assign::find(plain, &mut secrets);
    cards::find(plain, &mut secrets);
    // Stable: of two that begin together, the one found first by the order above names the kind.
    secrets.sort_by_key(|secret| secret.range.start);
    let mut at = 0;
    for secret in &secrets {
        if secret.range.start < at {
            // Overlapping secrets share one mark, which covers both.
            at = at.max(secret.range.end);
            continue;
        }
        out.push_str(&plain[at..secret.range.start]);
        out.push_str(MARK);
        out.push_str(secret.kind);
        out.push(']');
        at = secret.range.end;
    }
    out.push_str(&plain[at..]);
    !secrets.is_empty()
}

#[cfg(test)]
mod tests;
