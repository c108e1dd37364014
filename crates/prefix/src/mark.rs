//! `cache_control` marks: Anthropic caches a prompt up to each of them.
//!
//! Owns: the blocks that can have a mark, adding it, removing a client's. A mark is only in the sent bytes. Never: the
//! number of marks and their messages ([`Profile::marks`]).

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;
use transcript::json;

use crate::backend::{Mark, Profile};
use crate::compose::Composed;
use crate::splice;

const FIELD: &str = "cache_control";
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// The parts of a request with its marks, as JSON texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    pub system: Option<String>,
    pub tools: Vec<String>,
    pub messages: Vec<String>,
}

/// A request with the marks for its backend. None if the backend has no such marks, or the client has set its own.
pub fn mark(profile: &Profile, request: &Composed) -> Option<Marked> {
    if !profile.markers_move() {
        return None;
    }
    let texts = || request.messages.iter().map(|sent| sent.bytes.as_str());
    let heads = request.tools.iter().chain(&request.system).map(String::as_str);
    let is_the_clients = heads.chain(texts()).any(is_marked);
    // The API treats a string as a list of one text. Every string becomes such a list, marked or not: marks move from
    // turn to turn, and the text before them must keep its bytes.
    let mut messages: Vec<String> = texts().map(blocked_message).collect();
    let mut system = request.system.as_deref().map(blocked);
    let mut tools = request.tools.clone();
    let system_end = system.as_deref().and_then(last_block);
    let tool = tools.iter().rposition(|tool| !is_deferred(tool));
    let head = system_end.map(|_| Mark::System).or(tool.map(|_| Mark::Tools));
    let counts: Vec<usize> = messages.iter().map(|message| count(message)).collect();
    let places = profile.marks(head, &counts, sent_before(request), is_the_clients);
    if places.is_empty() {
        return None;
    }
    let mut behind = None;
    for place in places {
        match place {
            Mark::Tools => tool.into_iter().for_each(|at| insert(&mut tools[at], None)),
            Mark::System => system.iter_mut().for_each(|system| insert(system, system_end)),
            Mark::Message(last) => {
                // If no block of a message may have the mark, an earlier message gets it.
                let ends = (0..=last)
                    .rev()
                    .filter_map(|at| Some((at, message_end(&messages[at])?)));
                let free = ends
                    .take_while(|(at, _)| behind.is_none_or(|taken| *at > taken))
                    .next();
                if let Some((at, end)) = free {
                    insert(&mut messages[at], Some(end));
                    behind = Some(at);
                }
            }
        }
    }
    Some(Marked {
        system,
        tools,
        messages,
    })
}

/// Number of messages in the conversation's last request: all known messages except the replies at their end.
fn sent_before(request: &Composed) -> usize {
    let entries = request.shadow.entries();
    let known = entries.len() - request.new_messages().min(entries.len());
    let asked = entries[..known].iter().rposition(|entry| !entry.reply);
    let was_sent =
        |index: Option<usize>| index.is_some_and(|index| asked.is_some_and(|asked| index <= asked));
    let last = request.messages.iter().rposition(|sent| was_sent(sent.index));
    last.map_or(0, |last| last + 1)
}

/// Whether a tool, a system field or a message already has a mark.
fn is_marked(text: &str) -> bool {
    matches!(without(text), Cow::Owned(_))
}

/// Whether a JSON text can contain a mark.
pub(crate) fn is_in(text: &str) -> bool {
    text.contains(FIELD)
}

/// A tool, a system field or a message without its marks; other fields of that name stay.
pub(crate) fn without(text: &str) -> Cow<'_, str> {
    let mut marks = Vec::new();
    if let Some(value) = is_in(text).then(|| json::parsed(text)).flatten() {
        find(text, value, &mut marks);
    }
    if marks.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut bare = String::with_capacity(text.len());
    let mut at = 0;
    for mark in marks {
        bare.push_str(text.get(at..mark.start).unwrap_or_default());
        at = at.max(mark.end);
    }
    bare.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(bare)
}

/// The ranges of the marks in a value of the text, each with its comma.
fn find(text: &str, value: json::Value<'_>, marks: &mut Vec<Range<usize>>) {
    for block in value.elements() {
        find(text, block, marks);
    }
    let object = value.object();
    let fields = object.members().count();
    // After the brace, or after the previous value.
    let mut end = value.span().start + 1;
    for (nth, (name, field)) in object.members().enumerate() {
        let field_end = field.span().end;
        if name == FIELD {
            let rest = &text[field_end..];
            let comma = rest.len() - rest.trim_start().trim_start_matches(',').trim_start().len();
            let takes_comma = nth == 0 && fields > 1;
            marks.push(end..field_end + if takes_comma { comma } else { 0 });
        } else if name == "content" {
            find(text, field, marks);
        }
        end = field_end;
    }
}

/// A text as a list of one block; lists and empty texts stay unchanged.
fn blocked(content: &str) -> String {
    match serde_json::from_str::<String>(content) {
        Ok(said) if !said.trim().is_empty() => format!(r#"[{{"type":"text","text":{}}}]"#, content.trim()),
        _ => content.to_owned(),
    }
}

fn blocked_message(message: &str) -> String {
    let Some((start, content)) = splice::content(message) else {
        return message.to_owned();
    };
    let (before, after) = (&message[..start], &message[start + content.len()..]);
    [before, &blocked(content), after].concat()
}

fn count(message: &str) -> usize {
    let content = splice::content(message).map(|(_, content)| json::Value::of(content));
    let blocks = content.filter(json::Value::is_array);
    blocks.map_or(1, |blocks| blocks.elements().len())
}

/// End of a message's last block that may have a mark.
fn message_end(message: &str) -> Option<usize> {
    let (start, content) = splice::content(message)?;
    Some(start + last_block(content)?)
}

fn last_block(list: &str) -> Option<usize> {
    let blocks = json::parsed(list)?.elements();
    Some(blocks.into_iter().rfind(takes)?.span().end)
}

/// Whether a block may have a mark: the API refuses marks on reasoning and on empty texts; unknown blocks get none.
fn takes(block: &json::Value<'_>) -> bool {
    let block: Value = serde_json::from_str(block.text()).unwrap_or_default();
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().is_some_and(|text| !text.trim().is_empty()),
        Some("image" | "document" | "search_result" | "tool_use" | "tool_result") => true,
        _ => false,
    }
}

/// Whether a tool is loaded only by a tool search; such a tool may have no mark.
fn is_deferred(tool: &str) -> bool {
    let tool: Value = serde_json::from_str(tool).unwrap_or_default();
    tool["defer_loading"] == true
}

/// Inserts the mark into the object that ends there, or at the text's end.
fn insert(text: &mut String, end: Option<usize>) {
    let end = end.unwrap_or(text.trim_end().len());
    text.insert_str(end.saturating_sub(1), MARK);
}
