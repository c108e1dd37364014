//! A user's profile and upcoming events in answers.
//!
//! Owns: their JSON form, and filling it from rows of the model. Never: the content of a profile.

use macro_rules_attribute::apply;
use model::{Doc, Zone};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wire::fields::filled;
use crate::wire::items::{id_of, session_of, sources_of, user_of};

use crate::wire::DateTime;

/// Label that makes a row of the profile a trait.
pub const TRAIT: &str = "trait";
/// A day in milliseconds.
pub const DAY_MILLIS: i64 = 86_400_000;

/// A user's profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProfileItem {
    pub id: String,
    pub user_id: Option<String>,
    pub app_id: String,
    pub project_id: String,
    pub profile_data: ProfileData,
    /// Always null: a profile is not ranked.
    pub score: Option<f32>,
}

/// Content of a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProfileData {
    /// Its first statement.
    pub summary: String,
    pub explicit_info: Vec<ExplicitInfo>,
    pub implicit_traits: Vec<ImplicitTrait>,
    /// Time of its newest statement in epoch milliseconds.
    pub profile_timestamp_ms: i64,
}

/// A statement of a profile.
#[apply(filled!)]
#[from(doc: &Doc)]
pub struct ExplicitInfo {
    #[value(doc.subject.clone())]
    pub category: String,
    #[value(doc.text.clone())]
    pub description: String,
    #[value(doc.summary.clone())]
    pub evidence: String,
    /// Quipu: the statement's own id, for edits and deletions.
    #[value(id_of(doc))]
    #[serde(default)]
    pub id: String,
    /// Quipu: the messages that support it.
    #[value(sources_of(doc))]
    #[serde(default)]
    pub message_ids: Vec<String>,
}

/// A trait that repeated behaviour supports.
#[apply(filled!)]
#[from(doc: &Doc)]
pub struct ImplicitTrait {
    #[value(doc.subject.clone())]
    #[serde(rename = "trait")]
    pub name: String,
    #[value(doc.text.clone())]
    pub description: String,
    #[value(format!("{} messages", doc.sources.len()))]
    pub basis: String,
    #[value(doc.summary.clone())]
    pub evidence: String,
    /// Quipu: the trait's own id, for edits and deletions.
    #[value(id_of(doc))]
    #[serde(default)]
    pub id: String,
    /// Quipu: the messages that support it.
    #[value(sources_of(doc))]
    #[serde(default)]
    pub message_ids: Vec<String>,
}

impl ProfileItem {
    /// The profile of one owner's rows; none without rows.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Doc>) -> Option<Self> {
        let rows: Vec<&Doc> = rows.into_iter().collect();
        let first = rows.first()?;
        let (traits, statements): (Vec<&Doc>, Vec<&Doc>) = rows
            .iter()
            .partition(|doc| doc.labels.iter().any(|label| label == TRAIT));
        let (scope, owner) = (&first.key.scope, &first.key.owner);
        let summary = statements.first().unwrap_or(first);
        Some(Self {
            id: format!("{}_profile", owner.id),
            user_id: user_of(owner),
            app_id: scope.app.as_str().to_owned(),
            project_id: scope.project.as_str().to_owned(),
            profile_data: ProfileData {
                summary: summary.text.clone(),
                explicit_info: statements.iter().map(|doc| ExplicitInfo::of(doc)).collect(),
                implicit_traits: traits.iter().map(|doc| ImplicitTrait::of(doc)).collect(),
                profile_timestamp_ms: rows.iter().map(|doc| doc.time.millis()).max().unwrap_or_default(),
            },
            score: None,
        })
    }
}

/// Quipu: an announced event.
#[apply(filled!)]
#[from(doc: &Doc, zone: &Zone)]
pub struct ForesightItem {
    #[value(id_of(doc))]
    pub id: String,
    #[value(user_of(&doc.key.owner))]
    pub user_id: Option<String>,
    #[value(session_of(doc))]
    pub session_id: Option<String>,
    #[value(doc.text.clone())]
    pub content: String,
    /// Text of the message.
    #[value(doc.summary.clone())]
    pub evidence: String,
    /// Time of the message.
    #[value(zone.render(doc.time))]
    pub timestamp: DateTime,
    #[value(doc.valid_from.map(|at| zone.render(at)))]
    pub start_time: Option<DateTime>,
    /// Exclusive end.
    #[value(doc.valid_until.map(|at| zone.render(at)))]
    pub end_time: Option<DateTime>,
    #[value(days_of(doc))]
    pub duration_days: Option<i64>,
    /// The messages that support it.
    #[value(sources_of(doc))]
    pub message_ids: Vec<String>,
    /// The Markdown file that holds it, below `memory/`.
    #[value(doc.path.to_string())]
    pub path: String,
    /// Only in a search: 0 to 1.
    #[value(None)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
}

/// The length of an announced event in days, if both ends are known.
fn days_of(doc: &Doc) -> Option<i64> {
    let (from, until) = doc.valid_from.zip(doc.valid_until)?;
    let length = until.millis().saturating_sub(from.millis());
    Some((length + DAY_MILLIS / 2) / DAY_MILLIS)
}
