//! TOML: a table at the end of the file, or a key before its first table.

use serde_json::Value;
use toml_edit::{Array, Document, Key};

use super::{ConfigEntry, EditRefusal, Insertion};

pub(super) fn values(text: &str) -> Result<Value, EditRefusal> {
    ::toml::from_str(text).map_err(|error| EditRefusal::Unreadable(error.to_string().trim().to_owned()))
}

pub(super) fn insertions(text: &str, entry: &ConfigEntry) -> Result<Vec<Insertion>, EditRefusal> {
    let wrong = || EditRefusal::Form(entry.name());
    if let (Value::Object(keys), false) = (&entry.value, entry.is_element) {
        let path: Vec<String> = entry.path.iter().map(|key| Key::new(key).to_string()).collect();
        let mut table = format!("[{}]\n", path.join("."));
        for (key, value) in keys {
            table += &line(key, value).ok_or_else(wrong)?;
        }
        let gap = match text {
            "" => "",
            text if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        return Ok(vec![(text.len(), format!("{gap}{table}"))]);
    }
    let [key] = entry.path.as_slice() else {
        return Err(wrong());
    };
    let line = line(key, &entry.value).ok_or_else(wrong)?;
    let document = Document::parse(text).map_err(|_| wrong())?;
    let ends = document.iter().filter_map(|(_, item)| item.as_value()?.span());
    Ok(vec![match ends.map(|span| span.end).max() {
        None => (0, line),
        Some(end) => match text[end..].find('\n') {
            Some(rest) => (end + rest + 1, line),
            None => (text.len(), format!("\n{line}")),
        },
    }])
}

fn line(key: &str, value: &Value) -> Option<String> {
    Some(format!("{} = {}\n", Key::new(key), written(value)?))
}

fn written(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::String(text) => text.as_str().into(),
        Value::Bool(it) => (*it).into(),
        Value::Number(number) => number.as_i64()?.into(),
        Value::Array(items) => items.iter().map(written).collect::<Option<Array>>()?.into(),
        Value::Null | Value::Object(_) => return None,
    })
}
