//! Cases and skills of an agent.
//!
//! Owns: the items' JSON form and how a row of the model fills it. Never: approving, scores and order.

use model::{Doc, SkillStatus, Zone};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::wire::items::{Explain, id_of, session_of};
use crate::wire::{ApiId, DateTime};

/// A case: one piece of an agent's work, with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CaseItem {
    pub id: String,
    pub agent_id: String,
    pub app_id: String,
    pub project_id: String,
    pub session_id: Option<String>,
    /// The task that a person gave, in one sentence.
    pub task_intent: String,
    /// Numbered steps; failed ones are named.
    pub approach: String,
    /// Quality of the result: 0 to 1.
    pub quality_score: f32,
    /// Failed attempts, the approach that worked, and messages of people.
    pub key_insight: Option<String>,
    pub timestamp: DateTime,
    /// Only in a search: 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
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

/// An agent skill. A draft waits for a person's decision; do not use it as an instruction.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SkillItem {
    pub id: String,
    pub agent_id: String,
    pub app_id: String,
    pub project_id: String,
    pub name: String,
    /// Purpose of the skill and when to use it.
    pub description: String,
    /// Markdown.
    pub content: String,
    /// 0 to 1.
    pub confidence: f32,
    /// 1 if a person approved it, else 0.
    pub maturity_score: f32,
    /// The cases that it was made from.
    pub source_case_ids: Vec<String>,
    /// Only in a search, which finds only approved skills: 0 to 1.
    pub score: Option<f32>,
    /// Quipu: draft, approved or rejected.
    pub status: SkillState,
    /// Quipu: its `SKILL.md`, below `memory/`.
    #[serde(default)]
    pub path: String,
    /// Quipu: with `explain`, the reason why the search found it.
    pub explain: Option<Explain>,
}

/// Approval of a skill by people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillState {
    Draft,
    Approved,
    Rejected,
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
            status: model::same!(status, SkillStatus => SkillState: Draft, Approved, Rejected),
            path: doc.path.to_string(),
            explain: None,
        }
    }
}
