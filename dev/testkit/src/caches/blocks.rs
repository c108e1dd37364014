//! A cache of whole blocks, shared by all requests: vLLM's pages, the steps of hosted APIs.
//!
//! Owns: which blocks are known, and which are evicted. Never: slots; any request may reuse any other's
//! beginning.

use std::collections::BTreeMap;

use super::{Cache, Evaluated};

/// Blocks of a fixed number of tokens, each identified by everything before it.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// Tokens of one block.
    tokens_each: usize,
    tokens_min: usize,
    known_max: usize,
    /// By the block before (0 for none) and the block's own tokens: its number and the time of its last use.
    known: BTreeMap<(u64, Vec<u32>), (u64, u64)>,
    next: u64,
    requests: u64,
    last: Vec<u32>,
}

impl Blocks {
    /// Prompts below `tokens_min` reuse nothing. Beyond `known_max`, the block unused longest is evicted, the
    /// end of a prompt before its beginning.
    pub fn new(block_tokens: usize, tokens_min: usize, known_max: usize) -> Self {
        Self {
            tokens_each: block_tokens.max(1),
            tokens_min,
            known_max,
            known: BTreeMap::new(),
            next: 1,
            requests: 0,
            last: Vec::new(),
        }
    }

    /// Visits the leading blocks and adds those that are unknown; returns how many were known.
    fn walk(&mut self, tokens: &[u32]) -> usize {
        let (mut parent, mut hits, mut missed) = (0, 0, false);
        for block in tokens.chunks_exact(self.tokens_each) {
            let next = self.next;
            let entry = self.known.entry((parent, block.to_vec())).or_insert((next, 0));
            missed |= entry.0 == next;
            self.next += u64::from(entry.0 == next);
            hits += usize::from(!missed);
            entry.1 = self.requests;
            parent = entry.0;
        }
        self.evict();
        hits
    }

    fn evict(&mut self) {
        while self.known.len() > self.known_max {
            let oldest = self
                .known
                .iter()
                .min_by_key(|(_, (number, used))| (*used, u64::MAX - number));
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            self.known.remove(&key);
        }
    }
}

impl Cache for Blocks {
    fn request(&mut self, tokens: &[u32]) -> Evaluated {
        self.requests += 1;
        let hits = self.walk(tokens);
        self.last = tokens.to_vec();
        let whole = tokens.len().saturating_sub(1) / self.tokens_each;
        let cached = hits.min(whole) * self.tokens_each;
        Evaluated::of(tokens.len(), if cached < self.tokens_min { 0 } else { cached })
    }

    fn reply(&mut self, tokens: &[u32]) {
        let mut all = std::mem::take(&mut self.last);
        all.extend_from_slice(tokens);
        self.walk(&all);
        self.last = all;
    }
}
