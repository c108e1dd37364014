//! Any text as lines of a text file, and back.
//!
//! Owns: the two escapes. `\u{…}` is one character, anywhere; a backslash at the start of a line
//! makes the rest plain text. Never: the place of a text in a file.
//!
//! Ordinary prose is left as it is: a backslash has a meaning only before `u{` and before a marker
//! at the start of a line, so that Windows paths, LaTeX and regular expressions need no escape.

use std::fmt::Write as _;

use crate::keys::is_opening;
use crate::lines::{Form, is_blank, is_marker};
use crate::talk::is_who;

/// Whether an editor would lose or hide a character: controls except the tab, line ends that only
/// some programs know, the byte order mark, and characters that reorder a line on the screen.
pub(crate) fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push_code(out: &mut String, c: char) {
    write!(out, "\\u{{{:X}}}", u32::from(c)).expect("a string takes any text");
}

/// Appends a text with `\u{…}` for hidden characters and for those that `also` accepts.
pub(crate) fn push_chars(out: &mut String, text: &str, also: impl Fn(char) -> bool) {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if is_hidden(c) || also(c) || (c == '\\' && rest.as_str().starts_with("u{")) {
            push_code(out, c);
        } else {
            out.push(c);
        }
    }
}

/// Undoes every `\u{…}`; one without a valid character stays as it is, `\u{}` becomes nothing.
pub fn read_chars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\u{") {
        out.push_str(&rest[..at]);
        let code = &rest[at + 3..];
        // A character needs at most six digits; looking no further keeps hostile text linear.
        let digits = code.bytes().take(7).take_while(u8::is_ascii_hexdigit).count();
        let closed = code.as_bytes().get(digits) == Some(&b'}');
        let read = match (closed, &code[..digits]) {
            (true, "") => Some(None),
            (true, hex) => u32::from_str_radix(hex, 16)
                .ok()
                .and_then(char::from_u32)
                .map(Some),
            (false, _) => None,
        };
        if let Some(c) = read {
            out.extend(c);
            rest = &code[digits + 1..];
        } else {
            out.push_str("\\u{");
            rest = code;
        }
    }
    out.push_str(rest);
    out
}

/// One line of text that survives trimming, for a heading or the value of an inline key; empty text
/// is `\u{}`.
pub fn value(text: &str) -> String {
    value_without(text, |_| false)
}

/// As [`value`], with more characters escaped: those that would end the value.
pub fn value_without(text: &str, ends: impl Fn(char) -> bool) -> String {
    let inner = text.trim_matches(is_space);
    if inner.is_empty() && text.is_empty() {
        return "\\u{}".to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let lead = text.len() - text.trim_start_matches(is_space).len();
    for c in text[..lead].chars() {
        push_code(&mut out, c);
    }
    push_chars(&mut out, inner, ends);
    for c in text[lead + inner.len()..].chars() {
        push_code(&mut out, c);
    }
    out
}

/// A value that [`value`] or a person wrote.
pub fn read_value(text: &str) -> String {
    read_chars(text.trim_matches(is_space))
}

/// The white space that a line may lose without changing its meaning.
pub fn is_space(c: char) -> bool {
    c == ' ' || c == '\t'
}

/// Appends a text as a block of lines, each ended; empty text has no line.
pub fn push_block(out: &mut String, text: &str) {
    if !text.is_empty() {
        push_lines(out, text, true);
    }
}

/// As [`push_block`], for the lines after a text's first line: a blank line at the start needs no
/// escape.
pub fn push_rest(out: &mut String, text: &str) {
    push_lines(out, text, false);
}

/// Whether a block's first line would be read as something other than text.
fn opens_else(line: &str, form: Form) -> bool {
    is_opening(line) || (form == Form::Two && is_who(line))
}

fn push_lines(out: &mut String, text: &str, is_start: bool) {
    let last = text.matches('\n').count();
    for (n, line) in text.split('\n').enumerate() {
        let start = out.len();
        push_chars(out, line, |_| false);
        let (slashes, rest) = split_slashes(&out[start..]);
        let opens = is_start && n == 0;
        let is_special = is_marker(rest, Form::Two)
            || (is_blank(rest) && (slashes > 0 || opens || n == last))
            || (opens && opens_else(rest, Form::Two));
        if is_special {
            out.insert(start, '\\');
        }
        out.push('\n');
    }
}

/// A block's text from its lines, without blank lines around it.
pub(crate) fn read_block(lines: &[&str], form: Form) -> String {
    let first = lines
        .iter()
        .position(|line| !is_blank(line))
        .unwrap_or(lines.len());
    read_lines(&lines[first..], form)
}

/// The text of the lines after a text's first line, without blank lines at the end.
pub(crate) fn read_rest(lines: &[&str]) -> Option<String> {
    let is_there = lines.iter().any(|line| !is_blank(line));
    is_there.then(|| read_lines(lines, Form::Two))
}

fn read_lines(lines: &[&str], form: Form) -> String {
    let end = lines
        .iter()
        .rposition(|line| !is_blank(line))
        .map_or(0, |last| last + 1);
    let read = |(n, line): (usize, &&str)| {
        let (slashes, rest) = split_slashes(line);
        let is_special = is_marker(rest, form) || is_blank(rest) || (n == 0 && opens_else(rest, form));
        read_chars(if slashes > 0 && is_special {
            &line[1..]
        } else {
            line
        })
    };
    let texts: Vec<String> = lines[..end].iter().enumerate().map(read).collect();
    texts.join("\n")
}

pub(crate) fn split_slashes(line: &str) -> (usize, &str) {
    let rest = line.trim_start_matches('\\');
    (line.len() - rest.len(), rest)
}
