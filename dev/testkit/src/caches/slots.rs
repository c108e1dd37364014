//! Slots, as a llama.cpp server has them: each holds the state of one prompt.
//!
//! Owns: choosing a slot, how far its state can be rewound, where checkpoints are made; states parked in main
//! memory if slots share theirs. Never: parked states of slots with memory of their own.

use super::{Cache, Evaluated};

/// How far a state can be rewound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewind {
    /// To any token: full attention.
    Any,
    /// To a checkpoint: hybrid, recurrent and sliding-window models.
    Checkpoints(Checkpoints),
    /// Nowhere: only an extension is reused.
    Never,
}

/// The positions at which a state is saved while a prompt is evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoints {
    /// The token that begins a user's message, if the server knows such borders. The last border is a
    /// checkpoint, and so is each border at least `tokens_apart` after the previous checkpoint.
    pub user_start: Option<u32>,
    /// Tokens before the end of the prompt.
    pub near_end: Vec<usize>,
    pub tokens_apart: usize,
    /// The oldest is dropped beyond this many.
    pub per_slot_max: usize,
}

impl Checkpoints {
    /// Checkpoints of a chat endpoint: known borders, one batch of 512 tokens and 4 tokens before the end.
    pub fn chat(user_start: u32) -> Self {
        Self {
            user_start: Some(user_start),
            near_end: vec![516, 4],
            tokens_apart: 8_192,
            per_slot_max: 32,
        }
    }

    /// Checkpoints of a completion endpoint: no borders, larger batches.
    pub fn flat() -> Self {
        Self {
            user_start: None,
            near_end: vec![1_024, 4],
            tokens_apart: 8_192,
            per_slot_max: 32,
        }
    }

    /// The positions in a prompt, ascending.
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
struct State {
    tokens: Vec<u32>,
    checkpoints: Vec<usize>,
}

impl State {
    /// The common prefix with a prompt, as a share of the state and as a share of the prompt.
    fn shares(&self, tokens: &[u32]) -> (f64, f64) {
        let common = common(&self.tokens, tokens) as f64;
        let share = |of: &[u32]| common / of.len().max(1) as f64;
        (share(&self.tokens), share(tokens))
    }
}

#[derive(Debug, Clone, Default)]
struct Slot {
    state: State,
    used: u64,
}

/// A server with slots.
#[derive(Debug, Clone)]
pub struct Slots {
    rewind: Rewind,
    all: Vec<Slot>,
    /// None if each slot has memory of its own.
    parked: Option<Vec<State>>,
    current: usize,
    requests: u64,
}

/// A slot must share at least this part of the new prompt to be chosen for its state.
const SIMILARITY_MIN: f64 = 0.1;
/// If slots share their memory: a slot is refilled if a prompt keeps less than this part of its state.
const KEEP_MIN: f64 = 0.5;
/// A parked state is used only if a prompt shares at least this part of it.
const PARKED_KEEP_MIN: f64 = 0.25;

impl Slots {
    /// A server with this many slots, at least one.
    pub fn new(rewind: Rewind, slots: usize) -> Self {
        Self {
            rewind,
            all: vec![Slot::default(); slots.max(1)],
            parked: None,
            current: 0,
            requests: 0,
        }
    }

    /// The same with one memory for all slots, like a llama.cpp server that gets no number of slots: a
    /// request that starts moves the states of the other slots into main memory. From there the server
    /// refills a slot that it chooses itself, and none that a request names.
    pub fn shared(rewind: Rewind, slots: usize) -> Self {
        Self {
            parked: Some(Vec::new()),
            ..Self::new(rewind, slots)
        }
    }

    /// Evaluates a request that names its slot; the number wraps.
    pub fn request_in(&mut self, slot: usize, tokens: &[u32]) -> Evaluated {
        self.current = slot % self.all.len();
        self.requests += 1;
        self.park_others();
        let slot = &mut self.all[self.current];
        slot.used = self.requests;
        let slot = &mut slot.state;
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

    fn park_others(&mut self) {
        let Some(parked) = &mut self.parked else { return };
        for (index, slot) in self.all.iter_mut().enumerate() {
            if index != self.current {
                park(parked, std::mem::take(&mut slot.state));
            }
        }
    }

    /// Moves the parked state with the best match to a prompt into a slot, if it matches better than the
    /// slot's state.
    fn refill(&mut self, slot: usize, tokens: &[u32]) {
        let (Some(parked), state) = (&mut self.parked, &mut self.all[slot].state) else {
            return;
        };
        let mut best = None;
        let mut most = state.shares(tokens);
        for (index, other) in parked.iter().enumerate() {
            let (keeps, covers) = other.shares(tokens);
            if keeps >= PARKED_KEEP_MIN && keeps > most.0 && covers > most.1 {
                (best, most) = (Some(index), (keeps, covers));
            }
        }
        if let Some(best) = best {
            let found = parked.swap_remove(best);
            park(parked, std::mem::replace(state, found));
        }
    }

    /// The slot with the longest common prefix, else the one unused longest; and whether it would lose much
    /// of its state.
    fn choose(&self, tokens: &[u32]) -> (usize, bool) {
        let shares = self.all.iter().map(|slot| slot.state.shares(tokens));
        let mut best: Option<(usize, (f64, f64))> = None;
        for (index, (keeps, covers)) in shares.enumerate() {
            if covers > SIMILARITY_MIN && best.is_none_or(|(_, (_, most))| covers > most) {
                best = Some((index, (keeps, covers)));
            }
        }
        let oldest = || {
            (0..self.all.len())
                .min_by_key(|index| self.all[*index].used)
                .unwrap_or(0)
        };
        best.map_or_else(
            || (oldest(), true),
            |(index, (keeps, _))| (index, keeps < KEEP_MIN),
        )
    }
}

impl Cache for Slots {
    fn request(&mut self, tokens: &[u32]) -> Evaluated {
        let (slot, loses_much) = self.choose(tokens);
        if loses_much {
            self.refill(slot, tokens);
        }
        self.request_in(slot, tokens)
    }

    fn reply(&mut self, tokens: &[u32]) {
        self.all[self.current].state.tokens.extend_from_slice(tokens);
    }
}

/// Parks a state, unless a longer one extends it; drops the states that it extends.
fn park(parked: &mut Vec<State>, state: State) {
    if !parked.iter().any(|other| other.tokens.starts_with(&state.tokens)) {
        parked.retain(|other| !state.tokens.starts_with(&other.tokens));
        parked.push(state);
    }
}

fn common(one: &[u32], other: &[u32]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}
