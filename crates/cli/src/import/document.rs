//! A file of any format of the table: a JSON array read one element at a time, lines, a whole document, a text, a database.
//!
//! Owns: detecting the format from the parsed structure, and reporting broken parts. Never: the structure of a conversation.

use std::collections::HashSet;
use std::io::{BufRead, Cursor, Read};
use std::sync::Arc;

use regex::bytes::{Captures, Regex};
use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};
use transcript::dialect::Dialect;
use transcript::mended;

use super::table::{self, FormatRow};
use super::{ImportFile, Reading, agent, everos, notes, plain, reshape, shape, talk, whatsapp};
use crate::error::Failure;

/// Maximum number of values before the one that shows the format.
const LOOK_VALUES: usize = 20;

/// Reads a stream that begins with `[` or `{`.
pub(super) fn read(stream: &mut dyn BufRead, reading: &mut Reading<'_>) -> Result<(), Failure> {
    if first_byte(stream)? == Some(b'[') {
        return array(stream, reading);
    }
    let mut head = Vec::new();
    for _ in 0..LOOK_VALUES {
        let start = head.len();
        let read = stream.read_until(b'\n', &mut head)?;
        if read == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&head[start..]);
        if line.trim().is_empty() {
            continue;
        }
        let Ok(value) = mended::parse::<Value>(line.trim()) else {
            break;
        };
        if let Some(row) = table::of(&value, &reading.source.file_name(), true) {
            return lines(row, &mut Cursor::new(head).chain(stream), reading);
        }
    }
    stream.read_to_end(&mut head)?;
    whole(&head, reading)
}

/// A file without conversations, or with the conversations of another file.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(super) struct NoFormat {
    pub(super) text: String,
    /// Quipu knows the format.
    pub(super) is_known: bool,
}

impl NoFormat {
    fn failure(text: String, is_known: bool, hint: &str) -> Failure {
        Failure::input(Self { text, is_known }).hint(hint)
    }
}

/// The error for an unknown format, with the formats that Quipu reads.
fn unknown(source: &ImportFile) -> Failure {
    NoFormat::failure(
        format!("cannot detect the format of {source}"),
        false,
        "Quipu reads exports of ChatGPT, Claude, Quipu and other programs (see docs/import.md), sessions of Claude Code and Codex, an \
         EverOS root, and OpenAI messages; for anything else write a file `*.jsonl` with `role`, `content` and `timestamp` on each line",
    )
}

/// Refuses a format that Quipu recognises but does not read.
fn check(row: &FormatRow, source: &ImportFile) -> Result<(), Failure> {
    let hint = "write a file `*.jsonl` with `role`, `content` and `timestamp` on each line";
    let text = |why: &str| format!("{source}: {}. Quipu does not import it: {why}", row.title);
    match (row.all("beside").next(), row.all("refuse").next()) {
        (Some(beside), _) => Err(NoFormat::failure(text(beside), true, hint)),
        (_, Some(refuse)) => Err(Failure::usage(text(refuse)).hint(hint)),
        _ => Ok(()),
    }
}

/// Bytes at the beginning of a file that show whether it is a text.
const LOOK_BYTES: u64 = 64 * 1024;

/// Reads a text that is not JSON.
pub(super) fn text(stream: &mut dyn BufRead, reading: &mut Reading<'_>) -> Result<(), Failure> {
    let source = reading.source;
    let mut bytes = Vec::new();
    let mut look = (&mut *stream).take(LOOK_BYTES);
    look.read_to_end(&mut bytes)?;
    if bytes.contains(&0) {
        return Err(unknown(source));
    }
    let look = String::from_utf8_lossy(&bytes).into_owned();
    let first = look.trim_start().lines().next().unwrap_or_default();
    let is_value = whatsapp::is_head(first) || first == "---";
    if !is_value && table::of_text(&look).is_none() {
        return Err(unknown(source));
    }
    stream.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let chat = whatsapp::chat(&text, source, reading.defaults.dates)?;
    let value = chat.or_else(|| notes::notes(&text, source)).unwrap_or_default();
    let row = table::of(&value, &source.file_name(), false).or_else(|| table::of_text(&look));
    let row = row.ok_or_else(|| unknown(source))?;
    check(row, source)?;
    place(row, 1, &value, reading)
}

/// Reads a database with the query of its format; the names of its tables show the format.
pub(super) fn database(reading: &mut Reading<'_>) -> Result<(), Failure> {
    let source = reading.source;
    if !source.is_file() {
        return Err(unknown(source)); // SQLite cannot open an entry of an archive
    }
    let unread = |error| Failure::usage(format!("cannot read {source}: {error}"));
    let all = |query: &str| {
        let mut found = Vec::new();
        let read = ledger::foreign::values(&source.path, query, &mut |text| {
            found.push(text);
            true
        });
        read.map(|()| found).map_err(unread)
    };
    let tables = all("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let row = table::of_tables(&tables).ok_or_else(|| unknown(source))?;
    check(row, source)?;
    for owners in row.all("owners") {
        reading.defaults.is_shared = all(owners)?.len() > 1;
    }
    let mut number = 0;
    for query in row.all("query") {
        let mut taken = Ok(());
        let read = ledger::foreign::values(&source.path, query, &mut |text| {
            number += 1;
            let value = mended::parse(&text).unwrap_or_default();
            taken = place(row, number, &value, reading);
            taken.is_ok()
        });
        read.map_err(|error| match row.name {
            "everos" => everos::unread(source, error),
            _ => unread(error),
        })?;
        taken?;
    }
    Ok(())
}

fn lines(
    row: &'static FormatRow,
    stream: &mut dyn BufRead,
    reading: &mut Reading<'_>,
) -> Result<(), Failure> {
    match row.name {
        "jsonl" => return plain::read(row, stream, reading),
        "codex" => return agent::read(stream, Dialect::Codex, reading),
        "claude-code" => return agent::read(stream, Dialect::ClaudeCode, reading),
        _ => {}
    }
    check(row, reading.source)?;
    let mut values = Vec::new();
    for (number, line) in (1..).zip(stream.split(b'\n')) {
        let line = line?;
        match mended::parse(&String::from_utf8_lossy(&line)) {
            Ok(value) => values.push(value),
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(error) => reading.skip(format!("line {number}"), error.to_string())?,
        }
    }
    place(row, 1, &Value::Array(values), reading)
}

/// Hands over the conversations of a value, or skips the value and names its number.
fn place(
    row: &'static FormatRow,
    number: usize,
    value: &Value,
    reading: &mut Reading<'_>,
) -> Result<(), Failure> {
    let outcome = match row.name {
        "openai" => shape::conversation(row, number, value, reading)?,
        "everos" => everos::read(row, value, reading).map(Ok)?,
        _ => talk::read(row, &reshape::plain(row, value, reading.source), reading)?,
    };
    match outcome {
        Ok(()) => Ok(()),
        Err(why) => reading.skip(named(number, value), why),
    }
}

fn whole(bytes: &[u8], reading: &mut Reading<'_>) -> Result<(), Failure> {
    let (source, file) = (reading.source, reading.source.file_name());
    let mut bytes = mended::mended(bytes).into_owned();
    if serde_json::from_slice::<&RawValue>(&bytes).is_err() {
        bytes = without_hex(&bytes);
    }
    let values = Deserializer::from_slice(&bytes).into_iter::<Value>();
    for (number, value) in (1..).zip(values) {
        let mut value = value.map_err(|error| broken(&error, number - 1, source))?;
        if let Value::String(text) = &value {
            // Some programs write the JSON as a string.
            value = mended::parse(text).unwrap_or_default();
        }
        let row = table::of(&value, &file, false).or_else(|| {
            // A single conversation is read as an array of one.
            let row = table::of(&Value::Array(vec![value.clone()]), &file, false);
            row.filter(|row| row.key("each") == "*")
        });
        let row = row.ok_or_else(|| unknown(source))?;
        check(row, source)?;
        place(row, number, &value, reading)?;
    }
    Ok(())
}

/// Telegram writes a control character as `\x08`, which is not valid JSON.
fn without_hex(json: &[u8]) -> Vec<u8> {
    let escape = Regex::new(r"(?s-u)\\(?:x([0-9a-fA-F]{2})|.)").expect("it is this program's own");
    let plain = |found: &Captures<'_>| match found.get(1) {
        Some(digits) => [b"\\u00", digits.as_bytes()].concat(),
        None => found[0].to_vec(),
    };
    escape.replace_all(json, plain).into_owned()
}

/// Receives the elements of an array one by one.
struct Elements<'v, 'a> {
    row: Option<&'static FormatRow>,
    /// Elements read before the format is known, or all elements of a format that is read as one value.
    waiting: Vec<Value>,
    number: usize,
    reading: &'v mut Reading<'a>,
}

fn array(stream: &mut dyn BufRead, reading: &mut Reading<'_>) -> Result<(), Failure> {
    let source = reading.source;
    let mut elements = Elements {
        row: None,
        waiting: Vec::new(),
        number: 0,
        reading,
    };
    let mut taken = Ok(());
    let take = |element: &RawValue| {
        taken = elements.take(element);
        taken.is_ok()
    };
    let read = Deserializer::from_reader(stream).deserialize_seq(EachElement(take));
    let ended = taken.and_then(|()| elements.end());
    match read {
        Err(error) if ended.is_ok() || elements.number == 0 => Err(broken(&error, elements.number, source)),
        _ => ended,
    }
}

impl Elements<'_, '_> {
    fn take(&mut self, element: &RawValue) -> Result<(), Failure> {
        self.number += 1;
        let value = match mended::parse(element.get()) {
            Ok(value) => value,
            Err(error) => {
                let what = named(self.number, &Value::Null);
                return self.reading.skip(what, error.to_string());
            }
        };
        self.waiting.push(value);
        if self.row.is_none() && self.waiting.len() <= LOOK_VALUES {
            let sample = Value::Array(std::mem::take(&mut self.waiting));
            self.row = table::of(&sample, &self.reading.source.file_name(), false);
            if let Value::Array(waiting) = sample {
                self.waiting = waiting;
            }
            if let Some(row) = self.row {
                check(row, self.reading.source)?;
                self.reading.defaults.is_shared |= row.has("owner") && is_shared(self.reading.source)?;
            }
        }
        match self.row {
            Some(row) if row.key("each") == "*" => self.convert(row),
            None if self.waiting.len() > LOOK_VALUES => Err(unknown(self.reading.source)),
            _ => Ok(()),
        }
    }

    /// Hands over the waiting elements.
    fn convert(&mut self, row: &'static FormatRow) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        let before = self.number - waiting.len();
        for (number, value) in (before + 1..).zip(&waiting) {
            place(row, number, value, self.reading)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        let row = self.row.ok_or_else(|| unknown(self.reading.source))?;
        if row.key("each") == "*" {
            return Ok(());
        }
        let all = Value::Array(std::mem::take(&mut self.waiting));
        place(row, 1, &all, self.reading)
    }
}

/// Whether the elements of a file belong to several people. Broken elements are reported later, when the file is read.
fn is_shared(source: &ImportFile) -> Result<bool, Failure> {
    let mut owners = HashSet::new();
    source.open(&Arc::default(), &mut |stream| {
        first_byte(stream)?;
        let owner = |element: &RawValue| {
            let element = mended::parse::<Value>(element.get()).unwrap_or_default();
            owners.extend(table::string(&element["user_id"]));
            true
        };
        drop(Deserializer::from_reader(stream).deserialize_seq(EachElement(owner)));
        Ok(())
    })?;
    Ok(owners.len() > 1)
}

/// Passes the elements of an array to a function, one at a time, until the function returns false.
struct EachElement<F>(F);

impl<'de, F: FnMut(&RawValue) -> bool> Visitor<'de> for EachElement<F> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of conversations")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<Box<RawValue>>()? {
            if !(self.0)(&element) {
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

fn broken(error: &serde_json::Error, before: usize, source: &ImportFile) -> Failure {
    if before == 0 && !source.is_named {
        return unknown(source); // any text can begin like JSON
    }
    let before = match before {
        0 => "nothing was imported: give the file as its program exported it",
        _ => "everything before that place was imported; a second import adds only new messages",
    };
    Failure::usage(format!("the file is broken: {error}")).hint(before)
}

/// The first byte that is neither white space nor a byte order mark; it stays in the stream.
pub(super) fn first_byte(stream: &mut dyn BufRead) -> std::io::Result<Option<u8>> {
    if stream.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        stream.consume(3);
    }
    loop {
        let waiting = stream.fill_buf()?;
        let blank = waiting
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        if blank < waiting.len() || blank == 0 {
            return Ok(waiting.get(blank).copied());
        }
        stream.consume(blank);
    }
}

/// Name of an unreadable element.
fn named(number: usize, fields: &Value) -> String {
    let title = ["title", "name"]
        .iter()
        .find_map(|key| shape::title(&fields[key]));
    match title {
        Some(title) => format!("conversation {number}, \"{title}\""),
        None => format!("conversation {number}"),
    }
}
