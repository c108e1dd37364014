//! A conversation, request by request, through a strategy and a simulated prefix cache.
//!
//! Owns: the cost of a request. The cache holds the last request; a new one reads from it the items of their
//! common prefix. Never: time; the cache does not expire between two requests.

use std::sync::Arc;

use context::tokens::Meter;
use transcript::{Item, Role};

use crate::strategy::Strategy;

/// Price of a token read from the cache; an uncached token costs 1.
pub const CACHED_PRICE: f64 = 0.1;
/// Price of a token written to the cache.
pub const WRITTEN_PRICE: f64 = 1.25;

/// The cost of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cost {
    pub requests: usize,
    /// Tokens of all requests together, and how many of them came from the cache.
    pub tokens: usize,
    pub cached_tokens: usize,
    /// Requests without all of the previous request as their prefix.
    pub rewrites: usize,
    /// Requests whose view was over the limit.
    pub over_limit: usize,
    /// The size of each request's view as a share of the limit.
    pub fill: Vec<f64>,
    /// The tokens that each rewrite removed.
    pub drops: Vec<usize>,
}

impl Cost {
    /// The price of the whole conversation, in full-price tokens.
    pub fn price(&self) -> f64 {
        self.cached_tokens as f64 * CACHED_PRICE + (self.tokens - self.cached_tokens) as f64 * WRITTEN_PRICE
    }

    /// Adds the cost of another conversation.
    pub fn join(&mut self, other: Self) {
        self.requests += other.requests;
        self.tokens += other.tokens;
        self.cached_tokens += other.cached_tokens;
        self.rewrites += other.rewrites;
        self.over_limit += other.over_limit;
        self.fill.extend(other.fill);
        self.drops.extend(other.drops);
    }

    /// The share of sent tokens that came from the cache, 0 to 1.
    pub fn cached_share(&self) -> f64 {
        if self.tokens == 0 {
            0.0
        } else {
            self.cached_tokens as f64 / self.tokens as f64
        }
    }
}

/// Replays a conversation: a request before each of the assistant's items. Returns its cost and the last
/// view.
pub fn replay(
    items: &[Arc<Item>],
    strategy: &mut dyn Strategy,
    limit: usize,
    meter: &Meter,
) -> (Cost, Vec<Arc<Item>>) {
    let mut cost = Cost::default();
    let mut last: Vec<Arc<Item>> = Vec::new();
    let mut last_weights: Vec<usize> = Vec::new();
    let mut sent = 0;
    for (index, item) in items.iter().enumerate() {
        if item.role != Role::Assistant {
            continue;
        }
        let view = strategy.request(&items[sent..index], limit);
        sent = index;
        let same = view
            .iter()
            .zip(&last)
            .take_while(|(new, old)| Arc::ptr_eq(new, old) || new == old)
            .count();
        let mut weights = last_weights[..same].to_vec();
        weights.extend(view[same..].iter().map(|item| meter.item(item)));
        let tokens: usize = weights.iter().sum();
        cost.requests += 1;
        cost.tokens += tokens;
        cost.cached_tokens += weights[..same].iter().sum::<usize>();
        cost.over_limit += usize::from(tokens > limit);
        cost.fill.push(tokens as f64 / limit as f64);
        if same < last.len() {
            cost.rewrites += 1;
            let last_tokens: usize = last_weights.iter().sum();
            cost.drops.push(last_tokens.saturating_sub(tokens));
        }
        (last, last_weights) = (view, weights);
    }
    let view = strategy.request(&items[sent..], limit);
    (cost, view)
}
