//! `memory/export` and `memory/import`: all memory of one user as lines of JSON.
//!
//! Owns: the format of the lines, which has a version. Never: choosing the exported memory.
//!
//! The first line names the user. Each further line is a memory, a page of core memory, a message without an episode,
//! or digests of forgotten messages. The same memory gives the same bytes.

use std::collections::{BTreeMap, BTreeSet};

use macro_rules_attribute::apply;
use memory::{ImportCounts, OwnedMemory};
use model::{
    Entry, EntryId, EntryKind, Message, MessageId, Name, Origin, Owner, Parent, ParentKind, Scope, SessionId,
    SessionKey, Timestamp, Zone,
};
use ports::Carried;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::IntoParams;

use crate::wire::fields::filled;
use crate::wire::message::MessageItem;
use crate::wire::scope::name;
use crate::wire::{Invalid, scope};

type ClientIds = BTreeMap<MessageId, String>;

/// What this program writes, and the newest that it reads.
const FORMAT: u32 = 1;

/// Whose memory to export.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    pub user_id: String,
    #[param(default = "default")]
    pub app_id: Option<String>,
    #[param(default = "default")]
    pub project_id: Option<String>,
}

impl ExportQuery {
    /// Checks ids and limits; an error names the field.
    pub fn parts(&self, home: &Scope) -> Result<(Scope, Owner), Invalid> {
        let scope = scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)?;
        Ok((scope, Owner::user(name("user_id", &self.user_id)?)))
    }
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportHead {
    /// Version of the format.
    pub quipu_export: u32,
    pub user_id: String,
    /// The tenant; none: the tenant of the request.
    pub app_id: Option<String>,
    pub project_id: Option<String>,
}

impl ExportHead {
    /// The first line of an owner's export.
    pub fn new(scope: &Scope, owner: &Owner) -> Self {
        Self {
            quipu_export: FORMAT,
            user_id: owner.id.as_str().to_owned(),
            app_id: Some(scope.app.as_str().to_owned()),
            project_id: Some(scope.project.as_str().to_owned()),
        }
    }

    /// The tenant and the owner.
    pub fn parts(&self, home: &Scope) -> Result<(Scope, Owner), Invalid> {
        if self.quipu_export > FORMAT {
            return Err(Invalid::request(format!(
                "the export has format {}, this server knows {FORMAT}: import it with a newer quipu",
                self.quipu_export
            )));
        }
        let scope = scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)?;
        Ok((scope, Owner::user(name("user_id", &self.user_id)?)))
    }
}

/// Each further line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ExportLine {
    /// A memory.
    Memory(Box<MemoryLine>),
    /// A page of core memory: `MEMORY.md`, `USER.md` or `SOUL.md`.
    Page { name: String, text: String },
    /// The ids of memories that background runs made: if a person deletes one, no run may make it again.
    Made { ids: Vec<String> },
    /// A message that is not yet in an episode.
    Message(Box<MessageLine>),
    /// Digests of messages that were forgotten in the project and must stay forgotten; they do not reveal the text.
    Forgotten { digests: BTreeSet<String> },
}

impl ExportLine {
    /// The lines of a user's memory, in order; `scope` is the scope of the export.
    pub fn all(memory: OwnedMemory, scope: &Scope) -> Vec<Self> {
        let Carried {
            client_ids,
            forgotten,
        } = memory.carried;
        let mut lines = Vec::new();
        for entry in &memory.entries {
            let line = MemoryLine::new(entry, scope, &client_ids);
            lines.push(Self::Memory(Box::new(line)));
        }
        for (page, text) in memory.pages {
            let name = page.as_str().to_owned();
            lines.push(Self::Page { name, text });
        }
        if !memory.made.is_empty() {
            let ids = memory.made.into_iter().collect();
            lines.push(Self::Made { ids });
        }
        for message in &memory.messages {
            let line = MessageLine::new(message, scope, &client_ids);
            lines.push(Self::Message(Box::new(line)));
        }
        if !lines.is_empty() && !forgotten.is_empty() {
            lines.push(Self::Forgotten { digests: forgotten });
        }
        lines
    }
}

/// A memory with all fields of its file.
#[skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MemoryLine {
    pub id: String,
    pub kind: String,
    pub session: Option<String>,
    /// ISO 8601, like all times here.
    pub time: String,
    pub valid_from: Option<String>,
    pub valid_until: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    pub superseded_by: Option<String>,
    pub origin: String,
    pub author: Option<String>,
    pub parent: Option<ParentLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub senders: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    pub confidence: Option<u8>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// An episode's messages, word for word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageLine>,
}

/// Source of a memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ParentLine {
    pub kind: String,
    pub id: String,
}

/// A message with its session.
#[skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MessageLine {
    pub session: String,
    /// App and project, if they differ from the export's.
    pub app_id: Option<String>,
    pub project_id: Option<String>,
    /// Its `message_id` is Quipu's own.
    pub message: MessageItem,
    /// The client's own id, if it gave one.
    pub client_id: Option<String>,
}

/// Result of an import.
#[apply(filled!)]
#[from(taken: &ImportCounts)]
#[derive(Copy, Default)]
pub struct ImportedData {
    /// Memories and pages of the lines.
    pub memories: usize,
    /// Those that were not there.
    pub new_memories: usize,
    /// Those that are different here: they stay as they are here.
    pub kept_memories: usize,
    /// Messages that are not in an episode.
    pub messages: usize,
    pub new_messages: usize,
}

impl MemoryLine {
    /// The line of a memory. `scope` is the scope of the export; `client_ids` maps messages to the clients' own ids.
    fn new(entry: &Entry, scope: &Scope, client_ids: &ClientIds) -> Self {
        let time = |time: Timestamp| time.to_string();
        let texts = |ids: &[MessageId]| ids.iter().map(|id| id.as_str().to_owned()).collect();
        Self {
            id: entry.id.as_str().to_owned(),
            kind: entry.kind.as_str().to_owned(),
            session: entry.session.as_ref().map(|session| session.as_str().to_owned()),
            time: time(entry.time),
            valid_from: entry.valid_from.map(time),
            valid_until: entry.valid_until.map(time),
            supersedes: entry.supersedes.iter().map(|id| id.as_str().to_owned()).collect(),
            superseded_by: entry.superseded_by.as_ref().map(|id| id.as_str().to_owned()),
            origin: entry.origin.as_str().to_owned(),
            author: entry.author.clone(),
            parent: entry.parent.as_ref().map(|parent| ParentLine {
                kind: parent.kind.as_str().to_owned(),
                id: parent.id.clone(),
            }),
            sources: texts(&entry.sources),
            senders: entry.senders.iter().map(|id| id.as_str().to_owned()).collect(),
            labels: entry.labels.clone(),
            confidence: entry.confidence_percent,
            subject: entry.subject.clone(),
            summary: entry.summary.clone(),
            body: entry.body.clone(),
            messages: entry
                .turns
                .iter()
                .map(|turn| MessageLine::new(turn, scope, client_ids))
                .collect(),
        }
    }

    /// The memory of a line.
    pub fn entry(self, scope: &Scope, owner: &Owner) -> Result<Entry, Invalid> {
        let kind = EntryKind::parse(&self.kind).filter(|kind| KINDS.contains(kind));
        let id = self.id.clone();
        let place = |field: &str| format!("memory `{id}`: {field}");
        let wrong = |field: &str| Invalid::at(place(field), "is unknown");
        let instant = |field, text: Option<String>| text.map(|text| time(&place(field), &text)).transpose();
        let named = |parent: ParentLine| {
            let kind = ParentKind::parse(&parent.kind).ok_or_else(|| wrong("parent"))?;
            Ok(Parent::new(kind, parent.id.as_str()))
        };
        let session = self.session.map(|text| session(&place("session"), &text));
        let senders = self.senders.iter().map(|text| name(&place("senders"), text));
        let turns = self.messages.into_iter().map(|line| line.into_message(scope));
        Ok(Entry {
            id: entry_id(&place("id"), &self.id)?,
            kind: kind.ok_or_else(|| wrong("kind"))?,
            scope: scope.clone(),
            owner: owner.clone(),
            session: session.transpose()?,
            time: time(&place("time"), &self.time)?,
            valid_from: instant("valid_from", self.valid_from)?,
            valid_until: instant("valid_until", self.valid_until)?,
            supersedes: self.supersedes.into_iter().map(EntryId::new).collect(),
            superseded_by: self.superseded_by.map(EntryId::new),
            origin: Origin::parse(&self.origin).ok_or_else(|| wrong("origin"))?,
            parent: self.parent.map(named).transpose()?,
            sources: self.sources.into_iter().map(MessageId::new).collect(),
            senders: senders.collect::<Result<_, _>>()?,
            turns: turns.collect::<Result<_, _>>()?,
            author: self.author,
            labels: self.labels,
            confidence_percent: self.confidence,
            subject: self.subject,
            summary: self.summary,
            body: self.body,
        })
    }
}

/// The kinds of a user's memories.
const KINDS: [EntryKind; 4] = [
    EntryKind::Episode,
    EntryKind::Fact,
    EntryKind::Foresight,
    EntryKind::Profile,
];

impl MessageLine {
    /// The line of a message; `scope` and `client_ids` as in [`MemoryLine::new`].
    fn new(message: &Message, scope: &Scope, client_ids: &ClientIds) -> Self {
        let own = &message.session.scope;
        let other = |own: &Name, usual: &Name| (own != usual).then(|| own.as_str().to_owned());
        let calls = &message.tool_calls;
        Self {
            session: message.session.session.as_str().to_owned(),
            app_id: other(&own.app, &scope.app),
            project_id: other(&own.project, &scope.project),
            message: MessageItem {
                sender_id: message.sender.as_str().to_owned(),
                sender_name: message.sender_name.clone(),
                role: message.role.into(),
                timestamp: message.time.millis(),
                content: (&*message.content).into(),
                tool_calls: (!calls.is_empty()).then(|| calls.iter().map(Into::into).collect()),
                tool_call_id: message.tool_call_id.clone(),
                message_id: Some(message.id.as_str().to_owned()),
            },
            client_id: client_ids.get(&message.id).cloned(),
        }
    }

    /// Quipu's id of the message and the client's, if it has one.
    pub fn ids(&self) -> Option<(MessageId, String)> {
        let id = self.message.message_id.as_deref()?;
        Some((MessageId::new(id), self.client_id.clone()?))
    }

    /// The message of a line, with its id.
    pub fn into_message(self, usual: &Scope) -> Result<Message, Invalid> {
        let scope = scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), usual)?;
        let session = SessionKey::new(scope, session("session", &self.session)?);
        let (message, id) = self.message.into_message(0, &session)?;
        let id = id.ok_or_else(|| Invalid::at("message_id", "is missing"))?;
        Ok(Message {
            id: MessageId::new(id),
            ..message
        })
    }
}

fn session(path: &str, text: &str) -> Result<SessionId, Invalid> {
    SessionId::parse(text).map_err(|error| Invalid::at(path, error))
}

/// Checks an id: it must be one word, because it stands in a comment of a file.
fn entry_id(path: &str, text: &str) -> Result<EntryId, Invalid> {
    if text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(Invalid::at(path, "must be one word"));
    }
    Ok(EntryId::new(text))
}

fn time(path: &str, text: &str) -> Result<Timestamp, Invalid> {
    Zone::utc().parse(text).map_err(|error| Invalid::at(path, error))
}
