//! Dividing a stretch of conversation into chunks that are summarised one by one.
//!
//! Owns: the number of chunks, and their ends. Never: counting tokens (a caller passes the weights), the text of a
//! chunk.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::ops::Range;

use transcript::{Item, cut};

use crate::budget::share_of;

/// Factor by which a chunk may exceed an even share.
const SLACK: f64 = 1.2;

/// A part of a stretch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its index among the chunks, from 0.
    pub index: usize,
    /// The range of its items in the stretch.
    pub items: Range<usize>,
    pub tokens: usize,
}

/// The tokens of the messages of a stretch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    pub messages: usize,
    pub tokens: usize,
    pub tokens_avg: usize,
    pub tokens_max: usize,
    pub tokens_min: usize,
}

impl Statistics {
    /// Statistics of messages with these tokens; all 0 without any.
    pub fn of(weights: &[usize]) -> Self {
        let (messages, tokens) = (weights.len(), total(weights));
        Self {
            messages,
            tokens,
            tokens_avg: tokens.checked_div(messages).unwrap_or_default(),
            tokens_max: weights.iter().copied().max().unwrap_or_default(),
            tokens_min: weights.iter().copied().min().unwrap_or_default(),
        }
    }
}

fn total(weights: &[usize]) -> usize {
    weights.iter().fold(0, |sum, &weight| sum.saturating_add(weight))
}

/// Divides a stretch into even shares of at most `tokens_max`; `weights` are the tokens of its items. Every item is in
/// exactly one chunk, in order. No call is separated from its result: only such a group can exceed `tokens_max`.
pub fn split<I: Borrow<Item>>(items: &[I], weights: &[usize], tokens_max: usize) -> Vec<Chunk> {
    let tokens_max = tokens_max.max(1);
    let sum = total(weights);
    let count = sum.div_ceil(tokens_max).max(1);
    let limit = share_of(sum.div_ceil(count), SLACK).clamp(1, tokens_max);
    let opened = |at: usize| Chunk {
        index: 0,
        items: at..at,
        tokens: 0,
    };
    let (mut chunks, mut open) = (Vec::new(), opened(0));
    let cuts = cut::safe_cuts(items, &BTreeSet::new());
    // The end is always a cut: the rest after the last safe cut belongs to the last group.
    let inner = cuts.into_iter().filter(|&cut| cut < items.len());
    for end in inner.chain([items.len()]) {
        let group = open.items.end..end;
        let tokens = total(weights.get(group.clone()).unwrap_or_default());
        let sum = open.tokens.saturating_add(tokens);
        let is_last = chunks.len() + 1 >= count;
        if !open.items.is_empty() && (sum > tokens_max || sum > limit && !is_last) {
            chunks.push(std::mem::replace(&mut open, opened(group.start)));
        }
        open.tokens = open.tokens.saturating_add(tokens);
        open.items.end = end;
    }
    if !open.items.is_empty() {
        chunks.push(open);
    }
    numbered(chunks)
}

/// Joins chunks of less than `tokens_min` with the next one, and a small last one with the previous one, while the sum
/// stays within `tokens_max`.
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
