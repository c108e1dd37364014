//! An `EverOS` root: imports the verbatim messages of its SQLite file; Quipu extracts memories from them itself.

use std::path::Path;

use ledger::everos::{self, Kept};
use model::{Role, Scope};
use serde_json::Value;

use super::shape::{self, ImportedMessage};
use super::{Defaults, ImportItem, ImportedConversation, Reading, Skipped, message};
use crate::error::{Failure, Hinted as _};

/// Where a root has the file.
pub(super) const FILE: &str = ".index/sqlite/system.db";

/// Whether a folder is a root. It has Markdown in the folders that Quipu's memory has.
pub(crate) fn is_everos(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

/// Hands over the messages of each memcell and of those in none. Where no scope is asked for, each keeps its own.
pub(super) fn read(reading: &mut Reading<'_>) -> Result<(), Failure> {
    let path = &reading.source.path;
    let mut taken = Ok(());
    let mut take = |kept: Kept| {
        taken = (reading.sink)(found(&kept, &reading.defaults));
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

fn found(kept: &Kept, defaults: &Defaults) -> ImportItem {
    let list = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let (payload, ids) = (list(&kept.payload), list(&kept.ids));
    let Some(items) = payload["items"].as_array() else {
        return ImportItem::Skipped(Skipped {
            what: format!("session {}", kept.session),
            why: "a memcell has no `items`".to_owned(),
        });
    };
    let mut scope = defaults.scope.clone();
    if scope == Scope::default() {
        let name = |text, usual| shape::name(text).unwrap_or(usual);
        scope = Scope::new(name(&kept.app, scope.app), name(&kept.project, scope.project));
    }
    let defaults = Defaults {
        scope,
        ..defaults.clone()
    };
    let said = items.iter().enumerate().filter_map(|(at, item)| {
        let id = ids[at].as_str().or_else(|| item["id"].as_str());
        let time = shape::time(&item["timestamp"], &defaults.zone);
        let id = id.map_or_else(|| format!("message-{at}"), str::to_owned);
        said(item, id, time.unwrap_or(defaults.now), &defaults)
    });
    ImportItem::Conversation(ImportedConversation {
        is_log: false,
        session: defaults.session(&kept.session),
        title: None,
        messages: said.filter_map(message).collect(),
    })
}

fn said(item: &Value, id: String, time: model::Timestamp, defaults: &Defaults) -> Option<ImportedMessage> {
    let role = match item["kind"].as_str()? {
        "tool_call" => Role::Assistant,
        "tool_result" => Role::Tool,
        _ => Role::parse(item["role"].as_str()?)?,
    };
    Some(ImportedMessage {
        client_id: id,
        role,
        sender: item["sender_id"]
            .as_str()
            .and_then(shape::name)
            .unwrap_or_else(|| defaults.sender(role)),
        sender_name: item["sender_name"].as_str().map(str::to_owned),
        time,
        content: shape::content(&item["content"]),
        tool_calls: shape::tool_calls(&item["tool_calls"]),
        tool_call_id: item["tool_call_id"].as_str().map(str::to_owned),
    })
}
