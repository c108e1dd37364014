//! Ordering rules of the OpenAI and Anthropic dialects, as checkers.
//!
//! Owns: telling the first breach and where it is. Never: repairing it; `repair` does.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::{Block, Item, Role, dialect};

/// A rule that an item breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Index of the item.
    pub item: usize,
    pub rule: Rule,
}

/// A rule of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// None but the assistant calls.
    CallIsTheAssistants,
    /// A call has an id.
    CallHasId,
    /// The calls of one turn have different ids.
    CallIdsDiffer,
    /// Each call has a result, directly behind its turn.
    CallIsAnswered,
    /// A result answers a call of the turn directly before it, and none does so twice.
    ResultHasCall,
    /// Results come before all other content of the user's turn.
    ResultsComeFirst,
    /// The first message is the user's.
    UserIsFirst,
    /// No message and no text is empty.
    NothingIsEmpty,
}

/// The rule that the item breaks.
fn breach<T>(item: usize, rule: Rule) -> Result<T, Breach> {
    Err(Breach { item, rule })
}

/// OpenAI's rules: the results of a turn come directly after it, one for each call, with nothing between.
///
/// A turn is one item of the assistant, or the neighbouring items in which the Responses API writes it.
pub fn openai<I: Borrow<Item>>(items: &[I]) -> Result<(), Breach> {
    let mut at = 0;
    while at < items.len() {
        let turn = turn(items, at);
        let mut open = calls(items, turn.clone())?;
        at = turn.end() + 1;
        while let Some(item) = items
            .get(at)
            .map(Borrow::borrow)
            .filter(|item| !open.is_empty() && answers(item))
        {
            answer(item, at, &mut open)?;
            at += 1;
            if item.asks() {
                break;
            }
        }
        if let Some(item) = open.into_values().min() {
            return breach(item, Rule::CallIsAnswered);
        }
    }
    Ok(())
}

/// Anthropic's rules. System items are beside the messages. Neighbouring messages of one role count as one, so all
/// results of a turn are in the next message of the user, at its beginning; the first message is the user's, none is
/// empty.
pub fn anthropic<I: Borrow<Item>>(items: &[I]) -> Result<(), Breach> {
    let places: Vec<usize> = (0..items.len())
        .filter(|&at| items[at].borrow().role != Role::System)
        .collect();
    let messages: Vec<&Item> = places.iter().map(|&at| items[at].borrow()).collect();
    if messages
        .first()
        .is_some_and(|first| first.role == Role::Assistant)
    {
        return breach(places[0], Rule::UserIsFirst);
    }
    if let Some(at) = messages.iter().position(|item| is_empty(item)) {
        return breach(places[at], Rule::NothingIsEmpty);
    }
    openai(&messages).map_err(|breach| Breach {
        item: places[breach.item],
        ..breach
    })
}

fn is_empty(item: &Item) -> bool {
    let blank = |block: &Block| matches!(block, Block::Text(text) if text.trim().is_empty());
    item.blocks.is_empty() || item.blocks.iter().any(blank)
}

/// The item has valid results: those in an assistant's item do not count.
fn answers(item: &Item) -> bool {
    matches!(item.role, Role::User | Role::Tool) && item.outcomes().next().is_some()
}

/// The items of the turn that begins there: one, unless it is a call that its dialect writes as an item of its own. Then the
/// neighbouring items of the assistant belong to it, as one response made them all.
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

/// The calls of a turn and their items.
fn calls<I: Borrow<Item>>(items: &[I], turn: RangeInclusive<usize>) -> Result<BTreeMap<&str, usize>, Breach> {
    let mut open = BTreeMap::new();
    for at in turn {
        let item: &Item = items[at].borrow();
        if item.outcomes().next().is_some() {
            return breach(at, Rule::ResultHasCall);
        }
        for call in item.calls() {
            if item.role != Role::Assistant {
                return breach(at, Rule::CallIsTheAssistants);
            }
            if call.id.is_empty() {
                return breach(at, Rule::CallHasId);
            }
            if open.insert(call.id.as_str(), at).is_some() {
                return breach(at, Rule::CallIdsDiffer);
            }
        }
    }
    Ok(open)
}

/// Takes what the item answers from the open calls.
fn answer(item: &Item, at: usize, open: &mut BTreeMap<&str, usize>) -> Result<(), Breach> {
    for outcome in item.outcomes() {
        if open.remove(outcome.call_id.as_str()).is_none() {
            return breach(at, Rule::ResultHasCall);
        }
    }
    if item.calls().next().is_some() {
        return breach(at, Rule::CallIsTheAssistants);
    }
    if results_lead(item) {
        Ok(())
    } else {
        breach(at, Rule::ResultsComeFirst)
    }
}

/// No other content of a user comes before a result in the same item.
pub(crate) fn results_lead(item: &Item) -> bool {
    let is_outcome = |block: &&Block| matches!(block, Block::Outcome(_));
    item.role != Role::User
        || !item
            .blocks
            .iter()
            .skip_while(is_outcome)
            .any(|block| is_outcome(&block))
}
