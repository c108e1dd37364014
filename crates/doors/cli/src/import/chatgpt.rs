//! ChatGPT exports: a tree of messages for each conversation, of which the branch that was last seen is told.

use std::collections::HashMap;

use model::Role;
use serde::Deserialize;
use serde_json::Value;

use super::shape::{self, Said};
use super::{Conversation, Defaults};

#[derive(Debug, Deserialize)]
pub(super) struct Exported {
    #[serde(default, alias = "conversation_id")]
    id: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    create_time: Value,
    #[serde(default)]
    current_node: Option<String>,
    #[serde(default)]
    mapping: HashMap<String, Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    #[serde(default)]
    parent: Option<String>,
    #[serde(default)]
    message: Option<Value>,
}

/// One conversation of the export.
pub(super) fn conversation(found: Exported, defaults: &Defaults) -> Vec<Conversation> {
    let own = found.id.or(found.title).unwrap_or_else(|| defaults.name.clone());
    let session = defaults.session(&own);
    let started = shape::time(&found.create_time, &defaults.zone).unwrap_or(defaults.now);
    let mut branch = Vec::new();
    let mut next = found.current_node.as_deref();
    while let Some(id) = next {
        let Some(node) = found.mapping.get(id) else { break };
        branch.extend(node.message.as_ref().map(|message| (id, message)));
        next = node.parent.as_deref();
        if branch.len() > found.mapping.len() {
            break; // a damaged export whose parents form a ring
        }
    }
    let mut time = started;
    let mut messages = Vec::new();
    for (id, message) in branch.into_iter().rev() {
        time = shape::time(&message["create_time"], &defaults.zone).unwrap_or(time);
        let hidden = message["metadata"]["is_visually_hidden_from_conversation"] == true;
        let Some(role) = message["author"]["role"]
            .as_str()
            .and_then(Role::parse)
            .filter(|_| !hidden)
        else {
            continue;
        };
        let said = Said {
            client_id: id.to_owned(),
            role,
            sender: match role {
                Role::User => defaults.user.clone(),
                Role::Assistant => shape::fixed("chatgpt"),
                Role::Tool => shape::fixed("tool"),
            },
            sender_name: None,
            time,
            content: match &message["content"]["parts"] {
                Value::Null => shape::content(&message["content"]["text"]),
                parts => shape::content(parts),
            },
            tool_calls: Vec::new(),
            tool_call_id: (role == Role::Tool).then(|| id.to_owned()),
        };
        messages.extend(super::message(said));
    }
    vec![Conversation { session, messages }]
}
