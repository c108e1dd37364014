//! `memory/review` and `memory/answer`: statements that Quipu believes of a person, and the person's verdict on each.
//!
//! Owns: these requests, their bounds and answers. Never: the effect of an answer.

use macro_rules_attribute::apply;
use model::{EntryId, Owner, Scope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wire::fields::body;
use crate::wire::get::PAGE_SIZE_MAX;
use crate::wire::{ApiId, DateTime, Invalid, scope};

/// A person whose statements to show. Unknown keys are refused.
#[apply(body!)]
pub struct ReviewRequest {
    #[schema(min_length = 1)]
    pub user_id: String,
    tenant: Body,
    /// Statements to leave out at the beginning.
    #[serde(default)]
    #[schema(required = false)]
    pub skip: usize,
    /// Maximum number of statements: 1 to 100.
    #[serde(default = "limit")]
    #[schema(required = false, minimum = 1, maximum = 100, default = 20)]
    pub limit: usize,
}

fn limit() -> usize {
    20
}

impl ReviewRequest {
    /// Checks ids and limits; an error names the field.
    pub fn parts(&self, home: &Scope) -> Result<(Scope, Owner), Invalid> {
        if !(1..=PAGE_SIZE_MAX).contains(&self.limit) {
            return Err(Invalid::at("limit", format!("must be 1 to {PAGE_SIZE_MAX}")));
        }
        Ok((self.scope(home)?, scope::owner(Some(&self.user_id), None)?))
    }
}

/// Statements, in the order of their beliefs; of each the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewData {
    pub statements: Vec<BelievedItem>,
    /// All statements of the person.
    pub total_count: usize,
    /// Those among them that wait for an answer: facts, what was said again, and what is in doubt.
    pub open_count: usize,
}

/// A statement of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BelievedItem {
    pub id: String,
    pub belief: Belief,
    pub text: String,
    pub session_id: Option<String>,
    pub message_ids: Vec<String>,
    pub timestamp: DateTime,
}

model::worded! {
    /// How a statement stands: a fact that nobody confirmed; said again after its person took it back; in doubt, because its
    /// message may have the words of somebody else; a fact that was confirmed; one that has ended or was replaced; taken back, as wrong or as
    /// said in a scene. Only facts are facts: the others are in the words of a message.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Belief {
        Fact = "fact",
        Again = "again",
        Doubt = "doubt",
        Confirmed = "confirmed",
        Ended = "ended",
        Withdrawn = "withdrawn",
    }
}

/// A person's answer about one statement. Unknown keys are refused.
#[apply(body!)]
pub struct AnswerRequest {
    #[schema(min_length = 1)]
    pub user_id: String,
    tenant: Body,
    /// The `id` of a statement of `memory/review`.
    pub id: String,
    #[serde(deserialize_with = "super::json::word")]
    pub verdict: Verdict,
}

model::worded! {
    /// What a person says of a statement: `keep`, it is true, whatever was answered before; `wrong`, it never was, or is about
    /// somebody else; `scene`, it was said in a game or a story, as was all of its session; `ended`, it is no longer true.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Verdict {
        Keep = "keep",
        Wrong = "wrong",
        Scene = "scene",
        Ended = "ended",
    }
}

impl AnswerRequest {
    /// Checks the ids; an error names the field.
    pub fn parts(&self, home: &Scope) -> Result<(Scope, Owner, EntryId), Invalid> {
        let scope = self.scope(home)?;
        let owner = scope::owner(Some(&self.user_id), None)?;
        let id = ApiId::parse("id", &self.id, Some(&owner.id))?;
        Ok((scope, owner, id.entry))
    }
}

/// What an answer changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AnswerData {
    /// Facts, those with the same words or of the same session too.
    pub facts: usize,
    /// Their texts.
    pub statements: Vec<String>,
    /// Memories that were made of them and went.
    pub derived: usize,
}
