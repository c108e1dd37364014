//! `memory/get`: a page of an owner's memories.
//!
//! Owns: its request, bounds and answer. Never: sorting.

use macro_rules_attribute::apply;
use memory::{List, SortBy, Standing};
use model::{EntryKind, OwnerKind, Scope, Zone};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::wire::agent::{CaseItem, SkillItem};
use crate::wire::fields::{body, query};
use crate::wire::filter::{self, FilterNode};
use crate::wire::forget::IdsParts;
use crate::wire::items::{EpisodeItem, FactItem};
use crate::wire::profile::{ForesightItem, ProfileItem};
use crate::wire::search::When;
use crate::wire::{Invalid, scope};

/// Maximum number of memories on a page.
pub const PAGE_SIZE_MAX: usize = 100;
/// Maximum page number.
pub const PAGE_MAX: usize = 1_000_000;

/// The number of the first page.
pub(crate) fn first() -> i64 {
    1
}

/// Default number of memories on a page.
pub(crate) fn size() -> i64 {
    20
}

/// A page of an owner's memories of one kind. Unknown keys are refused.
#[apply(body!)]
#[derive(Default)]
pub struct GetRequest {
    /// Owner of the memory: exactly one of `user_id` and `agent_id`.
    #[schema(min_length = 1)]
    pub user_id: Option<String>,
    #[schema(min_length = 1)]
    pub agent_id: Option<String>,
    tenant: Body,
    #[serde(deserialize_with = "super::json::word")]
    pub memory_type: MemoryType,
    #[serde(default = "first", deserialize_with = "super::json::integer")]
    #[schema(minimum = 1, default = 1)]
    pub page: i64,
    #[serde(default = "size", deserialize_with = "super::json::integer")]
    #[schema(minimum = 1, maximum = 100, default = 20)]
    pub page_size: i64,
    #[serde(default, deserialize_with = "super::json::word")]
    #[schema(default = "timestamp")]
    pub sort_by: SortField,
    #[serde(default, deserialize_with = "super::json::word")]
    #[schema(default = "desc")]
    pub sort_order: SortOrder,
    #[schema(value_type = Option<FilterNode>)]
    pub filters: Option<Json>,
    /// Accepted; `episode` is readable.
    #[serde(default)]
    #[schema(default = false)]
    pub with_readable_episode: bool,
    /// Quipu: only what was known then; epoch milliseconds or ISO 8601.
    pub as_of: Option<When>,
    /// Quipu: only what holds, or only what was superseded or ended; of `as_of`, or now.
    pub standing: Option<MemoryStanding>,
}

/// Whether a memory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryStanding {
    Current,
    Superseded,
}

model::worded! {
    /// A kind of memory. A user has episodes, facts, announced events and a profile, an agent has cases and skills.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum MemoryType {
        #[default]
        Episode = "episode",
        Profile = "profile",
        AgentCase = "agent_case",
        AgentSkill = "agent_skill",
        /// Quipu: single statements.
        AtomicFact = "atomic_fact",
        /// Quipu: announced events.
        Foresight = "foresight",
    }
}

impl MemoryType {
    /// The kind in the engine, and the kind of its owners.
    fn kinds(self) -> (EntryKind, OwnerKind) {
        match self {
            Self::Episode => (EntryKind::Episode, OwnerKind::User),
            Self::Profile => (EntryKind::Profile, OwnerKind::User),
            Self::AtomicFact => (EntryKind::Fact, OwnerKind::User),
            Self::Foresight => (EntryKind::Foresight, OwnerKind::User),
            Self::AgentCase => (EntryKind::Case, OwnerKind::Agent),
            Self::AgentSkill => (EntryKind::Skill, OwnerKind::Agent),
        }
    }
}

/// Field to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortField {
    #[default]
    Timestamp,
    UpdatedAt,
}

/// Sort direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    Asc,
    #[default]
    Desc,
}

impl GetRequest {
    /// A request for the newest memories of a kind; the caller adds the owner.
    pub fn newest(memory_type: MemoryType) -> Self {
        Self {
            memory_type,
            page: 1,
            page_size: size(),
            ..Self::default()
        }
    }

    /// Checks the request.
    pub fn list(&self, home: &Scope, zone: &Zone) -> Result<List, Invalid> {
        let scope = self.scope(home)?;
        let owner = scope::owner(self.user_id.as_deref(), self.agent_id.as_deref())?;
        let (kind, owner_kind) = self.memory_type.kinds();
        if owner.kind != owner_kind {
            let (given, wanted) = match owner.kind {
                OwnerKind::User => ("user_id", "agent_id"),
                OwnerKind::Agent | OwnerKind::Library => ("agent_id", "user_id"),
            };
            let word = self.memory_type.as_str();
            return Err(Invalid::at(
                "memory_type",
                format!("`{word}` goes with `{wanted}`, not with `{given}`"),
            ));
        }
        let filter = filter::parse(self.filters.as_ref(), zone)?;
        Ok(List {
            scope,
            owner,
            kind,
            filter,
            as_of: When::maybe(self.as_of.as_ref(), "as_of", zone)?,
            standing: self
                .standing
                .map(|standing| model::same!(standing, MemoryStanding => Standing: Current, Superseded)),
            sort_by: match self.sort_by {
                SortField::Timestamp => SortBy::Time,
                SortField::UpdatedAt => SortBy::UpdatedAt,
            },
            descending: self.sort_order == SortOrder::Desc,
            page: between("page", self.page, PAGE_MAX)?,
            page_size: between("page_size", self.page_size, PAGE_SIZE_MAX)?,
        })
    }
}

pub(crate) fn between(path: &str, value: i64, max: usize) -> Result<usize, Invalid> {
    usize::try_from(value)
        .ok()
        .filter(|value| (1..=max).contains(value))
        .ok_or_else(|| Invalid::at(path, format!("must be between 1 and {max}")))
}

/// Owner and tenant of a single id.
#[apply(query!)]
#[derive(Default)]
pub struct OneQuery {
    tenant: Query,
    /// Owner of the memory; needed only for an id that a person wrote with `_ep_` or `_af_` in it.
    pub user_id: Option<String>,
    pub agent_id: Option<String>,
}

impl OneQuery {
    /// Checks the query with the id; the answer has one id, the memory.
    pub fn parts(&self, memory_id: &str, home: &Scope) -> Result<IdsParts, Invalid> {
        let scope = self.scope(home)?;
        let owner = scope::maybe_owner(self.user_id.as_deref(), self.agent_id.as_deref())?;
        IdsParts::one("memory_id", memory_id, scope, owner)
    }
}

/// A page. All arrays are always present; only the one of `memory_type` can have items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GetData {
    pub episodes: Vec<EpisodeItem>,
    /// At most one.
    pub profiles: Vec<ProfileItem>,
    /// With `agent_id`: the agent's cases.
    pub agent_cases: Vec<CaseItem>,
    /// With `agent_id`: the agent's skills, drafts included.
    pub agent_skills: Vec<SkillItem>,
    /// Quipu: with `memory_type` `atomic_fact`.
    #[serde(default)]
    pub facts: Vec<FactItem>,
    /// Quipu: with `memory_type` `foresight`.
    #[serde(default)]
    pub foresights: Vec<ForesightItem>,
    /// Total number of matches.
    pub total_count: usize,
    /// Number of items on this page.
    pub count: usize,
}
