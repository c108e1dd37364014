//! Reads a model's answer to the archivist's prompt.
//!
//! Owns: recognising refusals and facts, dropping other text. Never: trust in the format; a weak model quotes, fences,
//! numbers and thinks aloud.

use super::sentinel::strip_sentinel;
use super::{Policy, Unflushed};
use model::redact::redact;

/// Reads an answer. A refusal with a short remark, in any case and any quotes, is a refusal; one with a long text is
/// not. Lines without a bullet are not facts. Returns at least one fact; each is one line without its bullet and
/// without secrets, and none appears twice.
pub fn parse_reply(text: &str, policy: &Policy) -> Result<Vec<String>, Unflushed> {
    let text = without_thinking(text).ok_or(Unflushed::CutOff)?.trim();
    let rest = match strip_sentinel(text) {
        Some(rest) if rest.trim().chars().count() <= policy.refusal_chars_max => {
            return Err(Unflushed::Suppressed);
        }
        Some(rest) => rest,
        None => text,
    };
    let mut facts: Vec<String> = Vec::new();
    for line in rest.lines() {
        let Some(fact) = bullet(line).and_then(|text| fact(text, policy)) else {
            continue;
        };
        if facts.len() < policy.facts_max && !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    if facts.is_empty() {
        Err(Unflushed::Blank)
    } else {
        Ok(facts)
    }
}

/// The text without a `<think>` element at the beginning; none if the element is not closed.
fn without_thinking(text: &str) -> Option<&str> {
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        if let Some(inner) = text.trim_start().strip_prefix(open) {
            return inner.find(close).map(|at| &inner[at + close.len()..]);
        }
    }
    Some(text)
}

/// Text after the bullet of a line.
fn bullet(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '–', '+']) {
        // `---` divides, `**bold**` is emphasis.
        return rest.starts_with(char::is_whitespace).then_some(rest);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].strip_prefix(['.', ')'])?;
    ((1..=3).contains(&digits) && rest.starts_with(char::is_whitespace)).then_some(rest)
}

/// The fact in its stored form; none for a text without letters and for a refusal.
fn fact(text: &str, policy: &Policy) -> Option<String> {
    let line: String = text
        .chars()
        .map(|c| {
            if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
                ' '
            } else {
                c
            }
        })
        .collect();
    let line = redact(line.trim());
    let cut = model::head(&line, policy.fact_chars_max).trim_end();
    let words = cut.chars().any(char::is_alphanumeric);
    (words && strip_sentinel(cut).is_none()).then(|| cut.to_owned())
}
