//! Calls a context engine's hooks, so that a failing engine does no harm.
//!
//! Owns: the time limit of a hook, isolation of its error, panic or endless wait, the health of an engine in a
//! conversation, asking a listener before a compaction. Never: the replacement of a failed view; `shape` decides.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use context::policy::Policy;
use futures::future::{Either, FutureExt, select};
use ports::Clock;
use ports::context_engine::{ContextEngine, EngineFault, EngineInfo, TurnMeta};

use crate::conversation::contexts::{Compaction, Listener};

/// Maximum time of a hook that a user waits for.
const HOOK_TIME_MAX: Duration = Duration::from_secs(5);
/// Number of faults in a row after which an engine is no longer used in a conversation.
const FAULTS_MAX: usize = 3;
/// Maximum number of faults that a conversation keeps.
const FAULTS_KEPT: usize = 16;

/// The engine that every conversation of a process uses.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The policy of Quipu's own engine, which also replaces a failing plug-in.
    pub policy: Policy,
    /// The user's own engine.
    pub plugin: Option<Arc<dyn ContextEngine>>,
    /// Receives compactions.
    pub listener: Option<Arc<dyn Listener>>,
    pub clock: Arc<dyn Clock>,
}

impl Chosen {
    /// Name of the engine, and whether it compacts by itself.
    pub fn info(&self) -> EngineInfo {
        match &self.plugin {
            Some(plugin) => plugin.info(),
            None => EngineInfo {
                id: self.policy.name.to_owned(),
                owns_compaction: false,
            },
        }
    }
}

/// Health of an engine in one conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Health {
    is_booted: bool,
    /// Newest last.
    pub(crate) faults: Vec<EngineFault>,
    faults_in_a_row: usize,
    /// Number of the newest faults that no client has received yet.
    unreported: usize,
}

impl Health {
    /// The faults since the last report, one line each: they go into a header.
    pub(crate) fn report(&mut self) -> Vec<String> {
        let count = std::mem::take(&mut self.unreported).min(self.faults.len());
        let newest = &self.faults[self.faults.len() - count..];
        newest
            .iter()
            .map(|fault| fault.to_string().replace(char::is_control, " "))
            .collect()
    }

    /// The engine returned a view: earlier faults no longer count.
    pub(crate) fn gave_a_view(&mut self) {
        self.faults_in_a_row = 0;
    }

    /// Records the result of a hook.
    pub(crate) fn note<T>(&mut self, result: Result<T, EngineFault>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                tracing::warn!(%fault, "the context engine failed; falling back to Quipu's own engine");
                self.faults_in_a_row += 1;
                self.unreported += 1;
                if self.faults.len() == FAULTS_KEPT {
                    self.faults.remove(0);
                }
                self.faults.push(fault);
                None
            }
        }
    }
}

impl Chosen {
    /// The plug-in, booted, unless it failed too often in this conversation.
    pub(crate) async fn plugin(
        &self,
        health: &mut Health,
        turn: &TurnMeta,
    ) -> Option<Arc<dyn ContextEngine>> {
        let plugin = self
            .plugin
            .as_ref()
            .filter(|_| health.faults_in_a_row < FAULTS_MAX)?;
        if !health.is_booted {
            self.ask(health, plugin.bootstrap(turn)).await?;
            health.is_booted = true;
        }
        Some(Arc::clone(plugin))
    }

    /// The text that the listener wants preserved in the next compaction.
    pub(crate) async fn preserved(&self, compaction: &Compaction) -> Option<String> {
        let listener = self.listener.as_ref()?;
        let bound = self.clock.sleep(HOOK_TIME_MAX);
        match select(listener.before(compaction), bound).await {
            Either::Left((text, _)) => text.filter(|text| !text.trim().is_empty()),
            Either::Right(_) => None,
        }
    }

    /// The result of a hook; if it failed, none, and its error is recorded.
    pub(crate) async fn ask<T>(
        &self,
        health: &mut Health,
        hook: impl Future<Output = Result<T, EngineFault>>,
    ) -> Option<T> {
        health.note(self.run(hook).await)
    }

    /// The result of a hook, or its error.
    pub(crate) async fn run<T>(
        &self,
        hook: impl Future<Output = Result<T, EngineFault>>,
    ) -> Result<T, EngineFault> {
        let hook = std::pin::pin!(AssertUnwindSafe(hook).catch_unwind());
        let bound = std::pin::pin!(self.clock.sleep(HOOK_TIME_MAX));
        match select(hook, bound).await {
            Either::Left((Ok(result), _)) => result,
            Either::Left((Err(_), _)) => Err(EngineFault::Panicked),
            Either::Right(_) => Err(EngineFault::TimedOut(HOOK_TIME_MAX.as_millis())),
        }
    }
}
