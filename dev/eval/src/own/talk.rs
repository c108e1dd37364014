//! A person's messages, as the product exports them, and the messages that a chat could know at each moment.
//!
//! Owns: conversations in order of time, and the moments of the later half. Never: a request.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use gateway::wire::message::MessageRole;
use gateway::wire::portable::{ExportLine, MessageLine};
use gateway::wire::{AddRequest, MESSAGES_MAX, MessageContent, MessageItem};

/// Maximum text of one request, far below the limit of a server.
const REQUEST_BYTES_MAX: usize = 4 << 20;

/// First character of a quoted line, which somebody else wrote.
const QUOTED: char = '>';

/// A conversation: its messages in order of time.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    pub(super) session: String,
    title: Option<String>,
    pub(super) messages: Vec<MessageItem>,
}

/// All conversations of a person in order of time, and the lines of core memory.
#[derive(Debug, Default)]
pub(super) struct Talk {
    pub(super) conversations: Vec<Conversation>,
    pub(super) core_lines: usize,
}

/// The moment before a conversation begins.
#[derive(Debug)]
pub(super) struct Moment {
    /// The person's first message in it.
    pub(super) question: String,
    /// Messages of earlier conversations since the previous moment.
    pub(super) said: Vec<AddRequest>,
}

impl Talk {
    /// Reads the lines of an export. An error contains no word of them.
    pub(super) fn read(text: &str) -> anyhow::Result<Self> {
        let mut talk = Self::default();
        let mut sessions: BTreeMap<String, Conversation> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for (number, line) in (1..).zip(text.lines()).skip(1) {
            let line = serde_json::from_str(line).ok();
            let line: ExportLine = line.with_context(|| format!("line {number} of the product's export"))?;
            let (title, messages) = match line {
                ExportLine::Memory(memory) => (Some(memory.subject), memory.messages),
                ExportLine::Message(message) => (None, vec![*message]),
                ExportLine::Page { text, .. } => {
                    talk.core_lines += text.lines().filter(|line| line.starts_with("- ")).count();
                    continue;
                }
                ExportLine::Made { .. } | ExportLine::Forgotten { .. } => continue,
            };
            let mut title = title.filter(|title| !title.is_empty());
            for message in messages {
                if seen.insert(message.message.message_id.clone()) {
                    let session = sessions.entry(message.session.clone()).or_default();
                    session.title = session.title.take().or_else(|| title.take());
                    session.take(message);
                }
            }
        }
        talk.conversations = sessions.into_values().collect();
        for conversation in &mut talk.conversations {
            conversation.messages.sort_by_key(|message| message.timestamp);
        }
        // Conversations of one time stay in the order of their ids.
        talk.conversations.sort_by_key(Conversation::began);
        Ok(talk)
    }

    pub(super) fn messages(&self) -> usize {
        self.conversations.iter().map(|one| one.messages.len()).sum()
    }

    /// The later half of the conversations in which the person speaks. At each moment memory knows the
    /// messages so far of conversations that began earlier: none of the conversation that begins, none of
    /// later ones.
    pub(super) fn later_half(&self, user: &str) -> Vec<Moment> {
        let spoken: Vec<(usize, i64, String)> = (0..)
            .zip(&self.conversations)
            .filter_map(|(at, one)| one.first_of(user).map(|(time, text)| (at, time, text)))
            .collect();
        let mut known = vec![0; self.conversations.len()];
        let later = spoken.len() - spoken.len() / 2;
        let moments = spoken.into_iter().skip(later);
        moments
            .map(|(at, time, question)| {
                let mut said = Vec::new();
                for (conversation, known) in self.conversations[..at].iter().zip(&mut known) {
                    let until = conversation.messages.partition_point(|m| m.timestamp <= time);
                    if until > *known {
                        said.extend(conversation.adds(*known..until));
                        *known = until;
                    }
                }
                Moment { question, said }
            })
            .collect()
    }
}

impl Conversation {
    /// Stores a message under its client id.
    fn take(&mut self, line: MessageLine) {
        self.session = line.session;
        self.messages.push(MessageItem {
            message_id: line.client_id,
            ..line.message
        });
    }

    fn began(&self) -> i64 {
        self.messages.first().map_or(0, |message| message.timestamp)
    }

    /// The person's first message and its time. A message of quoted lines alone does not count.
    fn first_of(&self, user: &str) -> Option<(i64, String)> {
        let own = self
            .messages
            .iter()
            .filter(|one| one.role == MessageRole::User && one.sender_id == user);
        own.map(|message| (message.timestamp, text_of(message)))
            .find(|(_, text)| text.lines().any(is_own))
    }

    fn adds(&self, range: std::ops::Range<usize>) -> Vec<AddRequest> {
        let mut adds: Vec<AddRequest> = Vec::new();
        let mut bytes = 0;
        for message in &self.messages[range] {
            bytes += text_of(message).len();
            match adds.last_mut() {
                Some(add) if add.messages.len() < MESSAGES_MAX && bytes <= REQUEST_BYTES_MAX => {
                    add.messages.push(message.clone());
                }
                _ => {
                    bytes = 0;
                    adds.push(AddRequest {
                        session_title: self.title.clone(),
                        ..AddRequest::new(&*self.session, vec![message.clone()])
                    });
                }
            }
        }
        adds
    }
}

fn is_own(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with(QUOTED)
}

fn text_of(message: &MessageItem) -> String {
    match &message.content {
        MessageContent::Text(text) => text.clone(),
        MessageContent::Parts(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.text.as_deref()).collect();
            texts.join("\n")
        }
    }
}
