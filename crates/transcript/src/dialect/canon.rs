//! The JSON of an item without a text of its own: each dialect's plainest form.
//!
//! Owns: those forms; members have one fixed order. Never: items with their original text (`edit`).

use serde_json::json;

use super::Family;
use crate::json::{self, quoted};
use crate::{Block, Call, Item, Outcome, Role};

/// A block as an element of its message's list (of `tool_calls` for a call in chat); none if the list cannot contain
/// it.
pub(super) fn element(block: &Block, family: Family, role: Role) -> Option<String> {
    match (block, family) {
        (Block::Text(text), _) => Some(text_element(text, family, role)),
        (Block::Image(image), _) => Some(image.raw.clone()),
        (Block::Other(raw), _) => Some(raw.clone()),
        (Block::Thinking(thinking), Family::Anthropic) => {
            Some(thinking.raw.clone()).filter(|raw| !raw.is_empty())
        }
        (Block::Call(call), Family::Chat) => Some(chat_call(call)),
        (Block::Call(call), Family::Anthropic) => Some(tool_use(call)),
        (Block::Outcome(outcome), Family::Anthropic) => Some(tool_result(outcome)),
        (Block::Thinking(_) | Block::Outcome(_), Family::Chat | Family::Responses)
        | (Block::Call(_), Family::Responses) => None,
    }
}

/// The messages of an item; none for an empty item, or one that the dialect cannot express.
pub(super) fn messages(item: &Item, family: Family) -> Vec<String> {
    match family {
        Family::Chat => chat(item),
        Family::Anthropic => anthropic(item).into_iter().collect(),
        Family::Responses => responses(item),
    }
}

fn text_element(text: &str, family: Family, role: Role) -> String {
    let kind = match (family, role) {
        (Family::Responses, Role::Assistant) => "output_text",
        (Family::Responses, _) => "input_text",
        _ => "text",
    };
    json!({"type": kind, "text": text}).to_string()
}

fn chat_call(call: &Call) -> String {
    let function = json!({"name": call.name, "arguments": call.arguments});
    json!({"id": call.id, "type": "function", "function": function}).to_string()
}

fn tool_use(call: &Call) -> String {
    let (id, name) = (quoted(&call.id), quoted(&call.name));
    let input = if is_object(&call.arguments) {
        call.arguments.clone()
    } else if call.arguments.trim().is_empty() {
        "{}".to_owned()
    } else {
        format!("{{\"arguments\":{}}}", quoted(&call.arguments))
    };
    format!("{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{input}}}")
}

/// Whether the text is one JSON object.
fn is_object(text: &str) -> bool {
    json::parsed(text).is_some_and(|value| value.is_object())
}

fn tool_result(outcome: &Outcome) -> String {
    let mut result = json!({"type": "tool_result", "tool_use_id": outcome.call_id, "content": outcome.text});
    if outcome.failed {
        result["is_error"] = true.into();
    }
    result.to_string()
}

fn chat(item: &Item) -> Vec<String> {
    let tool = |outcome: &Outcome| {
        json!({"role": "tool", "tool_call_id": outcome.call_id, "content": outcome.text}).to_string()
    };
    let mut messages: Vec<String> = item.outcomes().map(tool).collect();
    let (mut content, mut calls, mut reasoning) = (Vec::new(), Vec::new(), Vec::new());
    for block in &item.blocks {
        match block {
            Block::Call(call) => calls.push(chat_call(call)),
            Block::Thinking(thinking) => reasoning.push(thinking.text.as_str()),
            Block::Outcome(_) => {}
            block => content.push(block),
        }
    }
    if !messages.is_empty() && content.is_empty() && calls.is_empty() {
        return messages;
    }
    let role = match item.role {
        Role::System => "system",
        Role::Assistant => "assistant",
        Role::User | Role::Tool => "user",
    };
    let written = match content.as_slice() {
        [] if calls.is_empty() => "\"\"".to_owned(),
        [] => "null".to_owned(),
        content => text_or_list(content, Family::Chat, item.role),
    };
    let mut message = format!("{{\"role\":\"{role}\",\"content\":{written}");
    if !reasoning.is_empty() {
        message.push_str(",\"reasoning_content\":");
        message.push_str(&quoted(&reasoning.join("\n")));
    }
    if !calls.is_empty() {
        message.extend([",\"tool_calls\":[", &calls.join(","), "]"]);
    }
    message.push('}');
    messages.push(message);
    messages
}

fn text_or_list(blocks: &[&Block], family: Family, role: Role) -> String {
    if let [Block::Text(text)] = blocks {
        return quoted(text);
    }
    let elements: Vec<String> = blocks
        .iter()
        .filter_map(|block| element(block, family, role))
        .collect();
    format!("[{}]", elements.join(","))
}

/// Results come first, as Anthropic requires; blank texts, which it refuses, are left out.
fn anthropic(item: &Item) -> Option<String> {
    let role = match item.role {
        Role::System => return None,
        Role::Assistant => "assistant",
        Role::User | Role::Tool => "user",
    };
    let says = |block: &&Block| match block {
        Block::Text(text) => !text.trim().is_empty(),
        Block::Thinking(thinking) => !thinking.raw.is_empty(),
        _ => true,
    };
    let (results, rest): (Vec<&Block>, Vec<&Block>) = item
        .blocks
        .iter()
        .filter(says)
        .partition(|block| matches!(block, Block::Outcome(_)));
    let blocks: Vec<&Block> = results.into_iter().chain(rest).collect();
    if blocks.is_empty() {
        return None;
    }
    let content = text_or_list(&blocks, Family::Anthropic, item.role);
    Some(format!("{{\"role\":\"{role}\",\"content\":{content}}}"))
}

fn responses(item: &Item) -> Vec<String> {
    let mut messages = Vec::new();
    let mut content: Vec<String> = Vec::new();
    let role = match item.role {
        Role::System => "developer",
        Role::Assistant => "assistant",
        Role::User | Role::Tool => "user",
    };
    let message = |content: &mut Vec<String>| {
        let elements = std::mem::take(content).join(",");
        format!("{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{elements}]}}")
    };
    for block in &item.blocks {
        let alone = match block {
            Block::Call(call) => Some(function_call(call)),
            Block::Outcome(outcome) => Some(function_call_output(outcome)),
            Block::Thinking(thinking) => Some(thinking.raw.clone()),
            Block::Text(_) | Block::Image(_) | Block::Other(_) => None,
        };
        match alone {
            Some(alone) => {
                if !content.is_empty() {
                    messages.push(message(&mut content));
                }
                messages.extend(Some(alone).filter(|text| !text.is_empty()));
            }
            None => content.extend(element(block, Family::Responses, item.role)),
        }
    }
    if !content.is_empty() {
        messages.push(message(&mut content));
    }
    messages
}

fn function_call(call: &Call) -> String {
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments})
        .to_string()
}

fn function_call_output(outcome: &Outcome) -> String {
    json!({"type": "function_call_output", "call_id": outcome.call_id, "output": outcome.text}).to_string()
}
