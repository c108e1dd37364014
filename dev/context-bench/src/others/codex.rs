//! Codex's local compaction: the user's own messages, then one summary.
//!
//! Owns: the items next to the summary. Never: a model's summary; the beginnings of the messages replace it.

use context::tokens::Meter;
use transcript::{Item, Role};

use super::{Entry, leading, weight};
use context::shorten::first_lines::first_lines;
use context::shorten::truncate;

/// If the items do not fit: the system items, the newest asks up to 20,000 tokens (half of the limit, if less), and a summary
/// of the rest as the last item.
pub fn codex<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    if weight(items, meter) <= limit {
        return items.to_vec();
    }
    let lead = leading(items);
    let mut room = 20_000.min(limit / 2);
    let mut asks = Vec::new();
    for item in items[lead..].iter().rev().filter(|item| (*item).borrow().asks()) {
        let tokens = meter.item(item.borrow());
        if tokens > room && !asks.is_empty() {
            break;
        }
        room = room.saturating_sub(tokens);
        asks.push(item.clone());
    }
    let mut view = items[..lead].to_vec();
    view.extend(asks.into_iter().rev());
    let left = limit.saturating_sub(weight(&view, meter) + 16);
    let summary = truncate::to_tokens(&first_lines(&items[lead..], 1), left.min(limit / 4), meter);
    view.push(Item::text(Role::User, summary).into());
    view
}
