//! Ordering rules of the OpenAI dialect, as a checker.
//!
//! Owns: checking whether a rule is broken. Never: repairing it; `repair` does.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::{Block, Item, Role, dialect};

/// OpenAI's rules: the results of a turn come directly after it, one for each call, with no other item in between.
///
/// A turn is one item of the assistant, or the neighbouring items in which the Responses API writes it.
pub fn openai<I: Borrow<Item>>(items: &[I]) -> bool {
    let mut at = 0;
    while at < items.len() {
        let turn = turn(items, at);
        let Some(mut open) = calls(items, turn.clone()) else {
            return false;
        };
        at = turn.end() + 1;
        while let Some(item) = items
            .get(at)
            .map(Borrow::borrow)
            .filter(|item| !open.is_empty() && answers(item))
        {
            if !answer(item, &mut open) {
                return false;
            }
            at += 1;
            if item.asks() {
                break;
            }
        }
        if !open.is_empty() {
            return false;
        }
    }
    true
}

/// Whether the item has valid results: those in an assistant's item do not count.
fn answers(item: &Item) -> bool {
    matches!(item.role, Role::User | Role::Tool) && item.outcomes().next().is_some()
}

/// The items of the turn that begins at `at`: one, unless it is a call that its dialect writes as an item of its own.
/// Then the assistant's neighbouring items also belong to it, because they are one response.
pub(crate) fn turn<I: Borrow<Item>>(items: &[I], at: usize) -> RangeInclusive<usize> {
    let first: &Item = items[at].borrow();
    let calls_alone = matches!(first.blocks.as_slice(), [Block::Call(_)])
        && first.role == Role::Assistant
        && first.raw.as_deref().is_some_and(dialect::stands_alone);
    let neighbours = || {
        items[at + 1..]
            .iter()
            .take_while(|item| (*item).borrow().role == Role::Assistant)
            .count()
    };
    at..=at + if calls_alone { neighbours() } else { 0 }
}

/// The ids of a turn's calls; none if one of its calls is not the assistant's, has no id or a repeated one, or if the
/// turn contains a result.
fn calls<I: Borrow<Item>>(items: &[I], turn: RangeInclusive<usize>) -> Option<BTreeSet<&str>> {
    let mut open = BTreeSet::new();
    for item in items[turn].iter().map(Borrow::borrow) {
        let differ = item
            .calls()
            .all(|call| !call.id.is_empty() && open.insert(call.id.as_str()));
        let is_others = item.role != Role::Assistant && item.calls().next().is_some();
        if !differ || is_others || item.outcomes().next().is_some() {
            return None;
        }
    }
    Some(open)
}

/// Removes the calls that the item answers from the open ones; false if it breaks a rule.
fn answer(item: &Item, open: &mut BTreeSet<&str>) -> bool {
    let has_calls = item
        .outcomes()
        .all(|outcome| open.remove(outcome.call_id.as_str()));
    has_calls && item.calls().next().is_none() && results_lead(item)
}

/// Whether no other content of a user comes before a result in the same item.
pub(crate) fn results_lead(item: &Item) -> bool {
    let is_outcome = |block: &&Block| matches!(block, Block::Outcome(_));
    item.role != Role::User
        || !item
            .blocks
            .iter()
            .skip_while(is_outcome)
            .any(|block| is_outcome(&block))
}
