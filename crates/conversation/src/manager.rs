//! What can be asked of an open conversation: how full it is, what was compacted, what can be had again.
//!
//! Owns: figures and lists for people and programs. Never: changing what the log says.

use std::fmt::Write as _;
use std::sync::Arc;

use context::budget::Budget;
use context::event::NodeId;
use context::guard::{self, Finding, Limits};
use context::ladder::Attempt;
use context::ranges;
use context::session::{Metrics, Session};
use context::warn::Warning;
use model::Timestamp;
use transcript::{Item, ItemId};

use crate::conversation::{Conversation, TurnError};

/// From these shares of the limit on, a view is near it, and critical.
const NEAR_SHARE: f64 = 0.75;
const CRITICAL_SHARE: f64 = 0.90;

/// How full a view is, in tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stats {
    pub tokens: usize,
    pub limit: usize,
    /// Of the limit, 0 to 1 and beyond.
    pub share: f64,
    pub items: usize,
    pub nodes: usize,
    pub is_near_limit: bool,
    pub is_critical: bool,
}

/// What is counted of a conversation since it was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    pub session: Metrics,
    pub warnings: usize,
    /// When something was last compacted.
    pub last_compaction: Option<Timestamp>,
}

impl Counters {
    /// For a person: a line for each figure.
    pub fn to_text(&self) -> String {
        let Metrics {
            nodes,
            nodes_tokens,
            frontier_items_peak,
            compactions,
            masks,
            saved_tokens,
        } = self.session;
        let when = self
            .last_compaction
            .map_or("never".to_owned(), |at| model::Zone::utc().render(at));
        let mut text = String::from("Context of the conversation\n");
        let _ = write!(
            text,
            "summaries in view: {nodes} ({nodes_tokens} tokens)\nmost items in view: {frontier_items_peak}\ncompactions: \
             {compactions}\nmasked results: {masks}\ntokens saved: {saved_tokens}\nwarnings: {}\nlast compaction: {when}\n",
            self.warnings
        );
        text
    }
}

/// What a compaction took out of the view, still in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    pub node: NodeId,
    pub covers: Vec<(ItemId, ItemId)>,
    pub tokens_before: usize,
    pub tokens_after: usize,
}

/// What a clean-up let go of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanUp {
    pub results_removed: usize,
    /// What the removed results had taken out of the view, in tokens.
    pub tokens_freed: usize,
}

impl Conversation {
    /// How full the view is.
    pub async fn stats(&self, budget: &Budget) -> Stats {
        self.inspect(|session| stats(session, budget)).await
    }

    /// A warning that is due: each threshold of the policy once on the way up.
    pub async fn warning(&self, budget: &Budget) -> Option<Warning> {
        let mut state = self.state.lock().await;
        let used = state.session.view_tokens();
        state.warnings.observe(used, budget.limit())
    }

    /// Whether so much of a window is left that a request may go out.
    pub async fn guard(&self, limits: &Limits, window_tokens: usize) -> Finding {
        let used = self.inspect(Session::view_tokens).await;
        guard::evaluate(limits, window_tokens, used)
    }

    pub async fn counters(&self) -> Counters {
        let state = self.state.lock().await;
        Counters {
            session: state.session.metrics().clone(),
            warnings: state.warnings.told(),
            last_compaction: state.last_compaction,
        }
    }

    /// The attempts of the last compaction that did something.
    pub async fn last_result(&self) -> Option<Vec<Attempt>> {
        self.state.lock().await.last_result.clone()
    }

    /// The nodes in view, each standing for items that can be had again.
    pub async fn archives(&self) -> Vec<Archived> {
        let of = |session: &Session| {
            let nodes = session.nodes().map(|(node, _)| Archived {
                node: node.id,
                covers: node.covers.clone(),
                tokens_before: node.tokens_before,
                tokens_after: node.tokens_after,
            });
            nodes.collect()
        };
        self.inspect(of).await
    }

    /// The items that a node stands for, as they arrived; none for a node that is not in view. Deleted ones are left out.
    pub async fn recover_node(&self, id: NodeId) -> Result<Option<Vec<Arc<Item>>>, TurnError> {
        let Some(archived) = self
            .archives()
            .await
            .into_iter()
            .find(|archived| archived.node == id)
        else {
            return Ok(None);
        };
        let mut items = Vec::new();
        for (first, last) in &archived.covers {
            items.extend(self.archive.items(first.0..last.0 + 1).await?);
        }
        items.retain(|(id, _)| ranges::contains(&archived.covers, *id));
        Ok(Some(items.into_iter().map(|(_, item)| item).collect()))
    }

    /// Lets go of what is kept for reports, and begins counting and warning anew. The log and the view stay.
    pub async fn clean_up(&self) -> CleanUp {
        let mut state = self.state.lock().await;
        state.warnings.reset();
        state.session.reset_metrics();
        let Some(attempts) = state.last_result.take() else {
            return CleanUp::default();
        };
        let freed = attempts.iter().filter_map(|attempt| attempt.gain).sum();
        CleanUp {
            results_removed: attempts.len(),
            tokens_freed: freed,
        }
    }
}

fn stats(session: &Session, budget: &Budget) -> Stats {
    let (tokens, limit) = (session.view_tokens(), budget.limit());
    let share = if limit == 0 {
        1.0
    } else {
        tokens as f64 / limit as f64
    };
    Stats {
        tokens,
        limit,
        share,
        items: session.frontier().len(),
        nodes: session.metrics().nodes,
        is_near_limit: share > NEAR_SHARE,
        is_critical: share > CRITICAL_SHARE,
    }
}
