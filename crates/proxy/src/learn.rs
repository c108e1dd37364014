//! Memory of a turn: the person's text, the visible reply, and tool calls.
//!
//! Owns: the messages that a turn adds to memory, their senders, the length of a tool's text. Never: injected text, or
//! a client's additions to a person's text (`transcript::spoken`).

use memory::{Add, Engine};
use model::{Content, Message, MessageId, Name, Owner, Role, SessionKey, Timestamp, ToolCall};
use ports::{Clock, Ids, JobId, NewMessage};
use prefix::stream::ReplyOutcome;
use transcript::{Block, Item, dialect, spoken};

use crate::conversation::Conversation;
use crate::proxy::Speech;

/// Name of the agent if no header names one.
const AGENT: &str = "assistant";
/// A tool's result keeps this many characters at its beginning and at its end, where errors usually are.
const RESULT_CHARS: usize = 700;
/// Calls with arguments up to this length are kept whole; in longer arguments, each text is cut.
const ARGUMENTS_BYTES_MAX: usize = 2_000;
const ARGUMENT_CHARS_MAX: usize = 200;

/// The agent of a conversation, as named by a header.
pub(crate) fn agent(named: Option<&Name>) -> Option<Name> {
    named.cloned().or_else(|| Name::parse(AGENT).ok())
}

/// A turn that was answered.
pub(crate) struct AnsweredTurn<'a> {
    key: SessionKey,
    owner: Owner,
    /// The client's messages that waited for an answer, each with a unique id.
    pub(crate) said: Vec<(String, String)>,
    /// The agent that the model's messages and calls belong to.
    agent: Option<&'a Name>,
    speech: Speech,
    outcome: &'a ReplyOutcome,
    /// Version of the conversation.
    pub(crate) version: u64,
}

impl<'a> AnsweredTurn<'a> {
    /// Takes the messages that waited for this answer.
    pub(crate) fn of(
        conversation: &mut Conversation,
        agent: Option<&'a Name>,
        speech: Speech,
        outcome: &'a ReplyOutcome,
    ) -> Self {
        Self {
            key: conversation.key.clone(),
            owner: conversation.party.owner.clone(),
            said: conversation.answered(),
            agent,
            speech,
            outcome,
            version: conversation.records,
        }
    }
}

/// Adds a turn to memory.
pub(crate) async fn learn(engine: &Engine, clock: &dyn Clock, ids: &dyn Ids, turn: &AnsweredTurn<'_>) {
    let messages = messages(turn, clock.now());
    if messages.is_empty() {
        return;
    }
    let add = Add {
        title: None,
        session: turn.key.clone(),
        messages,
        defer_extraction: false,
        // Messages are searchable before a model has read them.
        task: Some(JobId(fresh(clock, ids))),
    };
    if let Err(error) = engine.take_on(add).await {
        tracing::error!(%error, "cannot store a turn in memory");
    }
}

/// An id that sorts by creation time.
pub(crate) fn fresh(clock: &dyn Clock, ids: &dyn Ids) -> String {
    format!("{:012x}-{:016x}", clock.now().millis(), ids.next())
}

/// The messages of a turn, in order.
fn messages(turn: &AnsweredTurn<'_>, now: Timestamp) -> Vec<NewMessage> {
    let mut learnt = Learnt::new(turn, now);
    for (bytes, id) in &turn.said {
        if let Ok(item) = dialect::read_message(turn.speech.dialect(), bytes) {
            learnt.item(&item, id);
        }
    }
    learnt.reply();
    learnt.messages
}

struct Learnt<'a> {
    turn: &'a AnsweredTurn<'a>,
    now: Timestamp,
    agent: Name,
    messages: Vec<NewMessage>,
    /// The client generated the whole text: no person wrote it.
    is_clients: bool,
}

impl<'a> Learnt<'a> {
    fn new(turn: &'a AnsweredTurn<'a>, now: Timestamp) -> Self {
        Self {
            turn,
            now,
            agent: agent(turn.agent).unwrap_or_else(|| turn.owner.id.clone()),
            messages: Vec::new(),
            is_clients: false,
        }
    }

    fn item(&mut self, item: &Item, id: &str) {
        for (n, outcome) in item.outcomes().enumerate() {
            let text = ends(&outcome.text, outcome.failed);
            self.push(Role::Tool, text, format!("{id}-{n}"), |message| {
                message.tool_call_id = Some(outcome.call_id.clone());
            });
        }
        let text = item.prose();
        match item.role {
            transcript::Role::User if item.asks() => {
                let said = with_images(spoken::own_text(&text).into_owned(), item);
                let is_left = !said.trim().is_empty();
                self.is_clients = !is_left && self.messages.is_empty();
                if is_left {
                    self.push(Role::User, said, id.to_owned(), |_| {});
                }
            }
            transcript::Role::Assistant => self.spoke(item, text, id.to_owned()),
            _ => {}
        }
    }

    fn spoke(&mut self, item: &Item, text: String, id: String) {
        let calls: Vec<ToolCall> = item.calls().map(call).collect();
        let is_words = !text.trim().is_empty() && !self.is_clients;
        if !calls.is_empty() || is_words {
            let text = if is_words { text } else { String::new() };
            self.push(Role::Assistant, text, id, |message| message.tool_calls = calls);
        }
    }

    /// Adds the reply: its items form one message.
    fn reply(&mut self) {
        let outcome = self.turn.outcome;
        let message = outcome.message.as_deref().unwrap_or_default();
        let replies = self.turn.speech.replies(message).into_iter();
        let items = replies.filter_map(|reply| dialect::read_message(self.turn.speech.dialect(), reply).ok());
        let blocks = items.flat_map(|item| item.blocks).collect();
        let reply = Item {
            blocks,
            ..Item::text(transcript::Role::Assistant, "")
        };
        let digest = prefix::Digest::of(message.as_bytes());
        let id = format!("reply-{digest}-{}", self.turn.version);
        self.spoke(&reply, outcome.text.clone(), id);
    }

    fn push(&mut self, role: Role, text: String, id: String, with: impl FnOnce(&mut Message)) {
        let sender = match role {
            Role::User => self.turn.owner.id.clone(),
            Role::Assistant => self.agent.clone(),
            Role::Tool => Name::parse("tool").unwrap_or_else(|_| self.agent.clone()),
        };
        let mut message = Message {
            id: MessageId::new(""),
            session: self.turn.key.clone(),
            sender,
            sender_name: None,
            role,
            time: self.now,
            content: Content::Text(text).into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        };
        with(&mut message);
        self.messages.push(NewMessage::new(message, Some(id)));
    }
}

/// A person's text, with a line for each image of the message.
fn with_images(mut words: String, item: &Item) -> String {
    for block in &item.blocks {
        if matches!(block, Block::Image(_)) {
            if !words.is_empty() {
                words.push('\n');
            }
            words.push_str(&model::attachment("image", "", ""));
        }
    }
    words
}

/// A result's beginning and end.
fn ends(text: &str, failed: bool) -> String {
    let mut kept = if failed { "error: " } else { "" }.to_owned();
    let chars = text.chars().count();
    if chars <= 2 * RESULT_CHARS {
        kept.push_str(text);
        return kept;
    }
    kept.extend(text.chars().take(RESULT_CHARS));
    kept.push_str("\n[…]\n");
    kept.extend(text.chars().skip(chars - RESULT_CHARS));
    kept
}

/// A call as memory stores it: its target stays readable even if it contains a whole file.
fn call(call: &transcript::Call) -> ToolCall {
    let arguments = &call.arguments;
    let short = || {
        let mut value: serde_json::Value = serde_json::from_str(arguments).ok()?;
        shorten(&mut value);
        Some(value.to_string())
    };
    let arguments = match arguments.len() {
        0..=ARGUMENTS_BYTES_MAX => arguments.clone(),
        _ => short()
            .filter(|short| short.len() <= ARGUMENTS_BYTES_MAX)
            .unwrap_or_else(|| arguments.chars().take(ARGUMENT_CHARS_MAX).collect()),
    };
    ToolCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments,
    }
}

fn shorten(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => {
            if let Some((at, _)) = text.char_indices().nth(ARGUMENT_CHARS_MAX) {
                text.truncate(at);
                text.push('…');
            }
        }
        serde_json::Value::Array(all) => all.iter_mut().for_each(shorten),
        serde_json::Value::Object(map) => map.values_mut().for_each(shorten),
        _ => {}
    }
}
