//! The common form of all data sets: one owner's messages, and questions with their known evidence.
//!
//! Owns: that form. Never: a file format or a measure.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use model::{
    Content, Message, MessageId, Name, Owner, ProjectId, Role, Scope, SenderId, SessionId, SessionKey,
    Timestamp,
};

/// One owner with all messages and questions.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) owner: Owner,
    /// Session by session, each in order.
    pub(crate) messages: Vec<Message>,
    pub(crate) questions: Vec<Question>,
}

#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) asked_at: Timestamp,
    pub(crate) category: String,
    /// The messages with the answer; may be empty if the data set only names sessions.
    pub(crate) messages: BTreeSet<MessageId>,
    pub(crate) sessions: BTreeSet<SessionId>,
    /// At turn level, only messages of users are ranked.
    pub(crate) users_only: bool,
}

/// One message of a case, before it has a scope.
pub(crate) struct CaseMessage<'a> {
    pub(crate) id: &'a str,
    pub(crate) session: &'a str,
    pub(crate) speaker: &'a str,
    pub(crate) role: Role,
    pub(crate) time: Timestamp,
    pub(crate) text: String,
}

/// Time between two messages of a sitting, if the data set dates only the sitting.
pub(crate) const PACE_MS: i64 = 20_000;

impl Case {
    /// A case in a project of its own.
    pub(crate) fn new(owner: &str) -> anyhow::Result<Self> {
        Ok(Self {
            owner: Owner::user(Name::parse(&id_of(owner))?),
            messages: Vec::new(),
            questions: Vec::new(),
        })
    }

    pub(crate) fn say(&mut self, project: &str, said: CaseMessage<'_>) -> anyhow::Result<()> {
        let scope = Scope {
            project: ProjectId::parse(project)?,
            ..Scope::default()
        };
        self.messages.push(Message {
            id: MessageId::new(said.id),
            session: SessionKey {
                scope,
                session: SessionId::parse(said.session)?,
            },
            sender: SenderId::parse(&id_of(said.speaker))?,
            sender_name: Some(said.speaker.to_owned()),
            role: said.role,
            time: said.time,
            content: Content::Text(said.text).into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        });
        Ok(())
    }

    /// The messages of each session, in order.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &[Message]> {
        self.messages.chunk_by(|a, b| a.session == b.session)
    }
}

/// Spells a name as an id; in another script, each character as its number.
fn id_of(name: &str) -> String {
    let plain = name.chars().filter(char::is_ascii_alphanumeric);
    let plain: String = plain.map(|c| c.to_ascii_lowercase()).collect();
    if plain.is_empty() {
        let numbers: Vec<String> = name.chars().map(|c| u32::from(c).to_string()).collect();
        return numbers.concat();
    }
    plain
}

/// The text of a file; `.zst` is unpacked.
pub(crate) fn read_text(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let bytes = match path.extension() {
        Some(extension) if extension == "zst" => zstd::decode_all(&bytes[..])?,
        _ => bytes,
    };
    String::from_utf8(bytes).context("the data set is not UTF-8")
}
