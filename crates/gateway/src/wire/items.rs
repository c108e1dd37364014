//! Items of answers: episodes, facts, messages, and the reasons of a search hit.
//!
//! Owns: the items' JSON form, and filling it from a row of the model. Never: scores and order.

use macro_rules_attribute::apply;
use memory::Why;
use model::{Doc, Message, Owner, OwnerKind, Scope, Zone};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::wire::fields::filled;
use crate::wire::message::{MessageContent, MessageRole, ToolCallItem};
use crate::wire::{ApiId, DateTime};

/// An episode: the account of one segment of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EpisodeItem {
    pub id: String,
    /// None for an agent's episode.
    pub user_id: Option<String>,
    pub app_id: String,
    pub project_id: String,
    pub session_id: Option<String>,
    pub timestamp: DateTime,
    pub sender_ids: Vec<String>,
    pub summary: String,
    pub subject: String,
    pub episode: String,
    #[serde(rename = "type")]
    pub kind: EpisodeType,
    /// Only in a search: 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// Only in a search: its matching facts, best first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_facts: Option<Vec<FactItem>>,
    /// Quipu: the episode that superseded it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Quipu: the messages that it was made from.
    #[serde(default)]
    pub message_ids: Vec<String>,
    /// Quipu: the Markdown file that holds it, below `memory/`.
    #[serde(default)]
    pub path: String,
    /// Quipu: with `explain`, the reason why the search found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

/// The only type of an episode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum EpisodeType {
    #[default]
    Conversation,
}

/// An atomic fact: one statement that needs no context.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FactItem {
    pub id: String,
    pub content: String,
    /// Only in a search: 0 to 1.
    pub score: Option<f32>,
    /// Quipu: time of the statement.
    pub timestamp: DateTime,
    /// Quipu: start of its validity, if it differs from `timestamp`.
    pub valid_from: Option<DateTime>,
    /// Quipu: end of its validity.
    pub valid_until: Option<DateTime>,
    /// Quipu: the fact that superseded it.
    pub superseded_by: Option<String>,
    /// Quipu: its episode.
    pub episode_id: Option<String>,
    pub session_id: Option<String>,
    /// Quipu: its project, if that is not `default`.
    pub project_id: Option<String>,
    /// Quipu: it holds only in its project, not for its user everywhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub project_only: bool,
    /// Quipu: the messages that support it.
    #[serde(default)]
    pub message_ids: Vec<String>,
    /// Quipu: the subject, if it differs from the content.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Quipu: the Markdown file that holds it, below `memory/`.
    #[serde(default)]
    pub path: String,
    /// Quipu: with `explain`, the reason why the search found it.
    pub explain: Option<Explain>,
}

/// One matching message, verbatim.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FoundMessage {
    pub id: String,
    pub session_id: Option<String>,
    pub sender_id: Option<String>,
    pub sender_name: Option<String>,
    pub role: Option<MessageRole>,
    pub content: String,
    pub timestamp: DateTime,
    pub score: f32,
    /// The episode that contains it; none while it waits in the buffer.
    pub episode_id: Option<String>,
    /// Its project, if that is not `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

/// Reasons for the rank of a hit: parts of its score, each 0 to 1 before weighting.
#[apply(filled!)]
#[from(why: &Why)]
#[derive(Default)]
pub struct Explain {
    pub keyword: f32,
    pub vector: f32,
    /// None if the query names no time.
    pub time: Option<f32>,
    pub freshness: f32,
    /// Evidence from the rest of its session or episode.
    pub session: f32,
    /// Evidence from the messages before and after it.
    pub neighbours: f32,
    /// The query's words that it contains.
    pub terms: Vec<String>,
    /// The reranker's score, on the reranker's own scale; none if it did not read this hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerank: Option<f32>,
}

/// A message that is not in an episode yet.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UnprocessedMessage {
    pub id: String,
    pub app_id: String,
    pub project_id: String,
    pub session_id: String,
    pub sender_id: String,
    pub sender_name: Option<String>,
    pub role: MessageRole,
    pub content: MessageContent,
    pub timestamp: DateTime,
    pub tool_calls: Option<Vec<ToolCallItem>>,
    pub tool_call_id: Option<String>,
}

impl EpisodeItem {
    /// An episode's item, without score and facts.
    pub fn of(doc: &Doc, zone: &Zone) -> Self {
        let scope = &doc.key.scope;
        Self {
            id: id_of(doc),
            user_id: user_of(&doc.key.owner),
            app_id: scope.app.as_str().to_owned(),
            project_id: scope.project.as_str().to_owned(),
            session_id: session_of(doc),
            timestamp: zone.render(doc.time),
            sender_ids: doc.senders.iter().map(ToString::to_string).collect(),
            summary: doc.summary.clone(),
            subject: doc.subject.clone(),
            episode: doc.text.clone(),
            message_ids: sources_of(doc),
            path: doc.path.as_ref().to_owned(),
            ..Self::default()
        }
    }
}

impl FactItem {
    /// A fact's item, without score and successor.
    pub fn of(doc: &Doc, zone: &Zone) -> Self {
        Self {
            id: id_of(doc),
            content: doc.text.clone(),
            timestamp: zone.render(doc.time),
            valid_from: doc.valid_from.map(|at| zone.render(at)),
            valid_until: doc.valid_until.map(|at| zone.render(at)),
            episode_id: episode_of(doc),
            session_id: session_of(doc),
            project_id: project_of(doc),
            project_only: !doc.holds_everywhere(),
            message_ids: sources_of(doc),
            subject: doc.subject.clone(),
            path: doc.path.as_ref().to_owned(),
            ..Self::default()
        }
    }
}

impl FoundMessage {
    /// A message's item, without score.
    pub fn of(doc: &Doc, zone: &Zone) -> Self {
        let sender = doc.senders.first().map(|sender| sender.as_str().to_owned());
        Self {
            id: doc.key.id.as_ref().to_owned(),
            session_id: session_of(doc),
            sender_name: doc.speaker.clone().filter(|name| Some(name) != sender.as_ref()),
            sender_id: sender,
            role: doc.role.map(Into::into),
            content: doc.text.clone(),
            timestamp: zone.render(doc.time),
            episode_id: episode_of(doc),
            project_id: project_of(doc),
            ..Self::default()
        }
    }
}

impl UnprocessedMessage {
    /// A buffered message's item.
    pub fn of(message: &Message, zone: &Zone) -> Self {
        let scope = &message.session.scope;
        let calls: Vec<ToolCallItem> = message.tool_calls.iter().map(Into::into).collect();
        Self {
            id: message.id.as_str().to_owned(),
            app_id: scope.app.as_str().to_owned(),
            project_id: scope.project.as_str().to_owned(),
            session_id: message.session.session.as_str().to_owned(),
            sender_id: message.sender.as_str().to_owned(),
            sender_name: message.sender_name.clone(),
            role: message.role.into(),
            content: (&*message.content).into(),
            timestamp: zone.render(message.time),
            tool_calls: (!calls.is_empty()).then_some(calls),
            tool_call_id: message.tool_call_id.clone(),
        }
    }
}

pub(crate) fn id_of(doc: &Doc) -> String {
    ApiId::render(&doc.key.owner.id, &doc.key.id)
}

pub(crate) fn user_of(owner: &Owner) -> Option<String> {
    (owner.kind == OwnerKind::User).then(|| owner.id.as_str().to_owned())
}

pub(crate) fn session_of(doc: &Doc) -> Option<String> {
    doc.session.as_ref().map(|session| session.as_str().to_owned())
}

pub(crate) fn sources_of(doc: &Doc) -> Vec<String> {
    doc.sources.iter().map(ToString::to_string).collect()
}

fn project_of(doc: &Doc) -> Option<String> {
    let scope = &doc.key.scope;
    (*scope != Scope::home(&scope.app)).then(|| scope.project.as_str().to_owned())
}

fn episode_of(doc: &Doc) -> Option<String> {
    let parent = doc.parent.as_ref()?;
    (parent.kind == model::ParentKind::Episode).then(|| ApiId::render(&doc.key.owner.id, &parent.id))
}
