//! Claude exports: a list of messages for each conversation, attachments with their text. Tool calls are left out.

use std::collections::HashMap;

use model::{Role, attachment};
use serde_json::Value;

use super::shape::{self, ImportedMessage};
use super::{Defaults, ImportedConversation, message};

/// One conversation of the export.
pub(super) fn conversation(found: &Value, defaults: &Defaults) -> Result<Vec<ImportedConversation>, String> {
    let exchanged = found["chat_messages"]
        .as_array()
        .ok_or("it has no `chat_messages`")?;
    let session = defaults.session(found["uuid"].as_str().unwrap_or(&defaults.name));
    let started = shape::time(&found["created_at"], &defaults.zone).unwrap_or(defaults.now);
    let mut said_last = None;
    let mut messages = Vec::new();
    for (at, exchanged) in branch(exchanged) {
        said_last = said_last.max(shape::time(&exchanged["created_at"], &defaults.zone));
        let (role, sender) = match exchanged["sender"].as_str() {
            Some("human" | "user") => (Role::User, defaults.user.clone()),
            _ => (Role::Assistant, shape::fixed("claude")),
        };
        let own = exchanged["uuid"].as_str();
        let said = ImportedMessage {
            client_id: own.map_or_else(|| format!("message-{at}"), str::to_owned),
            role,
            sender,
            sender_name: None,
            time: said_last.unwrap_or(started),
            content: text(exchanged),
            tool_calls: Vec::new(),
            tool_call_id: None,
        };
        messages.extend(message(said));
    }
    Ok(vec![ImportedConversation {
        is_log: false,
        session,
        title: shape::title(&found["name"]),
        messages,
    }])
}

/// The messages in order with their places. If messages name their predecessor, messages that the last one does not
/// follow from are another branch: a regenerated answer, a rewritten question.
fn branch(exchanged: &[Value]) -> Vec<(usize, &Value)> {
    let places: HashMap<&str, usize> = exchanged
        .iter()
        .enumerate()
        .filter_map(|(at, one)| Some((one["uuid"].as_str()?, at)))
        .collect();
    let parent = |at: usize| {
        places
            .get(exchanged[at]["parent_message_uuid"].as_str()?)
            .copied()
    };
    let last = exchanged.len().checked_sub(1);
    let mut next = last.filter(|at| parent(*at).is_some());
    if next.is_none() {
        return exchanged.iter().enumerate().collect();
    }
    let mut branch = Vec::new();
    while let Some(at) = next {
        if branch.len() == exchanged.len() {
            break; // a damaged export whose parents form a ring
        }
        branch.push((at, &exchanged[at]));
        next = parent(at);
    }
    branch.reverse();
    branch
}

/// The blocks' own text where there are blocks, else the flat one; then each attachment under its name, and each file's name.
fn text(exchanged: &Value) -> String {
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let content = &exchanged["content"];
    // Some exports have the list as a text.
    let of_text = content.as_str().and_then(|text| serde_json::from_str(text).ok());
    let blocks = list(of_text.as_ref().unwrap_or(content));
    let spoken = blocks
        .iter()
        .filter(|block| block["type"] == "text" || block["type"] == "voice_note")
        .filter_map(|block| block["text"].as_str());
    let mut text = if blocks.is_empty() {
        exchanged["text"].as_str().unwrap_or_default().to_owned()
    } else {
        spoken.collect::<Vec<_>>().join("\n")
    };
    text.extend(list(&exchanged["attachments"]).iter().filter_map(|pasted| {
        let name = pasted["file_name"].as_str().unwrap_or_default();
        let content = pasted["extracted_content"]
            .as_str()
            .filter(|text| !text.is_empty())?;
        // What the person pasted is none of the person's own words.
        Some(format!("\n\n{}", attachment("document", name, content)))
    }));
    text.extend(list(&exchanged["files"]).iter().filter_map(|file| {
        let name = file["file_name"].as_str().filter(|name| !name.is_empty())?;
        Some(format!("\n[file: {name}]"))
    }));
    text
}
