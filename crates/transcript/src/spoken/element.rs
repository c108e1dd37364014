//! Elements in a text that need not be XML: their beginnings and ends.
//!
//! Owns: finding closed elements of given names, in time linear in the text for each name. Never: the names.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// Maximum bytes of a tag.
const TAG_BYTES_MAX: usize = 512;
/// Maximum number of closing tags that are examined for one element.
const NESTED_MAX: usize = 64;

/// Places where an element counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementPlace {
    Anywhere,
    /// At the beginning of a line, outside of fenced code.
    LineStart,
}

/// A closed element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClosedElement {
    pub(super) whole: Range<usize>,
    pub(super) inner: Range<usize>,
}

/// The text without such elements; borrowed if it has none.
pub(super) fn without(
    text: Cow<'_, str>,
    is_named: impl Fn(&str) -> bool,
    place: ElementPlace,
) -> Cow<'_, str> {
    let found = find(&text, is_named, place);
    if found.is_empty() {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for element in found {
        join(&mut kept, &text[at..element.whole.start]);
        at = element.whole.end;
    }
    join(&mut kept, &text[at..]);
    Cow::Owned(kept)
}

fn join(kept: &mut String, part: &str) {
    let part = part.trim();
    if !kept.is_empty() && !part.is_empty() {
        kept.push('\n');
    }
    kept.push_str(part);
}

/// The closed elements of these names, in order; a nested element is part of the outer one.
pub(super) fn find(text: &str, is_named: impl Fn(&str) -> bool, place: ElementPlace) -> Vec<ClosedElement> {
    let mut found: Vec<ClosedElement> = Vec::new();
    let mut unclosed: BTreeSet<&str> = BTreeSet::new();
    let fences = match place {
        ElementPlace::Anywhere => Vec::new(),
        ElementPlace::LineStart => fences(text),
    };
    let mut at = 0;
    while let Some(open) = text[at..].find('<').map(|found| at + found) {
        at = open + 1;
        let Some((name, end)) = tag(text, open) else {
            continue;
        };
        // A name can contain a space: `<permissions instructions>`.
        let tag = &text[open + 1..end - 1];
        let name = if is_named(tag) { tag } else { name };
        // A quoted tag belongs to the person's text.
        let is_quoted = text[..open].ends_with('`');
        let after = found.last().map_or(0, |last| last.whole.end);
        let is_placed =
            place == ElementPlace::Anywhere || begins_line(&text[after..open]) && !is_within(&fences, open);
        if is_quoted || !is_placed || unclosed.contains(name) || !is_named(name) {
            continue;
        }
        match close(text, name, end) {
            Some(inner_end) => {
                let whole = open..inner_end + name.len() + 3;
                at = whole.end;
                found.push(ClosedElement {
                    whole,
                    inner: end..inner_end,
                });
            }
            None => {
                unclosed.insert(name);
            }
        }
    }
    found
}

/// Whether the line has no text before the element, except an already found element.
fn begins_line(between: &str) -> bool {
    let before = between.trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
    before.is_empty() || before.ends_with('\n')
}

fn is_within(fences: &[Range<usize>], at: usize) -> bool {
    let next = fences.partition_point(|fence| fence.end <= at);
    fences.get(next).is_some_and(|fence| fence.contains(&at))
}

/// The name of the opening tag at `open`, and the end of the tag.
fn tag(text: &str, open: usize) -> Option<(&str, usize)> {
    let rest = &text[open + 1..];
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
    let attributes = &rest[name.len()..];
    let attributes = &attributes[..attributes.floor_char_boundary(TAG_BYTES_MAX)];
    if name.is_empty() || !attributes.starts_with(['>', ' ']) {
        return None;
    }
    let end = attributes.find(['>', '\n'])?;
    (attributes[end..].starts_with('>') && !attributes[..end].ends_with('/'))
        .then_some((name, open + 1 + name.len() + end + 1))
}

/// Place of the element's closing tag: not one of a nested element, if all nested ones are closed.
fn close(text: &str, name: &str, from: usize) -> Option<usize> {
    let first = text[from..].find(&format!("</{name}>"))? + from;
    Some(own_close(text, name, from, first).unwrap_or(first))
}

fn own_close(text: &str, name: &str, from: usize, first: usize) -> Option<usize> {
    let closing = format!("</{name}>");
    let next = |at: usize| text[at..].find(&closing).map(|found| at + found);
    let mut depth = opened(&text[from..first], name);
    let mut at = first;
    for _ in 0..NESTED_MAX {
        if depth == 0 {
            return Some(at);
        }
        let behind = at + closing.len();
        let found = next(behind)?;
        depth = depth - 1 + opened(&text[behind..found], name);
        at = found;
    }
    None
}

/// Number of elements with this name that begin in the text.
fn opened(text: &str, name: &str) -> usize {
    let opens = |(at, _): &(usize, &str)| tag(text, *at).is_some_and(|(found, _)| found == name);
    text.match_indices('<').filter(opens).count()
}

/// Fenced code; an unclosed fence does not count.
fn fences(text: &str) -> Vec<Range<usize>> {
    let mut fences = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (open, mark) {
            (None, Some(mark)) => open = Some((start, mark)),
            (Some((from, opened)), Some(mark)) if opened == mark => {
                fences.push(from..start);
                open = None;
            }
            _ => {}
        }
        start += line.len();
    }
    fences
}
