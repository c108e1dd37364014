//! The files of patches: Codex's form in a call, and the search-and-replace blocks that aider's models write as prose.
//!
//! Owns: reading the paths in them. Never: applying one.

use serde_json::Value;

use super::files::{ARGUMENTS_BYTES_MAX, Act, Effect, PATH_BYTES_MAX};

const START: &str = "*** Begin Patch";
/// The lines that name a file, by their beginnings.
const HEADS: [(&str, Act); 4] = [
    ("*** Add File: ", Act::Created),
    ("*** Update File: ", Act::Modified),
    ("*** Delete File: ", Act::Deleted),
    ("*** Move to: ", Act::Renamed),
];

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
        let found = HEADS.iter().find_map(|(head, act)| {
            let path = line.strip_prefix(head)?.trim();
            Some((*act, path)).filter(|_| path.len() <= PATH_BYTES_MAX)
        });
        let Some((act, path)) = found else { continue };
        let from = if act == Act::Renamed { effects.pop() } else { None };
        effects.push(Effect {
            from: from.map(|effect| effect.path),
            ..Effect::new(act, path)
        });
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
                found.push(Effect::new(act, path));
            }
        } else if !line.trim().is_empty() && !line.trim_start().starts_with("```") {
            last = line;
        }
    }
    found
}
