//! A segment as an agent's work: rounds of calls, their results, and people's messages after the
//! first call.
//!
//! Owns: the failures that a tool reports by a field or an exit code. Never: judging words, or the
//! text of a case (`case`).

use std::collections::BTreeMap;

use crate::sentence::sentences;
use crate::visible::own_words;
use crate::words::one_line;
use model::{Cell, Message, MessageId, Name, Role, Timestamp, ToolCall};
use serde_json::Value;

use crate::skills::plain;

const REQUEST_CHARS_MAX: usize = 160;
const SAID_CHARS_MAX: usize = 200;
const TARGET_CHARS_MAX: usize = 120;
const TOOL_CHARS_MAX: usize = 60;
const ERROR_CHARS_MAX: usize = 80;
/// A program's exit code is in one of this many first lines of a result, or in its last.
const HEAD_LINES: usize = 5;
/// Maximum number of people's messages kept for one piece of work.
const SAID_MAX: usize = 3;

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    pub tool: String,
    /// Target of the call, from the agent's own arguments; empty without one.
    pub target: String,
    /// The tool's error text, if the call failed.
    pub error: Option<String>,
}

/// One agent's work in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trajectory {
    pub agent: Name,
    /// A person's task, in one sentence; empty without one.
    pub request: String,
    /// The agent's calls in each of its messages.
    pub rounds: Vec<Vec<AgentCall>>,
    /// The first messages of people after the agent's first call.
    pub said: Vec<String>,
    /// Whether the agent wrote text after its last call.
    pub is_answered: bool,
    /// Time of the last message.
    pub time: Timestamp,
    pub sources: Vec<MessageId>,
}

impl Trajectory {
    /// Every call, in order.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = &AgentCall> {
        self.rounds.iter().flatten()
    }
}

/// The work of each agent that called a tool, in the order of their first calls.
pub fn trajectories(cell: &Cell) -> Vec<Trajectory> {
    let mut agents: Vec<&Name> = Vec::new();
    for message in cell.messages.iter().filter(|message| is_round(message)) {
        if !agents.contains(&&message.sender) {
            agents.push(&message.sender);
        }
    }
    agents.into_iter().map(|agent| of_agent(cell, agent)).collect()
}

fn is_round(message: &Message) -> bool {
    message.role == Role::Assistant && !message.tool_calls.is_empty()
}

fn of_agent(cell: &Cell, agent: &Name) -> Trajectory {
    let messages = &cell.messages;
    let is_own_round = |message: &Message| is_round(message) && message.sender == *agent;
    let first = messages.iter().position(is_own_round).unwrap_or_default();
    let last = messages.iter().rposition(is_own_round).unwrap_or_default();
    let results: BTreeMap<&str, &Message> = messages
        .iter()
        .filter(|message| message.role == Role::Tool)
        .filter_map(|message| Some((message.tool_call_id.as_deref()?, message)))
        .collect();
    let rounds = messages.iter().filter(|message| is_own_round(message));
    let round = |message: &Message| -> Vec<AgentCall> {
        let calls = message.tool_calls.iter();
        calls.map(|call| read_call(call, &results)).collect()
    };
    let said = messages[first..].iter().map(own_words);
    let said = said.filter(|text| !text.trim().is_empty()).take(SAID_MAX);
    Trajectory {
        agent: agent.clone(),
        request: request(messages, first),
        rounds: rounds.map(round).collect(),
        said: said.map(|text| plain(&text, SAID_CHARS_MAX)).collect(),
        is_answered: messages[last + 1..].iter().any(|message| {
            message.role == Role::Assistant && message.sender == *agent && !message.text().trim().is_empty()
        }),
        time: cell.ended(),
        sources: messages.iter().map(|message| message.id.clone()).collect(),
    }
}

/// The person's request: of the sentences before an agent's first call, the last one of several
/// words, else the first one after the call.
fn request(messages: &[Message], first: usize) -> String {
    let (before, after) = messages.split_at(first);
    let asks = |message: &Message| {
        let text = own_words(message);
        let found = sentences(&text)
            .into_iter()
            .find(|said| said.split_whitespace().count() > 2);
        let whole = || Some(one_line(&text)).filter(|text| !text.is_empty());
        found.map(str::to_owned).or_else(whole)
    };
    let asked = before
        .iter()
        .rev()
        .find_map(asks)
        .or_else(|| after.iter().find_map(asks));
    plain(&asked.unwrap_or_default(), REQUEST_CHARS_MAX)
}

fn read_call(call: &ToolCall, results: &BTreeMap<&str, &Message>) -> AgentCall {
    let result = results.get(call.id.as_str()).map(|result| result.text());
    AgentCall {
        tool: plain(&call.name, TOOL_CHARS_MAX),
        target: plain(&target(&call.arguments), TARGET_CHARS_MAX),
        error: result.and_then(|text| failure(&text)),
    }
}

/// Arguments that show the target of a call, the most informative first.
const TARGETS: [&str; 12] = [
    "command", "cmd", "script", "code", "path", "file_path", "file", "filename", "url", "query", "pattern",
    "name",
];

/// Target of a call: the most informative of its arguments, else all of them.
fn target(arguments: &str) -> String {
    let Ok(Value::Object(map)) = serde_json::from_str::<Value>(arguments) else {
        return arguments.to_owned();
    };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let parts: Option<Vec<&str>> = parts.iter().map(Value::as_str).collect();
            parts.map(|parts| parts.join(" "))
        }
        _ => None,
    };
    let telling = TARGETS.iter().find_map(|key| map.get(*key).and_then(text));
    let all = || {
        let pairs = map.iter().map(|(key, value)| match value {
            Value::String(text) => format!("{key}: {text}"),
            value => format!("{key}: {value}"),
        });
        pairs.collect::<Vec<_>>().join(", ")
    };
    telling.unwrap_or_else(all)
}

/// The error in a result; none if it has none.
fn failure(text: &str) -> Option<String> {
    let text = text.trim();
    if let Ok(Value::Object(map)) = serde_json::from_str::<Value>(text) {
        return failure_of_json(&map);
    }
    let lines = text.lines().take(HEAD_LINES).chain(text.lines().next_back());
    let code = lines.filter_map(exit_code).find(|code| *code != 0);
    code.map(|code| format!("exit code {code}"))
}

/// The exit code at the end of a line: `Exit code: 101`, `[Process exited with code 2]`.
fn exit_code(line: &str) -> Option<u32> {
    let line = line.to_ascii_lowercase();
    let marks = ["exit code", "exit status", "exited with code"];
    let (_, rest) = marks.iter().find_map(|mark| line.split_once(mark))?;
    let code = rest.trim_matches(|c: char| !c.is_alphanumeric());
    code.parse().ok()
}

fn failure_of_json(map: &serde_json::Map<String, Value>) -> Option<String> {
    let is_said =
        |value: &&Value| !matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some("");
    let error = map.get("error").or_else(|| map.get("errors")).filter(is_said);
    let is_so = |key: &str, value: bool| map.get(key).and_then(Value::as_bool) == Some(value);
    let code = ["exit_code", "exitCode", "returncode"]
        .iter()
        .find_map(|key| map.get(*key)?.as_i64());
    let has_failed = is_so("is_error", true) || is_so("success", false) || is_so("ok", false);
    let told = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match (error, code) {
        (Some(error), _) => Some(plain(&told(error), ERROR_CHARS_MAX)),
        (None, Some(code)) if code != 0 => Some(format!("exit code {code}")),
        _ => has_failed.then(|| "no success".to_owned()),
    }
}
