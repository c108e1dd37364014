//! A JSON file of any format of the table: an array read one element at a time, lines, or a whole document.
//!
//! Owns: finding the format by the parsed structure, and what is broken. Never: the form of a conversation.

use std::io::{BufRead, Cursor, Read};

use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};
use transcript::dialect::Dialect;
use transcript::mended;

use super::table::{self, FormatRow};
use super::{
    Defaults, ImportFile, ImportItem, Sink, Skipped, agent, chatgpt, claude, openai, plain, shape, talk,
};
use crate::error::Failure;

/// Values that may stand before the one that tells the format.
const LOOK_VALUES: usize = 20;

/// Reads a stream that begins with `[` or `{`.
pub(super) fn read(
    stream: &mut dyn BufRead,
    source: &ImportFile,
    defaults: &Defaults,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let file = source.file_name();
    if first_byte(stream).map_err(anyhow::Error::from)? == Some(b'[') {
        return array(stream, &file, source, defaults, sink);
    }
    let mut head = Vec::new();
    for _ in 0..LOOK_VALUES {
        let start = head.len();
        let read = stream.read_until(b'\n', &mut head).map_err(anyhow::Error::from)?;
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
        if let Some(row) = table::of(&value, &file, true) {
            return lines(row, &mut Cursor::new(head).chain(stream), source, defaults, sink);
        }
    }
    stream.read_to_end(&mut head).map_err(anyhow::Error::from)?;
    whole(&head, &file, source, defaults, sink)
}

/// Why a file cannot be read, and what can be.
pub(super) fn unknown(source: &ImportFile) -> Failure {
    Failure::usage(format!("cannot detect the format of {source}")).hint(
        "Quipu reads exports of ChatGPT, Claude, Quipu and other programs (see docs/import.md), sessions of Claude Code and Codex, an \
         EverOS root, and OpenAI messages; for anything else write a file `*.jsonl` with `role`, `content` and `timestamp` on each line",
    )
}

/// The refusal of a format that Quipu knows and does not read.
pub(super) fn refused(row: &FormatRow, source: &ImportFile) -> Option<Failure> {
    let why = row.all("refuse").chain(row.all("beside")).next()?;
    let failure = Failure::usage(format!(
        "{source}: {}. Quipu does not import it: {why}",
        row.title
    ));
    Some(failure.hint("write a file `*.jsonl` with `role`, `content` and `timestamp` on each line"))
}

fn lines(
    row: &'static FormatRow,
    stream: &mut dyn BufRead,
    source: &ImportFile,
    defaults: &Defaults,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    match row.name {
        "jsonl" => return plain::read(stream, defaults, sink),
        "codex" => return agent::read(stream, Dialect::Codex, defaults, sink),
        "claude-code" => return agent::read(stream, Dialect::ClaudeCode, defaults, sink),
        _ => {}
    }
    if let Some(failure) = refused(row, source) {
        return Err(failure);
    }
    let mut values = Vec::new();
    for (number, line) in (1..).zip(stream.split(b'\n')) {
        let line = line.map_err(anyhow::Error::from)?;
        match mended::parse(&String::from_utf8_lossy(&line)) {
            Ok(value) => values.push(value),
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(error) => sink(ImportItem::Skipped(Skipped {
                what: format!("line {number}"),
                why: error.to_string(),
            }))?,
        }
    }
    talk::read(row, &Value::Array(values), defaults, sink)
}

fn whole(
    bytes: &[u8],
    file: &str,
    source: &ImportFile,
    defaults: &Defaults,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let mended = mended::mended(bytes);
    let is_broken = serde_json::from_slice::<&RawValue>(&mended).is_err();
    let bytes = if is_broken {
        without_hex(&mended)
    } else {
        mended.into_owned()
    };
    let values = Deserializer::from_slice(&bytes).into_iter::<Value>();
    for (number, value) in (1..).zip(values) {
        let value = value.map_err(|error| broken(&error, number - 1))?;
        let row = table::of(&value, file, false);
        let row = row.or_else(|| {
            // A conversation alone is an array of one.
            let row = table::of(&Value::Array(vec![value.clone()]), file, false);
            row.filter(|row| row.key("each") == "*")
        });
        let row = row.ok_or_else(|| unknown(source))?;
        if let Some(failure) = refused(row, source) {
            return Err(failure);
        }
        if let Err(why) = convert(row, number, &value, defaults, sink)? {
            let what = named(number, &value);
            sink(ImportItem::Skipped(Skipped { what, why }))?;
        }
    }
    Ok(())
}

/// Telegram writes a control character as `\x08`, which is no JSON.
fn without_hex(json: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(json.len());
    let mut rest = json;
    while let Some((first, after)) = rest.split_first() {
        let taken = match (first, after) {
            (b'\\', [b'x', high, low, ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                clean.extend([b'\\', b'u', b'0', b'0', *high, *low]);
                4
            }
            (b'\\', [escaped, ..]) => {
                clean.extend([b'\\', *escaped]);
                2
            }
            _ => {
                clean.push(*first);
                1
            }
        };
        rest = &rest[taken..];
    }
    clean
}

/// Hands over the conversations of a value; the inner error says why it has none.
fn convert(
    row: &'static FormatRow,
    number: usize,
    value: &Value,
    defaults: &Defaults,
    sink: Sink<'_>,
) -> Result<Result<(), String>, Failure> {
    let conversations = match row.name {
        "chatgpt" => chatgpt::conversation(value, defaults),
        "claude" => claude::conversation(value, defaults),
        "openai" => openai::conversation(number, value, defaults, sink)?,
        _ => {
            talk::read(row, value, defaults, sink)?;
            Ok(Vec::new())
        }
    };
    match conversations {
        Ok(conversations) => {
            let mut conversations = conversations.into_iter().map(ImportItem::Conversation);
            conversations.try_for_each(sink).map(Ok)
        }
        Err(why) => Ok(Err(why)),
    }
}

/// What an array gives, element by element.
struct Elements<'a, 'd> {
    row: Option<&'static FormatRow>,
    /// Those before the format is known, or all of a format that is read as a whole.
    waiting: Vec<Value>,
    number: usize,
    file: &'a str,
    source: &'a ImportFile,
    defaults: &'d Defaults,
    sink: Sink<'a>,
}

fn array(
    stream: &mut dyn BufRead,
    file: &str,
    source: &ImportFile,
    defaults: &Defaults,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let mut elements = Elements {
        row: None,
        waiting: Vec::new(),
        number: 0,
        file,
        source,
        defaults,
        sink,
    };
    let mut stopped = None;
    let read = Deserializer::from_reader(stream).deserialize_seq(ElementVisitor {
        elements: &mut elements,
        stopped: &mut stopped,
    });
    let ended = match stopped {
        Some(failure) => Err(failure),
        None => elements.end(),
    };
    match read {
        Err(error) if ended.is_ok() || elements.number == 0 => Err(broken(&error, elements.number)),
        _ => ended,
    }
}

impl Elements<'_, '_> {
    fn take(&mut self, element: &RawValue) -> Result<(), Failure> {
        self.number += 1;
        let value = match mended::parse(element.get()) {
            Ok(value) => value,
            Err(error) => return self.skip(&Value::Null, error.to_string()),
        };
        self.waiting.push(value);
        if self.row.is_none() && self.waiting.len() <= LOOK_VALUES {
            let sample = Value::Array(std::mem::take(&mut self.waiting));
            self.row = table::of(&sample, self.file, false);
            if let Value::Array(waiting) = sample {
                self.waiting = waiting;
            }
            if let Some(failure) = self.row.and_then(|row| refused(row, self.source)) {
                return Err(failure);
            }
        }
        match self.row {
            Some(row) if row.key("each") == "*" => self.convert(row),
            None if self.waiting.len() > LOOK_VALUES => Err(unknown(self.source)),
            _ => Ok(()),
        }
    }

    /// Hands over those that wait.
    fn convert(&mut self, row: &'static FormatRow) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        let before = self.number - waiting.len();
        for (at, value) in waiting.into_iter().enumerate() {
            let number = before + at + 1;
            if let Err(why) = convert(row, number, &value, self.defaults, &mut *self.sink)? {
                let what = named(number, &value);
                (self.sink)(ImportItem::Skipped(Skipped { what, why }))?;
            }
        }
        Ok(())
    }

    fn skip(&mut self, value: &Value, why: String) -> Result<(), Failure> {
        let what = named(self.number, value);
        (self.sink)(ImportItem::Skipped(Skipped { what, why }))
    }

    fn end(&mut self) -> Result<(), Failure> {
        let row = self.row.ok_or_else(|| unknown(self.source))?;
        if row.key("each") == "*" {
            return Ok(());
        }
        let all = Value::Array(std::mem::take(&mut self.waiting));
        match convert(row, 1, &all, self.defaults, &mut *self.sink)? {
            Ok(()) => Ok(()),
            Err(why) => self.skip(&Value::Null, why),
        }
    }
}

fn broken(error: &serde_json::Error, before: usize) -> Failure {
    let before = match before {
        0 => "nothing was imported: give the file as its program exported it",
        _ => "everything before that place was imported; a second import adds only new messages",
    };
    Failure::usage(format!("the file is broken: {error}")).hint(before)
}

/// The first byte that is no white space; it stays in the stream.
fn first_byte(stream: &mut dyn BufRead) -> std::io::Result<Option<u8>> {
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

struct ElementVisitor<'v, 'a, 'd> {
    elements: &'v mut Elements<'a, 'd>,
    stopped: &'v mut Option<Failure>,
}

impl<'de> Visitor<'de> for ElementVisitor<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of conversations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<Box<RawValue>>()? {
            if let Err(failure) = self.elements.take(&element) {
                *self.stopped = Some(failure);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
