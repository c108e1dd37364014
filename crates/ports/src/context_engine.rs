//! Context engines: strategies that choose the view of a conversation.
//!
//! Owns: the seven hooks, when Quipu calls each, and the rules for their results. Never: trusting an engine;
//! `conversation` verifies every view.

use std::sync::Arc;

use async_trait::async_trait;
use transcript::Item;

/// How an engine describes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineInfo {
    /// Its name: stable, and unique among the configured engines.
    pub id: String,
    /// The engine compacts by itself, in `assemble` and `compact`: Quipu does not compact before it calls
    /// them.
    pub owns_compaction: bool,
}

/// The turn in which a hook is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnMeta {
    /// The conversation's id: one engine serves many conversations.
    pub conversation: String,
    /// The model that will answer; empty if unknown.
    pub model: String,
    /// Maximum tokens of the view.
    pub limit_tokens: usize,
    /// Messages of the user so far.
    pub turn: usize,
}

/// Errors of a hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineFault {
    #[error("the context engine failed: {0}")]
    Failed(String),
    #[error("the context engine panicked")]
    Panicked,
    #[error("the context engine took longer than {0} ms")]
    TimedOut(u128),
}

/// A strategy that chooses the model's view. Quipu calls the hooks in the order of this trait. If a hook fails, Quipu
/// uses its own engine for that turn.
#[async_trait]
pub trait ContextEngine: Send + Sync + std::fmt::Debug {
    fn info(&self) -> EngineInfo;

    /// Once for each conversation, before its first turn since the start of the process.
    async fn bootstrap(&self, _turn: &TurnMeta) -> Result<(), EngineFault> {
        Ok(())
    }

    /// Called before new items are shown: returns one item for each, changed or not. An item without blocks is not shown.
    async fn ingest(&self, items: Vec<Arc<Item>>, turn: &TurnMeta) -> Result<Vec<Arc<Item>>, EngineFault>;

    /// Before each request: returns the view, of at most `limit_tokens`. Quipu counts the tokens itself.
    async fn assemble(&self, items: Vec<Arc<Item>>, _turn: &TurnMeta) -> Result<Vec<Arc<Item>>, EngineFault> {
        Ok(items)
    }

    /// Returns a smaller list for the same conversation, of about `target_tokens`.
    async fn compact(
        &self,
        items: Vec<Arc<Item>>,
        _target_tokens: usize,
        _turn: &TurnMeta,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        Ok(items)
    }

    /// Called after the model's reply was recorded.
    async fn after_turn(&self, items: &[Arc<Item>], reply: &Item, turn: &TurnMeta)
    -> Result<(), EngineFault>;

    /// Returns the items that a sub-agent of that role starts with.
    async fn prepare_subagent_spawn(
        &self,
        items: Vec<Arc<Item>>,
        _role: &str,
        _turn: &TurnMeta,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        Ok(items)
    }

    /// Called after a sub-agent ended.
    async fn on_subagent_ended(
        &self,
        _agent_id: &str,
        _items: &[Arc<Item>],
        _result: Option<&str>,
        _turn: &TurnMeta,
    ) -> Result<(), EngineFault> {
        Ok(())
    }
}
