//! YAML: lines under a key of the root, in the file's own indent. No parser writes YAML back as it was, so the lines are put
//! in and taken out as text.

use std::ops::Range;

use serde_json::Value;

use super::{ConfigEntry, EditRefusal, Insertion};

const UNIT: &str = "  ";

pub(super) fn values(text: &str) -> Result<Value, EditRefusal> {
    serde_norway::from_str(text).map_err(|error| EditRefusal::Unreadable(error.to_string()))
}

pub(super) fn insertions(text: &str, entry: &ConfigEntry) -> Result<Vec<Insertion>, EditRefusal> {
    let wrong = || EditRefusal::Form(entry.name());
    let (section, name) = match (entry.path.as_slice(), entry.is_element) {
        ([key], false) => {
            let line = format!("{key}: {}\n", entry.value);
            return Ok(vec![at_end(text, &line)]);
        }
        ([section], true) => (section, None),
        ([section, name], false) => (section, Some(name)),
        _ => return Err(wrong()),
    };
    let lines = lines(text);
    let item = |indent: &str| item(indent, name, &entry.value).ok_or_else(wrong);
    let Some(found) = YamlSection::find(text, &lines, section) else {
        return Ok(vec![at_end(text, &format!("{section}:\n{}", item(UNIT)?))]);
    };
    let head = &text[found.head.clone()];
    let value = head.split_once(':').map_or("", |(_, value)| value);
    match without_comment(value).trim() {
        "" => {
            let end = found.body.last().unwrap_or(&found.head).end;
            let new = item(found.indent(text).unwrap_or(UNIT))?;
            Ok(vec![if text[..end].ends_with('\n') {
                (end, new)
            } else {
                (end, format!("\n{}", new.trim_end_matches('\n')))
            }])
        }
        // JSON is YAML.
        open @ ("{}" | "[]") => {
            let at = found.head.start + head.find(open).ok_or_else(wrong)? + 1;
            Ok(vec![(at, inline(name, &entry.value))])
        }
        _ => Err(wrong()),
    }
}

fn at_end(text: &str, new: &str) -> Insertion {
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    (text.len(), format!("{gap}{new}"))
}

/// The lines of an entry with scalars and lists as values, which are written as JSON.
fn item(indent: &str, name: Option<&String>, value: &Value) -> Option<String> {
    let mut out = name.map(|name| format!("{indent}{name}:\n")).unwrap_or_default();
    for (at, (key, value)) in value.as_object()?.iter().enumerate() {
        let mark = if name.is_none() && at == 0 { "- " } else { UNIT };
        out.extend([format!("{indent}{mark}{key}: {value}\n")]);
    }
    Some(out)
}

fn inline(name: Option<&String>, value: &Value) -> String {
    name.map(|name| format!("{name}: ")).unwrap_or_default() + &value.to_string()
}

/// The places of the lines, with their ends.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let begin = start;
        start += line.len();
        begin..start
    });
    lines.collect()
}

fn without_comment(value: &str) -> &str {
    value.split(" #").next().unwrap_or(value)
}

/// A key of the root and the lines that belong to it.
struct YamlSection {
    head: Range<usize>,
    body: Vec<Range<usize>>,
}

impl YamlSection {
    fn find(text: &str, lines: &[Range<usize>], key: &str) -> Option<Self> {
        let is_head = |line: &str| {
            let rest = line.strip_prefix(key);
            rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        let at = lines.iter().position(|line| is_head(&text[line.clone()]))?;
        // A list may stand as far left as its key.
        let belongs =
            |line: &str| line.starts_with([' ', '\t']) || line.starts_with("- ") || line.trim() == "-";
        let rest = &lines[at + 1..];
        let outside = |line: &str| !line.trim().is_empty() && !line.starts_with('#') && !belongs(line);
        let end = rest
            .iter()
            .position(|line| outside(&text[line.clone()]))
            .unwrap_or(rest.len());
        // Blank lines and comments at the left edge belong to what follows.
        let last = rest[..end].iter().rposition(|line| {
            let line = &text[line.clone()];
            belongs(line) && !line.trim().is_empty()
        });
        Some(Self {
            head: lines[at].clone(),
            body: rest[..last.map_or(0, |last| last + 1)].to_vec(),
        })
    }

    /// The white space before its entries.
    fn indent<'a>(&self, text: &'a str) -> Option<&'a str> {
        let mut lines = self.body.iter().map(|line| &text[line.clone()]);
        let first = lines.find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))?;
        Some(&first[..first.len() - first.trim_start().len()])
    }
}

/// The text without an entry in braces or brackets.
pub(super) fn without_inline(text: &str, entry: &ConfigEntry) -> String {
    let name = (!entry.is_element).then(|| entry.path.last()).flatten();
    text.replacen(&inline(name, &entry.value), "", 1)
}
