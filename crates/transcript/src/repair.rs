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

/// Why a call has no result. A model that is told a falsehood calls again what still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The tool still runs.
    Running,
    /// The user stopped it.
    Interrupted,
    /// There was a result perhaps, but it is in no transcript.
    Lost,
}

/// What stands in the place of a result that is not there.
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

/// What other clients write in the place of a result.
const EXECUTING: &str = "[executing...]";
const LOST_ELSEWHERE: &str = "[result lost during compaction]";

impl Words {
    fn of(&self, why: Why) -> &str {
        match why {
            Why::Running => &self.running,
            Why::Interrupted => &self.interrupted,
            Why::Lost => &self.lost,
        }
    }

    /// Whether the text stands in the place of a result: a real one replaces it.
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
    pub changes: Vec<Change>,
}

/// One thing that a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Index of the item before the repair.
    pub item: usize,
    pub what: What,
    /// The call that it is about; empty where it has none.
    pub call_id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A call without an id was taken out: no result can ever name it.
    CallWithoutId,
    /// A call was taken out of an item that is not the assistant's.
    CallOfAnother,
    /// A call was taken out whose id another call had that was still open.
    CallTwice,
    /// Reasoning was taken out because its calls were.
    Reasoning,
    /// A result was taken out that answers no call.
    ResultWithoutCall,
    /// A result was taken out because its call has another: the first, or a real one.
    ResultTwice,
    /// A result was moved directly behind its call's turn.
    ResultMoved,
    /// A call that does not run and has no result got the words for a lost one.
    ResultLost,
}

/// The items as a model may see them: repaired, the calls in `pending` closed as running. None if they may be seen as they
/// are, which is told without copying or hashing a thing.
pub fn for_view(items: &[Arc<Item>], pending: &BTreeSet<String>) -> Option<Vec<Arc<Item>>> {
    if order::openai(items).is_ok() {
        return None;
    }
    let words = Words::default();
    let repaired = repair(items, pending, &words);
    let running = pending.iter().map(|id| (id.clone(), Why::Running)).collect();
    Some(close_pending(&repaired.items, &running, &words))
}

/// The items with a result for each call in `pending` that has none, directly behind its turn, in the order of the calls. Real
/// results that stand there come first. For a view only: what is stored must wait for the real result.
pub fn close_pending(items: &[Arc<Item>], pending: &BTreeMap<String, Why>, words: &Words) -> Vec<Arc<Item>> {
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

/// The seed's `patch_dangling_tool_calls`: the last item of the assistant that calls gets `[executing...]`, at the end, for each
/// of its calls that no later item of a tool answers. For the `codebuddy` preset; views of ours use [`for_view`].
pub fn patch_dangling_tool_calls(items: &[Arc<Item>]) -> Vec<Arc<Item>> {
    let mut patched = items.to_vec();
    let calls = |item: &Arc<Item>| item.role == Role::Assistant && item.calls().next().is_some();
    let Some(last) = items.iter().rposition(calls) else {
        return patched;
    };
    let later = items[last + 1..].iter().flat_map(|item| item.outcomes());
    let answered: BTreeSet<&str> = later.map(|outcome| outcome.call_id.as_str()).collect();
    let dangling = items[last]
        .calls()
        .filter(|call| !answered.contains(call.id.as_str()));
    patched.extend(dangling.map(|call| Arc::new(Item::outcome(call.id.as_str(), EXECUTING))));
    patched
}
