//! Readable text of a message: recalled, injected and private text is removed before any rule sees
//! it.
//!
//! Owns: which spans are never a source. Never: changing the message itself, which stays verbatim
//! elsewhere.

use model::{Message, Role};

use crate::words::{cut, one_line};

/// Maximum characters of a message that the rules read; a longer one is a document, not a
/// statement.
const CHARS_READ_MAX: usize = 32_000;
const NAME_CHARS_MAX: usize = 60;

/// A message's text without attachments and guarded spans, code reduced to a mark.
pub fn readable_text(message: &Message) -> String {
    readable(&message.own_text())
}

/// As [`readable_text`], for a message's text.
pub(crate) fn readable(text: &str) -> String {
    without_code(&without_guarded(model::head(text, CHARS_READ_MAX)))
}

/// A person's own words: no text of tools and models, no quoted lines.
pub fn own_words(message: &Message) -> String {
    if message.role != Role::User {
        return String::new();
    }
    let shown = readable_text(message);
    let lines = shown.lines().filter(|line| !line.trim_start().starts_with('>'));
    lines.collect::<Vec<_>>().join("\n").replace(CODE_MARK, "\n")
}

/// The id of a person without a name, who is written as "I".
pub(crate) const NAMELESS: &str = "me";
pub(crate) const FIRST_PERSON: &str = "I";

/// The speaker's name for a sentence; "I" without a name.
pub(crate) fn speaker(message: &Message) -> String {
    let name = one_line(message.speaker());
    if name.is_empty() {
        return speaker_named(message.sender.as_str());
    }
    speaker_named(&name)
}

/// As [`speaker`], for a displayed name.
pub(crate) fn speaker_named(shown: &str) -> String {
    let name = one_line(shown);
    if name == NAMELESS {
        return FIRST_PERSON.to_owned();
    }
    cut(&name, NAME_CHARS_MAX)
}

/// Placeholder for a code block.
pub(crate) const CODE_MARK: &str = "[code]";

/// Whether the text inside such a tag comes from a program, or is private.
fn is_guarded(tag: &str) -> bool {
    let tag = tag.to_ascii_lowercase().replace('_', "-");
    tag.starts_with("quipu")
        || tag.contains("memory")
        || tag.contains("memories")
        || tag.contains("recall")
        || [
            "private",
            "secret",
            "system",
            "system-reminder",
            "system-prompt",
            "context",
            "retrieved",
            "injected",
        ]
        .contains(&tag.as_str())
}

/// Removes guarded tags with their content. An unclosed tag removes the rest of the text: better to
/// learn too little than to learn recalled text.
fn without_guarded(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(open) = text[at..].find('<').map(|i| at + i) {
        kept.push_str(&text[at..open]);
        match tag_at(text, open) {
            Some(tag) if is_guarded(tag.name) => {
                kept.push(' ');
                at = if tag.closes || tag.empty {
                    tag.end
                } else {
                    close_of(text, &tag)
                };
            }
            _ => {
                kept.push('<');
                at = open + 1;
            }
        }
    }
    kept.push_str(&text[at..]);
    kept
}

struct TagAt<'a> {
    name: &'a str,
    end: usize,
    closes: bool,
    empty: bool,
}

fn tag_at(text: &str, open: usize) -> Option<TagAt<'_>> {
    let rest = &text[open + 1..];
    let closes = rest.starts_with('/');
    let rest = rest.trim_start_matches('/');
    let name_len = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':')))
        .unwrap_or(rest.len());
    let name = &rest[..name_len];
    let stop = rest[name_len..].find(['<', '>'])? + name_len;
    if name.is_empty() || !rest[stop..].starts_with('>') {
        return None;
    }
    let end = text.len() - rest.len() + stop + 1;
    Some(TagAt {
        name,
        end,
        closes,
        empty: rest[..stop].ends_with('/'),
    })
}

/// Where the element that `tag` opens ends; nested ones of the same name are part of it.
fn close_of(text: &str, tag: &TagAt<'_>) -> usize {
    let mut depth = 1usize;
    let mut at = tag.end;
    while let Some(open) = text[at..].find('<').map(|i| at + i) {
        at = open + 1;
        let Some(inner) = tag_at(text, open).filter(|inner| inner.name.eq_ignore_ascii_case(tag.name)) else {
            continue;
        };
        at = inner.end;
        match (inner.closes, inner.empty) {
            (true, _) => depth -= 1,
            (false, false) => depth += 1,
            (false, true) => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Puts a mark in the place of each fenced block; an unclosed fence reaches to the end.
fn without_code(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => {
                fence = Some(mark);
                kept.push_str(CODE_MARK);
                kept.push('\n');
            }
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                kept.push_str(line);
                kept.push('\n');
            }
        }
    }
    kept
}
