//! The table of formats (`formats.txt`): tests that detect each format, and the paths of the data to read.
//!
//! Owns: the language of that table: paths, tests, names of roles. Never: a file, or the use of a value.
//!
//! | key | of |
//! |---|---|
//! | `is` | detects the format: tests that must all hold; with several lines, one line must hold. A test is a path with a kind (`s`tring, `n`umber, `b`ool, `o`bject, `a`rray; `x`: it exists; without one: it is not empty), `path=word`, `path!=word`, or `!path`; `*` is each element |
//! | `line`, `table`, `named` | other ways to detect it: the beginning of a text's line (`$`: the whole line), tables of a database, the file's name |
//! | `lines`, `each`, `query`, `owners` | one value a line (`0`: or a whole file); `*` reads an array's elements one at a time; SQL for the values, and for the ids of their people |
//! | `like` | takes the other keys from that row |
//! | `refuse`, `beside` | the reason why Quipu does not read it; the file of the same folder that has the text |
//! | `id`, `title`, `leaf`, `started`, `aside`, `list`, `kids` | a conversation. `a\|b` is the first path with a value, `a+b` both |
//! | `key`, `parent`, `role`, `time`, `name`, `text`, `files`, `pasted`, `forwarded`, `quoted`, `skip`, `people`, `owner` | a message, and its user in a file of several people; `user`, `model`, `else`: names of its role; `speech`: kinds of parts |
//! | `memories`, `mkey`, `mlabel`, `mtext`, `mtime`, `from`, `until`, `past`, `drop`, `store` | a memory, and the name of its store |
//! | `open`, `attach`, `glue`, `unwrap`, `details`, `spoken`, `by`, `log` | newest branch; without parent: to the one before; parts without line ends; JSON in a text; folded reasoning in answers; a client's additions to a person's words; the model's name; can begin with a copy of another conversation |
//! | `kind` | the name for a message without an id in a list without links |
//! | `labels`, `setup` | text that a program puts before a question, and before a conversation |

use std::sync::LazyLock;

use serde_json::Value;

/// A format.
#[derive(Debug)]
pub(super) struct FormatRow {
    pub(super) name: &'static str,
    /// Shown to people.
    pub(super) title: &'static str,
    keys: Vec<(&'static str, &'static str)>,
}

static ROWS: LazyLock<Vec<FormatRow>> = LazyLock::new(|| rows(include_str!("formats.txt")));

fn rows(table: &'static str) -> Vec<FormatRow> {
    let mut rows: Vec<FormatRow> = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with("//")) {
        if let Some((name, title)) = line.strip_prefix('[').and_then(|line| line.split_once("] ")) {
            let keys = Vec::new();
            rows.push(FormatRow { name, title, keys });
        } else if let (Some((key, value)), Some((row, before))) =
            (line.split_once(' '), rows.split_last_mut())
        {
            let like = before.iter().find(|one| key == "like" && one.name == value);
            let like = like.into_iter().flat_map(|one| &one.keys);
            row.keys.push((key, value));
            row.keys.extend(like.filter(|(key, _)| *key != "is"));
        }
    }
    rows
}

/// The format of a value in a file of this name; `is_line`: the file may have one value a line.
pub(super) fn of(value: &Value, file: &str, is_line: bool) -> Option<&'static FormatRow> {
    let is_named = |row: &FormatRow| !row.has("named") || row.word("named", "", file);
    ROWS.iter()
        .find(|row| row.is_in(is_line) && is_named(row) && row.is(value))
}

/// The format of a text, detected by the beginning of one of its lines.
pub(super) fn of_text(text: &str) -> Option<&'static FormatRow> {
    ROWS.iter().find(|row| {
        row.all("line").any(|begin| {
            let whole = begin.strip_suffix('$');
            text.lines().any(|line| match whole {
                Some(whole) => line.trim_end().eq_ignore_ascii_case(whole),
                None => line
                    .get(..begin.len())
                    .is_some_and(|line| line.eq_ignore_ascii_case(begin)),
            })
        })
    })
}

/// The format of a database, detected by its tables.
pub(super) fn of_tables(tables: &[String]) -> Option<&'static FormatRow> {
    ROWS.iter().find(|row| {
        let mut own = row.key("table").split_whitespace().peekable();
        own.peek().is_some() && own.all(|own| tables.iter().any(|table| table == own))
    })
}

impl FormatRow {
    /// The values of a key.
    pub(super) fn all(&self, key: &str) -> impl Iterator<Item = &'static str> {
        self.keys
            .iter()
            .filter(move |(own, _)| *own == key)
            .map(|(_, value)| *value)
    }

    fn is_in(&self, is_line: bool) -> bool {
        self.has("lines") == is_line || self.key("lines") == "0"
    }

    /// The first value of a key; empty if the row lacks the key.
    pub(super) fn key(&self, key: &str) -> &'static str {
        self.all(key).next().unwrap_or_default()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.all(key).next().is_some()
    }

    /// Whether one of a key's tests holds.
    pub(super) fn any(&self, key: &str, value: &Value) -> bool {
        let mut tests = self.all(key).flat_map(str::split_whitespace);
        tests.any(|test| holds(test, value))
    }

    /// Whether a word is in the value of a key.
    pub(super) fn word(&self, key: &str, usual: &'static str, word: &str) -> bool {
        let words = self.all(key).next().unwrap_or(usual);
        words
            .split_whitespace()
            .any(|own| own == "*" || own.eq_ignore_ascii_case(word))
    }

    /// Whether a value has the structure of this format.
    pub(super) fn is(&self, value: &Value) -> bool {
        self.all("is")
            .any(|tests| tests.split_whitespace().all(|test| holds(test, value)))
    }
}

fn holds(test: &str, value: &Value) -> bool {
    if let Some(path) = test.strip_prefix('!') {
        return walk(value, path).is_empty();
    }
    if let Some((path, word)) = test.split_once("!=") {
        let words: Vec<String> = walk(value, path).into_iter().filter_map(string).collect();
        return words.iter().any(|own| own != word);
    }
    if let Some((path, word)) = test.split_once('=') {
        return walk(value, path)
            .into_iter()
            .any(|one| string(one).as_deref() == Some(word));
    }
    let (path, kind) = test.split_once(':').unwrap_or((test, "some"));
    walk(value, path).into_iter().any(|one| match kind {
        "s" => one.is_string(),
        "n" => one.is_number(),
        "b" => one.is_boolean(),
        "o" => one.is_object(),
        "a" => one.is_array(),
        "some" => !is_empty(one) && *one != Value::Bool(false),
        _ => true,
    })
}

/// The values at a path.
fn walk<'a>(value: &'a Value, path: &str) -> Vec<&'a Value> {
    let mut values = vec![value];
    for segment in path.split('.').filter(|segment| !segment.is_empty()) {
        values = match segment {
            "*" => values.into_iter().flat_map(items).map(|(_, item)| item).collect(),
            key => values.into_iter().filter_map(|value| value.get(key)).collect(),
        };
    }
    values
}

/// The elements of an array, or of an object with their keys.
pub(super) fn items(value: &Value) -> Vec<(Option<&str>, &Value)> {
    match value {
        Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, item)| (Some(key.as_str()), item))
            .collect(),
        _ => Vec::new(),
    }
}

/// The values at the first path that has any; at paths joined by `+`, the values of all.
pub(super) fn first<'a>(value: &'a Value, paths: &str) -> Vec<&'a Value> {
    let mut found = Vec::new();
    for path in paths.split('|').filter(|path| !path.is_empty()) {
        found = path.split('+').flat_map(|path| walk(value, path)).collect();
        if found.iter().any(|one| !is_empty(one)) {
            break;
        }
    }
    found
}

/// The first text or number at some paths.
pub(super) fn word(value: &Value, paths: &str) -> Option<String> {
    first(value, paths).into_iter().find_map(string)
}

pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// A text; a number or a boolean becomes text.
pub(super) fn string(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}
