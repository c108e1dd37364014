//! Server-sent events as the WHATWG's HTML standard defines them.
//!
//! Owns: lines, fields, the end of an event, the maximum length of an event. Never: the content of an event.

use std::mem;

/// Maximum bytes of one event; a longer one is dropped.
pub const EVENT_BYTES_MAX: usize = 8 << 20;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event` field, if it is not empty.
    pub name: Option<String>,
    /// The `data` fields, one a line; bytes that are not UTF-8 are replaced.
    pub data: String,
}

/// Turns bytes, cut anywhere, into events.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// Each line of data with a line feed at its end.
    data: Vec<u8>,
    name: Vec<u8>,
    past_first_line: bool,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    /// Whether the current event is too long: none of it is kept.
    too_long: bool,
}

impl Decoder {
    /// The events that end within these bytes.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<SseEvent> {
        let mut events = Vec::new();
        if let ([b'\n', rest @ ..], true) = (bytes, self.after_return) {
            bytes = rest;
            self.after_return = false;
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.grow(&bytes[..end]);
            events.extend(self.end_line());
            let width = if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 };
            self.after_return = bytes[end..] == *b"\r";
            bytes = &bytes[end + width..];
        }
        if !bytes.is_empty() {
            self.after_return = false;
            self.grow(bytes);
        }
        events
    }

    /// The event that the end of the bytes cut off, possibly in the middle. The standard discards it; many clients read
    /// line by line instead, and for them a last line without an end counts.
    pub fn finish(&mut self) -> Option<SseEvent> {
        let unended = self.end_line();
        unended.or_else(|| self.end_event())
    }

    fn grow(&mut self, bytes: &[u8]) {
        if self.line.len() + self.data.len() + self.name.len() + bytes.len() > EVENT_BYTES_MAX {
            self.too_long = true;
            self.data = Vec::new();
            self.name = Vec::new();
            self.line = Vec::new();
        }
        // For a line that is not kept, one byte is enough to mark it as not empty.
        let kept = if self.too_long && !bytes.is_empty() {
            &b":"[..]
        } else {
            bytes
        };
        if !self.too_long || self.line.is_empty() {
            self.line.extend_from_slice(kept);
        }
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let mut line = mem::take(&mut self.line);
        if !mem::replace(&mut self.past_first_line, true) && line.starts_with(BOM) {
            line.drain(..BOM.len());
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => self.name = value.to_vec(),
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let name = mem::take(&mut self.name);
        let data = mem::take(&mut self.data);
        self.too_long = false;
        let data = data.strip_suffix(b"\n")?;
        Some(SseEvent {
            name: (!name.is_empty()).then(|| String::from_utf8_lossy(&name).into_owned()),
            data: String::from_utf8_lossy(data).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests;
