//! Adding text to a message of a client without rewriting any of it.
//!
//! Owns: finding the place inside the JSON text, and the bytes to insert. Never: changing, moving or dropping a byte of
//! the client's.

use transcript::json;

/// Bytes to insert into a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    /// The place, in bytes of the client's text.
    pub(crate) at: usize,
    pub(crate) bytes: String,
}

impl Splice {
    /// The text with the bytes inserted.
    pub(crate) fn apply(&self, text: &str) -> String {
        join(text, self.at, &self.bytes)
    }
}

/// `text` with `bytes` at `at`; an invalid place becomes the end.
pub(crate) fn join(text: &str, at: usize, bytes: &str) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    [before, bytes, after].concat()
}

/// The splice that appends `addition` to the content of a message. None if the content cannot be extended: no object,
/// no content, null, a number.
pub(crate) fn into_message(message: &str, addition: &str) -> Option<Splice> {
    let (start, content) = content(message)?;
    let inner = into_content(content, addition)?;
    Some(Splice {
        at: start + inner.at,
        bytes: inner.bytes,
    })
}

/// The JSON text of a message's content, and its start.
pub(crate) fn content(message: &str) -> Option<(usize, &str)> {
    let content = json::parsed(message)?.object().get("content")?;
    Some((content.span().start, content.text()))
}

/// The splice that appends `addition` to a content: a string grows, a list gets one more text part.
pub(crate) fn into_content(content: &str, addition: &str) -> Option<Splice> {
    let last = content.trim_end().len().checked_sub(1)?;
    match content.trim_start().chars().next()? {
        '"' => Some(Splice {
            at: last,
            bytes: escaped(addition),
        }),
        '[' => {
            let (comma, part) = part(content, addition.trim_start())?;
            let bytes = [comma, &part].concat();
            Some(Splice { at: last, bytes })
        }
        _ => None,
    }
}

/// The splice that puts `addition` before the content of a message. None without a content.
pub(crate) fn before_message(message: &str, addition: &str) -> Option<Splice> {
    let (start, content) = content(message)?;
    let bytes = match content.chars().next()? {
        '"' => escaped(addition),
        '[' => {
            let (comma, part) = part(content, addition.trim_end())?;
            [&part, comma].concat()
        }
        _ => return None,
    };
    Some(Splice { at: start + 1, bytes })
}

/// A text part of the list's own kind, and its separator from the others.
fn part(list: &str, text: &str) -> Option<(&'static str, String)> {
    let parts = json::parsed(list)?.elements();
    let comma = if parts.is_empty() { "" } else { "," };
    // A part of the Responses dialect.
    let is_input = |kind: String| kind.starts_with("input_");
    let is_input = parts
        .iter()
        .any(|part| part.object().string("type").is_some_and(is_input));
    let kind = if is_input { "input_text" } else { "text" };
    let text = escaped(text);
    Some((comma, format!(r#"{{"type":"{kind}","text":"{text}"}}"#)))
}

/// The inside of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = json::quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}
