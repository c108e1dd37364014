//! JSON as models write it: thoughts, fences, prose, comments, single quotes, bare keys, commas too
//! many or too few, a missing end.
//!
//! Owns: finding and reading a JSON value in any text, without failing. Never: the meaning of the
//! value.

use serde_json::{Map, Number, Value};

const DEPTH_MAX: usize = 32;
/// How many opening brackets are tried before giving up.
const STARTS_MAX: usize = 16;

/// Marks of a model's thoughts before its answer: begin and end.
const THOUGHTS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<|channel|>analysis", "<|channel|>final"),
];

/// The first object with that key in a text, else the text's first value that is not empty.
pub fn find(text: &str, key: &str) -> Option<Value> {
    let text = without_thoughts(text);
    if let Ok(value) = serde_json::from_str::<Value>(text.trim()) {
        return Some(value).filter(|value| value.is_object() || value.is_array());
    }
    let starts = || {
        text.char_indices()
            .map(|(at, _)| at)
            .filter(|at| opens(&text[*at..]))
            .take(STARTS_MAX)
    };
    let mut first = None;
    for start in starts() {
        let value = JsonReader { text, at: start }.value(0);
        if value.get(key).is_some() {
            return Some(value);
        }
        let holds = value.as_object().is_some_and(|map| !map.is_empty())
            || value
                .as_array()
                .is_some_and(|list| list.iter().any(Value::is_object));
        if first.is_none() && holds {
            first = Some(value);
        }
    }
    first
}

/// The text after a model's thoughts. Thoughts without an end are an answer that was cut off: a
/// draft in them is no answer. Some servers send the end without the beginning.
fn without_thoughts(text: &str) -> &str {
    for (begin, end) in THOUGHTS {
        if let Some((_, answer)) = text.rsplit_once(end) {
            return answer;
        }
        if text.trim_start().starts_with(begin) {
            return "";
        }
    }
    text
}

/// Whether a value may begin here: an object, or a list of objects. "[3]" in prose is neither.
fn opens(text: &str) -> bool {
    let inner = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{') || inner.is_some_and(|inner| inner.starts_with(['{', '[']))
}

/// Whether a quoted key follows, so that only a comma is missing before it.
fn begins_key(text: &str) -> bool {
    let Some(inner) = text.strip_prefix(['"', '\'']) else {
        return false;
    };
    let len = inner
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(inner.len());
    len > 0 && inner[len..].starts_with(['"', '\'']) && inner[len + 1..].trim_start().starts_with(':')
}

struct JsonReader<'a> {
    text: &'a str,
    at: usize,
}

impl JsonReader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start().len();
            self.at += space;
            let rest = self.rest();
            let comment = if rest.starts_with("//") || rest.starts_with('#') {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += comment;
        }
    }

    /// The value here; null if there is none.
    fn value(&mut self, depth: usize) -> Value {
        self.skip();
        match self.peek() {
            Some('{') if depth < DEPTH_MAX => self.object(depth),
            Some('[') if depth < DEPTH_MAX => self.list(depth),
            Some(quote @ ('"' | '\'' | '“' | '`')) => Value::String(self.string(quote)),
            Some(_) => self.bare(),
            None => Value::Null,
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        self.next();
        let mut map = Map::new();
        loop {
            self.skip();
            match self.peek() {
                // The end of a list here means that this object's own end is missing.
                None | Some(']') => break,
                Some('}') => {
                    self.next();
                    break;
                }
                Some(',' | ';') => {
                    self.next();
                    continue;
                }
                Some(_) => {}
            }
            let key = match self.peek() {
                Some(quote @ ('"' | '\'' | '“' | '`')) => self.string(quote),
                _ => self.bare_word(),
            };
            self.skip();
            if !self.rest().starts_with([':', '=']) {
                if key.is_empty() {
                    self.next();
                }
                continue;
            }
            self.next();
            let value = self.value(depth + 1);
            map.insert(key, value);
        }
        Value::Object(map)
    }

    fn list(&mut self, depth: usize) -> Value {
        self.next();
        let mut list = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                // The end of an object here means that this list's own end is missing.
                None | Some('}') => break,
                Some(']') => {
                    self.next();
                    break;
                }
                Some(',' | ';') => {
                    self.next();
                }
                Some(_) => {
                    let before = self.at;
                    list.push(self.value(depth + 1));
                    if self.at == before {
                        self.next();
                    }
                }
            }
        }
        Value::Array(list)
    }

    /// A quoted text. A quotation mark without anything like an end after it belongs to the text.
    fn string(&mut self, quote: char) -> String {
        self.next();
        let close = if quote == '“' { '”' } else { quote };
        let mut text = String::new();
        while let Some(c) = self.next() {
            match c {
                '\\' => self.escape(&mut text),
                c if c == close => {
                    let rest = self.rest().trim_start();
                    if begins_key(rest)
                        || rest.is_empty()
                        || rest.starts_with([',', '}', ']', ':', '/', '#'])
                        || self.rest().starts_with('\n')
                    {
                        return text;
                    }
                    text.push(c);
                }
                c => text.push(c),
            }
        }
        text
    }

    fn escape(&mut self, text: &mut String) {
        match self.next() {
            Some('n' | 'r') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('b' | 'f') => text.push(' '),
            Some('u') => {
                let unit = |at: usize| {
                    self.text
                        .get(at..at + 4)
                        .and_then(|hex| u16::from_str_radix(hex, 16).ok())
                };
                let Some(first) = unit(self.at) else {
                    return;
                };
                let second = if self.text.get(self.at + 4..self.at + 6) == Some("\\u") {
                    unit(self.at + 6)
                } else {
                    None
                };
                let mut decoded = char::decode_utf16([Some(first), second].into_iter().flatten());
                let paired = (0xd800..0xdc00).contains(&first) && second.is_some();
                self.at += if paired { 10 } else { 4 };
                text.push(decoded.next().and_then(Result::ok).unwrap_or('\u{fffd}'));
            }
            Some(c) => text.push(c),
            None => {}
        }
    }

    fn bare_word(&mut self) -> String {
        let rest = self.rest();
        let len = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.')))
            .unwrap_or(rest.len());
        let word = rest[..len].to_owned();
        self.at += len;
        word
    }

    /// A number or a word without quotes. A number at the very end may have lost digits and counts as missing.
    fn bare(&mut self) -> Value {
        let word = self.bare_word();
        match word.to_ascii_lowercase().as_str() {
            "true" => return Value::Bool(true),
            "false" => return Value::Bool(false),
            "" | "null" | "none" | "nan" | "undefined" | "infinity" | "-infinity" | "inf" => {
                return Value::Null;
            }
            _ => {}
        }
        if let Ok(number) = word.parse::<i64>() {
            return if self.rest().is_empty() {
                Value::Null
            } else {
                Value::from(number)
            };
        }
        match word.parse::<f64>().ok().and_then(Number::from_f64) {
            Some(_) if self.rest().is_empty() => Value::Null,
            Some(number) => Value::Number(number),
            None => Value::String(word),
        }
    }
}
