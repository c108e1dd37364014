//! Kind of a line: heading, turn, end mark, blank.
//!
//! Owns: the markers, each recognised only at the start of a line. Never: the meaning of several
//! lines together.

use crate::escape::is_space;
use crate::talk;

/// The last line of every entry that Quipu writes. An entry without it at the end of a file was cut
/// off by a crash.
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
    /// Without its line end: LF, or the CRLF of an editor.
    pub text: &'a str,
    /// Whether a line feed ends it; only a file's last line may have none.
    pub ended: bool,
    /// Kind of a line that is neither a marker nor a statement, whatever its beginning, such as
    /// code.
    pub literal: Option<&'static str>,
}

/// Mark that some editors put at the beginning of a file; it has no meaning.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file's lines, without the byte order mark.
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
            literal: None,
        });
        start = end;
    }
    lines
}

/// Whether a line is empty except for spaces and tabs.
pub fn is_blank(line: &str) -> bool {
    line.trim_matches(is_space).is_empty()
}

/// The version of an entry's form, recognised by its heading: an id in braces is version 1, one in
/// a comment version 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Version 1, and what people write by hand.
    One,
    Two,
}

/// Whether a line is one of our markers, so that it must be escaped inside a text.
pub(crate) fn is_marker(line: &str, form: Form) -> bool {
    let is_own = match form {
        Form::One => turn(line).is_some(),
        Form::Two => talk::is_head(line) || item(line).is_some() || merge_mark(line).is_some(),
    };
    is_own || heading(line).is_some() || is_end(line)
}

/// Whether a line ends an entry.
pub fn is_end(line: &str) -> bool {
    line.trim_end_matches(is_space) == END
}

/// An entry's heading: `## Subject <!--id time …-->`, in version 1 `## Subject {#id}`, or by hand `## Subject`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading<'a> {
    /// As written, with its escapes.
    pub subject: &'a str,
    /// As written, with its escapes.
    pub id: Option<&'a str>,
    /// The words of the comment after the id, from version 2 on.
    pub marks: Option<&'a str>,
}

/// The entry's heading on a line.
pub fn heading(line: &str) -> Option<Heading<'_>> {
    let rest = line.strip_prefix("##")?;
    if !(rest.is_empty() || rest.starts_with(is_space)) {
        return None;
    }
    let rest = rest.trim_matches(is_space);
    if let Some((subject, id, marks)) = split_marks(rest) {
        return Some(Heading {
            subject,
            id: Some(id),
            marks: Some(marks),
        });
    }
    let (subject, id) = split_id(rest).map_or((rest, None), |(subject, id)| (subject, Some(id)));
    Some(Heading {
        subject,
        id,
        marks: None,
    })
}

/// An entry of one line: `- text <!--id time …-->`, with any mark of a list, at any depth.
pub fn item(line: &str) -> Option<Heading<'_>> {
    let (subject, id, marks) = split_marks(bullet(line.trim_matches(is_space))?)?;
    Some(Heading {
        subject,
        id: Some(id),
        marks: Some(marks),
    })
}

/// The text of a list's item, without its mark: `- text`, `* text`, `+ text`, `12. text` or `12) text`.
pub(crate) fn bullet(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_mark = match digits {
        0 => text.starts_with(['-', '*', '+']),
        1..=9 => text[digits..].starts_with(['.', ')']),
        _ => false,
    };
    let rest = is_mark.then(|| &text[digits + 1..])?;
    (rest.is_empty() || rest.starts_with(is_space)).then(|| rest.trim_matches(is_space))
}

/// The character of a line that marks a merge conflict: `<<<<<<< ours`, `||||||| base`, `=======`
/// and `>>>>>>> theirs`.
pub(crate) fn merge_mark(line: &str) -> Option<char> {
    let mark = line.chars().next().filter(|c| "<|=>".contains(*c))?;
    let rest = line.trim_start_matches(mark);
    let is_label = rest.is_empty() || (mark != '=' && rest.starts_with(' '));
    (line.len() - rest.len() == 7 && is_label).then_some(mark)
}

/// Whether a line ends inside a comment.
pub(crate) fn is_cut(line: &str) -> bool {
    line.rfind("<!--").is_some_and(|at| !line[at..].contains("-->"))
}

/// Splits the comment off the end of a line that begins an entry. A comment without a time is a person's own.
fn split_marks(text: &str) -> Option<(&str, &str, &str)> {
    let (before, inner) = split_comment(text)?;
    let (id, marks) = inner.split_once(' ')?;
    let time = marks.split(' ').next()?;
    let is_time =
        time.contains('T') && time.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
    (is_time && !id.is_empty()).then_some((before, id, marks))
}

/// Splits ` <!--…-->` off the end of a line.
pub(crate) fn split_comment(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix("-->")?;
    let at = inner.rfind("<!--")?;
    let before = &inner[..at];
    (before.is_empty() || before.ends_with(is_space))
        .then(|| (before.trim_end_matches(is_space), &inner[at + 4..]))
}

/// A turn's heading in version 1, `### Speaker (role, time) {#id}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnHeading<'a> {
    pub speaker: &'a str,
    /// Text between the parentheses.
    pub said: &'a str,
    pub id: &'a str,
}

/// The turn's heading on a line. A heading of level 3 without parentheses and id is a person's own.
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
