//! The host's own engine, which every other may call for what it does not do itself.
//!
//! Owns: the default of each hook. Never: state of a conversation.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use context::budget::Budget;
use context::plan::Trigger;
use context::policy::Policy;
use context::session::Session;
use context::tokens::Meter;
use transcript::{Item, Role, cut};

use crate::hooks::{Assembled, ContextEngine, EngineFault, EngineInfo};

/// Items besides the system's that a sub-agent starts with.
const EXPLORER_ITEMS: usize = 10;
const SUBAGENT_ITEMS: usize = 20;

/// The default engine. Within a conversation the host compacts and it passes views on; with a policy of its own it also
/// compacts plain lists, for programs that keep their history themselves.
#[derive(Debug, Default)]
pub struct Standard {
    own: Option<(Policy, Meter)>,
}

impl Standard {
    /// An engine that compacts by this policy.
    pub fn with_policy(policy: Policy, meter: Meter) -> Self {
        Self {
            own: Some((policy, meter)),
        }
    }

    fn fit(&self, items: Vec<Arc<Item>>, limit: usize) -> Result<Assembled, EngineFault> {
        let Some((policy, meter)) = &self.own else {
            return Ok(Assembled { items, tokens: 0 });
        };
        let mut session = Session::new(policy.clone(), meter.clone());
        for item in items {
            session.apply(&session.arrival(item));
        }
        let budget = Budget::view(limit);
        session.fit(&budget, Trigger::Auto, |_| {});
        let view = session
            .assemble(&budget)
            .map_err(|error| EngineFault::Failed(error.to_string()))?;
        Ok(Assembled {
            items: view.items,
            tokens: view.tokens,
        })
    }
}

#[async_trait]
impl ContextEngine for Standard {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            id: "default".to_owned(),
            owns_compaction: false,
        }
    }

    async fn assemble(&self, items: Vec<Arc<Item>>, limit_tokens: usize) -> Result<Assembled, EngineFault> {
        self.fit(items, limit_tokens)
    }

    async fn compact(
        &self,
        items: Vec<Arc<Item>>,
        target_tokens: usize,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        self.fit(items, target_tokens).map(|view| view.items)
    }

    async fn prepare_subagent_spawn(
        &self,
        items: Vec<Arc<Item>>,
        role: &str,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        Ok(for_subagent(items, role))
    }
}

/// All system items and about the newest others: a call is never parted from its result, so there may be fewer.
pub(crate) fn for_subagent(items: Vec<Arc<Item>>, role: &str) -> Vec<Arc<Item>> {
    let count = if role == "explorer" {
        EXPLORER_ITEMS
    } else {
        SUBAGENT_ITEMS
    };
    let (mut kept, talk): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.role == Role::System);
    let least = talk.len().saturating_sub(count);
    let cuts = cut::safe_cuts(&talk, &BTreeSet::new());
    let from = if least == 0 {
        0
    } else {
        cuts.into_iter().find(|cut| *cut >= least).unwrap_or(talk.len())
    };
    kept.extend_from_slice(&talk[from..]);
    kept
}
