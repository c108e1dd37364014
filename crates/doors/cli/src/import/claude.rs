//! Claude exports: a list of messages for each conversation, attachments with their text.

use model::Role;
use serde::Deserialize;
use serde_json::Value;

use super::shape::{self, Said};
use super::{Conversation, Defaults, message};

#[derive(Debug, Deserialize)]
pub(super) struct Exported {
    #[serde(default)]
    uuid: Option<String>,
    #[serde(default)]
    created_at: Value,
    #[serde(default)]
    chat_messages: Vec<Exchanged>,
}

#[derive(Debug, Deserialize)]
struct Exchanged {
    #[serde(default)]
    uuid: Option<String>,
    #[serde(default)]
    sender: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    created_at: Value,
    #[serde(default)]
    attachments: Vec<Attachment>,
}

#[derive(Debug, Deserialize)]
struct Attachment {
    #[serde(default)]
    file_name: String,
    #[serde(default)]
    extracted_content: String,
}

/// One conversation of the export.
pub(super) fn conversation(found: Exported, defaults: &Defaults) -> Vec<Conversation> {
    let session = defaults.session(found.uuid.as_deref().unwrap_or(&defaults.name));
    let mut time = shape::time(&found.created_at, &defaults.zone).unwrap_or(defaults.now);
    let mut messages = Vec::new();
    for (at, exchanged) in found.chat_messages.into_iter().enumerate() {
        time = shape::time(&exchanged.created_at, &defaults.zone).unwrap_or(time);
        let (role, sender) = match exchanged.sender.as_str() {
            "human" => (Role::User, defaults.user.clone()),
            _ => (Role::Assistant, shape::fixed("claude")),
        };
        let said = Said {
            client_id: exchanged.uuid.clone().unwrap_or_else(|| format!("message-{at}")),
            role,
            sender,
            sender_name: None,
            time,
            content: text(&exchanged),
            tool_calls: Vec::new(),
            tool_call_id: None,
        };
        messages.extend(message(said));
    }
    vec![Conversation { session, messages }]
}

/// The parts' own text where there is any, else the flat one; then each attachment under its name.
fn text(exchanged: &Exchanged) -> String {
    let parts = exchanged.content.as_array().into_iter().flatten();
    let spoken: Vec<&str> = parts
        .filter(|part| part["type"] == "text")
        .filter_map(|part| part["text"].as_str())
        .collect();
    let mut text = if spoken.is_empty() {
        exchanged.text.clone()
    } else {
        spoken.join("\n")
    };
    for attachment in exchanged
        .attachments
        .iter()
        .filter(|a| !a.extracted_content.is_empty())
    {
        for part in [
            "\n\n[",
            &attachment.file_name,
            "]\n",
            &attachment.extracted_content,
        ] {
            text.push_str(part);
        }
    }
    text
}
