//! YAML: lines under a key of the root, with the file's own indent. No parser preserves the layout of YAML, so the lines are
//! added and removed as text.

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
    let item = |indent: &str| item(indent, name, &entry.value).ok_or_else(wrong);
    let Some(found) = YamlSection::find(text, section) else {
        return Ok(vec![at_end(text, &format!("{section}:\n{}", item(UNIT)?))]);
    };
    let head = &text[found.head.clone()];
    let value = head.split_once(':').map_or("", |(_, value)| value);
    match without_comment(value).trim() {
        "" => {
            let end = found.end;
            let new = item(found.indent.unwrap_or(UNIT))?;
            Ok(vec![if text[..end].ends_with('\n') {
                (end, new)
            } else {
                (end, format!("\n{}", new.trim_end_matches('\n')))
            }])
        }
        // A value in JSON is valid YAML.
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

/// The lines of an entry; its values are scalars and lists, written as JSON.
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

fn without_comment(value: &str) -> &str {
    value.split(" #").next().unwrap_or(value)
}

/// A key of the root and its lines.
struct YamlSection<'a> {
    head: Range<usize>,
    /// End of the last line.
    end: usize,
    /// The indent of its entries.
    indent: Option<&'a str>,
}

impl<'a> YamlSection<'a> {
    fn find(text: &'a str, key: &str) -> Option<Self> {
        let is_head = |line: &str| {
            let rest = line.strip_prefix(key);
            rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        let (mut found, mut end): (Option<Self>, _) = (None, 0);
        for line in text.split_inclusive('\n') {
            let (begin, content) = (end, line.trim());
            end += line.len();
            let Some(section) = &mut found else {
                found = is_head(line).then_some(Self {
                    head: begin..end,
                    end,
                    indent: None,
                });
                continue;
            };
            // Blank lines and comments without an indent belong to the next section.
            if content.is_empty() || line.starts_with('#') {
                continue;
            }
            // A list may have the same indent as its key.
            if !line.starts_with([' ', '\t']) && !line.starts_with("- ") && content != "-" {
                break;
            }
            section.end = end;
            if section.indent.is_none() && !content.starts_with('#') {
                section.indent = Some(&line[..line.len() - line.trim_start().len()]);
            }
        }
        found
    }
}

/// The text without an entry in braces or brackets.
pub(super) fn without_inline(text: &str, entry: &ConfigEntry) -> String {
    let name = (!entry.is_element).then(|| entry.path.last()).flatten();
    text.replacen(&inline(name, &entry.value), "", 1)
}
