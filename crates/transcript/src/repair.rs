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

/// Stands for the result of a call that still runs.
const RUNNING: &str = "[executing...]";
/// Stands for a result that is in no transcript.
const LOST: &str = "[result lost]";
/// What other clients write in the place of a result.
const OF_OTHERS: [&str; 2] = ["[interrupted by the user]", "[result lost during compaction]"];

/// Whether the text stands for a result: a real one replaces it.
fn is_placeholder(text: &str) -> bool {
    text == RUNNING || text == LOST || OF_OTHERS.contains(&text)
}

/// The items as a model can see them: repaired, the calls in `pending` closed as running. None if nothing has to
/// change; this check copies and hashes nothing.
pub fn for_view(items: &[Arc<Item>], pending: &BTreeSet<String>) -> Option<Vec<Arc<Item>>> {
    (!order::openai(items)).then(|| close_pending(&repair(items, pending), pending))
}

/// The items with a placeholder for each call in `pending` without a result, directly after its turn, in the order of
/// the calls. Real results there come first. For a view only: the stored list must wait for the real result.
fn close_pending(items: &[Arc<Item>], pending: &BTreeSet<String>) -> Vec<Arc<Item>> {
    let sites = sites::find(items);
    let mut made: BTreeMap<usize, Vec<Arc<Item>>> = BTreeMap::new();
    for (index, end) in sites.kept(items) {
        let site = &sites.calls[index];
        let call_id = id_of(&items[site.item].blocks[site.block]);
        if site.answer.is_none() && pending.contains(&call_id) {
            let place = behind_results(items, end + 1);
            let closed = made.entry(place).or_default();
            closed.push(Arc::new(Item::outcome(call_id, RUNNING)));
        }
    }
    let mut closed = Vec::with_capacity(items.len() + made.len());
    for (index, item) in items.iter().enumerate() {
        closed.extend(made.remove(&index).unwrap_or_default());
        closed.push(Arc::clone(item));
    }
    closed.extend(made.into_values().flatten());
    closed
}

/// The id of a call, or of the call that a result answers.
fn id_of(block: &Block) -> String {
    match block {
        Block::Call(call) => call.id.clone(),
        Block::Outcome(outcome) => outcome.call_id.clone(),
        _ => String::new(),
    }
}

/// The place behind the items that bring nothing but results.
fn behind_results(items: &[Arc<Item>], from: usize) -> usize {
    let brings_only =
        |item: &&Arc<Item>| item.outcomes().next().is_some() && !item.asks() && item.role != Role::Assistant;
    from + items[from..].iter().take_while(brings_only).count()
}
