//! The values of a PDF's syntax.
//!
//! Owns: reading them from bytes that can be damaged. An unreadable object is null. Each step
//! consumes input, so the cost is bounded by the bytes and by the steps. Never: the meaning of a
//! value.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::Unreadable;

/// A value counts as one step for each of this many bytes, since it may be read repeatedly.
const STEP_BYTES: usize = 64;
/// Maximum depth of lists and dictionaries; no program nests them as deep.
const DEPTH_MAX: usize = 48;

pub(super) type Dict = BTreeMap<Vec<u8>, Value>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Number(f64),
    Name(Vec<u8>),
    Text(Vec<u8>),
    List(Vec<Value>),
    Dict(Dict),
    Reference(u32),
    /// A word that is no value: an operator, `obj`, `endobj`, `stream`.
    Word(Vec<u8>),
}

impl Value {
    pub(super) fn number(&self) -> Option<f64> {
        let Self::Number(number) = self else { return None };
        Some(*number)
    }

    /// A number used as a count or an index.
    pub(super) fn index(&self) -> Option<usize> {
        let number = self
            .number()
            .filter(|number| (0.0..=f64::from(u32::MAX)).contains(number))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "in range, checked above"
        )]
        Some(number as usize)
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        let Self::Name(name) = self else { return None };
        Some(name)
    }

    pub(super) fn list(&self) -> Option<&[Value]> {
        let Self::List(list) = self else { return None };
        Some(list)
    }

    pub(super) fn dict(&self) -> Option<&Dict> {
        let Self::Dict(dict) = self else { return None };
        Some(dict)
    }
}

/// Remaining steps of work for one file.
#[derive(Debug)]
pub(super) struct Steps(Cell<usize>);

impl Steps {
    pub(super) fn new(steps: usize) -> Self {
        Self(Cell::new(steps))
    }

    pub(super) fn take(&self) -> Result<(), Unreadable> {
        self.take_many(1)
    }

    pub(super) fn take_many(&self, steps: usize) -> Result<(), Unreadable> {
        self.0
            .set(self.0.get().checked_sub(steps).ok_or(Unreadable::TooComplex)?);
        Ok(())
    }
}

pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    steps: &'a Steps,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize, steps: &'a Steps) -> Self {
        Self { bytes, at, steps }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn skip_while(&mut self, is_it: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !is_it(*byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn skip_blank(&mut self) {
        self.skip_while(is_blank);
        while self.peek() == Some(b'%') {
            self.skip_while(|byte| byte != b'\n' && byte != b'\r');
            self.skip_while(is_blank);
        }
    }

    /// The next value; none at the end of the bytes.
    pub(super) fn value(&mut self) -> Result<Option<Value>, Unreadable> {
        self.nested(0)
    }

    fn nested(&mut self, depth: usize) -> Result<Option<Value>, Unreadable> {
        self.steps.take()?;
        if depth > DEPTH_MAX {
            return Err(Unreadable::TooComplex);
        }
        let before = self.at;
        self.skip_blank();
        self.steps.take_many((self.at - before) / STEP_BYTES)?;
        let before = self.at;
        let Some(first) = self.peek() else { return Ok(None) };
        let value = match first {
            b'/' => Value::Name(self.read_name()),
            b'(' => Value::Text(self.read_string()),
            b'<' if self.rest().starts_with(b"<<") => return self.read_dict(depth).map(Some),
            b'<' => Value::Text(self.read_hex()),
            b'[' => return self.read_list(depth).map(Some),
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.read_number(),
            b'{' | b'}' | b']' | b')' => {
                self.at += 1;
                Value::Word(vec![first])
            }
            b'>' => {
                self.at += if self.rest().starts_with(b">>") { 2 } else { 1 };
                Value::Word(b">>".to_vec())
            }
            _ => match self.skip_while(is_regular) {
                b"null" | b"true" | b"false" => Value::Null,
                word => Value::Word(word.to_vec()),
            },
        };
        self.steps.take_many((self.at - before) / STEP_BYTES)?;
        Ok(Some(value))
    }

    fn read_list(&mut self, depth: usize) -> Result<Value, Unreadable> {
        self.at += 1;
        Ok(Value::List(self.read_until(b"]", depth)?))
    }

    fn read_dict(&mut self, depth: usize) -> Result<Value, Unreadable> {
        self.at += 2;
        let mut dict = Dict::new();
        let mut values = self.read_until(b">>", depth)?.into_iter();
        while let Some(key) = values.next() {
            if let Value::Name(key) = key
                && let Some(value) = values.next()
            {
                dict.insert(key, value);
            }
        }
        Ok(Value::Dict(dict))
    }

    /// The values up to a word that ends them, or that cannot occur in a value.
    fn read_until(&mut self, end: &[u8], depth: usize) -> Result<Vec<Value>, Unreadable> {
        let mut values = Vec::new();
        loop {
            let before = self.at;
            match self.nested(depth + 1)? {
                None => break,
                Some(Value::Word(word)) if word == end => break,
                Some(Value::Word(word)) if ends_object(&word) => {
                    self.at = before;
                    break;
                }
                Some(Value::Word(word)) if word == b"R" => refer(&mut values),
                Some(value) => values.push(value),
            }
        }
        Ok(values)
    }

    fn read_number(&mut self) -> Value {
        let digits = self.skip_while(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.'));
        let number = std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse::<f64>().ok());
        number
            .filter(|number| number.is_finite())
            .map_or(Value::Null, Value::Number)
    }

    fn read_name(&mut self) -> Vec<u8> {
        self.at += 1;
        let raw = self.skip_while(is_regular);
        let mut name = Vec::with_capacity(raw.len());
        let mut bytes = raw.iter().copied();
        while let Some(byte) = bytes.next() {
            let mut ahead = bytes.clone();
            match (byte, ahead.next().and_then(hex), ahead.next().and_then(hex)) {
                (b'#', Some(high), Some(low)) => {
                    name.push(high << 4 | low);
                    bytes = ahead;
                }
                _ => name.push(byte),
            }
        }
        name
    }

    fn read_hex(&mut self) -> Vec<u8> {
        self.at += 1;
        let bytes = hex_bytes(self.skip_while(|byte| byte != b'>'));
        self.at += 1;
        bytes
    }

    fn read_string(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut text = Vec::new();
        let mut open = 1_usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                b'\\' => {
                    self.read_escape(&mut text);
                    continue;
                }
                _ => {}
            }
            if open == 0 {
                break;
            }
            text.push(byte);
        }
        text
    }

    fn read_escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'\r' => self.at += usize::from(self.peek() == Some(b'\n')),
            b'b' => text.push(0x08),
            b'f' => text.push(0x0c),
            b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek() else {
                        break;
                    };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                text.push(code.to_le_bytes()[0]);
            }
            other => text.push(other),
        }
    }
}

/// Replaces the three values of `12 0 R` by one reference.
fn refer(list: &mut Vec<Value>) {
    list.pop();
    let number = list
        .pop()
        .and_then(|number| number.index())
        .and_then(|number| u32::try_from(number).ok());
    list.push(number.map_or(Value::Null, Value::Reference));
}

/// Whether a word cannot occur in a value: the value before it was not closed.
fn ends_object(word: &[u8]) -> bool {
    matches!(
        word,
        b"obj" | b"endobj" | b"stream" | b"endstream" | b"xref" | b"trailer" | b"startxref"
    )
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16)?.try_into().ok()
}

/// The bytes of hexadecimal digits; other characters are ignored.
pub(super) fn hex_bytes(text: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = text.iter().copied().filter_map(hex).collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0))
        .collect()
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

fn is_regular(byte: u8) -> bool {
    !is_blank(byte)
        && !matches!(
            byte,
            b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%'
        )
}
