//! Mending a transcript: two operations. Closing pending calls in a view, and repairing a history.
//!
//! Owns: which items stay, move or are made so that calls and results pair. An item that needs nothing comes back as the same
//! `Arc`. Never: storing what it made, changing a person's words.

mod history;
mod sites;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use history::repair;

use crate::{Block, Item, Role, order};

/// Reason why a call has no result. After a false reason, a model repeats a call that still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingResult {
    /// The tool still runs.
    Running,
    /// The user stopped it.
    Interrupted,
    /// There was a result perhaps, but it is in no transcript.
    Lost,
}

/// Placeholders for missing results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    pub running: String,
    pub interrupted: String,
    pub lost: String,
}

impl Default for Words {
    fn default() -> Self {
        Self {
            running: EXECUTING.to_owned(),
            interrupted: "[interrupted by the user]".to_owned(),
            lost: "[result lost]".to_owned(),
        }
    }
}

/// Placeholder of other clients for a result.
const EXECUTING: &str = "[executing...]";
const LOST_ELSEWHERE: &str = "[result lost during compaction]";

impl Words {
    fn of(&self, why: MissingResult) -> &str {
        match why {
            MissingResult::Running => &self.running,
            MissingResult::Interrupted => &self.interrupted,
            MissingResult::Lost => &self.lost,
        }
    }

    /// Whether the text is a placeholder for a result: a real one replaces it.
    fn is_placeholder(&self, text: &str) -> bool {
        [&self.running, &self.interrupted, &self.lost]
            .into_iter()
            .any(|words| words == text)
            || matches!(text, EXECUTING | LOST_ELSEWHERE)
    }
}

/// A repaired history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    pub items: Vec<Arc<Item>>,
    /// In the order of the items that they are about; none if nothing was to be done.
    pub changes: Vec<RepairChange>,
}

/// One thing that a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairChange {
    /// Index of the item before the repair.
    pub item: usize,
    pub what: What,
    /// The call that it is about; empty where it has none.
    pub call_id: String,
}

impl RepairChange {
    fn new(item: usize, what: What, call_id: String) -> Self {
        Self { item, what, call_id }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A call without an id was removed: no result can ever name it.
    CallWithoutId,
    /// A call was removed from an item that is not the assistant's.
    CallOfAnother,
    /// A call was removed whose id another call had that was still open.
    CallTwice,
    /// Reasoning was removed because its calls were.
    Reasoning,
    /// A result was removed that answers no call.
    ResultWithoutCall,
    /// A result was removed because its call has another: the first, or a real one.
    ResultTwice,
    /// A result was moved directly behind its call's turn.
    ResultMoved,
    /// A call that does not run and has no result got the words for a lost one.
    ResultLost,
}

/// The items as a model can see them: repaired, the calls in `pending` closed as running. None if nothing has to
/// change; this check copies and hashes nothing.
pub fn for_view(items: &[Arc<Item>], pending: &BTreeSet<String>) -> Option<Vec<Arc<Item>>> {
    if order::openai(items).is_ok() {
        return None;
    }
    let words = Words::default();
    let repaired = repair(items, pending, &words);
    let running = pending
        .iter()
        .map(|id| (id.clone(), MissingResult::Running))
        .collect();
    Some(close_pending(&repaired.items, &running, &words))
}

/// The items with a placeholder for each call in `pending` without a result, directly after its turn, in the order of
/// the calls. Real results there come first. For a view only: the stored list must wait for the real result.
pub fn close_pending(
    items: &[Arc<Item>],
    pending: &BTreeMap<String, MissingResult>,
    words: &Words,
) -> Vec<Arc<Item>> {
    let sites = sites::find(items, words);
    let mut made: BTreeMap<usize, Vec<Arc<Item>>> = BTreeMap::new();
    for (index, end) in sites.kept(items) {
        let site = &sites.calls[index];
        let Block::Call(call) = &items[site.item].blocks[site.block] else {
            continue;
        };
        let Some(why) = pending.get(&call.id).filter(|_| site.answer.is_none()) else {
            continue;
        };
        let place = behind_results(items, end + 1);
        made.entry(place)
            .or_default()
            .push(Arc::new(Item::outcome(call.id.as_str(), words.of(*why))));
    }
    let mut closed = Vec::with_capacity(items.len() + made.len());
    for (index, item) in items.iter().enumerate() {
        closed.extend(made.remove(&index).unwrap_or_default());
        closed.push(Arc::clone(item));
    }
    closed.extend(made.into_values().flatten());
    closed
}

/// The place behind the items that bring nothing but results.
fn behind_results(items: &[Arc<Item>], from: usize) -> usize {
    let brings_only =
        |item: &&Arc<Item>| item.outcomes().next().is_some() && !item.asks() && item.role != Role::Assistant;
    from + items[from..].iter().take_while(brings_only).count()
}
