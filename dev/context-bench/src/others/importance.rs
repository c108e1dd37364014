//! Drops first the items with the lowest score of code-buddy's scorer.
//!
//! Owns: eviction by score. Never: the score.

use std::collections::BTreeSet;

use context::tokens::Meter;

use super::{Entry, groups, last_ask, leading};
use context::shorten::score;

/// Groups of calls and results leave in ascending order of their best score, until the rest fits.
pub fn importance<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    let scores = score::score(items, &score::ScoreRules::default());
    let weights: Vec<usize> = items.iter().map(|item| meter.item(item.borrow())).collect();
    let (lead, ask) = (leading(items), last_ask(items));
    let best = |group: &BTreeSet<usize>| group.iter().map(|&index| scores[index].value).fold(0.0, f64::max);
    let mut groups = groups(items);
    groups.retain(|group| group.iter().all(|&index| index >= lead && Some(index) != ask));
    groups.sort_by(|a, b| best(a).total_cmp(&best(b)));
    let mut tokens: usize = weights.iter().sum();
    let mut gone = BTreeSet::new();
    for group in groups {
        if tokens <= limit {
            break;
        }
        tokens -= group.iter().map(|&index| weights[index]).sum::<usize>();
        gone.extend(group);
    }
    (0..items.len())
        .filter(|index| !gone.contains(index))
        .map(|index| items[index].clone())
        .collect()
}
