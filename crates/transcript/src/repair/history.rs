//! Repair of a history: removes unpaired parts, and moves misplaced results after their call.
//!
//! Owns: the new places. Invariants: a second repair changes nothing; a person's text stays, in its order; reasoning
//! stays before its calls or is removed with them. Never: closing running calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::sites::{self, Sites};
use super::{LOST, id_of};
use crate::{Block, Item, Role, order};

/// Repairs a history: every call has one result directly after its turn, or is in `pending` and has none.
///
/// The results of a turn keep their order; placeholders for lost ones come after them, in the order of the calls. No
/// item is copied unless blocks are removed from it.
pub fn repair(items: &[Arc<Item>], pending: &BTreeSet<String>) -> Vec<Arc<Item>> {
    let sites = sites::find(items);
    let mut rests: Vec<Rest> = rests(items, &sites);
    drop_reasoning_of_none(items, &mut rests);
    let turns = Turns::of(items, &sites, pending);
    let mut mending = Mending {
        items,
        sites: &sites,
        rests: &rests,
        made: Vec::with_capacity(items.len()),
    };
    mending.run(&turns);
    mending.made
}

/// The blocks that stay at an item's place, without results and removed ones; none if the item stays unchanged.
type Rest = Option<Vec<usize>>;

fn is_nothing(rest: &Rest) -> bool {
    rest.as_ref().is_some_and(Vec::is_empty)
}

fn rests(items: &[Arc<Item>], sites: &Sites) -> Vec<Rest> {
    let faulty = sites.calls.iter().filter(|site| site.is_faulty);
    let faulty: BTreeSet<(usize, usize)> = faulty.map(|site| (site.item, site.block)).collect();
    let mut rests = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let has_outcomes = item.outcomes().next().is_some();
        let lost_a_call = faulty.range((index, 0)..(index + 1, 0)).next().is_some();
        let keeps_a_call =
            || (0..item.blocks.len()).any(|at| is_call(&item.blocks[at]) && !faulty.contains(&(index, at)));
        let lost_its_calls = lost_a_call && !keeps_a_call();
        rests.push(if item.role == Role::Tool && has_outcomes {
            Some(Vec::new())
        } else if has_outcomes || lost_a_call {
            let stays = |at: &usize| match &item.blocks[*at] {
                Block::Outcome(_) => false,
                Block::Call(_) => !faulty.contains(&(index, *at)),
                Block::Thinking(_) => !lost_its_calls,
                _ => true,
            };
            Some((0..item.blocks.len()).filter(stays).collect())
        } else {
            None
        });
    }
    rests
}

fn is_call(block: &Block) -> bool {
    matches!(block, Block::Call(_))
}

/// Removes reasoning in an item of its own if the calls after it are removed and its turn has no other content left.
fn drop_reasoning_of_none(items: &[Arc<Item>], rests: &mut [Rest]) {
    let is_assistant = |at: usize| items.get(at).is_some_and(|item| item.role == Role::Assistant);
    for at in (0..items.len()).rev() {
        let only_thinks = items[at]
            .blocks
            .iter()
            .all(|block| matches!(block, Block::Thinking(_)));
        if !is_assistant(at) || !items[at].thinks() || !only_thinks {
            continue;
        }
        let mut next = at + 1;
        while is_assistant(next) && is_nothing(&rests[next]) {
            next += 1;
        }
        if next > at + 1 && !is_assistant(next) {
            rests[at] = Some(Vec::new());
        }
    }
}

/// Results and placeholders after each turn, by the index of its last item.
struct Turns {
    /// Results, in the order of the transcript.
    answers: BTreeMap<usize, Vec<usize>>,
    /// Calls without a result that do not run.
    lost: BTreeMap<usize, Vec<usize>>,
}

impl Turns {
    fn of(items: &[Arc<Item>], sites: &Sites, pending: &BTreeSet<String>) -> Self {
        let mut turns = Self {
            answers: BTreeMap::new(),
            lost: BTreeMap::new(),
        };
        for (index, last) in sites.kept(items) {
            let site = &sites.calls[index];
            match site.answer {
                Some(answer) => turns.answers.entry(last).or_default().push(answer),
                None if pending.contains(&id_of(&items[site.item].blocks[site.block])) => {}
                None => turns.lost.entry(last).or_default().push(index),
            }
        }
        turns
            .answers
            .values_mut()
            .for_each(|answers| answers.sort_unstable());
        turns
    }
}

struct Mending<'a> {
    items: &'a [Arc<Item>],
    sites: &'a Sites,
    rests: &'a [Rest],
    made: Vec<Arc<Item>>,
}

impl Mending<'_> {
    fn run(&mut self, turns: &Turns) {
        let mut whole: Option<usize> = None;
        for index in 0..self.items.len() {
            if whole == Some(index) {
                continue;
            }
            match &self.rests[index] {
                None => self.made.push(Arc::clone(&self.items[index])),
                Some(kept) if kept.is_empty() => {}
                Some(kept) => self.made.push(picked(&self.items[index], kept)),
            }
            let answers = turns.answers.get(&index).map(Vec::as_slice).unwrap_or_default();
            let lost = turns.lost.get(&index).map(Vec::as_slice).unwrap_or_default();
            if !answers.is_empty() || !lost.is_empty() {
                whole = self.answer(index, answers, lost).or(whole);
            }
        }
    }

    /// Adds the results of the turn that ends at `end`. A user's item with results and other content stays one item if
    /// it directly follows: then its index is returned.
    fn answer(&mut self, end: usize, answers: &[usize], lost: &[usize]) -> Option<usize> {
        let until = (end + 1..self.items.len()).find(|&at| !is_nothing(&self.rests[at]));
        let whole = until.filter(|&at| self.stays_whole(at, answers));
        let apart: Vec<usize> = answers
            .iter()
            .copied()
            .filter(|&answer| Some(self.sites.outcomes[answer].item) != whole)
            .collect();
        for piece in apart.chunk_by(|a, b| self.sites.outcomes[*a].item == self.sites.outcomes[*b].item) {
            self.made.push(self.piece(piece));
        }
        for &call in lost {
            let site = &self.sites.calls[call];
            let call_id = id_of(&self.items[site.item].blocks[site.block]);
            self.made.push(Arc::new(Item::outcome(call_id, LOST)));
        }
        if let Some(at) = whole {
            let mut kept: Vec<usize> = self.blocks_of(answers, at);
            kept.extend(self.rests[at].iter().flatten());
            kept.sort_unstable();
            self.made.push(picked(&self.items[at], &kept));
        }
        whole
    }

    /// Whether a user's item begins with results, some of this turn; results of other turns are then removed from it.
    fn stays_whole(&self, at: usize, answers: &[usize]) -> bool {
        let item = &self.items[at];
        item.role == Role::User && !self.blocks_of(answers, at).is_empty() && order::results_lead(item)
    }

    fn blocks_of(&self, answers: &[usize], at: usize) -> Vec<usize> {
        let sites = answers.iter().map(|&answer| &self.sites.outcomes[answer]);
        sites
            .filter(|site| site.item == at)
            .map(|site| site.block)
            .collect()
    }

    /// Results of one item as an item of their own: the same item if it has no other content.
    fn piece(&self, answers: &[usize]) -> Arc<Item> {
        let at = self.sites.outcomes[answers[0]].item;
        let item = &self.items[at];
        let blocks: Vec<usize> = answers
            .iter()
            .map(|&answer| self.sites.outcomes[answer].block)
            .collect();
        let calls = item.calls().next().is_some();
        if item.role == Role::Tool && !calls && blocks.len() == item.outcomes().count() {
            return Arc::clone(item);
        }
        let piece = picked(item, &blocks);
        if matches!(item.role, Role::User | Role::Tool) {
            return piece;
        }
        Arc::new(Item::made(Role::Tool, piece.blocks.clone()))
    }
}

/// The item with only these of its blocks.
fn picked(item: &Arc<Item>, blocks: &[usize]) -> Arc<Item> {
    if blocks.len() == item.blocks.len() {
        return Arc::clone(item);
    }
    let blocks = blocks.iter().map(|&at| item.blocks[at].clone()).collect();
    Arc::new(Item {
        role: item.role,
        blocks,
        raw: item.raw.clone(),
        edited: item.raw.is_some(),
    })
}
