//! `memory/context`: a message in, text for a prompt out.
//!
//! Owns: its request, bounds and answer. Never: what is told.

use model::{Owner, Scope, SessionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Invalid, scope};

/// What a turn is given at most where nothing else is said.
const TOKENS: u32 = 350;
/// The most that may be asked for.
const TOKENS_MAX: u32 = 8_000;

/// What somebody says to a model. Keys that are not listed are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRequest {
    /// Who says it: their memory is asked.
    #[schema(min_length = 1)]
    pub user_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, default = "default")]
    pub app_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, default = "default")]
    pub project_id: Option<String>,
    /// The message, as they said it.
    #[schema(min_length = 1)]
    pub query: String,
    /// The session that is under way: what was said in it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub session_id: Option<String>,
    /// How long the text may be, in tokens.
    #[serde(default = "tokens")]
    #[schema(minimum = 1, maximum = 8000, default = 350)]
    pub max_tokens: u32,
}

fn tokens() -> u32 {
    TOKENS
}

/// A checked request, in the nouns of the model.
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
        let scope = scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)?;
        let owner = scope::owner(Some(&self.user_id), None)?;
        if self.query.trim().is_empty() {
            return Err(Invalid::at("query", "must not be empty"));
        }
        if !(1..=TOKENS_MAX).contains(&self.max_tokens) {
            return Err(Invalid::at("max_tokens", "must be between 1 and 8000"));
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

/// What is remembered that may help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextData {
    /// For the end of the person's message: what was said, by whom and when, best first, marked as data. Empty where nothing is
    /// sure enough.
    pub context: String,
    /// The ids of the messages and memories in it, in order.
    pub memory_ids: Vec<String>,
    /// About how much it weighs.
    pub tokens: usize,
}
