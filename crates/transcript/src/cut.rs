//! Places where a transcript may be cut: never between a call and its result, nor between reasoning and the item that
//! follows from it.
//!
//! Owns: pairing of calls with results. Never: choosing among the safe places.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};

use crate::{Item, Role};

/// One call and the place of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Index of the item that calls.
    pub call: usize,
    /// Index of the item with the result; none if there is no result.
    pub outcome: Option<usize>,
}

/// Pairs each call with the first later result of its id. A reused id starts a new pair; a result without an earlier
/// call belongs to none.
pub fn pairs<I: Borrow<Item>>(items: &[I]) -> Vec<Pair> {
    let mut found: Vec<Pair> = Vec::new();
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, item) in items.iter().map(Borrow::borrow).enumerate() {
        for outcome in item.outcomes() {
            let waiting = open.get_mut(outcome.call_id.as_str()).and_then(Vec::pop);
            if let Some(pair) = waiting {
                found[pair].outcome = Some(index);
            }
        }
        for call in item.calls().filter(|call| !call.id.is_empty()) {
            open.entry(&call.id).or_default().push(found.len());
            found.push(Pair {
                call: index,
                outcome: None,
            });
        }
    }
    found
}

/// The indices before which a cut is safe, in order; the end counts as one. `pending` are ids of running calls: no
/// later item may be cut off from such a call.
pub fn safe_cuts<I: Borrow<Item>>(items: &[I], pending: &BTreeSet<String>) -> Vec<usize> {
    let mut unsafe_until = 0;
    let mut blocked = vec![false; items.len() + 1];
    let mut reach: Vec<usize> = (0..items.len()).collect();
    for pair in pairs(items) {
        if let Some(outcome) = pair.outcome {
            reach[pair.call] = reach[pair.call].max(outcome);
        }
    }
    for (index, item) in items.iter().map(Borrow::borrow).enumerate() {
        let runs = item.calls().any(|call| pending.contains(&call.id));
        let goes_on = leads_on(items, index);
        let until = if runs {
            items.len()
        } else {
            reach[index].max(index + usize::from(goes_on))
        };
        unsafe_until = unsafe_until.max(until);
        blocked[index + 1] = unsafe_until > index;
        let stray = item.role == Role::Tool || (item.outcomes().next().is_some() && !item.asks());
        blocked[index] |= stray && index > 0;
    }
    (1..=items.len()).filter(|&index| !blocked[index]).collect()
}

/// Whether an item contains only reasoning and its turn continues in the next item: Codex writes each part as an item
/// of its own.
fn leads_on<I: Borrow<Item>>(items: &[I], index: usize) -> bool {
    let item: &Item = items[index].borrow();
    let next_is_assistant = items
        .get(index + 1)
        .is_some_and(|next| next.borrow().role == Role::Assistant);
    let only_leads =
        !item.blocks.is_empty() && item.thinks() && item.prose().is_empty() && item.calls().next().is_none();
    item.role == Role::Assistant && next_is_assistant && only_leads
}
