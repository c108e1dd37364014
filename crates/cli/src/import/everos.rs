//! An `EverOS` root: imports the verbatim messages of its SQLite file; Quipu extracts memories from them itself.

use std::path::Path;

use model::Scope;
use ports::LedgerError;
use serde_json::Value;

use super::table::{FormatRow, string};
use super::{ImportFile, Reading, shape};
use crate::error::Failure;

/// Path of the database in a root.
pub(super) const FILE: &str = ".index/sqlite/system.db";

/// Whether a folder is an `EverOS` root. Its Markdown folders have the same names as those of Quipu's memory.
pub(crate) fn is_everos(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

/// The error for a database with `EverOS` tables that cannot be read.
pub(super) fn unread(source: &ImportFile, error: LedgerError) -> Failure {
    let other = format!("cannot read {source}: its format is not that of EverOS");
    let hint = "give the root of an EverOS 1.5, as in `~/.everos`; stop its server first";
    Failure::input(error).context(other).hint(hint)
}

/// Hands over the messages of a memcell, or a message without a memcell. Unless the import names a scope, each keeps its own.
pub(super) fn read(row: &FormatRow, kept: &Value, reading: &mut Reading<'_>) -> Result<(), Failure> {
    let part = |key: &str| kept[key].as_str().unwrap_or_default();
    let mut items = kept["payload"]["items"].clone();
    let Some(items) = items.as_array_mut() else {
        let what = format!("session {}", part("session"));
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
        defaults.scope = Scope::new(name(part("app"), app), name(part("project"), project));
    }
    let messages = (0..).zip(items.iter().enumerate()).map(|(number, (at, item))| {
        let id = string(&kept["ids"][at]).or_else(|| string(&item["id"]));
        (number, id, item)
    });
    shape::list(row, defaults.session(part("session")), None, messages, reading)
}
