//! Parts that turns of any kind use.
//!
//! Owns: the ports and settings that direct turns and the proxy share. Never: a turn.

use std::sync::Arc;
use std::time::Duration;

use memory::Engine;
use model::Name;
use ports::{Clock, Ids};

use crate::conversation::Contexts;

/// The operator's instructions at the beginning of every conversation.
pub trait Instructions: Send + Sync + std::fmt::Debug {
    /// The present text, at most this many characters; empty if there is none.
    fn read(&self, chars_max: usize) -> String;
}

/// The ports and settings of turns.
#[derive(Debug, Clone)]
pub struct DirectParts {
    pub engine: Engine,
    /// The conversations, and the engine that chooses their views.
    pub contexts: Contexts,
    /// Behind the client's own system text, fixed at the beginning of an epoch.
    pub instructions: Option<Arc<dyn Instructions>>,
    /// The default user; none: each request must name a user.
    pub owner: Option<Name>,
    /// Time without a turn after which a conversation is idle.
    pub idle_after: Duration,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}
