//! A segment as an agent's work: rounds of calls, their results, and the reactions of people.
//!
//! Owns: the signs of a failure, a correction and thanks. Never: wording it (`case`).

use std::collections::BTreeMap;

use crate::sentence::sentences;
use crate::visible::own_words;
use crate::words::one_line;
use model::{Cell, Message, MessageId, Name, Role, Timestamp, ToolCall};
use serde_json::Value;

use crate::skills::plain;

const REQUEST_CHARS_MAX: usize = 160;
const CORRECTION_CHARS_MAX: usize = 200;
const TARGET_CHARS_MAX: usize = 120;
const TOOL_CHARS_MAX: usize = 60;
const ERROR_CHARS_MAX: usize = 80;
/// How much of a result's beginning and end is looked at for a failure, in characters.
const LOOKED_AT_CHARS: usize = 600;
/// Corrections kept of one piece of work.
const CORRECTIONS_MAX: usize = 3;

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    pub tool: String,
    /// Target of the call, from the agent's own arguments; empty without one.
    pub target: String,
    /// The tool's error text, if the call failed.
    pub error: Option<String>,
}

/// An agent's calls in one message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallRound {
    pub calls: Vec<AgentCall>,
}

/// One agent's work in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trajectory {
    pub agent: Name,
    /// A person's task, in one sentence; empty without one.
    pub request: String,
    pub rounds: Vec<CallRound>,
    /// Corrections by people.
    pub corrections: Vec<String>,
    pub is_thanked: bool,
    /// Whether the agent wrote text after its last call.
    pub is_answered: bool,
    /// Time of the last message.
    pub time: Timestamp,
    pub sources: Vec<MessageId>,
}

impl Trajectory {
    /// Every call, in order.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = &AgentCall> {
        self.rounds.iter().flat_map(|round| &round.calls)
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
    let round = |message: &Message| CallRound {
        calls: message
            .tool_calls
            .iter()
            .map(|call| read_call(call, &results))
            .collect(),
    };
    let said: Vec<String> = messages[first..].iter().map(own_words).collect();
    let corrections = said
        .iter()
        .flat_map(|text| sentences(text))
        .filter(|said| is_correction(said));
    Trajectory {
        agent: agent.clone(),
        request: request(messages, first),
        rounds: rounds.map(round).collect(),
        corrections: corrections
            .take(CORRECTIONS_MAX)
            .map(|said| plain(said, CORRECTION_CHARS_MAX))
            .collect(),
        is_thanked: said.iter().any(|text| is_thanks(text)),
        is_answered: messages[last + 1..].iter().any(|message| {
            message.role == Role::Assistant && message.sender == *agent && !message.text().trim().is_empty()
        }),
        time: cell.ended(),
        sources: messages.iter().map(|message| message.id.clone()).collect(),
    }
}

/// The sentence before an agent's first call that asks most: the last one of several words, else the first after it.
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

/// Arguments that say what a call is about, the most telling first.
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
    let chars = text.chars().count();
    let is_near_an_end = |at: usize| at < LOOKED_AT_CHARS || at + LOOKED_AT_CHARS > chars;
    let mut at = 0;
    for line in text.lines() {
        if is_near_an_end(at) && tells_failure(line) {
            return Some(plain(line, ERROR_CHARS_MAX));
        }
        at += line.chars().count() + 1;
    }
    None
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

/// How lines begin that tell of a failure.
const FAILURE_STARTS: [&str; 12] = [
    "error", "fatal", "traceback", "exception", "failed", "failure", "panicked", "e:", "err!", "npm err",
    "unable to", "cannot ",
];

/// Parts of a short line that mark a failure.
const FAILURE_PARTS: [&str; 9] = [
    "command not found",
    "no such file or directory",
    "permission denied",
    "timed out",
    "non-zero exit",
    "connection refused",
    "test result: failed",
    "panicked at",
    "error: ",
];

fn tells_failure(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    let code = ["exit code", "exit status", "exited with code", "status code"]
        .iter()
        .find_map(|mark| line.split_once(mark))
        .map(|(_, rest)| rest.trim_start_matches([' ', ':', '=']));
    let is_bad = |code: &str| {
        let digits: String = code.chars().take_while(char::is_ascii_digit).collect();
        digits
            .parse::<u32>()
            .is_ok_and(|code| code != 0 && !(200..400).contains(&code))
    };
    code.is_some_and(is_bad)
        || FAILURE_STARTS.iter().any(|start| {
            let rest = line.strip_prefix(start);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.'))
        })
        || (line.len() < 200 && FAILURE_PARTS.iter().any(|part| line.contains(part)))
}

/// How sentences begin that speak against what was done.
const CORRECTION_STARTS: [&str; 22] = [
    "no,",
    "no.",
    "no!",
    "no ",
    "nope",
    "wrong",
    "stop",
    "don't",
    "do not",
    "not that",
    "not like",
    "actually,",
    "that's not",
    "that is not",
    "that's wrong",
    "undo",
    "revert",
    "you should have",
    "you forgot",
    "nein",
    "falsch",
    "please don't",
];

/// Parts of a correction.
const CORRECTION_PARTS: [&str; 12] = [
    " instead of ",
    " instead.",
    " rather than ",
    "not what i",
    "i said ",
    "i told you",
    "i meant",
    "is wrong",
    "you broke",
    "shouldn't have",
    "should not have",
    "doesn't work",
];

fn is_correction(said: &str) -> bool {
    let said = said.to_lowercase().replace('’', "'");
    let is_denial = CORRECTION_STARTS.iter().any(|start| said.starts_with(start))
        || CORRECTION_PARTS.iter().any(|part| said.contains(part));
    let is_fine = [
        "no problem", "no worries", "no need", "no rush", "don't worry", "stop by",
    ];
    is_denial && !is_fine.iter().any(|fine| said.starts_with(fine)) && !said.ends_with('?')
}

fn is_thanks(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "thanks", "thank", "thx", "perfect", "great", "awesome", "excellent", "works", "danke", "gracias",
        "merci", "obrigado", "謝謝", "谢谢",
    ];
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let is_praise = words.any(|word| WORDS.contains(&word));
    is_praise && !text.contains("not ") && !text.contains("n't") && !text.contains("n’t")
}
