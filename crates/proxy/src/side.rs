//! Calls that a client makes beside a conversation: titles, tags, follow-up questions, routers, completions, summaries.
//!
//! Owns: distinguishing them from a person's requests. In doubt a request is a person's: wrong memories can be deleted
//! later. Never: their handling (`turn`).

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

/// Opening words of the system texts of side calls.
const SYSTEMS: &[&str] = &[
    // titles
    "title generator",
    "title-generation assistant",
    "generate a short title based on the first message",
    "summarize the user's conversation into a title",
    "conversation summarizer",
    "crafting pithy titles",
    "titles for conversations",
    "chat titles",
    "conversation title",
    "session title",
    "title for this coding session",
    "title for a chat",
    "indicates a new conversation topic",
    "summarize this coding conversation",
    "into a single short sentence of four words or less",
    // routers and readers of commands
    "task routing ai",
    "extract any file paths that this command reads or modifies",
    "process bash commands that an ai coding agent wants to run",
    // summaries
    "summarize this partial conversation",
    "tasked with summarizing conversations",
    "expert at summarizing chat conversations",
    "anchored context summarization",
    // commits and completions
    "one-line git commit messages",
    "best git commit message",
    "you are an autocompletion system",
    "hole filler",
    // other memories
    "personal information organizer",
    "smart memory manager",
];

/// How messages of side calls begin: first words that a person does not begin with.
const BEGINNINGS: &[&str] = &[
    "please generate a four to five word title",
    "summarize the discussion briefly in 200 words",
    "please write a 5-10 word title",
    "given the following... please reply with a title",
    "provide a concise, 5-word-or-less title for the conversation",
    "analyze this conversation and provide:\n1. the detected language",
    "write a concise title for this conversation",
    "based on the chat history, give this conversation a",
    "based on the conversation so far, provide a concise description of this session",
    "generate a title for this conversation:",
    "generate a concise 3-7 word title for this conversation",
    "generate a short kebab-case name",
    "generate a one-line session recap",
    "generate a commit message for the current changes",
    "generate an enhanced version of this prompt",
    "summarize in a 5-word title",
    "summarize in a 10-word title",
    "analyze *only* the content and structure of your immediately preceding response",
    "given the following conversation and a follow up question, rephrase",
    "please help me predict the three most likely questions",
    "write a short summary label describing what these tool calls",
    "generate a detailed summary of this conversation. include:",
    "your task is to reflect the speaker's likely facial expression through a fitting emoji",
    "you have been provided with a set of responses from various models to the latest user query",
];

/// Elements in which a conversation is quoted.
const QUOTED: &[&str] = &[
    "chat_history",
    "conversation_history",
    "conversation",
    "chat",
    "transcript",
    "messages",
    "history",
    "session",
];
/// Elements among them that no person types.
const UNTYPED: &[&str] = &["\n<chat_history>\n", "\n<conversation_history>\n"];
/// Lines behind which one is quoted.
const HEADINGS: &[&str] = &[
    "chat history:",
    "conversation:",
    "conversation history:",
    "chat transcript:",
    "here's the conversation:",
    "here is the conversation:",
    "messages:",
    "messages being compacted:",
    "<chat_history>",
];
/// Products of side calls from a quoted conversation …
const MAKES: &[&str] = &[
    "title", "name", "tag", "label", "topic", "summar", "follow-up", "follow up", "queries", "query",
    "emoji", "classif", "suggest", "predict", "prompt", "intent", "autocomplet", "rephrase",
];
/// … and how it bounds the answer.
const BOUNDS: &[&str] = &[
    "json",
    "nothing else",
    "no other text",
    "only the",
    "only return",
    "only respond",
    "return only",
    "respond only",
    "reply only",
    "output only",
    "without any",
    "words or less",
    "words max",
    "characters or less",
    "characters max",
    "do not invent",
    "-word",
    "2-4 words",
    "3-5 words",
    "standalone question",
    "without preamble",
    "any other text",
    "anything except",
    "anything other",
    "one word",
    "without quotes",
    "no quotes",
    "only a",
    "array of",
    "max ",
];

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
    if last.role != Role::Assistant && BEGINNINGS.iter().any(|beginning| text.starts_with(beginning)) {
        return true;
    }
    let mut first = said.messages.iter().take(LONE_MAX + 1);
    let items: Vec<Item> = first.by_ref().filter_map(|message| read(message)).collect();
    if items.iter().any(|item| item.role == Role::Assistant) {
        return false;
    }
    let system = system(body, speech, &items).to_lowercase();
    let system = opening(&system);
    if SYSTEMS.iter().any(|mark| system.contains(mark)) {
        return true;
    }
    let is_lone = said.messages.len() <= LONE_MAX && last.role == Role::User;
    is_lone && (titles(system) || makes_of_a_quotation(text))
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
    let has = |marks: &[&str]| marks.iter().any(|mark| system.contains(mark));
    has(&[
        "commit messages",
        "query rewriter",
        "standalone question",
        "standalone quer",
    ]) || has(&["title", "tags for", "topic", "name for", "classify the intent"])
        && has(&[
            "conversation",
            "chat",
            "session",
            "thread",
            "first message",
            "user's message",
        ])
        && has(BOUNDS)
}

/// A message that quotes a conversation and asks for a short text about it. If the quotation is in an element that no
/// person types, the message need not ask for a short text.
fn makes_of_a_quotation(text: &str) -> bool {
    let Some(around) = around_quotation(text) else {
        return false;
    };
    let has = |marks: &[&str]| marks.iter().any(|mark| around.contains(mark));
    let is_typed_by_nobody = UNTYPED.iter().any(|element| text.contains(element));
    has(MAKES) && (is_typed_by_nobody || has(BOUNDS))
}

/// The text around a quoted conversation; none without a quotation.
fn around_quotation(text: &str) -> Option<String> {
    let element = QUOTED.iter().find_map(|name| {
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
            HEADINGS.contains(&bare).then_some(at..text.len())
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
