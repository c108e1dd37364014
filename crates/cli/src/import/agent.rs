//! Sessions of coding agents: Claude Code's and Codex's, one record a line. Of the user's text, only the words that the person
//! wrote are read.
//!
//! Owns: which records contain messages, their times and sessions. Never: the format of a message (`transcript` reads it), or
//! which part of its text the person wrote.

use std::collections::HashSet;
use std::io::BufRead;

use model::text::Fnv;
use model::{Name, Role, Timestamp, ToolCall};
use serde_json::Value;
use transcript::dialect::{self, Dialect};
use transcript::{Block, Item, mended, spoken};

use super::shape::{self, ImportedMessage};
use super::table::string;
use super::{Defaults, ImportItem, ImportedConversation, Logs, Reading, message};
use crate::error::Failure;

/// Maximum characters of a tool call or result: files that an agent read do not belong in memory.
const TOOL_CHARS_MAX: usize = 2_000;

/// The part of a session read so far.
#[derive(Debug, Default)]
struct Session {
    id: Option<String>,
    /// The session that this one was forked from.
    parent: Option<String>,
    /// The client's title, then the person's.
    titles: [Option<String>; 2],
    /// Session titles, each with the id of its session's last record; a client may write them into another session's file.
    summaries: Vec<(String, String)>,
    seen: HashSet<String>,
    time: Option<Timestamp>,
    messages: Vec<ImportedMessage>,
    is_sub_agents: bool,
    has_side_chain: bool,
    /// Each message has its own time.
    is_dated: bool,
}

/// Reads one session. A line that is not JSON is skipped; the last line may be cut off, as in a session that still runs.
pub(super) fn read(
    stream: &mut dyn BufRead,
    dialect: Dialect,
    reading: &mut Reading<'_>,
) -> Result<(), Failure> {
    let mut session = Session {
        is_dated: true,
        ..Session::default()
    };
    let mut broken = None;
    for (number, line) in (1..).zip(stream.split(b'\n')) {
        let line = line?;
        if let Some((what, why)) = broken.take() {
            reading.skip(what, why)?;
        }
        match mended::parse::<Value>(&String::from_utf8_lossy(&line)) {
            _ if line.trim_ascii().is_empty() => {}
            Ok(record) if dialect == Dialect::Codex => session.codex(number, &record, &reading.defaults),
            Ok(record) => session.claude_code(&record, &reading.defaults),
            Err(error) => broken = Some((format!("line {number}"), error.to_string())),
        }
    }
    if session.is_sub_agents || session.has_side_chain && session.messages.is_empty() {
        return reading.note("conversations of sub-agents and services, left out", 1);
    }
    let defaults = &reading.defaults;
    session.date_by_parent(&defaults.logs);
    let title = session.title();
    (reading.sink)(ImportItem::Conversation(ImportedConversation {
        session: defaults.session(session.id.as_deref().unwrap_or(&defaults.name)),
        title,
        is_log: session.is_dated,
        messages: session.messages.into_iter().filter_map(message).collect(),
    }))
}

impl Session {
    fn claude_code(&mut self, record: &Value, defaults: &Defaults) {
        match record["type"].as_str() {
            Some("user" | "assistant") => {}
            Some("summary") => {
                let leaf = record["leafUuid"].as_str().unwrap_or_default().to_owned();
                let summary = shape::title(&record["summary"]);
                self.summaries.extend(summary.map(|summary| (leaf, summary)));
                return;
            }
            Some("ai-title") => return self.entitle(0, &record["aiTitle"]),
            Some("custom-title") => return self.entitle(1, &record["customTitle"]),
            _ => return,
        }
        let uuid = record["uuid"].as_str().unwrap_or_default();
        let is_true = |key: &str| record[key] == true;
        self.has_side_chain |= is_true("isSidechain");
        // A side chain belongs to a sub-agent; the client itself wrote the other excluded messages.
        let is_said = !["isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage"]
            .into_iter()
            .any(is_true);
        if !self.seen.insert(uuid.to_owned()) || !is_said {
            return;
        }
        self.id = self.id.take().or_else(|| string(&record["sessionId"]));
        self.say(Dialect::ClaudeCode, &record["message"], uuid, record, defaults);
    }

    fn codex(&mut self, number: usize, record: &Value, defaults: &Defaults) {
        let (payload, id) = (&record["payload"], format!("line-{number}"));
        match (record["type"].as_str(), payload.is_object()) {
            (Some("session_meta"), true) => {
                if self.id.is_none() {
                    self.id = string(&payload["id"]);
                    self.parent = string(&payload["forked_from_id"]);
                }
                self.is_sub_agents |= payload["source"]["subagent"] != Value::Null;
            }
            (Some("response_item"), true) => self.say(Dialect::Codex, payload, &id, record, defaults),
            // Older versions wrote items without an envelope, after a line about the session.
            (Some(_), false) if payload.is_null() => self.say(Dialect::Codex, record, &id, record, defaults),
            (None, _) => {
                self.id = self.id.take().or_else(|| string(&record["id"]));
                self.time = shape::moment(&record["timestamp"], &defaults.zone)
                    .time()
                    .or(self.time);
            }
            _ => {}
        }
    }

    /// Gives a fork's copied messages the times that they have in the parent: Codex may write the time of the fork.
    fn date_by_parent(&mut self, logs: &Logs) {
        let mut logs = logs.lock();
        let said =
            |message: &ImportedMessage| Fnv::of(format!("{:?} {}", message.role, message.content).as_bytes());
        let parent = self.parent.as_ref().and_then(|parent| logs.get(parent));
        for (message, (number, time)) in self.messages.iter_mut().zip(parent.into_iter().flatten()) {
            if said(message) != *number {
                break;
            }
            message.time = *time;
        }
        if let Some(id) = &self.id {
            let log = self.messages.iter().map(|message| (said(message), message.time));
            logs.insert(id.clone(), log.collect());
        }
    }

    fn entitle(&mut self, rank: usize, title: &Value) {
        self.titles[rank] = shape::title(title).or(self.titles[rank].take());
    }

    fn title(&self) -> Option<String> {
        let mut summaries = self.summaries.iter().rev();
        let own = summaries.find(|(leaf, _)| self.seen.contains(leaf));
        let named = self.titles.iter().rev().flatten().next();
        named.or(own.map(|(_, summary)| summary)).cloned()
    }

    /// Adds a message; each tool result becomes a message of its own.
    fn say(&mut self, dialect: Dialect, told: &Value, id: &str, record: &Value, defaults: &Defaults) {
        let Ok(item) = dialect::read_message(dialect, &told.to_string()) else {
            return;
        };
        let said_at = shape::moment(&record["timestamp"], &defaults.zone).time();
        self.is_dated &= said_at.is_some();
        let time = said_at.or(self.time).unwrap_or(defaults.now);
        self.time = Some(time);
        let agent = shape::fixed(dialect.as_str());
        let mut place = 0;
        let mut new = |role, sender: Name, content: String| {
            place += 1;
            let id = match place {
                1 => id.to_owned(),
                _ => format!("{id}~{place}"),
            };
            ImportedMessage::new(id, role, sender, time, content)
        };
        for outcome in item.outcomes() {
            let said = new(Role::Tool, shape::fixed("tool"), cut(&outcome.text));
            let tool_call_id = Some(outcome.call_id.clone());
            self.messages.push(ImportedMessage { tool_call_id, ..said });
        }
        match item.role {
            transcript::Role::User => {
                let words = own_words(&item);
                self.messages.push(new(Role::User, defaults.user.clone(), words));
            }
            transcript::Role::Assistant => {
                let calls = item.calls().filter(|call| !call.id.is_empty());
                let tool_calls = calls
                    .map(|call| ToolCall {
                        id: call.id.clone(),
                        name: call.name.clone(),
                        arguments: cut(&call.arguments),
                    })
                    .collect();
                let said = new(Role::Assistant, agent, item.prose());
                self.messages.push(ImportedMessage { tool_calls, ..said });
            }
            transcript::Role::System | transcript::Role::Tool => {}
        }
    }
}

/// The text that the person wrote, without the client's additions; empty for a picture without text.
fn own_words(item: &Item) -> String {
    let words = item.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(spoken::own_text(text).trim().to_owned()),
        _ => None,
    });
    let words: Vec<String> = words.filter(|words| !words.is_empty()).collect();
    words.join("\n")
}

fn cut(text: &str) -> String {
    let head = model::head(text, TOOL_CHARS_MAX);
    let sign = if head.len() < text.len() { " […]" } else { "" };
    format!("{head}{sign}")
}
