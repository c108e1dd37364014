//! Slots, as a llama.cpp server has them: each holds the state of one prompt.
//!
//! Owns: choosing a slot, how far its state can be rewound, where checkpoints are made. Never: states parked in main memory.

use super::{Cache, Evaluated};

/// How far a state can go back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewind {
    /// To any token: full attention.
    Any,
    /// To a checkpoint: hybrid, recurrent and sliding-window models.
    Checkpoints(Checkpoints),
    /// Nowhere: only an extension is reused.
    Never,
}

/// Where a state is saved while a prompt is evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoints {
    /// The token that begins a user's message, where the server knows of such borders. The last is a checkpoint, and each
    /// that lies `tokens_apart` after the one before.
    pub user_start: Option<u32>,
    /// Tokens before the end of the prompt.
    pub near_end: Vec<usize>,
    pub tokens_apart: usize,
    /// The oldest is dropped beyond this many.
    pub per_slot_max: usize,
}

impl Checkpoints {
    /// As of a chat endpoint: borders known, one batch of 512 tokens and 4 tokens before the end.
    pub fn chat(user_start: u32) -> Self {
        Self {
            user_start: Some(user_start),
            near_end: vec![516, 4],
            tokens_apart: 8_192,
            per_slot_max: 32,
        }
    }

    /// As of a completion endpoint: no borders, larger batches.
    pub fn flat() -> Self {
        Self {
            user_start: None,
            near_end: vec![1_024, 4],
            tokens_apart: 8_192,
            per_slot_max: 32,
        }
    }

    /// The places of a prompt, ascending.
    fn places(&self, tokens: &[u32]) -> Vec<usize> {
        let mut places: Vec<usize> = self
            .near_end
            .iter()
            .filter_map(|back| tokens.len().checked_sub(*back))
            .collect();
        let starts = tokens
            .iter()
            .enumerate()
            .filter(|(_, token)| Some(**token) == self.user_start);
        let mut last = None;
        let mut saved = 0;
        for (start, _) in starts {
            if start >= saved + self.tokens_apart {
                places.push(start);
                saved = start;
            }
            last = Some(start);
        }
        places.extend(last);
        places.retain(|place| *place > 0);
        places.sort_unstable();
        places.dedup();
        places
    }
}

#[derive(Debug, Clone, Default)]
struct Slot {
    tokens: Vec<u32>,
    checkpoints: Vec<usize>,
    used: u64,
}

/// A server with slots.
#[derive(Debug, Clone)]
pub struct Slots {
    rewind: Rewind,
    states: Vec<Slot>,
    current: usize,
    requests: u64,
}

/// A slot that has less than this share of the new prompt is not chosen for what it has.
const SIMILARITY_MIN: f64 = 0.1;

impl Slots {
    /// A server with this many slots, at least one.
    pub fn new(rewind: Rewind, slots: usize) -> Self {
        Self {
            rewind,
            states: vec![Slot::default(); slots.max(1)],
            current: 0,
            requests: 0,
        }
    }

    /// A request that names its slot; the number wraps.
    pub fn request_in(&mut self, slot: usize, tokens: &[u32]) -> Evaluated {
        self.current = slot % self.states.len();
        self.requests += 1;
        let slot = &mut self.states[self.current];
        slot.used = self.requests;
        let common = common(&slot.tokens, tokens);
        let extends = common == slot.tokens.len() && common < tokens.len();
        // The last token is always evaluated: its output is the first token of the reply.
        let usable = common.min(tokens.len().saturating_sub(1));
        let cached = match &self.rewind {
            Rewind::Any => usable,
            _ if extends => common,
            Rewind::Never => 0,
            Rewind::Checkpoints(_) => slot
                .checkpoints
                .iter()
                .copied()
                .filter(|place| *place <= usable)
                .max()
                .unwrap_or(0),
        };
        if let Rewind::Checkpoints(rule) = &self.rewind {
            slot.checkpoints.retain(|place| *place <= cached);
            let new = rule.places(tokens).into_iter().filter(|place| *place > cached);
            slot.checkpoints.extend(new);
            let extra = slot.checkpoints.len().saturating_sub(rule.per_slot_max);
            slot.checkpoints.drain(..extra);
        }
        slot.tokens = tokens.to_vec();
        Evaluated::of(tokens.len(), cached)
    }

    /// The slot with the most in common; failing that, the one that was used longest ago.
    fn choose(&self, tokens: &[u32]) -> usize {
        let mut best: Option<(usize, f64)> = None;
        for (index, slot) in self
            .states
            .iter()
            .enumerate()
            .filter(|(_, slot)| !slot.tokens.is_empty())
        {
            let share = common(&slot.tokens, tokens) as f64 / tokens.len().max(1) as f64;
            if share > SIMILARITY_MIN && best.is_none_or(|(_, most)| share > most) {
                best = Some((index, share));
            }
        }
        let oldest = (0..self.states.len())
            .min_by_key(|index| self.states[*index].used)
            .unwrap_or(0);
        best.map_or(oldest, |(index, _)| index)
    }
}

impl Cache for Slots {
    fn request(&mut self, tokens: &[u32]) -> Evaluated {
        self.request_in(self.choose(tokens), tokens)
    }

    fn reply(&mut self, tokens: &[u32]) {
        self.states[self.current].tokens.extend_from_slice(tokens);
    }
}

fn common(one: &[u32], other: &[u32]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}
