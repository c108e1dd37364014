//! Cases and skills of an agent.
//!
//! Owns: the items' JSON form, and filling it from a row of the model. Never: approving, scores and order.

use macro_rules_attribute::apply;
use model::{Doc, SkillStatus, Zone};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::wire::fields::filled;
use crate::wire::items::{Explain, id_of, session_of, sources_of};
use crate::wire::{ApiId, DateTime};

/// A case: one piece of an agent's work, with its result.
#[apply(filled!)]
#[from(doc: &Doc, zone: &Zone)]
pub struct CaseItem {
    #[value(id_of(doc))]
    pub id: String,
    #[value(doc.key.owner.id.to_string())]
    pub agent_id: String,
    #[value(doc.key.scope.app.to_string())]
    pub app_id: String,
    #[value(doc.key.scope.project.to_string())]
    pub project_id: String,
    #[value(session_of(doc))]
    pub session_id: Option<String>,
    /// The task that a person gave, in one sentence.
    #[value(doc.subject.clone())]
    pub task_intent: String,
    /// Numbered steps; failed ones are named.
    #[value(doc.text.clone())]
    pub approach: String,
    /// Quality of the result: 0 to 1.
    #[value(share_of(doc))]
    pub quality_score: f32,
    /// Failed attempts, the approach that worked, and messages of people.
    #[value(Some(doc.summary.clone()).filter(|insight| !insight.is_empty()))]
    pub key_insight: Option<String>,
    #[value(zone.render(doc.time))]
    pub timestamp: DateTime,
    /// Only in a search: 0 to 1.
    #[value(None)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// Quipu: the messages that it was made from.
    #[value(sources_of(doc))]
    #[serde(default)]
    pub message_ids: Vec<String>,
    /// Quipu: the Markdown file that holds it, below `memory/`.
    #[value(doc.path.to_string())]
    #[serde(default)]
    pub path: String,
    /// Quipu: with `explain`, the reason why the search found it.
    #[value(None)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

/// An agent skill. A draft waits for a person's decision; do not use it as an instruction.
#[apply(filled!)]
#[from(doc: &Doc)]
#[skip_serializing_none]
pub struct SkillItem {
    #[value(id_of(doc))]
    pub id: String,
    #[value(doc.key.owner.id.to_string())]
    pub agent_id: String,
    #[value(doc.key.scope.app.to_string())]
    pub app_id: String,
    #[value(doc.key.scope.project.to_string())]
    pub project_id: String,
    #[value(doc.subject.clone())]
    pub name: String,
    /// Purpose of the skill and when to use it.
    #[value(doc.summary.clone())]
    pub description: String,
    /// Markdown.
    #[value(doc.text.clone())]
    pub content: String,
    /// 0 to 1.
    #[value(share_of(doc))]
    pub confidence: f32,
    /// 1 if a person approved it, else 0.
    #[value(f32::from(u8::from(SkillStatus::of(&doc.labels) == SkillStatus::Approved)))]
    pub maturity_score: f32,
    /// The cases that it was made from.
    #[value(doc.sources.iter().map(|case| ApiId::render(&doc.key.owner.id, case.as_str())).collect())]
    pub source_case_ids: Vec<String>,
    /// Only in a search, which finds only approved skills: 0 to 1.
    #[value(None)]
    pub score: Option<f32>,
    /// Quipu: draft, approved or rejected.
    #[value(model::same!(SkillStatus::of(&doc.labels), SkillStatus => SkillState: Draft, Approved, Rejected))]
    pub status: SkillState,
    /// Quipu: its `SKILL.md`, below `memory/`.
    #[value(doc.path.to_string())]
    #[serde(default)]
    pub path: String,
    /// Quipu: with `explain`, the reason why the search found it.
    #[value(None)]
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

fn share_of(doc: &Doc) -> f32 {
    f32::from(doc.confidence_percent.unwrap_or_default()) / 100.0
}
