//! The header of an e-mail or of one of its parts.
//!
//! Owns: folded lines, words in other alphabets, parameters such as a file's name. Never: addresses, dates.

use encoding_rs::{Encoding, WINDOWS_1252};

use super::body::quoted_printable;
use crate::base64;
use crate::markdown::one_line;

/// Maximum length of an encoded word. The standard allows 75 bytes; programs write somewhat longer
/// ones.
const WORD_MAX_BYTES: usize = 1_000;

/// Maximum number of fields that are read.
const FIELDS_MAX: usize = 1_000;

/// The fields of a header, in their order.
#[derive(Debug, Default)]
pub(super) struct Header(Vec<(String, String)>);

impl Header {
    /// The header at the start of a message or a part, and the body below it.
    pub(super) fn read(bytes: &[u8]) -> (Self, &[u8]) {
        let mut header = Self::default();
        let mut at = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            at += line.len();
            let line = decoded_line(line.trim_ascii_end());
            match line.split_once(':') {
                _ if line.is_empty() => break,
                _ if line.starts_with([' ', '\t']) => {
                    if let Some((_, value)) = header.0.last_mut() {
                        value.push_str(&line);
                    }
                }
                Some(_) if header.0.len() == FIELDS_MAX => {}
                Some((name, value)) => header
                    .0
                    .push((name.trim().to_ascii_lowercase(), value.to_owned())),
                // The envelope line before a message in a mailbox, or no header at all.
                None => {}
            }
        }
        (header, bytes.get(at..).unwrap_or_default())
    }

    /// A field as sent; empty if there is none.
    pub(super) fn raw(&self, name: &str) -> &str {
        let field = self.0.iter().find(|(field, _)| field == name);
        field.map_or("", |(_, value)| value.trim())
    }

    /// A field, decoded for a reader.
    pub(super) fn decoded(&self, name: &str) -> String {
        one_line(&decoded_words(self.raw(name)))
    }

    /// The first word of a field, in lower case: the type of `Content-Type`.
    pub(super) fn kind(&self, name: &str) -> String {
        let kind = self.raw(name).split(';').next().unwrap_or_default();
        kind.trim().to_ascii_lowercase()
    }

    /// A parameter of a field: the `boundary` of `Content-Type`, the `filename` of `Content-Disposition`.
    pub(super) fn parameter(&self, field: &str, name: &str) -> Option<String> {
        let mut charset = None;
        let mut found: Option<Vec<u8>> = None;
        for (key, value) in parameters(self.raw(field)) {
            // `name`, `name*` with a charset, `name*0` or `name*0*` of several pieces.
            let Some(form) = key
                .strip_prefix(name)
                .filter(|form| form.is_empty() || form.starts_with('*'))
            else {
                continue;
            };
            let piece = found.get_or_insert_default();
            if !form.ends_with('*') {
                piece.extend_from_slice(value.as_bytes());
                continue;
            }
            let declared = value.split_once('\'').filter(|_| charset.is_none());
            let text = declared
                .and_then(|(_, rest)| rest.split_once('\''))
                .map_or(&*value, |(_, text)| text);
            charset = charset.or(declared.and_then(|(label, _)| Encoding::for_label(label.as_bytes())));
            let escaped = text.replace('=', "=3D").replace('%', "=");
            piece.extend(quoted_printable(escaped.as_bytes()));
        }
        let bytes = found?;
        Some(match charset {
            Some(charset) => charset.decode_without_bom_handling(&bytes).0.into_owned(),
            None => decoded_words(&String::from_utf8_lossy(&bytes)),
        })
    }
}

fn decoded_line(line: &[u8]) -> String {
    match std::str::from_utf8(line) {
        Ok(line) => line.to_owned(),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(line).0.into_owned(),
    }
}

/// The parameters of a field, in order, without their quotes.
fn parameters(field: &str) -> Vec<(String, String)> {
    let mut parameters = Vec::new();
    // The field's own value comes first.
    let mut chars = field.split_once(';').map_or("", |(_, rest)| rest).chars();
    loop {
        let key: String = chars.by_ref().take_while(|c| *c != '=').collect();
        let mut value = String::new();
        let mut is_quoted = false;
        let mut is_last = true;
        while let Some(c) = chars.next() {
            match c {
                '"' => is_quoted = !is_quoted,
                '\\' if is_quoted => value.extend(chars.next()),
                ';' if !is_quoted => {
                    is_last = false;
                    break;
                }
                c => value.push(c),
            }
        }
        let key = key.trim().to_ascii_lowercase();
        if !key.is_empty() {
            parameters.push((key, value.trim().to_owned()));
        }
        if is_last {
            return parameters;
        }
    }
}

/// A text with its encoded words decoded, such as `=?utf-8?q?Gr=C3=BC=C3=9Fe?=`. White space
/// between two such words is dropped.
fn decoded_words(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    let mut is_after_word = false;
    while let Some((before, tail)) = rest.split_once("=?") {
        let word = word(tail);
        if word.is_none() || !is_after_word || !before.trim().is_empty() {
            shown.push_str(before);
        }
        is_after_word = word.is_some();
        if let Some((word, after)) = word {
            shown.push_str(&word);
            rest = after;
        } else {
            shown.push_str("=?");
            rest = tail;
        }
    }
    shown + rest
}

/// The encoded word after `=?`, and the text after it.
fn word(text: &str) -> Option<(String, &str)> {
    let head = text.get(..text.floor_char_boundary(WORD_MAX_BYTES))?;
    let mut parts = head.splitn(3, '?');
    let (charset, form, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let (letters, _) = rest.split_once("?=")?;
    let bytes = match form {
        "B" | "b" => base64(letters.as_bytes())?,
        "Q" | "q" => quoted_printable(letters.replace('_', " ").as_bytes()),
        _ => return None,
    };
    let label = charset.split('*').next().unwrap_or_default();
    let word = Encoding::for_label(label.as_bytes())?
        .decode_without_bom_handling(&bytes)
        .0
        .into_owned();
    let length = charset.len() + form.len() + letters.len() + "??".len() + "?=".len();
    Some((word, text.get(length..)?))
}
