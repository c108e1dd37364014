//! Calls that a client makes beside a conversation: titles, tags, follow-up questions, routers, completions, summaries.
//!
//! Owns: distinguishing them from a person's requests. In doubt a request is a person's: wrong memories can be deleted
//! later; the words of their clients stand in `side.txt`. Never: their handling (`turn`).

use std::sync::LazyLock;

use transcript::lists::Lists;
use transcript::{Item, Role, dialect};

use crate::body::{Body, LENGTHS};
use crate::proxy::Speech;
use crate::said::Said;

/// Characters of a system text in which a client names the purpose of the call.
const OPENING_CHARS: usize = 700;
/// A call of its own has no more messages.
const LONE_MAX: usize = 3;
/// Characters around the quotation in a message that quotes a conversation.
const AROUND_CHARS: usize = 1_500;

static TABLES: LazyLock<Lists> = LazyLock::new(|| Lists::read(include_str!("side.txt")));

/// Elements of quoted conversations that no person types.
const UNTYPED: &[&str] = &["\n<chat_history>\n", "\n<conversation_history>\n"];
/// Whether a client asks this for itself, or nothing at all.
pub(crate) fn is_side(body: &Body<'_>, said: &Said<'_>, speech: Speech) -> bool {
    if said.messages.is_empty() || LENGTHS.iter().any(|name| body.get(name) == Some("1")) || names_task(body)
    {
        return true;
    }
    let has_tools = body.list("tools").is_ok_and(|tools| !tools.is_empty());
    if has_tools || said.stands_on().is_some() {
        return false;
    }
    let read = |message: &str| dialect::read_message(speech.dialect(), message).ok();
    let Some(last) = said.messages.last().and_then(|last| read(last)) else {
        return false;
    };
    let text = last.prose().to_lowercase();
    let text = text.trim();
    if last.role != Role::Assistant
        && TABLES
            .list("beginnings")
            .iter()
            .any(|beginning| text.starts_with(beginning))
    {
        return true;
    }
    let mut first = said.messages.iter().take(LONE_MAX + 1);
    let items: Vec<Item> = first.by_ref().filter_map(|message| read(message)).collect();
    if items.iter().any(|item| item.role == Role::Assistant) {
        return false;
    }
    let system = system(body, speech, &items).to_lowercase();
    let system = opening(&system);
    if has(system, "systems") {
        return true;
    }
    let is_lone = said.messages.len() <= LONE_MAX && last.role == Role::User;
    is_lone && (titles(system) || makes_of_a_quotation(text))
}

/// Whether a text has a mark of a list.
fn has(text: &str, list: &str) -> bool {
    TABLES.list(list).iter().any(|mark| text.contains(mark))
}

/// Some clients name the task in a field.
fn names_task(body: &Body<'_>) -> bool {
    let metadata = body
        .get("metadata")
        .and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
    let task = metadata.as_ref().and_then(|metadata| metadata["task"].as_str());
    task.is_some_and(|task| {
        task.ends_with("_generation") || ["function_calling", "context_compaction"].contains(&task)
    })
}

/// The text before the messages.
fn system(body: &Body<'_>, speech: Speech, items: &[Item]) -> String {
    let own = |item: &Item| (item.role == Role::System).then(|| item.prose());
    if speech == Speech::Chat {
        return items.iter().find_map(own).unwrap_or_default();
    }
    let field = body
        .get(speech.system_field())
        .map(serde_json::from_str::<serde_json::Value>);
    match field {
        Some(Ok(serde_json::Value::String(text))) => text,
        Some(Ok(serde_json::Value::Array(blocks))) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => items.iter().find_map(own).unwrap_or_default(),
    }
}

fn opening(text: &str) -> &str {
    model::head(text, OPENING_CHARS)
}

/// A system text that asks for a title, a tag or a topic of a conversation, and for nothing else; or for one sentence of a diff.
fn titles(system: &str) -> bool {
    has(system, "rewriters") || has(system, "titles") && has(system, "conversations") && has(system, "bounds")
}

/// A message that quotes a conversation and asks for a short text about it. If the quotation is in an element that no
/// person types, the message need not ask for a short text.
fn makes_of_a_quotation(text: &str) -> bool {
    let Some(around) = around_quotation(text) else {
        return false;
    };
    let is_typed_by_nobody = UNTYPED.iter().any(|element| text.contains(element));
    has(&around, "makes") && (is_typed_by_nobody || has(&around, "bounds"))
}

/// The text around a quoted conversation; none without a quotation.
fn around_quotation(text: &str) -> Option<String> {
    let element = TABLES.list("quoted").iter().find_map(|name| {
        // An instruction can name the element before it begins.
        let open = format!("<{name}>");
        let at_line = text.find(&format!("\n{open}")).map(|at| at + 1);
        let start = at_line.or_else(|| text.find(&open))?;
        let close = format!("</{name}>");
        let end = text.rfind(&close)? + close.len();
        (start < end).then_some(start..end)
    });
    let heading = || {
        let mut at = 0;
        text.split_inclusive('\n').find_map(|line| {
            at += line.len();
            let bare = line
                .trim()
                .trim_start_matches(['#', '*', ' '])
                .trim_end_matches(['*', ' ']);
            TABLES.has("headings", bare).then_some(at..text.len())
        })
    };
    let quoted = element.or_else(heading).or_else(|| speakers(text))?;
    let before: String = text[..quoted.start].chars().take(AROUND_CHARS).collect();
    let after: String = text[quoted.end..].chars().take(AROUND_CHARS).collect();
    Some(format!("{before}\n{after}"))
}

/// The place of a person's line above a model's line.
fn speakers(text: &str) -> Option<std::ops::Range<usize>> {
    const PERSON: [&str; 4] = ["user:", "human:", "user message:", "user query:"];
    const MODEL: [&str; 5] = ["assistant:", "ai:", "ai message:", "assistant response:", "bot:"];
    let mut at = 0;
    let mut person = None;
    for line in text.split_inclusive('\n') {
        let starts = |names: &[&str]| names.iter().any(|name| line.trim_start().starts_with(name));
        if person.is_none() && starts(&PERSON) {
            person = Some(at);
        }
        at += line.len();
        if let Some(start) = person
            && starts(&MODEL)
        {
            return Some(start..at);
        }
    }
    None
}

#[cfg(test)]
mod tests;
