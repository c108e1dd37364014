//! A configuration without its secrets, which can leave the machine.
//!
//! Owns: which keys of `quipu.toml` are secret. Never: reading or writing the file.

use toml::{Table, Value};

/// Removes the secrets from a `quipu.toml`: returns its text, and the keys whose secrets were removed. An API key is removed. A
/// token stays, and its secret becomes the name of a variable: without its tokens, a server would be open to everybody on its
/// machine; with an unset variable it does not start. A file without secrets stays unchanged. A file that is not valid TOML is
/// left out as a whole, because nobody can tell whether it holds secrets.
pub(crate) fn portable(text: &str) -> (String, Vec<String>) {
    let Ok(table) = text.parse::<Table>() else {
        let all = "the whole file, which is not valid TOML";
        return (String::new(), vec![all.to_owned()]);
    };
    let mut left_out = Vec::new();
    let mut root = Value::Table(table);
    each_secret(&mut root, "", &mut |place, secret| {
        left_out.push(place.to_owned());
        *secret = format!("env:QUIPU_TOKEN_{}", left_out.len()).into();
        place.ends_with(".secret")
    });
    if left_out.is_empty() {
        return (text.to_owned(), left_out);
    }
    let text = toml::to_string(&root).expect("a table was read");
    (text, left_out)
}

/// Whether a value is a secret itself, not the name of a variable.
fn is_secret(key: &str, value: &Value) -> bool {
    let is_written = matches!(value, Value::String(text) if !text.is_empty() && !text.starts_with("env:"));
    is_written && matches!(key, "api_key" | "secret")
}

/// Passes each secret with its path to `keep`, which returns whether the key stays.
pub(super) fn each_secret(value: &mut Value, place: &str, keep: &mut dyn FnMut(&str, &mut Value) -> bool) {
    match value {
        Value::Table(table) => table.retain(|key, value| {
            let place = format!("{place}.{key}").trim_start_matches('.').to_owned();
            if is_secret(key, value) {
                return keep(&place, value);
            }
            each_secret(value, &place, keep);
            true
        }),
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                each_secret(item, &format!("{place}[{at}]"), keep);
            }
        }
        _ => {}
    }
}
