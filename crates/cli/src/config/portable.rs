//! A configuration that can leave the machine: the same without its secrets.
//!
//! Owns: what is a secret in `quipu.toml`. Never: reading or writing the file.

use toml::{Table, Value};

/// Takes the secrets out of a `quipu.toml`: its text, and the keys whose secrets are not in it. A key is left out. A token
/// stays, and its secret is that of a variable: a server without its tokens would be open to everybody on its machine, with a
/// variable that is not set it does not start. A file without secrets stays as it is; the text of one that is no TOML is left
/// out whole, since nobody can tell what it holds.
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

/// Whether a value is a secret itself, and not the name of a variable.
fn is_secret(key: &str, value: &Value) -> bool {
    let is_written = matches!(value, Value::String(text) if !text.is_empty() && !text.starts_with("env:"));
    is_written && matches!(key, "api_key" | "secret")
}

/// Hands over each secret with its place; `keep` says whether it stays.
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
