//! Adds one entry to a configuration file of another program, or removes it.
//!
//! Owns: the promise that nothing else changes. Each format only proposes a text; it is accepted if it parses to exactly the old
//! values plus the entry, or less the entry. Never: files, or the meaning of an entry.

mod json;
mod toml;
mod yaml;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FileFormat {
    /// JSON, also with comments and trailing commas.
    Json,
    Toml,
    Yaml,
    /// A file that Quipu writes as a whole.
    Text,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ConfigEntry {
    /// Keys from the root down; empty for a whole file.
    pub(crate) path: Vec<String>,
    pub(crate) value: Value,
    /// The path leads to a list, and the value is an element of it.
    #[serde(default)]
    pub(crate) is_element: bool,
}

/// An entry that was added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AddedEntry {
    pub(crate) entry: ConfigEntry,
    /// Number of the path's keys that had a value before.
    pub(crate) there: usize,
}

/// The reason why a text stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditRefusal {
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("`{0}` is there already, with another value")]
    Taken(String),
    #[error("`{0}` has an unexpected form")]
    Form(String),
    #[error("`{0}` was changed since")]
    Changed(String),
}

/// Byte position of an insertion, and the inserted text.
type Insertion = (usize, String);

impl ConfigEntry {
    pub(crate) fn new(path: &[&str], value: Value) -> Self {
        Self {
            path: path.iter().map(|&key| key.to_owned()).collect(),
            value,
            is_element: false,
        }
    }

    pub(crate) fn element(path: &[&str], value: Value) -> Self {
        Self {
            is_element: true,
            ..Self::new(path, value)
        }
    }

    /// The path in the usual notation: `mcpServers.quipu`.
    fn name(&self) -> String {
        self.path.join(".")
    }

    /// The value inside objects for the keys of the path from `from` on.
    fn nested(&self, from: usize) -> Value {
        let value = if self.is_element {
            Value::Array(vec![self.value.clone()])
        } else {
            self.value.clone()
        };
        self.path[from..].iter().rev().fold(value, |value, key| {
            Value::Object(Map::from_iter([(key.clone(), value)]))
        })
    }
}

/// The values of a text; an empty text has none.
pub(crate) fn values(format: FileFormat, text: &str) -> Result<Value, EditRefusal> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let values = match format {
        FileFormat::Json => json::values(text),
        FileFormat::Toml => toml::values(text),
        FileFormat::Yaml => yaml::values(text),
        FileFormat::Text => return Ok(Value::String(text.to_owned())),
    }?;
    Ok(if values.is_null() {
        Value::Object(Map::new())
    } else {
        values
    })
}

/// The text with the entry; `None` if the text has it already.
pub(crate) fn add(
    format: FileFormat,
    text: &str,
    entry: &ConfigEntry,
) -> Result<Option<(String, AddedEntry)>, EditRefusal> {
    let added = |there| AddedEntry {
        entry: entry.clone(),
        there,
    };
    let before = values(format, text)?;
    if format == FileFormat::Text {
        let Some(content) = entry.value.as_str() else {
            return Err(EditRefusal::Form(entry.name()));
        };
        return match text {
            "" => Ok(Some((content.to_owned(), added(0)))),
            text if text == content => Ok(None),
            _ => Err(EditRefusal::Taken("the file".to_owned())),
        };
    }
    let mut after = before.clone();
    let Some(there) = put(&mut after, entry)? else {
        return Ok(None);
    };
    let (mark, bare) = split_mark(text);
    let insertions = match format {
        FileFormat::Json => json::insertions(bare, entry),
        FileFormat::Toml => toml::insertions(bare, entry),
        _ => yaml::insertions(bare, entry),
    }?;
    let text = format!("{mark}{}", inserted(bare, insertions));
    // Where the format cannot express the entry, such as in an inline table of TOML, the text does not parse to the expected
    // values.
    match values(format, &text) {
        Ok(values) if values == after => Ok(Some((text, added(there)))),
        _ => Err(EditRefusal::Form(entry.name())),
    }
}

/// The text without an added entry, whatever else has changed since; `None` if the entry is gone.
pub(crate) fn remove(
    format: FileFormat,
    text: &str,
    added: &AddedEntry,
) -> Result<Option<String>, EditRefusal> {
    let entry = &added.entry;
    let mut after = values(format, text)?;
    if format == FileFormat::Text {
        return match text {
            text if Some(text) == entry.value.as_str() => Ok(Some(String::new())),
            _ => Err(EditRefusal::Changed("the file".to_owned())),
        };
    }
    if !take(&mut after, added, 0)? {
        return Ok(None);
    }
    let (mark, bare) = split_mark(text);
    let fits = |text: &String| values(format, text).is_ok_and(|values| values == after);
    let found = match format {
        FileFormat::Json => json::without(bare, added).filter(fits),
        FileFormat::Toml => without_lines(bare, entry, entry.value.is_object()).find(fits),
        _ => {
            let inline = yaml::without_inline(bare, entry);
            without_lines(bare, entry, false).chain([inline]).find(fits)
        }
    };
    let found = found.map(|bare| format!("{mark}{bare}"));
    found.map(Some).ok_or_else(|| EditRefusal::Form(entry.name()))
}

/// Maximum lines of an entry, with the lines that people added to it.
const ENTRY_LINES_MAX: usize = 24;

/// Texts without one block of lines each that may be the entry, the shortest blocks first. The caller knows which text is right,
/// because a string may look like the entry too. With `has_gap`, the blank line before the entry goes as well.
fn without_lines(text: &str, entry: &ConfigEntry, has_gap: bool) -> impl Iterator<Item = String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let fields = entry.value.as_object().into_iter().flat_map(Map::keys);
    let names: Vec<&String> = entry.path.iter().chain(fields.take(1)).collect();
    let begins = |at: &usize| names.iter().any(|name| lines[*at].contains(*name));
    let starts: Vec<usize> = (0..lines.len()).filter(begins).collect();
    (1..=ENTRY_LINES_MAX.min(lines.len())).flat_map(move |count| {
        let starts = starts.iter().filter(|at| **at + count <= lines.len());
        let texts = starts.map(|&at| {
            let is_gap = has_gap && at > 0 && lines[at - 1].trim().is_empty();
            let before = &lines[..at - usize::from(is_gap)];
            [before, &lines[at + count..]].concat().concat()
        });
        texts.collect::<Vec<String>>()
    })
}

const BOM: char = '\u{feff}';

fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

/// Inserts texts with the line ends of the file.
fn inserted(text: &str, mut insertions: Vec<Insertion>) -> String {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    insertions.sort_by_key(|(at, _)| *at);
    let mut out = String::with_capacity(text.len() + 256);
    let mut done = 0;
    for (at, new) in insertions {
        out.push_str(&text[done..at]);
        out.push_str(&new.replace('\n', line_end));
        done = at;
    }
    out + &text[done..]
}

/// Inserts the entry into the values. Returns the number of its path's keys that existed; `None` if the entry existed.
fn put(values: &mut Value, entry: &ConfigEntry) -> Result<Option<usize>, EditRefusal> {
    let wrong = || EditRefusal::Form(entry.name());
    let mut at = values;
    for (there, key) in entry.path.iter().enumerate() {
        let object = at.as_object_mut().ok_or_else(wrong)?;
        // YAML, and people, write an empty section as a key without a value.
        if object.get(key).is_none_or(Value::is_null) {
            object.insert(key.clone(), entry.nested(there + 1));
            return Ok(Some(there));
        }
        at = object.get_mut(key).ok_or_else(wrong)?;
    }
    if !entry.is_element {
        return if *at == entry.value {
            Ok(None)
        } else {
            Err(EditRefusal::Taken(entry.name()))
        };
    }
    let list = at.as_array_mut().ok_or_else(wrong)?;
    if list.contains(&entry.value) {
        return Ok(None);
    }
    if list.iter().any(runs_quipu) {
        return Err(EditRefusal::Taken(entry.name()));
    }
    list.push(entry.value.clone());
    Ok(Some(entry.path.len()))
}

/// Removes the entry from the values below the first keys of its path, with the keys that were added for it and are empty now.
/// Returns whether the entry was there.
fn take(at: &mut Value, added: &AddedEntry, depth: usize) -> Result<bool, EditRefusal> {
    let AddedEntry { entry, there } = added;
    let changed = || EditRefusal::Changed(entry.name());
    let Some(key) = entry.path.get(depth) else {
        let Some(list) = at.as_array_mut() else {
            return Ok(false);
        };
        let found = list.iter().position(|value| *value == entry.value);
        match found {
            Some(found) => drop(list.remove(found)),
            None if list.iter().any(runs_quipu) => return Err(changed()),
            None => {}
        }
        return Ok(found.is_some());
    };
    let Some(value) = at.get_mut(key) else {
        return Ok(false);
    };
    let is_entry = !entry.is_element && depth + 1 == entry.path.len();
    if is_entry && *value != entry.value {
        return Err(changed());
    }
    if !is_entry && !take(value, added, depth + 1)? {
        return Ok(false);
    }
    let is_left = !is_entry && (depth < *there || !is_empty(value));
    if let (false, Some(object)) = (is_left, at.as_object_mut()) {
        object.shift_remove(key);
    }
    Ok(true)
}

pub(crate) fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// Whether a list's element is another entry of Quipu, by its name or by a command in it.
fn runs_quipu(value: &Value) -> bool {
    value.get("name").and_then(Value::as_str) == Some("quipu") || !commands(value).is_empty()
}

/// A command of Quipu in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientCommand {
    pub(crate) program: String,
    /// The command handles an event; other commands start servers.
    pub(crate) is_hook: bool,
}

/// The commands of Quipu in some values, at any depth.
pub(crate) fn commands(values: &Value) -> Vec<ClientCommand> {
    match values {
        Value::Array(items) => items.iter().flat_map(commands).collect(),
        Value::Object(object) => object
            .iter()
            .flat_map(|(key, value)| match (key.as_str(), command(value)) {
                ("command" | "cmd", Some(command)) => vec![command],
                _ => commands(value),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// A command whose program is Quipu, written as a path, as a list with arguments, or as a shell line.
fn command(value: &Value) -> Option<ClientCommand> {
    let line = value.as_str().or_else(|| value.get(0)?.as_str())?;
    let is_quipu = |path: &str| path == "quipu" || path.ends_with("/quipu");
    let first = match line.strip_prefix('\'') {
        Some(quoted) => quoted.split('\'').next(),
        None => line.split(' ').next(),
    };
    // A path without arguments may contain spaces.
    let program = [Some(line), first]
        .into_iter()
        .flatten()
        .find(|path| is_quipu(path))?;
    Some(ClientCommand {
        program: program.to_owned(),
        is_hook: line.contains(" hook"),
    })
}
