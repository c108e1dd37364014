//! Anthropic's context editing (`clear_tool_uses_20250919`): all but the newest results are cleared.
//!
//! Owns: the clearing. Never: the calls, whose arguments stay.

use context::tokens::Meter;

use super::{Entry, map_outcomes, weight};

const KEPT: usize = 3;
const TRIGGER_TOKENS: usize = 100_000;

/// Clears all results but those of the newest three items with results, from 100,000 tokens on (from the
/// limit, if that is less).
pub fn clear_tool_uses<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    if weight(items, meter) <= limit.min(TRIGGER_TOKENS) {
        return items.to_vec();
    }
    let view = all_but_newest(items, KEPT, "[Tool result cleared]");
    super::within(&view, limit, meter)
}

/// The items with `placeholder` for the results of all items but the newest `kept` with results.
pub(super) fn all_but_newest<I: Entry>(items: &[I], kept: usize, placeholder: &str) -> Vec<I> {
    let results: Vec<usize> = (0..items.len())
        .filter(|&index| items[index].borrow().outcomes().next().is_some())
        .collect();
    let mut view = items.to_vec();
    for &index in &results[..results.len().saturating_sub(kept)] {
        view[index] = map_outcomes(&items[index], &|text| {
            (text.len() > placeholder.len()).then(|| placeholder.to_owned())
        });
    }
    view
}
