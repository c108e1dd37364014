//! Removes `NO_REPLY` from texts for people.
//!
//! Owns: the forms of the sentinel. Never: its effect on a flush.

/// A model's answer if it has nothing to keep.
const SENTINEL: &str = "NO_REPLY";

fn is_wrapping(c: char) -> bool {
    c.is_whitespace() || "\"'`*_<[({“„‘«「\u{feff}\u{200b}".contains(c)
}

/// Text after the sentinel at the beginning of a text, after any white space, quotes or emphasis; none if the text does
/// not begin with it.
pub(super) fn strip_sentinel(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(is_wrapping);
    let head = text.get(..SENTINEL.len())?;
    let rest = &text[SENTINEL.len()..];
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
    (head.eq_ignore_ascii_case(SENTINEL) && ends).then(|| rest.trim_start_matches(is_closing))
}

fn is_closing(c: char) -> bool {
    is_wrapping(c) || ".,:;!>])}”’»」".contains(c)
}
