//! Reasons for which a real server refuses a request.
//!
//! Owns: the fields of each API, the order of messages, the places of marks. Never: answering.

use std::collections::BTreeSet;

use prefix::backend::Kind;
use serde_json::Value;

use super::prompt::{Dialect, Prompt, Role, Turn};

const CHAT: &str = "messages model audio frequency_penalty function_call functions logit_bias logprobs \
    max_completion_tokens max_tokens metadata modalities n parallel_tool_calls prediction presence_penalty \
    reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature \
    tool_choice tools top_logprobs top_p user verbosity web_search_options";
const COMPLETIONS: &str = "prompt model best_of echo frequency_penalty logit_bias logprobs max_tokens n presence_penalty \
    seed stop stream stream_options suffix temperature top_p user";
const EMBEDDINGS: &str = "input model dimensions encoding_format user";
const RESPONSES: &str = "input model background conversation include instructions max_output_tokens max_tool_calls \
    metadata parallel_tool_calls previous_response_id prompt reasoning safety_identifier service_tier store stream \
    stream_options temperature text tool_choice tools top_logprobs top_p truncation user";
const MESSAGES: &str = "messages model system max_tokens metadata stop_sequences stream temperature top_k top_p tools \
    tool_choice thinking service_tier container context_management mcp_servers output_config cache_control";
/// No `stream_options`: the API refuses `include_usage` and reports its usage unasked.
const MISTRAL_CHAT: &str = "messages model frequency_penalty max_tokens metadata n parallel_tool_calls prediction \
    presence_penalty prompt_mode random_seed reasoning_effort response_format safe_prompt stop stream temperature \
    tool_choice tools top_p";
const MISTRAL_EMBEDDINGS: &str = "input model metadata output_dimension output_dtype encoding_format";

/// All violations of a request, each in a sentence.
pub(super) fn violations(kind: Kind, dialect: Dialect, request: &Value, prompt: &Prompt) -> Vec<String> {
    let mut found = unknown_fields(kind, dialect, request);
    found.extend(prompt.problems.iter().cloned());
    let list = match dialect {
        Dialect::Completions | Dialect::Embeddings => return found,
        Dialect::Chat | Dialect::Messages => "messages",
        Dialect::Responses => "input",
    };
    let is_empty = match &request[list] {
        Value::Array(messages) => messages.is_empty(),
        other => list == "messages" || !other.is_string(),
    };
    if is_empty {
        found.push(format!("`{list}` is empty"));
    }
    if dialect == Dialect::Messages && !is_empty && request["messages"][0]["role"] != "user" {
        found.push("the first message is not the user's".to_owned());
    }
    if dialect == Dialect::Messages {
        found.extend(marks(request));
    }
    if dialect == Dialect::Responses {
        found.extend(alone(&request["input"]));
    }
    found.extend(order(dialect, &prompt.turns));
    found
}

/// At most four marks, and none on a thought, an empty text, or a tool that is loaded later.
fn marks(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().into_iter().flatten();
    let contents = messages.map(|message| &message["content"]);
    let lists = [&request["tools"], &request["system"]]
        .into_iter()
        .chain(contents);
    let blocks = lists.filter_map(Value::as_array).flatten();
    let marked: Vec<&Value> = blocks.filter(|block| !block["cache_control"].is_null()).collect();
    let is_wrong = |block: &&&Value| {
        let is_thought = block["type"]
            .as_str()
            .is_some_and(|kind| kind.ends_with("thinking"));
        let is_empty = block["text"].as_str().is_some_and(|text| text.trim().is_empty());
        is_thought
            || is_empty
            || block["defer_loading"] == true
            || block["cache_control"]["type"] != "ephemeral"
    };
    let wrong = marked.iter().filter(is_wrong);
    let mut found: Vec<String> = wrong
        .map(|block| format!("cache_control cannot be set on {block}"))
        .collect();
    if marked.len() > 4 {
        found.push(format!("{} blocks have cache_control, and 4 may", marked.len()));
    }
    found
}

/// A reasoning item must be followed by its result.
fn alone(input: &Value) -> Vec<String> {
    let items = input.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_result = |item: &Value| {
        let kind = item["type"].as_str().unwrap_or_default();
        item["role"] == "assistant" || kind.ends_with("_call") || kind == "reasoning"
    };
    let at = |at: usize| items.get(at).is_some_and(is_result);
    let thoughts = items
        .iter()
        .enumerate()
        .filter(|(_, item)| item["type"] == "reasoning");
    thoughts
        .filter(|(place, _)| !at(place + 1))
        .map(|(_, item)| {
            format!(
                "the item {} of type `reasoning` has no item that follows it",
                item["id"]
            )
        })
        .collect()
}

/// Local servers accept any field, hosted ones only the fields that they know.
fn unknown_fields(kind: Kind, dialect: Dialect, request: &Value) -> Vec<String> {
    let Some(fields) = request.as_object() else {
        return vec!["the body is not a JSON object".to_owned()];
    };
    let known = match (kind, dialect) {
        _ if kind.profile().local => return Vec::new(),
        (Kind::Mistral, Dialect::Chat) => MISTRAL_CHAT,
        (Kind::Mistral, Dialect::Embeddings) => MISTRAL_EMBEDDINGS,
        (_, Dialect::Chat) => CHAT,
        (_, Dialect::Completions) => COMPLETIONS,
        (_, Dialect::Embeddings) => EMBEDDINGS,
        (_, Dialect::Messages) => MESSAGES,
        (_, Dialect::Responses) => RESPONSES,
    };
    let has_key =
        matches!(kind, Kind::OpenAi | Kind::Mistral) && matches!(dialect, Dialect::Chat | Dialect::Responses);
    fields
        .keys()
        .filter(|name| !known.split_whitespace().any(|known| known == *name))
        .filter(|name| !(has_key && matches!(name.as_str(), "prompt_cache_key" | "prompt_cache_retention")))
        .map(|name| format!("Unrecognized request argument supplied: {name}"))
        .collect()
}

/// The template's error about the first turn out of order: user turns and assistant turns without tool calls
/// must alternate.
pub(super) fn alternation(prompt: &Prompt) -> Option<String> {
    let speaks = |turn: &&Turn| match turn.role {
        Role::User => true,
        Role::Assistant => turn.calls.is_empty(),
        Role::System | Role::Tool => false,
    };
    let mut expected = Role::User;
    for turn in prompt.turns.iter().filter(speaks) {
        if turn.role != expected {
            return Some("conversation roles must alternate user/assistant/user/assistant/...".to_owned());
        }
        expected = match turn.role {
            Role::User => Role::Assistant,
            _ => Role::User,
        };
    }
    None
}

/// Every call is answered before any other turn, and the assistant speaks after its tools.
fn order(dialect: Dialect, turns: &[Turn]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut before = None;
    for turn in turns {
        if turn.role == Role::Tool {
            if !open.remove(turn.answers.as_str()) {
                found.push(format!("no call directly before has the id `{}`", turn.answers));
            }
        } else {
            found.extend(unanswered(&std::mem::take(&mut open)));
        }
        // Anthropic's results are the user's own blocks, and text may follow them.
        if (before, turn.role) == (Some(Role::Tool), Role::User) && dialect != Dialect::Messages {
            found.push("a user's message stands inside a tool loop".to_owned());
        }
        for call in &turn.calls {
            if !open.insert(&call.id) {
                found.push(format!("two calls of a turn have the id `{}`", call.id));
            }
        }
        before = Some(turn.role);
    }
    found.extend(unanswered(&open));
    found
}

fn unanswered(open: &BTreeSet<&str>) -> Vec<String> {
    open.iter()
        .map(|id| format!("the call `{id}` is not answered by the messages that follow it"))
        .collect()
}
