//! Sliding windows: the newest items stay. The idea of the first chat programs, and of `LangChain`'s
//! `trim_messages`.
//!
//! Owns: only the window. Never: a summary.

use context::tokens::Meter;

use super::{Entry, leading, with_partners};

const ITEMS_MAX: usize = 20;

/// The system items and the newest twenty, with their groups.
pub fn window_by_messages<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    let lead = leading(items);
    let start = items.len().saturating_sub(ITEMS_MAX).max(lead);
    let keep = with_partners(items, &(0..lead).chain(start..items.len()).collect());
    let view: Vec<I> = keep.into_iter().map(|index| items[index].clone()).collect();
    super::within(&view, limit, meter)
}

/// The system items and as many of the newest as fit; a call leaves with its results.
pub fn window_by_tokens<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    super::within(items, limit, meter)
}
