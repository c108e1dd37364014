//! `memory/search`: memories and messages for a question.
//!
//! Owns: its request, bounds and answer. Never: ranking.

use macro_rules_attribute::apply;
use memory::{Method, Search};
use model::{Scope, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::wire::agent::{CaseItem, SkillItem};
use crate::wire::fields::body;
use crate::wire::filter::{self, FilterNode};
use crate::wire::items::{EpisodeItem, FactItem, FoundMessage, UnprocessedMessage};
use crate::wire::profile::{ForesightItem, ProfileItem};
use crate::wire::{DateTime, Invalid, scope};

/// The most memories one search gives, and what `top_k` −1 means.
const TOP_K_MAX: usize = 100;
/// The most verbatim messages one search gives.
const INCLUDE_MESSAGES_MAX: usize = 200;

/// A question. Unknown keys are refused.
#[apply(body!)]
#[derive(Default)]
pub struct SearchRequest {
    /// Owner of the memory: exactly one of `user_id` and `agent_id`.
    #[schema(min_length = 1)]
    pub user_id: Option<String>,
    #[schema(min_length = 1)]
    pub agent_id: Option<String>,
    tenant: Body,
    #[schema(min_length = 1)]
    pub query: String,
    #[serde(default, deserialize_with = "super::json::word")]
    #[schema(default = "hybrid")]
    pub method: SearchMethod,
    /// How many memories: 1 to 100; −1 means 100.
    #[serde(default = "unlimited", deserialize_with = "super::json::integer")]
    #[schema(default = -1)]
    pub top_k: i64,
    /// Read as `min_score`; the larger of the two counts.
    #[schema(minimum = 0, maximum = 1)]
    pub radius: Option<f64>,
    /// Leaves out what scores less.
    #[schema(minimum = 0, maximum = 1)]
    pub min_score: Option<f64>,
    /// Gives the user's profile too.
    #[serde(default)]
    #[schema(default = false)]
    pub include_profile: bool,
    /// Quipu: also searches what the user said outside of any project, and what holds for them in all their projects. A token for
    /// one project gets that only with `person = true`.
    #[serde(default)]
    #[schema(default = false)]
    pub include_person: bool,
    /// Let the server's reranker order the best hits. Without the field it does so if the method is `hybrid`.
    #[schema(value_type = bool, required = false)]
    pub enable_llm_rerank: Option<bool>,
    /// Accepted; `episode` is readable.
    #[serde(default)]
    #[schema(default = false)]
    pub with_readable_episode: bool,
    #[schema(value_type = Option<FilterNode>)]
    pub filters: Option<Json>,
    /// Quipu: answer with what held then; epoch milliseconds or ISO 8601.
    pub as_of: Option<When>,
    /// Quipu: the date that "last week" in the query is seen from; now when absent.
    pub query_time: Option<When>,
    /// Quipu: how many ranked verbatim messages to give as `messages`; 0 to 200.
    #[serde(default, deserialize_with = "super::json::integer")]
    #[schema(minimum = 0, maximum = 200, default = 0)]
    pub include_messages: i64,
    /// Quipu: cuts the answer to about this many tokens.
    #[schema(minimum = 1)]
    pub max_tokens: Option<u32>,
    /// Quipu: also gives `sure`.
    #[serde(default)]
    pub include_sure: bool,
    /// Quipu: return with each hit the reason why the search found it.
    #[serde(default)]
    #[schema(default = false)]
    pub explain: bool,
}

fn unlimited() -> i64 {
    -1
}

model::worded! {
    /// Which evidence is used.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum SearchMethod {
        Keyword = "keyword",
        Vector = "vector",
        #[default]
        Hybrid = "hybrid",
        Agentic = "agentic",
        LlmMultiround = "llm_multiround",
    }
}

/// An instant as a client writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, expecting = "must be epoch milliseconds or an ISO 8601 string")]
pub enum When {
    /// Epoch milliseconds.
    Millis(i64),
    /// ISO 8601.
    Text(String),
}

impl When {
    /// The instant; a text without an offset is in `zone`.
    pub fn resolve(&self, path: &str, zone: &Zone) -> Result<Timestamp, Invalid> {
        match self {
            Self::Millis(millis) => Ok(Timestamp::from_millis(*millis)),
            Self::Text(text) => zone.parse(text).map_err(|error| Invalid::at(path, error)),
        }
    }

    pub(crate) fn maybe(when: Option<&Self>, path: &str, zone: &Zone) -> Result<Option<Timestamp>, Invalid> {
        when.map(|when| when.resolve(path, zone)).transpose()
    }
}

impl SearchRequest {
    /// A request with a query and defaults for everything else.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            top_k: unlimited(),
            ..Self::default()
        }
    }

    /// Checks everything but the method, which depends on the server's configured models.
    pub fn search(&self, home: &Scope, zone: &Zone) -> Result<Search, Invalid> {
        let scope = self.scope(home)?;
        let owner = scope::owner(self.user_id.as_deref(), self.agent_id.as_deref())?;
        if self.query.is_empty() {
            return Err(Invalid::at("query", "must not be empty"));
        }
        let memories_max = match usize::try_from(self.top_k) {
            Err(_) if self.top_k == -1 => TOP_K_MAX,
            Ok(count @ 1..=TOP_K_MAX) => count,
            _ => return Err(Invalid::at("top_k", "must be -1 or between 1 and 100")),
        };
        let messages_max = usize::try_from(self.include_messages)
            .ok()
            .filter(|count| *count <= INCLUDE_MESSAGES_MAX)
            .ok_or_else(|| Invalid::at("include_messages", "must be between 0 and 200"))?;
        let filter = filter::parse(self.filters.as_ref(), zone)?;
        let radius = fraction("radius", self.radius)?;
        let min_score = fraction("min_score", self.min_score)?;
        if self.max_tokens == Some(0) {
            return Err(Invalid::at("max_tokens", "must be at least 1"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "a score has no more digits")]
        let score_min = radius.max(min_score) as f32;
        Ok(Search {
            scope,
            owner,
            query: self.query.clone(),
            method: match self.method {
                SearchMethod::Keyword => Method::Keyword,
                SearchMethod::Vector => Method::Vector,
                // A chat model adds queries; each of them is a hybrid search.
                SearchMethod::Hybrid | SearchMethod::Agentic | SearchMethod::LlmMultiround => Method::Hybrid,
            },
            memories_max,
            messages_max,
            filter,
            as_of: When::maybe(self.as_of.as_ref(), "as_of", zone)?,
            asked_at: When::maybe(self.query_time.as_ref(), "query_time", zone)?,
            score_min,
            tokens_max: self.max_tokens.map(|tokens| tokens as usize),
            with_person: self.include_person,
            rerank: self.enable_llm_rerank,
        })
    }
}

fn fraction(path: &str, value: Option<f64>) -> Result<f64, Invalid> {
    let value = value.unwrap_or(0.0);
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(Invalid::at(path, "must be between 0 and 1"))
    }
}

/// Result of a search. Every array is always present.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SearchData {
    /// Best first, each with its facts that were found.
    pub episodes: Vec<EpisodeItem>,
    /// With `include_profile`: at most one.
    pub profiles: Vec<ProfileItem>,
    /// With `agent_id`: how it went about tasks, best first.
    pub agent_cases: Vec<CaseItem>,
    /// With `agent_id`: the agent's approved skills, best first.
    pub agent_skills: Vec<SkillItem>,
    /// With a top-level `session_id` in `filters`: that session's messages that are not in an episode yet.
    pub unprocessed_messages: Vec<UnprocessedMessage>,
    /// Quipu: every fact that was found, best first, also those whose episode was not.
    #[serde(default)]
    pub facts: Vec<FactItem>,
    /// Quipu: announced events that match, best first.
    #[serde(default)]
    pub foresights: Vec<ForesightItem>,
    /// Quipu: verbatim messages, best first, as many as `include_messages` asked for.
    #[serde(default)]
    pub messages: Vec<FoundMessage>,
    /// Quipu: the hit that may stand alone as the answer; empty if nothing is sure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sure: Option<Vec<SureItem>>,
    /// Quipu: the method that was used; keyword when the embedding model did not answer.
    #[serde(default)]
    pub method: SearchMethod,
    /// Quipu: the span of time that the query speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_span: Option<TimeSpan>,
    /// Quipu: what the search had to do without, and why.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Quipu: with `agentic` and `llm_multiround`, the queries that the chat model added.
    #[serde(default)]
    pub queries: Vec<String>,
}

/// A hit, and what was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SureItem {
    pub id: String,
    pub text: String,
    /// Since when it no longer holds, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime>,
}

/// A span of time; `from` belongs to it, `to` does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TimeSpan {
    pub from: DateTime,
    pub to: DateTime,
}
