//! Talks that were written and marked by hand: the facts that must be found in each, and those that must not
//! be claimed.
//!
//! Owns: their format (`data/extract.json`) and when a statement matches a mark. Never: a score.
//!
//! A mark is words that one statement must have: `name is ines|called ines & short`. All words joined by `&`
//! must occur, of words joined by `|` one. A talk's lines are a minute apart; `+9d` lets nine days pass.
//! `facts` are a good answer: they prove that the checks accept one.

use anyhow::{Context, ensure};
use model::{
    Cell, CellId, Content, CutReason, Message, MessageId, Role, Scope, SenderId, SessionId, SessionKey,
    Timestamp, Zone,
};
use serde::Deserialize;

const TALKS: &str = include_str!("../../data/extract.json");
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;

/// A marked talk.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Marked {
    pub(super) id: String,
    pub(super) language: String,
    start: String,
    talk: Vec<String>,
    /// Facts that must be remembered.
    pub(super) find: Vec<Mark>,
    /// Facts that may be remembered.
    #[serde(default)]
    pub(super) may: Vec<Mark>,
    /// Facts that must not be claimed.
    pub(super) never: Vec<Mark>,
    /// Facts that must not be current at the end.
    #[serde(default)]
    pub(super) over: Vec<Mark>,
    /// Positions of the messages after which the subject changes, if that is clear.
    pub(super) cuts: Option<Vec<usize>>,
    /// A good answer: each fact with the messages that it cites and its date.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests answer with it"))]
    pub(super) facts: Vec<(String, Vec<usize>, String)>,
}

/// Words that a statement must have.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Whether a statement has these words.
    pub(super) fn is_in(&self, statement: &str) -> bool {
        let statement = statement.to_lowercase();
        let has = |words: &str| words.split('|').any(|word| statement.contains(word.trim()));
        self.0.split('&').all(has)
    }
}

/// Every talk.
pub(super) fn talks() -> anyhow::Result<Vec<Marked>> {
    serde_json::from_str(TALKS).context("the marked talks cannot be read")
}

impl Marked {
    /// The talk's messages, as a client would send them.
    pub(super) fn cell(&self) -> anyhow::Result<Cell> {
        let session = SessionKey {
            scope: Scope::default(),
            session: SessionId::parse(&self.id)?,
        };
        let mut time = Zone::utc().parse(&format!("{}:00Z", self.start.replace(' ', "T")))?;
        let mut messages: Vec<Message> = Vec::new();
        for line in &self.talk {
            if let Some(days) = line.strip_prefix('+') {
                let days: i64 = days.trim_end_matches('d').parse()?;
                time = time.plus_millis(days * DAY_MS);
                continue;
            }
            let (speaker, text) = line.split_once(": ").context("a line has a speaker")?;
            messages.push(message(messages.len() + 1, &session, (speaker, text), time)?);
            time = time.plus_millis(MINUTE_MS);
        }
        ensure!(!messages.is_empty(), "{} has no messages", self.id);
        Ok(Cell {
            id: CellId::new(format!("mc_{}", self.id)),
            session,
            owners: extract::owners(&messages),
            messages,
            reason: CutReason::Flush,
        })
    }
}

fn message(
    number: usize,
    session: &SessionKey,
    (speaker, text): (&str, &str),
    time: Timestamp,
) -> anyhow::Result<Message> {
    let role = match speaker {
        "bot" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::User,
    };
    let is_named = role == Role::User && speaker != "me";
    // An id has only plain letters.
    let id: String = match speaker.to_lowercase() {
        plain if plain.is_ascii() => plain,
        other => format!("u{}", other.chars().map(u32::from).sum::<u32>()),
    };
    Ok(Message {
        id: MessageId::new(format!("m{number}")),
        session: session.clone(),
        sender: SenderId::parse(&id)?,
        sender_name: is_named.then(|| speaker.to_owned()),
        role,
        time,
        content: Content::Text(text.to_owned()).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    })
}
