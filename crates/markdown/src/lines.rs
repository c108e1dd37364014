//! Kind of a line: heading, turn, end mark, blank.
//!
//! Owns: the markers, each recognised only at the start of a line. Never: their meaning together.

use crate::escape::is_space;

/// The last line of every entry that Quipu writes; a crash cut off an entry at the end of a file without it.
pub const END: &str = "<!-- end -->";

/// One line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: usize,
    /// Where it starts in the file, in bytes.
    pub start: usize,
    /// Where the next line starts.
    pub end: usize,
    /// Without its line end, be that LF or the CRLF of an editor.
    pub text: &'a str,
    /// Whether a line feed ends it; only a file's last line may have none.
    pub ended: bool,
}

/// Mark that some editors put at the beginning of a file; it has no meaning.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file's lines. A byte order mark belongs to none of them.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let bare = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut start = text.len() - bare.len();
    for whole in bare.split_inclusive('\n') {
        let end = start + whole.len();
        let bare = whole.strip_suffix('\n');
        let text = bare.unwrap_or(whole);
        lines.push(Line {
            number: lines.len() + 1,
            start,
            end,
            text: text.strip_suffix('\r').unwrap_or(text),
            ended: bare.is_some(),
        });
        start = end;
    }
    lines
}

/// Whether a line is empty but for spaces and tabs.
pub fn is_blank(line: &str) -> bool {
    line.trim_matches(is_space).is_empty()
}

/// Whether a line is one of ours: such a line inside a text is escaped.
pub fn is_marker(line: &str) -> bool {
    heading(line).is_some() || is_end(line) || turn(line).is_some()
}

/// Whether a line ends an entry.
pub fn is_end(line: &str) -> bool {
    line.trim_end_matches(is_space) == END
}

/// An entry's heading, `## Subject {#id}`: its subject as written and its id, if it has one.
pub fn heading(line: &str) -> Option<(&str, Option<&str>)> {
    let rest = line.strip_prefix("##")?;
    if !(rest.is_empty() || rest.starts_with(is_space)) {
        return None;
    }
    let rest = rest.trim_matches(is_space);
    Some(split_id(rest).map_or((rest, None), |(subject, id)| (subject, Some(id))))
}

/// A turn's heading, `### Speaker (role, time) {#id}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnHeading<'a> {
    pub speaker: &'a str,
    /// Text between the parentheses.
    pub said: &'a str,
    pub id: &'a str,
}

/// The turn that a line opens. A heading of level 3 without parentheses and id is a person's own.
pub fn turn(line: &str) -> Option<TurnHeading<'_>> {
    let rest = line.strip_prefix("###")?;
    if !rest.starts_with(is_space) {
        return None;
    }
    let (before, id) = split_id(rest.trim_matches(is_space))?;
    let inner = before.strip_suffix(')')?;
    let open = inner.rfind('(')?;
    Some(TurnHeading {
        speaker: inner[..open].trim_matches(is_space),
        said: &inner[open + 1..],
        id,
    })
}

/// Splits ` {#id}` off the end of a heading.
fn split_id(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix('}')?;
    let at = inner.rfind("{#")?;
    let id = &inner[at + 2..];
    let before = &inner[..at];
    let is_own_word = before.is_empty() || before.ends_with(is_space);
    (is_own_word && is_id(id)).then(|| (before.trim_end_matches(is_space), id))
}

/// Whether a text can be between `{#` and `}`: no white space and no braces except those of escapes.
fn is_id(text: &str) -> bool {
    let mut pieces = text.split("\\u{");
    let is_plain = |piece: &str| !piece.contains([' ', '\t', '{', '}']);
    !text.is_empty()
        && pieces.next().is_none_or(is_plain)
        && pieces.all(|piece| piece.split_once('}').is_some_and(|(_, rest)| is_plain(rest)))
}
