//! The seven hooks of a context engine, and the engines by name.
//!
//! Owns: what the host calls, when, and what an engine may return. Never: trusting it; `verify` checks every view.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use transcript::Item;

use crate::standard::Standard;

/// What an engine says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineInfo {
    /// Its name: stable, unique among the registered.
    pub id: String,
    /// The engine compacts by itself in `assemble`: the host's own compaction is skipped.
    pub owns_compaction: bool,
}

/// What the host tells of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnMeta {
    /// The model that will answer.
    pub model: String,
    /// What the view may weigh, in tokens.
    pub limit_tokens: usize,
    /// Requests of the user so far.
    pub turn: usize,
}

/// A view, with the weight that its engine claims, in tokens; the host counts by itself.
#[derive(Debug, Clone)]
pub struct Assembled {
    pub items: Vec<Arc<Item>>,
    pub tokens: usize,
}

/// Why an engine could not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineFault {
    #[error("the context engine failed: {0}")]
    Failed(String),
    #[error("the context engine panicked")]
    Panicked,
    #[error("the context engine took longer than {0} ms")]
    TimedOut(u128),
}

/// A strategy for what a model sees. The host calls the hooks in the order in which they stand here; an engine that fails
/// one is passed over for that turn, and the host's own engine takes its place.
#[async_trait]
pub trait ContextEngine: Send + Sync + std::fmt::Debug {
    fn info(&self) -> EngineInfo;

    /// Once, when a conversation is opened.
    async fn bootstrap(&self) -> Result<(), EngineFault> {
        Ok(())
    }

    /// Before items are recorded; what it returns is recorded instead.
    async fn ingest(&self, items: Vec<Arc<Item>>, _meta: &TurnMeta) -> Result<Vec<Arc<Item>>, EngineFault> {
        Ok(items)
    }

    /// Before each request: the view, of at most `limit_tokens`.
    async fn assemble(&self, items: Vec<Arc<Item>>, limit_tokens: usize) -> Result<Assembled, EngineFault>;

    /// A smaller list for the same conversation, of about `target_tokens`.
    async fn compact(
        &self,
        items: Vec<Arc<Item>>,
        target_tokens: usize,
    ) -> Result<Vec<Arc<Item>>, EngineFault>;

    /// After a model's reply was recorded.
    async fn after_turn(&self, _items: &[Arc<Item>], _reply: &Item) -> Result<(), EngineFault> {
        Ok(())
    }

    /// What a sub-agent of that role starts with.
    async fn prepare_subagent_spawn(
        &self,
        items: Vec<Arc<Item>>,
        role: &str,
    ) -> Result<Vec<Arc<Item>>, EngineFault>;

    /// After a sub-agent ended.
    async fn on_subagent_ended(
        &self,
        _agent_id: &str,
        _items: &[Arc<Item>],
        _result: Option<&str>,
    ) -> Result<(), EngineFault> {
        Ok(())
    }
}

/// The engines that can be chosen, by name. `default` is always there.
#[derive(Debug, Clone)]
pub struct Engines(BTreeMap<String, Arc<dyn ContextEngine>>);

impl Default for Engines {
    fn default() -> Self {
        let mut engines = Self(BTreeMap::new());
        engines.register(Arc::new(Standard::default()));
        engines
    }
}

impl Engines {
    /// Adds an engine; the last of a name counts.
    pub fn register(&mut self, engine: Arc<dyn ContextEngine>) {
        self.0.insert(engine.info().id, engine);
    }

    /// The engine of that name.
    pub fn get(&self, id: &str) -> Option<Arc<dyn ContextEngine>> {
        self.0.get(id).cloned()
    }

    /// The names there are.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
