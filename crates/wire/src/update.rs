//! `memory/update`: one episode's own fields, patched.
//!
//! Owns: its request, bounds and answer. Never: the new summary of a changed episode.

use model::Scope;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::Invalid;
use crate::forget::{EditRequest, IdsParts};
use crate::get::MemoryType;
use crate::items::EpisodeItem;

/// Patches one episode. Unknown keys are refused.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateRequest {
    #[schema(value_type = String, required = false, default = "default")]
    pub app_id: Option<String>,
    #[schema(value_type = String, required = false, default = "default")]
    pub project_id: Option<String>,
    /// Only `episode`; `memory/edit` changes facts too.
    #[serde(deserialize_with = "crate::json::word")]
    pub memory_type: MemoryType,
    pub memory_id: String,
    #[serde(deserialize_with = "crate::json::object")]
    pub patch: EpisodePatch,
    /// Quipu: owner of the episode; needed only for an id that a person wrote with `_ep_` or `_af_` in it.
    pub user_id: Option<String>,
    pub agent_id: Option<String>,
    /// Accepted and not kept.
    #[schema(value_type = Option<Object>)]
    pub reason: Option<Json>,
}

/// New text of an episode. Omitted fields stay; but a new `episode` without a `summary` gets a new summary.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EpisodePatch {
    #[schema(min_length = 1)]
    pub episode: Option<String>,
    #[schema(min_length = 1)]
    pub summary: Option<String>,
    /// One line.
    #[schema(min_length = 1)]
    pub subject: Option<String>,
}

impl UpdateRequest {
    /// Checks it; the one id of the answer is the episode to change.
    pub fn parts(&self, home: &Scope) -> Result<IdsParts, Invalid> {
        if self.memory_type != MemoryType::Episode {
            return Err(Invalid::at(
                "memory_type",
                "only an `episode` can be patched here: use `memory/edit` for a fact",
            ));
        }
        let EpisodePatch {
            episode,
            summary,
            subject,
        } = &self.patch;
        for (path, text) in [
            ("patch.episode", episode),
            ("patch.summary", summary),
            ("patch.subject", subject),
        ] {
            if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                return Err(Invalid::at(
                    path,
                    "must not be empty: leave it out to keep the old value",
                ));
            }
        }
        let edit = EditRequest {
            app_id: self.app_id.clone(),
            project_id: self.project_id.clone(),
            id: self.memory_id.clone(),
            user_id: self.user_id.clone(),
            agent_id: self.agent_id.clone(),
            subject: subject.clone(),
            summary: summary.clone(),
            episode: episode.clone(),
            project_only: None,
        };
        edit.parts(home).map_err(|invalid| Invalid {
            path: match invalid.path.as_str() {
                "" => "patch".to_owned(),
                "id" => "memory_id".to_owned(),
                "subject" => "patch.subject".to_owned(),
                other => other.to_owned(),
            },
            ..invalid
        })
    }
}

/// The episode after the change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UpdateData {
    #[serde(flatten)]
    pub episode: EpisodeItem,
    /// When it was changed, if it was.
    #[schema(format = DateTime)]
    pub edited_at: Option<String>,
    /// It stood like that already, and nothing was written.
    pub unchanged: bool,
}
