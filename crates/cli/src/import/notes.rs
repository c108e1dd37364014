//! Markdown with front matter, as memory programs write it.
//!
//! Owns: front matter, and statements in a list. Never: the program that wrote it (the table knows).

use serde_json::{Map, Value, json};

use super::ImportFile;

/// The notes of a text that begins with front matter.
pub(super) fn notes(text: &str, source: &ImportFile) -> Option<Value> {
    let lines: Vec<&str> = text.lines().collect();
    let mut notes: Vec<(Map<String, Value>, Vec<&str>)> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        match (front(&lines[at..]), notes.last_mut()) {
            (Some((front, length)), _) => {
                notes.push((front, Vec::new()));
                at += length;
            }
            (None, Some((_, body))) => {
                body.push(lines[at]);
                at += 1;
            }
            (None, None) => return None,
        }
    }
    let notes: Vec<Value> = notes
        .into_iter()
        .map(|(front, body)| note(&front, &body, source))
        .collect();
    // An agent always has the memories of this folder in its context.
    Some(json!({"system": source.folder() == "system", "reme": source.is_below(".reme"), "notes": notes}))
}

/// The fields between two lines `---`, and how many lines they take.
fn front(lines: &[&str]) -> Option<(Map<String, Value>, usize)> {
    let (_, rest) = lines.split_first().filter(|(first, _)| **first == "---")?;
    let end = rest
        .iter()
        .position(|line| *line == "---")
        .filter(|end| *end > 0)?;
    let field = |line: &&str| {
        let (key, value) = line.split_once(':')?;
        let is_key = key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        let value = value.trim().trim_matches('"');
        is_key.then(|| (key.to_owned(), Value::from(value)))
    };
    let is_inner = |line: &&&str| !line.starts_with([' ', '-', '#']) && !line.trim().is_empty();
    let fields: Option<Map<String, Value>> = rest[..end].iter().filter(is_inner).map(field).collect();
    Some((fields?, end + 2))
}

fn note(front: &Map<String, Value>, body: &[&str], source: &ImportFile) -> Value {
    let time = ["modified", "created"].iter().find_map(|key| front.get(*key));
    let lines = body
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let list: Vec<Value> = lines
        .map(|line| {
            let item = line.strip_prefix("- ").unwrap_or_default();
            json!({"text": item, "time": time, "link": !is_statement(item)})
        })
        .collect();
    let id = format!("{}/{}", source.folder(), source.stem());
    let body = body.join("\n");
    json!({"id": id, "front": front, "body": body.trim(), "list": list})
}

/// Whether an item is `[category] words`, or words with a tag; tasks, clock times and links are not statements.
fn is_statement(item: &str) -> bool {
    let category = item.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let is_category = category.is_some_and(|(category, _)| {
        let is_sign = category.chars().count() == 1 && !category.chars().all(char::is_alphanumeric);
        let is_time = category.chars().all(|c| c.is_ascii_digit() || c == ':');
        !is_sign && !is_time && !["x", "X"].contains(&category) && !category.starts_with('[')
    });
    is_category || !item.contains("[[") && !item.starts_with('[') && item.contains(" #")
}
