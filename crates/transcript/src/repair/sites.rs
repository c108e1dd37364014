//! Places of a transcript's calls and results, and their pairs.
//!
//! Owns: the treatment of missing, duplicate and reused ids. Never: moving anything.

use std::collections::HashMap;
use std::sync::Arc;

use super::is_placeholder;
use crate::{Block, Item, Role, order};

/// A call.
#[derive(Debug)]
pub(super) struct CallSite {
    pub(super) item: usize,
    pub(super) block: usize,
    /// Whether the call is removed.
    pub(super) is_faulty: bool,
    /// Index of its result among the results.
    pub(super) answer: Option<usize>,
    /// Number of the user's messages before it.
    spoken: usize,
}

/// A result.
#[derive(Debug)]
pub(super) struct OutcomeSite {
    pub(super) item: usize,
    pub(super) block: usize,
    is_placeholder: bool,
}

/// The calls and results, each in the order of the transcript.
#[derive(Debug, Default)]
pub(super) struct Sites {
    pub(super) calls: Vec<CallSite>,
    pub(super) outcomes: Vec<OutcomeSite>,
}

/// State of an id so far.
#[derive(Default)]
struct IdSites {
    call: Option<usize>,
    /// Results before the first call.
    early: Vec<usize>,
}

/// Finds the calls and results. A result belongs to the nearest earlier call of its id; the first one counts, but a
/// real result replaces a placeholder. A result before any call belongs to the first call if that has no better one. If
/// an id is reused while its call is open, the second call is a copy and faulty, unless the user spoke in between;
/// after a result it is always a new call.
pub(super) fn find(items: &[Arc<Item>]) -> Sites {
    let mut sites = Sites::default();
    let mut known: HashMap<&str, IdSites> = HashMap::new();
    let mut ids: Vec<&str> = Vec::new();
    let mut held: Vec<(usize, usize)> = Vec::new();
    let mut spoken = 0;
    for (index, item) in items.iter().enumerate() {
        // A turn's own items contain no results; if they do, the results count as after it.
        if item.role != Role::Assistant {
            sites.outcomes(items, &mut held, &mut known);
        }
        for (block, part) in item.blocks.iter().enumerate() {
            match part {
                Block::Outcome(_) => held.push((index, block)),
                Block::Call(call) => {
                    let is_faulty = item.role != Role::Assistant || sites.is_faulty(&call.id, spoken, &known);
                    if !is_faulty {
                        let known = known.entry(&call.id).or_default();
                        if known.call.is_none() {
                            ids.push(&call.id);
                        }
                        known.call = Some(sites.calls.len());
                    }
                    sites.calls.push(CallSite {
                        item: index,
                        block,
                        is_faulty,
                        answer: None,
                        spoken,
                    });
                }
                _ => {}
            }
        }
        if item.role != Role::Assistant {
            sites.outcomes(items, &mut held, &mut known);
        }
        spoken += usize::from(item.asks());
    }
    sites.outcomes(items, &mut held, &mut known);
    sites.settle_early(items, &ids, &known);
    sites
}

impl Sites {
    /// The calls that stay, each with the index of its turn's last item.
    pub(super) fn kept(&self, items: &[Arc<Item>]) -> Vec<(usize, usize)> {
        let mut end = None;
        let mut kept = Vec::new();
        for (index, site) in self.sound() {
            let last = match end {
                Some(last) if site.item <= last => last,
                _ => *order::turn(items, site.item).end(),
            };
            end = Some(last);
            kept.push((index, last));
        }
        kept
    }

    /// The calls without a fault, with their index among all calls.
    fn sound(&self) -> impl Iterator<Item = (usize, &CallSite)> {
        let calls = self.calls.iter().enumerate();
        calls.filter(|(_, site)| !site.is_faulty)
    }

    /// Whether a call has no id, so that no result can name it, or the id of a call that is still open.
    fn is_faulty(&self, id: &str, spoken: usize, known: &HashMap<&str, IdSites>) -> bool {
        let before = known.get(id).and_then(|known| Some(&self.calls[known.call?]));
        id.is_empty() || before.is_some_and(|before| before.answer.is_none() && before.spoken == spoken)
    }

    /// Assigns the collected results to calls.
    fn outcomes<'a>(
        &mut self,
        items: &'a [Arc<Item>],
        held: &mut Vec<(usize, usize)>,
        known: &mut HashMap<&'a str, IdSites>,
    ) {
        for (item, block) in held.drain(..) {
            let Block::Outcome(outcome) = &items[item].blocks[block] else {
                continue;
            };
            let known = known.entry(&outcome.call_id).or_default();
            let index = self.outcomes.len();
            self.outcomes.push(OutcomeSite {
                item,
                block,
                is_placeholder: is_placeholder(&outcome.text),
            });
            match known.call {
                None => known.early.push(index),
                Some(call) => self.offer(call, index),
            }
        }
    }

    /// Assigns the result to the call if the call has none or only a placeholder.
    fn offer(&mut self, call: usize, index: usize) {
        let is_better =
            |answer: usize| self.outcomes[answer].is_placeholder && !self.outcomes[index].is_placeholder;
        if self.calls[call].answer.is_none_or(is_better) {
            self.calls[call].answer = Some(index);
        }
    }

    fn settle_early(&mut self, items: &[Arc<Item>], ids: &[&str], known: &HashMap<&str, IdSites>) {
        if ids.iter().all(|id| known[id].early.is_empty()) {
            return;
        }
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (index, site) in self.sound() {
            if let Block::Call(call) = &items[site.item].blocks[site.block] {
                first.entry(&call.id).or_insert(index);
            }
        }
        for id in ids {
            for &early in &known[id].early {
                self.offer(first[id], early);
            }
        }
    }
}
