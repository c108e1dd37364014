//! `memory/update`: patching fields of one episode.
//!
//! Owns: its request, bounds and answer. Never: the new summary of a changed episode.

use macro_rules_attribute::apply;
use model::Scope;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::wire::fields::body;
use crate::wire::forget::{IdsParts, NOTHING_TO_CHANGE, one_line};
use crate::wire::get::MemoryType;
use crate::wire::items::EpisodeItem;
use crate::wire::{DateTime, Invalid, scope};

/// Patches one episode. Unknown keys are refused.
#[apply(body!)]
pub struct UpdateRequest {
    tenant: Body,
    /// Only `episode`; `memory/edit` changes facts too.
    #[serde(deserialize_with = "super::json::word")]
    pub memory_type: MemoryType,
    pub memory_id: String,
    #[serde(deserialize_with = "super::json::object")]
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
    /// Checks the request; the answer has one id, the episode to change.
    pub fn parts(&self, home: &Scope) -> Result<IdsParts, Invalid> {
        if self.memory_type != MemoryType::Episode {
            return Err(Invalid::at(
                "memory_type",
                "only an `episode` can be patched here: use `memory/edit` for a fact",
            ));
        }
        let patch = &self.patch;
        for (path, text) in [
            ("patch.episode", &patch.episode),
            ("patch.summary", &patch.summary),
            ("patch.subject", &patch.subject),
        ] {
            if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                return Err(Invalid::at(
                    path,
                    "must not be empty: leave it out to keep the old value",
                ));
            }
        }
        let scope = self.scope(home)?;
        let owner = scope::maybe_owner(self.user_id.as_deref(), self.agent_id.as_deref())?;
        let parts = IdsParts::one("memory_id", &self.memory_id, scope, owner)?;
        if *patch == EpisodePatch::default() {
            return Err(Invalid::at("patch", NOTHING_TO_CHANGE));
        }
        one_line("patch.subject", patch.subject.as_deref())?;
        Ok(parts)
    }
}

/// The episode after the change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UpdateData {
    #[serde(flatten)]
    pub episode: EpisodeItem,
    /// When it was changed, if it was.
    pub edited_at: Option<DateTime>,
    /// It stood like that already, and nothing was written.
    pub unchanged: bool,
}
