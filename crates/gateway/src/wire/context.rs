//! `memory/context`: text for a prompt, for a message or for the beginning of a session.
//!
//! Owns: its request, bounds and answer. Never: choosing memories.

use macro_rules_attribute::apply;
use model::{Owner, Scope, SessionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::wire::fields::body;
use crate::wire::{Invalid, scope};

/// Default of `max_tokens`: as much as the model server adds to a turn.
pub const CONTEXT_TOKENS: u32 = proxy::FRAGMENT_TOKENS_MAX;
/// Upper bound of `max_tokens`.
const TOKENS_MAX: u32 = 8_000;
/// Maximum number of `known_ids`.
pub const KNOWN_IDS_MAX: usize = 1_000;

/// A user's message to a model, or the beginning of a session. Unknown keys are refused.
#[apply(body!)]
#[derive(Default)]
pub struct ContextRequest {
    /// The user whose memory is searched.
    #[schema(min_length = 1)]
    pub user_id: String,
    tenant: Body,
    /// The message in the user's words. Omitted at the beginning of a session: the text is then core memory and the subjects of
    /// the latest episodes.
    #[schema(value_type = String, required = false, min_length = 1)]
    pub query: Option<String>,
    /// The current session; its messages are left out.
    #[schema(min_length = 1, max_length = 128)]
    pub session_id: Option<String>,
    /// `memory_ids` of earlier answers that the model still sees; these memories are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 1000)]
    pub known_ids: Vec<String>,
    /// Also searches what the user said outside of any project, and what holds for them in all their projects. A token for one
    /// project gets that only with `person = true`.
    #[serde(default)]
    #[schema(default = false)]
    pub include_person: bool,
    /// Maximum length of the text, in tokens.
    #[serde(default = "tokens")]
    #[schema(minimum = 1, maximum = 8000, default = tokens)]
    pub max_tokens: u32,
}

fn tokens() -> u32 {
    CONTEXT_TOKENS
}

/// A checked request, in the types of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextParts {
    pub scope: Scope,
    pub owner: Owner,
    pub session: Option<SessionId>,
    pub tokens_max: usize,
}

impl ContextRequest {
    /// Checks the request.
    pub fn parts(&self, home: &Scope) -> Result<ContextParts, Invalid> {
        let scope = self.scope(home)?;
        let owner = scope::owner(Some(&self.user_id), None)?;
        if self.query.as_ref().is_some_and(|query| query.trim().is_empty()) {
            return Err(Invalid::at("query", "must not be empty"));
        }
        if !(1..=TOKENS_MAX).contains(&self.max_tokens) {
            return Err(Invalid::at("max_tokens", "must be between 1 and 8000"));
        }
        if self.known_ids.len() > KNOWN_IDS_MAX {
            return Err(Invalid::at(
                "known_ids",
                format!("must have at most {KNOWN_IDS_MAX} ids"),
            ));
        }
        let session = self.session_id.as_deref();
        let session = session.map(|id| scope::session(id, scope.clone())).transpose()?;
        Ok(ContextParts {
            scope,
            owner,
            session: session.map(|key| key.session),
            tokens_max: self.max_tokens as usize,
        })
    }
}

/// Memories for the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextData {
    /// Text to append to the user's message: messages and facts with speaker and date, newest first, marked as data. Empty when no
    /// memory scores high enough.
    pub context: String,
    /// The ids of the messages and memories in it, in order.
    pub memory_ids: Vec<String>,
    /// Estimated tokens of `context`.
    pub tokens: usize,
}
