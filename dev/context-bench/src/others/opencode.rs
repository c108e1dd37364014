//! opencode's prune: clears old tool output and protects the newest, if that frees enough.
//!
//! Owns: the prune. Never: its model's summary of a rest that is still too large.

use context::tokens::Meter;

use super::{Entry, map_outcomes};

const PLACEHOLDER: &str = "[Old tool result content cleared]";

/// Clears results before the newest 40,000 tokens of them (a fifth of the limit, if less) and before the last
/// two asks, if that frees 20,000 tokens (a tenth of the limit, if less).
pub fn opencode_prune<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    let (protected, gain_min) = (40_000.min(limit / 5), 20_000.min(limit / 10));
    let (mut asks, mut results, mut gain) = (0, 0, 0);
    let mut view = items.to_vec();
    for (index, item) in items.iter().enumerate().rev() {
        asks += usize::from(item.borrow().asks());
        let tokens: usize = item
            .borrow()
            .outcomes()
            .map(|outcome| meter.text(&outcome.text))
            .sum();
        results += if asks >= 2 { tokens } else { 0 };
        if tokens > 0 && results > protected {
            view[index] = map_outcomes(item, &|_| Some(PLACEHOLDER.to_owned()));
            gain += meter
                .item(item.borrow())
                .saturating_sub(meter.item(view[index].borrow()));
        }
    }
    let view = if gain >= gain_min { view } else { items.to_vec() };
    super::within(&view, limit, meter)
}
