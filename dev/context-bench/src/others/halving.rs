//! The condenser of `OpenHands`: the first few events and the newer half stay, a summary replaces the middle.
//!
//! Owns: the halving. Never: a model's summary; the beginnings of the messages replace it.

use context::tokens::Meter;
use transcript::{Item, Role};

use super::{Entry, last_ask, weight, with_partners};
use context::shorten::first_lines::first_lines;
use context::shorten::truncate;

const FIRST: usize = 4;

/// While the items do not fit: the first four, a summary, and half as many of the newest, with their groups.
/// The last ask stays.
pub fn halving<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    let mut size = items.len();
    while size > 2 * FIRST {
        size /= 2;
        let newest = items.len() - (size - FIRST.min(size));
        let keep = with_partners(
            items,
            &(0..FIRST)
                .chain(newest..items.len())
                .chain(last_ask(items))
                .collect(),
        );
        let gone: Vec<usize> = (0..items.len()).filter(|index| !keep.contains(index)).collect();
        let Some(&start) = gone.first().filter(|_| weight(items, meter) > limit) else {
            break;
        };
        let told: Vec<&Item> = gone.iter().map(|&index| items[index].borrow()).collect();
        let summary = truncate::to_tokens(&first_lines(&told, 2), limit / 4, meter);
        let mut view: Vec<I> = items[..start].to_vec();
        view.push(Item::text(Role::User, summary).into());
        view.extend(keep.range(start..).map(|&index| items[index].clone()));
        if weight(&view, meter) <= limit || size <= 2 * FIRST {
            return super::within(&view, limit, meter);
        }
    }
    super::within(items, limit, meter)
}
