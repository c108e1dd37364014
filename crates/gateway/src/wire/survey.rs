//! Information for a person before a decision: counts of memories by month, the sources of a memory, and the preview
//! of a deletion.
//!
//! Owns: these requests, their bounds and answers. Never: deciding which items are deleted together.

use macro_rules_attribute::apply;
use memory::{Forget, Staying};
use model::{Owner, Scope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wire::fields::{body, filled};
use crate::wire::forget::{DeleteByIdsRequest, DeleteRequest, IdsParts};
use crate::wire::items::FoundMessage;
use crate::wire::{DateTime, Invalid, scope};

/// Memories that a preview shows; it counts all of them.
pub const PREVIEWED_MAX: usize = 500;

/// A user whose memory to count. Unknown keys are refused.
#[apply(body!)]
pub struct OverviewRequest {
    #[schema(min_length = 1)]
    pub user_id: String,
    tenant: Body,
}

impl OverviewRequest {
    /// Checks ids and limits; an error names the field.
    pub fn parts(&self, home: &Scope) -> Result<(Scope, Owner), Invalid> {
        Ok((self.scope(home)?, scope::owner(Some(&self.user_id), None)?))
    }
}

/// A user's memory in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OverviewData {
    pub episodes: usize,
    pub facts: usize,
    pub events: usize,
    /// Lines of the profile.
    pub statements: usize,
    /// Facts that no longer hold.
    pub superseded: usize,
    /// Months with memories, the earliest first.
    pub months: Vec<MonthItem>,
}

/// The memories of a month.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MonthItem {
    /// `2026-03`, in the configured zone.
    pub month: String,
    pub episodes: usize,
    pub facts: usize,
}

/// The messages that a memory was made from, in order of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SourcesData {
    /// Their `score` is 0.
    pub messages: Vec<FoundMessage>,
}

/// A deletion to look at first: either `ids`, or the fields of `memory/delete`, `words` among them. Unknown keys are refused.
#[apply(body!)]
#[derive(Default)]
pub struct PreviewRequest {
    tenant: Body,
    pub user_id: Option<String>,
    pub agent_id: Option<String>,
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 50)]
    pub ids: Vec<String>,
    /// As in `memory/delete`.
    #[schema(value_type = String, required = false)]
    pub words: Option<String>,
    /// As in `memory/delete`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 2000)]
    pub keep: Vec<String>,
    /// As in `memory/delete`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 2000)]
    pub also: Vec<String>,
}

/// Target of a preview.
#[derive(Debug, Clone, PartialEq)]
pub enum PreviewParts {
    Ids(IdsParts),
    Delete(Forget),
}

impl PreviewRequest {
    /// The previewed deletion, without `ids`.
    pub fn deletion(self) -> DeleteRequest {
        DeleteRequest {
            app_id: self.app_id,
            project_id: self.project_id,
            user_id: self.user_id,
            agent_id: self.agent_id,
            session_id: self.session_id,
            words: self.words,
            keep: self.keep,
            also: self.also,
        }
    }

    /// The previewed deletion of `ids`.
    pub fn by_ids(self) -> DeleteByIdsRequest {
        DeleteByIdsRequest {
            app_id: self.app_id,
            project_id: self.project_id,
            user_id: self.user_id,
            agent_id: self.agent_id,
            ids: self.ids,
            ..DeleteByIdsRequest::default()
        }
    }

    /// Checks the request as the deletion would.
    pub fn parts(&self, home: &Scope) -> Result<PreviewParts, Invalid> {
        if self.ids.is_empty() {
            return self.clone().deletion().target(home).map(PreviewParts::Delete);
        }
        if self.words.is_some() {
            return Err(Invalid::at("words", "cannot be combined with `ids`"));
        }
        self.clone().by_ids().parts(home).map(PreviewParts::Ids)
    }
}

/// What the deletion would remove, and what it would leave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PreviewData {
    /// The memories that go.
    pub count: usize,
    /// How many of them the request names, or have its words. They come first; the others were made from them.
    #[serde(default)]
    pub named_count: usize,
    /// The verbatim messages that go from the files.
    pub message_count: usize,
    /// The first 500 of the memories that go: those that the request names, then those made from them.
    pub memories: Vec<DoomedItem>,
    /// The first 500 of the messages that go, in order of time. Their `score` is 0.
    #[serde(default)]
    pub messages: Vec<FoundMessage>,
    /// With `words`: the messages directly before and after these in their sessions. They stay, and may be about the same
    /// person without the name.
    #[serde(default)]
    pub beside: Vec<FoundMessage>,
    /// Episodes that stay without some of their messages, as they will be.
    #[serde(default)]
    pub rewritten: Vec<DoomedItem>,
    /// Lines of the owner's pages (`USER.md`, `MEMORY.md`, `SOUL.md`) that go, and with `words` titles of sessions.
    #[serde(default)]
    pub lines: Vec<String>,
    /// The messages of deleted memories that stay in the same memory.
    #[serde(default)]
    pub own_stays: Vec<FoundMessage>,
    /// The same words in the memory of others. They stay.
    pub stays: Vec<StayingItem>,
}

impl PreviewData {
    /// Whether the deletion would change nothing that a person can read.
    pub fn is_empty(&self) -> bool {
        self.count + self.message_count + self.rewritten.len() + self.lines.len() == 0
    }
}

/// A memory that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DoomedItem {
    pub id: String,
    /// `episode`, `fact`, `foresight`, `profile`, `case` or `skill`.
    pub kind: String,
    /// Whose it is.
    pub owner: String,
    pub text: String,
    pub timestamp: DateTime,
}

/// Words that stay in another owner's memory.
#[apply(filled!)]
#[from(staying: &Staying)]
pub struct StayingItem {
    #[value(staying.owner.id.to_string())]
    pub user_id: String,
    /// The session to delete, if these words must go too.
    #[value(staying.session.as_ref().map(ToString::to_string))]
    pub session_id: Option<String>,
    /// Number of messages.
    #[value(staying.messages.len())]
    pub messages: usize,
    /// The first of them.
    #[value(staying.messages.first().map(|message| message.text.clone()).unwrap_or_default())]
    pub example: String,
}
