//! Dividing a stretch of conversation into chunks that are summarised one by one.
//!
//! Owns: how many chunks, and where they end. Never: counting tokens (a caller brings the weights), the text of a chunk.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::ops::Range;

use transcript::{Item, cut};

use crate::shorten::truncate::share_of;

/// How to divide.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkRules {
    /// Target size of a chunk, in tokens.
    pub tokens_target: usize,
    /// Maximum size of a chunk, in tokens; only a single larger group exceeds it.
    pub tokens_max: usize,
    /// Below this average weight there are too many chunks, in tokens.
    pub tokens_min: usize,
    /// The least and the most items of a chunk, where groups allow it; the last chunk may have more.
    pub items_min: usize,
    pub items_max: usize,
    /// By how much a chunk may exceed an even share.
    pub slack: f64,
    /// Cut only where no call is parted from its result.
    pub whole_groups: bool,
}

impl ChunkRules {
    /// code-buddy's constants.
    pub fn codebuddy() -> Self {
        Self {
            tokens_target: 2_000,
            tokens_max: usize::MAX,
            tokens_min: 500,
            items_min: 3,
            items_max: 20,
            slack: 1.2,
            whole_groups: false,
        }
    }

    /// Ours: whole groups, even shares of at most `tokens_max`.
    pub fn quipu(tokens_max: usize) -> Self {
        let tokens_max = tokens_max.max(1);
        Self {
            tokens_target: tokens_max,
            tokens_max,
            tokens_min: tokens_max / 4,
            items_min: 1,
            items_max: usize::MAX,
            slack: 1.2,
            whole_groups: true,
        }
    }
}

/// Size of a stretch, in tokens; all 0 for an empty one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct StretchStats {
    items: usize,
    tokens: usize,
}

/// A part of a stretch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its place among the chunks, from 0.
    pub index: usize,
    /// The places of its items in the stretch.
    pub items: Range<usize>,
    pub tokens: usize,
}

/// Sums up the weights of the items.
fn stats(weights: &[usize]) -> StretchStats {
    StretchStats {
        items: weights.len(),
        tokens: total(weights),
    }
}

fn total(weights: &[usize]) -> usize {
    weights.iter().fold(0, |sum, &weight| sum.saturating_add(weight))
}

/// How many chunks are best when `wanted` are asked for: fewer where they would be slight, more where they would be heavy. At
/// least 1.
fn optimal_count(stats: &StretchStats, wanted: usize, rules: &ChunkRules) -> usize {
    let wanted = wanted.max(1);
    let target = rules.tokens_target.max(1);
    let share = stats.tokens / wanted;
    if stats.items < rules.items_min.saturating_mul(2) {
        1
    } else if share < rules.tokens_min {
        (stats.tokens / rules.tokens_min).max(1)
    } else if share > target.saturating_mul(2) {
        stats.tokens.div_ceil(target)
    } else {
        wanted
    }
}

/// Divides a stretch; `weights` are the tokens of its items, `wanted` the number of chunks asked for. Every item is in exactly
/// one chunk, in order.
pub fn split<I: Borrow<Item>>(
    items: &[I],
    weights: &[usize],
    wanted: usize,
    rules: &ChunkRules,
) -> Vec<Chunk> {
    let cuts: Vec<usize> = if rules.whole_groups {
        cut::safe_cuts(items, &BTreeSet::new())
    } else {
        (1..=items.len()).collect()
    };
    let weight_of = |range: &Range<usize>| total(weights.get(range.clone()).unwrap_or_default());
    let stats = stats(weights);
    let count = optimal_count(&stats, wanted, rules).max(stats.tokens.div_ceil(rules.tokens_max));
    let share = stats.tokens.div_ceil(count);
    let limit = share_of(share, rules.slack).clamp(1, rules.tokens_max);
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut open = Chunk {
        index: 0,
        items: 0..0,
        tokens: 0,
    };
    // The end is always a cut: the rest after the last safe cut belongs to the last group.
    for end in cuts
        .into_iter()
        .filter(|&cut| cut < items.len())
        .chain([items.len()])
    {
        let group = open.items.end..end;
        let tokens = weight_of(&group);
        let sum = open.tokens.saturating_add(tokens);
        let last = chunks.len() + 1 >= count;
        let uneven = sum > limit && open.items.len() >= rules.items_min && !last;
        let full = open.items.len() >= rules.items_max && !last;
        if !open.items.is_empty() && (uneven || full || sum > rules.tokens_max) {
            chunks.push(std::mem::replace(
                &mut open,
                Chunk {
                    index: 0,
                    items: group.start..group.start,
                    tokens: 0,
                },
            ));
        }
        open.tokens = open.tokens.saturating_add(tokens);
        open.items.end = end;
    }
    if !open.items.is_empty() {
        chunks.push(open);
    }
    numbered(chunks)
}

/// Joins chunks of less than `tokens_min` with the next, a last one with that before it, while the sum stays within
/// `tokens_max`.
pub fn balance(chunks: Vec<Chunk>, tokens_min: usize, tokens_max: usize) -> Vec<Chunk> {
    let mut joined: Vec<Chunk> = Vec::new();
    for chunk in chunks {
        match joined.last_mut() {
            Some(before) if before.tokens < tokens_min && joins(before, &chunk, tokens_max) => {
                join(before, &chunk);
            }
            _ => joined.push(chunk),
        }
    }
    if let Some(last) = joined.pop() {
        match joined.last_mut() {
            Some(before) if last.tokens < tokens_min && joins(before, &last, tokens_max) => {
                join(before, &last);
            }
            _ => joined.push(last),
        }
    }
    numbered(joined)
}

fn joins(before: &Chunk, after: &Chunk, tokens_max: usize) -> bool {
    before.items.end == after.items.start && before.tokens.saturating_add(after.tokens) <= tokens_max
}

fn join(before: &mut Chunk, after: &Chunk) {
    before.items.end = after.items.end;
    before.tokens = before.tokens.saturating_add(after.tokens);
}

fn numbered(mut chunks: Vec<Chunk>) -> Vec<Chunk> {
    for (index, chunk) in chunks.iter_mut().enumerate() {
        chunk.index = index;
    }
    chunks
}

#[cfg(test)]
mod tests;
