//! Repairs a transcript, with two operations: closing pending calls in a view, and repairing a history.
//!
//! Owns: keeping, moving and making items so that calls and results pair. An item that needs no change stays the same
//! `Arc`. Never: storing the made items, changing a person's text.

mod history;
mod sites;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use history::repair;

use crate::{Block, Item, Role, order};

/// Placeholder for the result of a running call.
const RUNNING: &str = "[executing...]";
/// Placeholder for a result that no transcript contains.
const LOST: &str = "[result lost]";
/// Placeholders of other clients for a result.
const OF_OTHERS: [&str; 2] = ["[interrupted by the user]", "[result lost during compaction]"];

/// Whether the text is a placeholder, which a real result replaces.
fn is_placeholder(text: &str) -> bool {
    text == RUNNING || text == LOST || OF_OTHERS.contains(&text)
}

/// The items as a model can see them: repaired, with the calls in `pending` closed as running. None if no change is
/// needed; this check copies and hashes nothing.
pub fn for_view(items: &[Arc<Item>], pending: &BTreeSet<String>) -> Option<Vec<Arc<Item>>> {
    (!order::openai(items)).then(|| close_pending(&repair(items, pending), pending))
}

/// The items with a placeholder for each call in `pending` without a result, directly after its turn, in the order of
/// the calls; the turn's real results come first. For a view only: the stored list must wait for the real result.
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

/// The place after the items that contain only results.
fn behind_results(items: &[Arc<Item>], from: usize) -> usize {
    let brings_only =
        |item: &&Arc<Item>| item.outcomes().next().is_some() && !item.asks() && item.role != Role::Assistant;
    from + items[from..].iter().take_while(brings_only).count()
}
