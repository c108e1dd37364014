//! An `EverOS` root: imports the verbatim messages of its SQLite file; Quipu extracts memories from them itself.

use std::path::Path;

use ledger::everos::{self, Kept};
use model::Scope;
use serde_json::Value;

use super::table::{FormatRow, string};
use super::{Reading, shape};
use crate::error::{Failure, Hinted as _};

/// Where a root has the file.
pub(super) const FILE: &str = ".index/sqlite/system.db";

/// Whether a folder is a root. It has Markdown in the folders that Quipu's memory has.
pub(crate) fn is_everos(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

/// Hands over the messages of each memcell and of those in none. Where no scope is asked for, each keeps its own.
pub(super) fn read(row: &FormatRow, reading: &mut Reading<'_>) -> Result<(), Failure> {
    let path = &reading.source.path;
    let mut taken = Ok(());
    let mut take = |kept: Kept| {
        taken = hand_on(row, &kept, reading);
        taken.is_ok()
    };
    let other = || {
        format!(
            "cannot read `{}`: its format is not that of EverOS",
            path.display()
        )
    };
    everos::read(path, &mut take)
        .map_err(|error| Failure::input(error).context(other()))
        .hint("give the root of an EverOS 1.5, as in `~/.everos`; stop its server first")?;
    taken
}

fn hand_on(row: &FormatRow, kept: &Kept, reading: &mut Reading<'_>) -> Result<(), Failure> {
    let list = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let (mut payload, ids) = (list(&kept.payload), list(&kept.ids));
    let Some(items) = payload.get_mut("items").and_then(Value::as_array_mut) else {
        let what = format!("session {}", kept.session);
        return reading.skip(what, "a memcell has no `items`".to_owned());
    };
    for item in &mut *items {
        match item["kind"].as_str() {
            Some("tool_call") => item["role"] = "assistant".into(),
            Some("tool_result") => item["role"] = "tool".into(),
            _ => {}
        }
    }
    let mut defaults = reading.defaults.clone();
    if defaults.scope == Scope::default() {
        let name = |text, usual| shape::name(text).unwrap_or(usual);
        let Scope { app, project } = defaults.scope;
        defaults.scope = Scope::new(name(&kept.app, app), name(&kept.project, project));
    }
    let messages = (0..).zip(items.iter().enumerate()).map(|(number, (at, item))| {
        let id = string(&ids[at]).or_else(|| string(&item["id"]));
        (number, id, item)
    });
    shape::list(row, defaults.session(&kept.session), None, messages, reading)
}
