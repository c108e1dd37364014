//! A configuration that can leave the machine: the same without its secrets.
//!
//! Owns: what is a secret in `quipu.toml`. Never: reading or writing the file.

use toml::{Table, Value};

/// A configuration without secrets.
#[derive(Debug)]
pub(crate) struct Portable {
    pub(crate) text: String,
    /// The keys whose secrets are not in it.
    pub(crate) left_out: Vec<String>,
}

/// Takes the secrets out of a `quipu.toml`. A key is left out. A token stays, and its secret is that of a variable: a server
/// without its tokens would be open to everybody on its machine, with a variable that is not set it does not start. A file
/// without secrets stays as it is; the text of one that is no TOML is left out whole, since nobody can tell what it holds.
pub(crate) fn portable(text: &str) -> Portable {
    let Ok(mut table) = text.parse::<Table>() else {
        return Portable {
            text: String::new(),
            left_out: vec!["the whole file, which is not valid TOML".to_owned()],
        };
    };
    let mut left_out = Vec::new();
    strip(&mut table, "", &mut left_out);
    let text = if left_out.is_empty() {
        text.to_owned()
    } else {
        table.to_string()
    };
    Portable { text, left_out }
}

fn strip(table: &mut Table, place: &str, left_out: &mut Vec<String>) {
    table.retain(|key, value| {
        let place = if place.is_empty() {
            key.to_owned()
        } else {
            format!("{place}.{key}")
        };
        let is_written =
            matches!(value, Value::String(text) if !text.is_empty() && !text.starts_with("env:"));
        match key {
            "secret" if is_written => {
                left_out.push(place);
                *value = Value::String(format!("env:QUIPU_TOKEN_{}", left_out.len()));
                true
            }
            "api_key" if is_written => {
                left_out.push(place);
                false
            }
            _ => {
                walk(value, &place, left_out);
                true
            }
        }
    });
}

fn walk(value: &mut Value, place: &str, left_out: &mut Vec<String>) {
    match value {
        Value::Table(table) => strip(table, place, left_out),
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                walk(item, &format!("{place}[{at}]"), left_out);
            }
        }
        _ => {}
    }
}
