//! What an agent learnt: its cases and its skills.
//!
//! Owns: the items' JSON form and how a row of the model fills it. Never: approving, scores and order.

use model::{Doc, SkillStatus, Zone};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ApiId;
use crate::items::{Explain, id_of, session_of};

/// A case: one piece of an agent's work, and how it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CaseItem {
    pub id: String,
    pub agent_id: String,
    pub app_id: String,
    pub project_id: String,
    pub session_id: Option<String>,
    /// What was asked for, in one sentence.
    pub task_intent: String,
    /// Numbered steps; failed ones are named.
    pub approach: String,
    /// How well it went: 0 to 1.
    pub quality_score: f32,
    /// What was tried in vain, what worked, and what people corrected.
    pub key_insight: Option<String>,
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// Only in a search: 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// Quipu: the messages that it was made from.
    #[serde(default)]
    pub message_ids: Vec<String>,
    /// Quipu: the Markdown file that holds it, below `memory/`.
    #[serde(default)]
    pub path: String,
    /// Quipu: with `explain`, why it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

/// A skill: what an agent has learnt to do. A draft is for people to judge and no instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SkillItem {
    pub id: String,
    pub agent_id: String,
    pub app_id: String,
    pub project_id: String,
    pub name: String,
    /// What it is for and when to use it.
    pub description: String,
    /// Markdown.
    pub content: String,
    /// 0 to 1.
    pub confidence: f32,
    /// 1 when a person approved it, else 0.
    pub maturity_score: f32,
    /// The cases that it was made from.
    pub source_case_ids: Vec<String>,
    /// Only in a search, which finds approved ones alone: 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// Quipu: what people think of it.
    pub status: SkillState,
    /// Quipu: its `SKILL.md`, below `memory/`.
    #[serde(default)]
    pub path: String,
    /// Quipu: with `explain`, why it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

/// How far people let a skill come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillState {
    Draft,
    Approved,
    Rejected,
}

impl From<SkillStatus> for SkillState {
    fn from(status: SkillStatus) -> Self {
        match status {
            SkillStatus::Draft => Self::Draft,
            SkillStatus::Approved => Self::Approved,
            SkillStatus::Rejected => Self::Rejected,
        }
    }
}

fn share(doc: &Doc) -> f32 {
    f32::from(doc.confidence_percent.unwrap_or_default()) / 100.0
}

impl CaseItem {
    /// A case's row, without score.
    pub fn of(doc: &Doc, zone: &Zone) -> Self {
        let scope = &doc.key.scope;
        Self {
            id: id_of(doc),
            agent_id: doc.key.owner.id.to_string(),
            app_id: scope.app.to_string(),
            project_id: scope.project.to_string(),
            session_id: session_of(doc),
            task_intent: doc.subject.clone(),
            approach: doc.text.clone(),
            quality_score: share(doc),
            key_insight: Some(doc.summary.clone()).filter(|insight| !insight.is_empty()),
            timestamp: zone.render(doc.time),
            score: None,
            message_ids: doc.sources.iter().map(ToString::to_string).collect(),
            path: doc.path.to_string(),
            explain: None,
        }
    }
}

impl SkillItem {
    /// A skill's row, without score.
    pub fn of(doc: &Doc) -> Self {
        let scope = &doc.key.scope;
        let status = SkillStatus::of(&doc.labels);
        let cases = doc.sources.iter();
        Self {
            id: id_of(doc),
            agent_id: doc.key.owner.id.to_string(),
            app_id: scope.app.to_string(),
            project_id: scope.project.to_string(),
            name: doc.subject.clone(),
            description: doc.summary.clone(),
            content: doc.text.clone(),
            confidence: share(doc),
            maturity_score: if status == SkillStatus::Approved { 1.0 } else { 0.0 },
            source_case_ids: cases
                .map(|case| ApiId::render(&doc.key.owner.id, case.as_str()))
                .collect(),
            score: None,
            status: status.into(),
            path: doc.path.to_string(),
            explain: None,
        }
    }
}
