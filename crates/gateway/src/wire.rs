//! The memory API as types: requests, answers, and their descriptions in OpenAPI.
//!
//! Owns: names, bounds and defaults of the wire; converting JSON to the requests of `memory` and the nouns of
//! `model`, and back. Never: HTTP, a use case, a clock, or another module of this crate: the other doors use only
//! this module.
//!
//! Reading order: [`json`] and [`invalid`] (parsing a body, and its errors), [`envelope`], [`scope`] (the tenant),
//! [`fields`] (fields of several requests), [`message`], then one module for each family of routes: [`add`],
//! [`search`], [`context`], [`conversation`], [`get`], [`forget`], [`survey`], [`review`], [`portable`], [`update`],
//! [`tasks`], [`upkeep`], [`health`], [`owners`], [`cache`], [`history`], [`knowledge`]. [`items`] and [`profile`]
//! are the items of answers, [`profile_edit`] changes a profile, [`filter`] parses the filter language, [`api_id`]
//! the ids.

pub mod add;
pub mod agent;
mod api_id;
pub mod cache;
mod context;
pub mod conversation;
mod envelope;
mod fields;
pub mod filter;
pub mod forget;
pub mod get;
pub mod health;
pub mod history;
pub mod invalid;
pub mod items;
pub mod json;
pub mod knowledge;
pub mod message;
pub mod owners;
pub mod portable;
pub mod profile;
pub mod profile_edit;
pub mod review;
pub mod runs;
pub mod scope;
pub mod search;
pub mod survey;
pub mod tasks;
pub mod update;
mod upkeep;

pub use add::{AddData, AddRequest, FlushData, FlushRequest, MESSAGES_MAX, QueuedData};
pub use agent::{CaseItem, SkillItem, SkillState};
pub use api_id::ApiId;
pub use cache::{CacheData, CacheQuery};
pub use context::{CONTEXT_TOKENS, ContextData, ContextRequest, KNOWN_IDS_MAX};
pub use envelope::{DateTime, Envelope, ErrorCode, ErrorEnvelope, ErrorInfo};
pub use forget::{
    DeleteByIdsData, DeleteByIdsRequest, DeleteData, DeleteRequest, EditData, EditRequest, LeftItem,
};
pub use get::{GetData, GetRequest, MemoryStanding, MemoryType, OneQuery, SortField, SortOrder};
pub use health::HealthData;
pub use invalid::Invalid;
pub use items::{EpisodeItem, Explain, FactItem, FoundMessage, UnprocessedMessage};
pub use message::{MessageContent, MessageItem};
pub use profile::{ExplicitInfo, ForesightItem, ImplicitTrait, ProfileData, ProfileItem};
pub use review::{AnswerData, AnswerRequest, BelievedItem, ReviewData, ReviewRequest};
pub use search::{SearchData, SearchMethod, SearchRequest, SureItem};
pub use survey::{OverviewData, OverviewRequest, PreviewData, PreviewRequest, SourcesData};
pub use tasks::{StatsQuery, TaskItem, TaskPageData, TaskStatsData, TasksQuery};
pub use update::{UpdateData, UpdateRequest};
pub use upkeep::SyncedData;

#[cfg(test)]
mod tests;
