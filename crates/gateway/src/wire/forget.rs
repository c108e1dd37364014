//! `memory/delete`, `memory/delete_by_ids` and `memory/edit`: deleting and changing memories.
//!
//! Owns: their requests, bounds and answers. Never: choosing the other memories that are deleted too.

use macro_rules_attribute::apply;
use memory::{Forget, Leftover, WordsTarget};
use model::{Name, Owner, Scope};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::wire::fields::{body, filled};
use crate::wire::get::MemoryType;
use crate::wire::{ApiId, Invalid, scope};

/// Maximum number of ids in one request.
pub const IDS_MAX: usize = 50;

/// The problem of an edit without fields.
pub(crate) const NOTHING_TO_CHANGE: &str =
    "name what to change: `subject`, `summary`, `episode` or `project_only`";

/// Maximum number of ids that a deletion by words keeps.
const KEPT_MAX: usize = 2_000;

/// Deletes all memory of a session, of an owner, or of an owner in a session; or what an owner has with some words. Unknown
/// keys are refused.
#[apply(body!)]
#[derive(Default)]
pub struct DeleteRequest {
    tenant: Body,
    pub user_id: Option<String>,
    pub agent_id: Option<String>,
    pub session_id: Option<String>,
    /// Quipu: delete only the owner's messages and memories that contain all of these as whole words. Case and accents do not
    /// matter.
    #[schema(value_type = String, required = false)]
    pub words: Option<String>,
    /// Quipu: with `words`, ids of messages and memories that stay. A memory keeps the messages that it was made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 2000)]
    pub keep: Vec<String>,
    /// Quipu: with `words`, ids of messages that go too, as the preview shows them in `beside`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 2000)]
    pub also: Vec<String>,
}

impl DeleteRequest {
    /// Checks the request.
    pub fn target(&self, home: &Scope) -> Result<Forget, Invalid> {
        let scope = self.scope(home)?;
        let owner = scope::maybe_owner(self.user_id.as_deref(), self.agent_id.as_deref())?;
        if let Some(words) = &self.words {
            return self.words_target(words, scope, owner).map(Forget::Words);
        }
        for (field, ids) in [("keep", &self.keep), ("also", &self.also)] {
            if !ids.is_empty() {
                return Err(Invalid::at(field, "needs `words`"));
            }
        }
        match (self.session_id.as_deref(), owner) {
            (None, None) => Err(Invalid::request(
                "name what to delete: `user_id`, `agent_id` or `session_id`",
            )),
            (None, Some(owner)) => Ok(Forget::Owner(scope, owner)),
            (Some(session), None) => scope::session(session, scope).map(Forget::Session),
            (Some(session), Some(owner)) => {
                scope::session(session, scope).map(|key| Forget::OwnerInSession(key, owner))
            }
        }
    }

    fn words_target(&self, words: &str, scope: Scope, owner: Option<Owner>) -> Result<WordsTarget, Invalid> {
        let owner = owner.ok_or_else(|| {
            Invalid::at(
                "words",
                "needs `user_id` or `agent_id`: say in whose memory to look",
            )
        })?;
        if self.session_id.is_some() {
            return Err(Invalid::at("session_id", "cannot be combined with `words`"));
        }
        if !words.contains(char::is_alphanumeric) {
            return Err(Invalid::at("words", "must have a letter or a digit"));
        }
        for (field, ids) in [("keep", &self.keep), ("also", &self.also)] {
            if ids.len() > KEPT_MAX {
                let problem = format!("must have at most {KEPT_MAX} ids, this has {}", ids.len());
                return Err(Invalid::at(field, problem));
            }
        }
        let prefix = format!("{}_", owner.id);
        let bare = |id: &String| id.strip_prefix(&prefix).unwrap_or(id).to_owned();
        Ok(WordsTarget {
            keep: self.keep.iter().flat_map(|id| [bare(id), id.clone()]).collect(),
            also: self.also.iter().cloned().collect(),
            words: words.to_owned(),
            scope,
            owner,
        })
    }

    /// Names of the fields that define the target.
    pub fn filters(&self) -> Vec<String> {
        given_fields([
            ("user_id", self.user_id.is_some()),
            ("agent_id", self.agent_id.is_some()),
            ("session_id", self.session_id.is_some()),
            ("words", self.words.is_some()),
        ])
    }
}

/// Names of the given fields.
fn given_fields(fields: [(&str, bool); 4]) -> Vec<String> {
    let given = fields.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(name, _)| name.to_owned()).collect()
}

/// Result of a delete.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeleteData {
    /// The fields of the request that named the target.
    pub filters: Vec<String>,
    /// Number of deleted memories.
    pub count: usize,
    /// Quipu: number of deleted messages.
    #[serde(default)]
    pub message_count: usize,
    /// Quipu: number of deleted contexts of conversations.
    #[serde(default)]
    pub conversation_count: usize,
    /// Quipu: number of memories that lost some of their messages.
    #[serde(default)]
    pub rewritten_count: usize,
    /// Quipu: `history.before.git`, the history that an earlier version kept, was deleted, whole: single words cannot be taken out
    /// of it.
    #[serde(default)]
    pub old_history_deleted: bool,
    /// Quipu: number of daily copies of the ledger that were deleted, because they had the deleted text.
    #[serde(default)]
    pub ledger_copies: usize,
    /// Quipu: what stays and may have deleted text, with the reason.
    #[serde(default)]
    pub left: Vec<LeftItem>,
}

/// Something that a delete leaves.
#[apply(filled!)]
#[from(left: &Leftover)]
pub struct LeftItem {
    /// A file's path, or the name of a kind of data.
    pub what: String,
    /// Why it stays.
    pub why: String,
}

/// Deletes single memories, and memories without another source. Unknown keys are refused.
#[apply(body!)]
#[derive(Default)]
pub struct DeleteByIdsRequest {
    tenant: Body,
    /// Accepted and ignored: an id contains the type of its memory.
    pub memory_type: Option<MemoryType>,
    /// The memories' ids; also accepted as `memory_ids`.
    #[serde(alias = "memory_ids")]
    #[schema(min_items = 1, max_items = 50)]
    pub ids: Vec<String>,
    /// Quipu: owner of the ids; needed only for ids that a person wrote with `_ep_` or `_af_` in them.
    pub user_id: Option<String>,
    pub agent_id: Option<String>,
    /// Accepted and ignored.
    #[schema(value_type = Option<Object>)]
    pub reason: Option<Json>,
}

/// The ids of single memories in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdsParts {
    pub scope: Scope,
    /// Owner of the ids, if the request names one.
    pub owner: Option<Owner>,
    /// In the order of the request, without duplicates.
    pub ids: Vec<ApiId>,
}

impl IdsParts {
    /// The single memory that a field names.
    pub(crate) fn one(path: &str, id: &str, scope: Scope, owner: Option<Owner>) -> Result<Self, Invalid> {
        let id = ApiId::parse(path, id, name_of(owner.as_ref()))?;
        Ok(Self {
            scope,
            owner,
            ids: vec![id],
        })
    }
}

impl DeleteByIdsRequest {
    /// Checks the request.
    pub fn parts(&self, home: &Scope) -> Result<IdsParts, Invalid> {
        let scope = self.scope(home)?;
        let owner = scope::maybe_owner(self.user_id.as_deref(), self.agent_id.as_deref())?;
        if !(1..=IDS_MAX).contains(&self.ids.len()) {
            let count = self.ids.len();
            return Err(Invalid::at(
                "ids",
                format!("must have 1 to {IDS_MAX} ids, this has {count}"),
            ));
        }
        let mut ids: Vec<ApiId> = Vec::new();
        for (at, text) in self.ids.iter().enumerate() {
            let id = ApiId::parse(&format!("ids.{at}"), text, name_of(owner.as_ref()))?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(IdsParts { scope, owner, ids })
    }
}

/// Result of a delete by ids.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeleteByIdsData {
    /// The type that the request named; `episode` when it named none.
    pub memory_type: MemoryType,
    /// Always true: an id that does not exist is not an error.
    pub success: bool,
    /// Quipu: number of deleted memories, including those that lost their last source.
    #[serde(default)]
    pub count: usize,
    /// Quipu: number of deleted messages.
    #[serde(default)]
    pub message_count: usize,
    /// Quipu: number of daily copies of the ledger that were deleted, because they had the deleted messages.
    #[serde(default)]
    pub ledger_copies: usize,
    /// Quipu: the ids that do not exist.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Quipu: `history.before.git`, the history that an earlier version kept, was deleted, whole.
    #[serde(default)]
    pub old_history_deleted: bool,
    /// Quipu: what stays and may have deleted text, with the reason.
    #[serde(default)]
    pub left: Vec<LeftItem>,
}

/// Changes the text of one memory; omitted fields stay as they are. Unknown keys are refused.
#[apply(body!)]
#[derive(Default)]
pub struct EditRequest {
    tenant: Body,
    pub id: String,
    /// Owner of the memory; needed only for an id that a person wrote with `_ep_` or `_af_` in it.
    pub user_id: Option<String>,
    pub agent_id: Option<String>,
    /// One line.
    pub subject: Option<String>,
    pub summary: Option<String>,
    /// The memory's text: an episode's, or a fact's.
    pub episode: Option<String>,
    /// Of a fact: `true` if it holds only in its project, `false` if it holds for the user everywhere.
    pub project_only: Option<bool>,
}

impl EditRequest {
    /// Checks the request; the answer has one id, the memory to change.
    pub fn parts(&self, home: &Scope) -> Result<IdsParts, Invalid> {
        let scope = self.scope(home)?;
        let owner = scope::maybe_owner(self.user_id.as_deref(), self.agent_id.as_deref())?;
        let parts = IdsParts::one("id", &self.id, scope, owner)?;
        if self.changed().is_empty() {
            return Err(Invalid::request(NOTHING_TO_CHANGE));
        }
        one_line("subject", self.subject.as_deref())?;
        if self.episode.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return Err(Invalid::at(
                "episode",
                "must not be empty: use `memory/delete_by_ids` to remove a memory",
            ));
        }
        Ok(parts)
    }

    /// Names of the fields to change.
    pub fn changed(&self) -> Vec<String> {
        given_fields([
            ("subject", self.subject.is_some()),
            ("summary", self.summary.is_some()),
            ("episode", self.episode.is_some()),
            ("project_only", self.project_only.is_some()),
        ])
    }
}

/// Result of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EditData {
    pub id: String,
    /// The fields that were written.
    pub changed: Vec<String>,
}

/// Refuses a field of several lines.
pub(crate) fn one_line(path: &str, text: Option<&str>) -> Result<(), Invalid> {
    match text {
        Some(text) if text.contains(['\n', '\r']) => Err(Invalid::at(path, "must be one line")),
        _ => Ok(()),
    }
}

fn name_of(owner: Option<&Owner>) -> Option<&Name> {
    owner.map(|owner| &owner.id)
}
