//! A user's profile and what is ahead of the user, in answers.
//!
//! Owns: their JSON form and how rows of the model fill it. Never: the content of a profile.

use model::{Doc, Zone};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExplicitInfo {
    pub category: String,
    pub description: String,
    pub evidence: String,
    /// Quipu: the statement's own id, for edits and deletions.
    #[serde(default)]
    pub id: String,
    /// Quipu: the messages that support it.
    #[serde(default)]
    pub message_ids: Vec<String>,
}

/// A trait that repeated behaviour supports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ImplicitTrait {
    #[serde(rename = "trait")]
    pub name: String,
    pub description: String,
    pub basis: String,
    pub evidence: String,
    /// Quipu: the trait's own id, for edits and deletions.
    #[serde(default)]
    pub id: String,
    /// Quipu: the messages that support it.
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

impl ExplicitInfo {
    fn of(doc: &Doc) -> Self {
        Self {
            category: doc.subject.clone(),
            description: doc.text.clone(),
            evidence: doc.summary.clone(),
            id: id_of(doc),
            message_ids: sources_of(doc),
        }
    }
}

impl ImplicitTrait {
    fn of(doc: &Doc) -> Self {
        Self {
            name: doc.subject.clone(),
            description: doc.text.clone(),
            basis: format!("{} messages", doc.sources.len()),
            evidence: doc.summary.clone(),
            id: id_of(doc),
            message_ids: sources_of(doc),
        }
    }
}

/// Quipu: an announced event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ForesightItem {
    pub id: String,
    pub user_id: Option<String>,
    pub session_id: Option<String>,
    pub content: String,
    /// Text of the message.
    pub evidence: String,
    /// Time of the message.
    pub timestamp: DateTime,
    pub start_time: Option<DateTime>,
    /// Exclusive end.
    pub end_time: Option<DateTime>,
    pub duration_days: Option<i64>,
    /// The messages that support it.
    pub message_ids: Vec<String>,
    /// The Markdown file that holds it, below `memory/`.
    pub path: String,
    /// Only in a search: 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
}

impl ForesightItem {
    /// An announced event's row, without score.
    pub fn of(doc: &Doc, zone: &Zone) -> Self {
        let millis = |at: model::Timestamp| at.millis();
        let days = doc.valid_from.zip(doc.valid_until).map(|(from, until)| {
            let length = millis(until).saturating_sub(millis(from));
            (length + DAY_MILLIS / 2) / DAY_MILLIS
        });
        Self {
            id: id_of(doc),
            user_id: user_of(&doc.key.owner),
            session_id: session_of(doc),
            content: doc.text.clone(),
            evidence: doc.summary.clone(),
            timestamp: zone.render(doc.time),
            start_time: doc.valid_from.map(|at| zone.render(at)),
            end_time: doc.valid_until.map(|at| zone.render(at)),
            duration_days: days,
            message_ids: sources_of(doc),
            path: doc.path.as_ref().to_owned(),
            score: None,
        }
    }
}
