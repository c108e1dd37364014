//! ChatGPT exports: a tree of messages for each conversation. Only the branch that the person saw last is imported;
//! regenerated answers and rewritten questions on other branches are left out.

use model::Role;
use serde_json::{Map, Value};

use super::shape::{self, ImportedMessage};
use super::{Defaults, ImportedConversation, message};

/// One conversation of the export.
pub(super) fn conversation(found: &Value, defaults: &Defaults) -> Result<Vec<ImportedConversation>, String> {
    let mapping = found["mapping"]
        .as_object()
        .ok_or("it has no `mapping` with messages")?;
    let own = ["id", "conversation_id", "title"];
    let own = own.iter().find_map(|key| found[key].as_str());
    let started = shape::time(&found["create_time"], &defaults.zone).unwrap_or(defaults.now);
    let mut said_last = None;
    let mut call = None;
    let mut messages = Vec::new();
    let mut is_dated = true;
    for (id, node) in branch(found, mapping) {
        let told = &node["message"];
        // The clocks of a browser and of a server differ; the branch is the order.
        let said_at = shape::time(&told["create_time"], &defaults.zone);
        said_last = said_last.max(said_at);
        let Some(role) = said_by(told) else { continue };
        is_dated &= said_at.is_some();
        let content = content(told);
        let calls = calls(role, told);
        if calls {
            call = Some(id.to_owned());
        }
        let said = ImportedMessage {
            client_id: id.to_owned(),
            role,
            sender: match role {
                Role::User => defaults.user.clone(),
                Role::Assistant => shape::fixed("chatgpt"),
                Role::Tool => shape::fixed("tool"),
            },
            sender_name: None,
            time: said_last.unwrap_or(started),
            tool_call_id: (role == Role::Tool).then(|| call.clone().unwrap_or_else(|| id.to_owned())),
            tool_calls: if calls {
                vec![shape::call(id, told["recipient"].as_str(), content.clone())]
            } else {
                Vec::new()
            },
            content: if calls { String::new() } else { content },
        };
        messages.extend(message(said));
    }
    Ok(vec![ImportedConversation {
        // A new chat that branches off repeats the messages of the old one.
        is_log: is_dated,
        session: defaults.session(own.unwrap_or(&defaults.name)),
        title: shape::title(&found["title"]),
        messages,
    }])
}

/// The nodes of the branch that the person saw last, from the first message on; if the export does not name it, of the
/// newest branch.
fn branch<'a>(found: &Value, mapping: &'a Map<String, Value>) -> Vec<(&'a str, &'a Value)> {
    let said_at = |node: &Value| node["message"]["create_time"].as_f64().unwrap_or(f64::MIN);
    let newest = || {
        let newer = |a: &(&String, &Value), b: &(&String, &Value)| said_at(a.1).total_cmp(&said_at(b.1));
        mapping.iter().max_by(newer).map(|(id, _)| id.as_str())
    };
    let last = found["current_node"].as_str();
    let mut next = last.filter(|id| mapping.contains_key(*id)).or_else(newest);
    let mut branch = Vec::new();
    while let Some((id, node)) = next.and_then(|id| mapping.get_key_value(id)) {
        if branch.len() == mapping.len() {
            break; // a damaged export whose parents form a ring
        }
        branch.push((id.as_str(), node));
        next = node["parent"].as_str();
    }
    branch.reverse();
    branch
}

/// Role of the speaker; none for messages that no reader of the conversation saw.
fn said_by(told: &Value) -> Option<Role> {
    let metadata = &told["metadata"];
    let hidden = metadata["is_visually_hidden_from_conversation"] == true
        || metadata["is_user_system_message"] == true;
    let role = Role::parse(told["author"]["role"].as_str()?)?;
    (!hidden).then_some(role)
}

/// An assistant that speaks to a tool calls it.
fn calls(role: Role, told: &Value) -> bool {
    role == Role::Assistant && told["recipient"].as_str().is_some_and(|to| to != "all")
}

/// Text of a message; it names pictures and files. Custom instructions, stored memories and a model's reasoning have
/// none.
fn content(told: &Value) -> String {
    let content = &told["content"];
    let mut said: Vec<String> = match &content["parts"] {
        Value::Array(parts) => parts.iter().filter_map(part).collect(),
        _ => ["text", "result"]
            .iter()
            .find_map(|key| content[key].as_str())
            .map(str::to_owned)
            .into_iter()
            .collect(),
    };
    let files = told["metadata"]["attachments"].as_array().into_iter().flatten();
    said.extend(files.filter_map(|file| {
        let is_picture = file["mime_type"]
            .as_str()
            .is_some_and(|kind| kind.starts_with("image/"));
        let name = file["name"].as_str().filter(|_| !is_picture)?;
        Some(format!("[file: {name}]"))
    }));
    said.retain(|text| !text.trim().is_empty());
    said.join("\n")
}

/// A part of a message. Spoken words are in the text beside their sound.
fn part(part: &Value) -> Option<String> {
    let kind = part["content_type"].as_str().unwrap_or_default();
    let text = part.as_str().or_else(|| part["text"].as_str());
    let named = || kind.contains("image").then_some("[image]");
    text.or_else(named).map(str::to_owned)
}
