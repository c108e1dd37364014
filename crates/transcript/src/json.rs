//! JSON text by ranges: the place of a value, a member or an element, so that its bytes can be kept or replaced.
//!
//! Owns: splitting valid JSON without building a tree (nesting costs no stack), reading strings leniently. Never:
//! checking (`serde_json` does, once, before any function here gets the text).

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

/// A range of bytes in a text.
pub type ByteSpan = Range<usize>;

/// Checks that the whole text is one JSON value. A lone surrogate escape is accepted: it is read as U+FFFD later.
pub fn check(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<&RawValue>(text).map(|_| ())
}

/// The value of a whole text; none if it is not JSON.
pub fn parsed(text: &str) -> Option<Value<'_>> {
    check(text).ok().map(|()| Value::of(text))
}

/// The exact text of a field of an object; none if the text is no JSON object with this field.
pub fn field<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    Some(parsed(object)?.object().get(name)?.text())
}

/// The text as a JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// One value of a checked text.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a> {
    source: &'a str,
    start: usize,
    end: usize,
}

/// The members of an object, in order. If a key occurs twice, its last value counts, as in other readers.
#[derive(Debug, Clone)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, usize, Value<'a>)>,
}

impl<'a> Value<'a> {
    /// The value in a range of a text: `span` must contain one checked value.
    pub fn within(source: &'a str, span: ByteSpan) -> Self {
        let text = &source[span.clone()];
        let start = span.start + (text.len() - text.trim_start().len());
        Self {
            source,
            start,
            end: span.start + text.trim_end().len().max(start - span.start),
        }
    }

    pub fn of(source: &'a str) -> Self {
        Self::within(source, 0..source.len())
    }

    pub fn text(&self) -> &'a str {
        self.source.get(self.start..self.end).unwrap_or_default()
    }

    pub fn span(&self) -> ByteSpan {
        self.start..self.end
    }

    fn opens_with(&self, byte: u8) -> bool {
        self.text().as_bytes().first() == Some(&byte)
    }

    pub fn is_object(&self) -> bool {
        self.opens_with(b'{')
    }

    pub fn is_array(&self) -> bool {
        self.opens_with(b'[')
    }

    pub fn is_string(&self) -> bool {
        self.opens_with(b'"')
    }

    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }

    /// Name of the value's kind, for an error.
    pub fn kind(&self) -> &'static str {
        match self.text().as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        }
    }

    /// The string's text; none for any other value. Lone surrogates become U+FFFD.
    pub fn string(&self) -> Option<String> {
        self.is_string().then(|| unquoted(self.text()))
    }

    /// An array's elements; none for any other value.
    pub fn elements(&self) -> Vec<Value<'a>> {
        if self.is_array() { self.split() } else { Vec::new() }
    }

    /// The texts of an array's elements; none for any other value.
    pub fn element_texts(&self) -> impl Iterator<Item = String> + use<'a> {
        self.elements()
            .into_iter()
            .map(|element| element.text().to_owned())
    }

    /// An object's members; none for any other value.
    pub fn object(&self) -> Object<'a> {
        let parts = if self.is_object() {
            self.split()
        } else {
            Vec::new()
        };
        let pairs = parts.chunks_exact(2);
        Object {
            members: pairs
                .map(|pair| (key(pair[0].text()), pair[0].start, pair[1]))
                .collect(),
        }
    }

    /// The values between the brackets, including an object's keys.
    fn split(&self) -> Vec<Value<'a>> {
        let bytes = self.source.as_bytes();
        let mut values = Vec::new();
        let mut at = self.start + 1;
        while at + 1 < self.end {
            if matches!(bytes[at], b' ' | b'\t' | b'\n' | b'\r' | b',' | b':') {
                at += 1;
                continue;
            }
            let end = end_of(bytes, at).min(self.end - 1).max(at + 1);
            values.push(Self {
                source: self.source,
                start: at,
                end,
            });
            at = end;
        }
        values
    }
}

impl<'a> Object<'a> {
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.members
            .iter()
            .rev()
            .find(|(name, ..)| name == key)
            .map(|(.., value)| *value)
    }

    /// The members in order, each with its key.
    pub fn members(&self) -> impl Iterator<Item = (&Cow<'a, str>, Value<'a>)> {
        self.members.iter().map(|(key, _, value)| (key, *value))
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The text of a member, if it is a string.
    pub fn string(&self, key: &str) -> Option<String> {
        self.get(key)?.string()
    }

    /// The elements of a member that is an array; none for any other.
    pub fn elements(&self, key: &str) -> Vec<Value<'a>> {
        self.get(key).map_or_else(Vec::new, |value| value.elements())
    }

    pub fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.text() == "true")
    }

    /// Whether a key occurs twice.
    pub fn repeats(&self) -> bool {
        let mut keys: Vec<&str> = self.members.iter().map(|(key, ..)| key.as_ref()).collect();
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// The range of each member, key and value.
    pub fn spans(&self) -> Vec<ByteSpan> {
        self.members
            .iter()
            .map(|(_, start, value)| *start..value.end)
            .collect()
    }
}

/// The end of the value that starts at `start`.
fn end_of(bytes: &[u8], start: usize) -> usize {
    match bytes[start] {
        b'"' => end_of_string(bytes, start),
        b'{' | b'[' => end_of_brackets(bytes, start),
        _ => {
            let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' | b']' | b'}');
            bytes[start..]
                .iter()
                .position(ends)
                .map_or(bytes.len(), |length| start + length)
        }
    }
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn end_of_brackets(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return at + 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn key(quoted: &str) -> Cow<'_, str> {
    let inner = quoted.get(1..quoted.len().max(2) - 1).unwrap_or(quoted);
    if inner.contains('\\') {
        Cow::Owned(unquoted(quoted))
    } else {
        Cow::Borrowed(inner)
    }
}

/// The text of a JSON string. Lone surrogates become U+FFFD.
fn unquoted(quoted: &str) -> String {
    crate::mended::parse(quoted).unwrap_or_else(|_| quoted.to_owned())
}

/// The ranges to remove so that only the kept siblings remain, each with the comma that separates it from another.
pub fn cuts(siblings: &[ByteSpan], is_kept: &[bool]) -> Vec<ByteSpan> {
    let mut cuts = Vec::new();
    let mut any_kept = false;
    for (index, sibling) in siblings.iter().enumerate() {
        if is_kept.get(index).copied().unwrap_or(true) {
            any_kept = true;
        } else if any_kept {
            cuts.push(siblings[index - 1].end..sibling.end);
        } else {
            cuts.push(sibling.start..siblings.get(index + 1).map_or(sibling.end, |next| next.start));
        }
    }
    cuts
}

/// The text with each range replaced. Ranges must not overlap.
pub fn spliced(text: &str, mut changes: Vec<(ByteSpan, String)>) -> String {
    changes.sort_by_key(|(span, _)| (span.start, span.end));
    let mut made = String::with_capacity(text.len());
    let mut copied = 0;
    for (span, replacement) in changes {
        made.push_str(&text[copied..span.start.max(copied)]);
        made.push_str(&replacement);
        copied = span.end.max(copied);
    }
    made.push_str(&text[copied..]);
    made
}
