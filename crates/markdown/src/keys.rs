//! Inline keys: the list of `- key: value` right under a heading.
//!
//! Owns: the names, the form of lists and calls, and the test for a list of keys. Never: checking
//! values.

use model::ToolCall;

use crate::escape::{read_chars, read_value, value, value_without};
use crate::lines::{Line, is_blank};

/// An entry's keys, in the order of writing.
pub const OF_ENTRY: [&str; 13] = [
    "time",
    "session",
    "valid_from",
    "valid_until",
    "supersedes",
    "superseded_by",
    "origin",
    "author",
    "parent",
    "sources",
    "senders",
    "labels",
    "confidence",
];

/// A turn's keys, in the order of writing.
pub const OF_TURN: [&str; 6] = ["sender", "app", "project", "session", "call", "answers"];

/// The one key that can occur more than once.
pub const REPEATED: &str = "call";

/// A key in a list of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'a> {
    /// The number of its line.
    pub line: usize,
    pub name: &'a str,
    pub value: &'a str,
}

/// Keys between a heading and its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys<'a> {
    pub known: Vec<Key<'a>>,
    /// Lines of keys that a person added; they are kept without a meaning.
    pub others: Vec<&'a str>,
}

/// Reads the keys at the start of some lines; returns the remaining lines.
///
/// A list is one of keys when its first item is a known key; any other list is text of a person.
pub fn split<'a, 'l>(lines: &'l [Line<'a>], known: &[&str]) -> (Keys<'a>, &'l [Line<'a>]) {
    let mut keys = Keys::default();
    let first = lines
        .iter()
        .position(|line| !is_blank(line.text))
        .unwrap_or(lines.len());
    let mut rest = &lines[first..];
    if !rest
        .first()
        .and_then(|l| item(l.text))
        .is_some_and(|(name, _)| known.contains(&name))
    {
        return (keys, lines);
    }
    while let Some((line, (name, value))) = rest.first().and_then(|l| Some((l, item(l.text)?))) {
        if known.contains(&name) {
            let line = line.number;
            keys.known.push(Key { line, name, value });
        } else {
            keys.others.push(line.text);
        }
        rest = &rest[1..];
    }
    (keys, rest)
}

/// Splits a line `- key: value`.
pub fn item(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    let (name, value) = rest.split_once(':')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let is_apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_name && is_apart).then_some((name, value))
}

/// Whether a text's first line would be read as a key or as an entry's summary.
pub(crate) fn is_opening(line: &str) -> bool {
    line.starts_with('>') || item(line).is_some()
}

/// The ids of a list, without empty ones between two commas.
pub fn read_list(text: &str) -> impl Iterator<Item = String> {
    text.split(',').filter(|item| !is_blank(item)).map(read_value)
}

/// An id as written between `{#` and `}`.
fn id(text: &str) -> String {
    value_without(text, |c| matches!(c, ' ' | '{' | '}' | '\t'))
}

/// A tool call: `name {#id} arguments`.
pub fn call(call: &ToolCall) -> String {
    let name = value_without(&call.name, |c| c == '{');
    format!("{name} {{#{}}} {}", id(&call.id), value(&call.arguments))
}

/// Reads a call that [`call`] wrote.
pub fn read_call(text: &str) -> Option<ToolCall> {
    let (name, rest) = text.split_once(" {#")?;
    let (id, arguments) = split_call_id(rest)?;
    Some(ToolCall {
        id: read_chars(id),
        name: read_value(name),
        arguments: read_value(arguments),
    })
}

/// The id before the first brace that closes no escape, and the text after that brace.
fn split_call_id(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    loop {
        let close = at + text[at..].find('}')?;
        match text[at..close].find("\\u{") {
            Some(_) => at = close + 1,
            None => return Some((&text[..close], &text[close + 1..])),
        }
    }
}
