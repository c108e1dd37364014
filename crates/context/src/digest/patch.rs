//! The files of patches: Codex's form in a call, and the search-and-replace blocks that aider's models write as prose.
//!
//! Owns: reading the paths in them. Never: applying one.

use serde_json::Value;

use super::files::{ARGUMENTS_BYTES_MAX, Act, Effect, PATH_BYTES_MAX};

const START: &str = "*** Begin Patch";

/// The files of a patch in Codex's form, if the arguments hold one, as such or inside JSON.
pub(crate) fn effects(arguments: &str) -> Option<Vec<Effect>> {
    let at = arguments
        .find(START)
        .filter(|_| arguments.len() <= ARGUMENTS_BYTES_MAX)?;
    let decoded = serde_json::from_str::<Value>(arguments)
        .ok()
        .map(|value| strings(&value).join("\n"));
    let text = decoded
        .as_deref()
        .filter(|text| text.contains(START))
        .unwrap_or(&arguments[at..]);
    let mut effects: Vec<Effect> = Vec::new();
    for line in text.lines() {
        let path = |prefix: &str| {
            line.strip_prefix(prefix)
                .map(|path| path.trim().to_owned())
                .filter(|path| path.len() <= PATH_BYTES_MAX)
        };
        if let Some(path) = path("*** Add File: ") {
            effects.push(Effect {
                act: Act::Created,
                path,
                from: None,
            });
        } else if let Some(path) = path("*** Update File: ") {
            effects.push(Effect {
                act: Act::Modified,
                path,
                from: None,
            });
        } else if let Some(path) = path("*** Delete File: ") {
            effects.push(Effect {
                act: Act::Deleted,
                path,
                from: None,
            });
        } else if let Some(path) = path("*** Move to: ") {
            let from = effects.pop().map(|effect| effect.path);
            effects.push(Effect {
                act: Act::Renamed,
                path,
                from,
            });
        }
    }
    Some(effects)
}

/// Every string of a value, in order; patches come as a field or as a word of a command.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// The files of the search-and-replace blocks that aider's models write as prose.
pub(crate) fn edit_blocks(prose: &str) -> Vec<Effect> {
    let mut found: Vec<Effect> = Vec::new();
    let mut last = "";
    let mut lines = prose.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("<<<<<<< SEARCH") {
            let path = last.trim().trim_matches(['`', '*', ':']);
            let act = if lines.peek().is_some_and(|next| next.starts_with("=======")) {
                Act::Created
            } else {
                Act::Modified
            };
            if !path.is_empty() && path.len() <= PATH_BYTES_MAX && !path.contains(' ') {
                found.push(Effect {
                    act,
                    path: path.to_owned(),
                    from: None,
                });
            }
        } else if !line.trim().is_empty() && !line.trim_start().starts_with("```") {
            last = line;
        }
    }
    found
}
