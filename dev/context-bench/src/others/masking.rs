//! Observation masking (The Complexity Trap, arXiv 2508.21433): old observations are elided in every request.
//!
//! Owns: the number of observations that stay. Never: a trigger; the paper masks always.

use context::tokens::Meter;

use super::Entry;
use super::clear::all_but_newest;

/// The paper's best window for its agent, in observations.
const KEPT: usize = 10;

/// The results of all items but the newest ten with results are elided.
pub fn mask_observations<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    super::within(
        &all_but_newest(items, KEPT, "[Previous observation elided]"),
        limit,
        meter,
    )
}
