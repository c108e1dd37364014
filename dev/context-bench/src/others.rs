//! Strategies of other systems for a conversation that is too long, as pure functions: code-buddy's
//! compaction with its markers here, one idea of each other system in a file of its own.
//!
//! Owns: the ideas, with their constants, scaled down if a limit is smaller than the window they were made
//! for. Never: a faithful copy of a product. If an idea alone does not reach the limit, the oldest items are
//! dropped, so all strategies meet the same limit.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use context::shorten::first_lines::first_lines;
use context::shorten::score;
use context::shorten::truncate::Unit;
use context::tokens::Meter;
use transcript::{Block, Item, Role, cut};

mod clear;
mod codex;
mod halving;
mod importance;
mod masking;
mod opencode;
mod window;

pub use clear::clear_tool_uses;
pub use codex::codex;
pub use halving::halving;
pub use importance::importance;
pub use masking::mask_observations;
pub use opencode::opencode_prune;
pub use window::{window_by_messages, window_by_tokens};

/// An item, or a shared handle of one: `Item`, `Arc<Item>`.
pub trait Entry: Borrow<Item> + Clone + From<Item> {}

impl<I: Borrow<Item> + Clone + From<Item>> Entry for I {}

/// code-buddy's constants.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// The newest items that stay, besides the leading system items.
    pub recent: usize,
    /// Older items stay if their score is above.
    pub important_over: f64,
    /// The summary keeps one line of this many, the oldest.
    pub ratio: usize,
    /// Minimum number of items after the hard cut, without system items.
    pub items_min: usize,
}

impl Rules {
    pub fn codebuddy() -> Self {
        Self {
            recent: 10,
            important_over: 0.8,
            ratio: 4,
            items_min: 2,
        }
    }
}

/// A tool's result keeps at most this many of its last bytes, marker included.
const RESULT_BYTES_MAX: usize = 500;
/// Hard truncation: maximum length of a text, in UTF-16 code units.
const CONTENT_UNITS_MAX: usize = 200;

type Step<I> = fn(&[I], &Rules) -> Vec<I>;

/// code-buddy's compaction to `tokens_max`: one step after another until the items fit. The result can still
/// be too large if the system items and the last ask are.
pub fn compact<I: Entry>(items: &[I], tokens_max: usize, meter: &Meter, rules: &Rules) -> Vec<I> {
    let fits = |items: &[I]| weight(items, meter) <= tokens_max;
    let mut view = items.to_vec();
    let steps: [Step<I>; 3] = [
        window,
        |items, _| items.iter().map(cut_results).collect(),
        summarise,
    ];
    for step in steps {
        if fits(&view) {
            return view;
        }
        view = step(&view, rules);
    }
    if fits(&view) {
        return view;
    }
    view = drop_oldest(&view, tokens_max, meter, rules.items_min);
    if fits(&view) {
        return view;
    }
    let ask = last_ask(&view);
    let lead = leading(&view);
    let cut = |(index, item): (usize, &I)| {
        if index < lead || Some(index) == ask {
            item.clone()
        } else {
            map_texts(item, &cut_content)
        }
    };
    view.iter().enumerate().map(cut).collect()
}

/// [`compact`] with code-buddy's constants.
pub fn codebuddy<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    compact(items, limit, meter, &Rules::codebuddy())
}

/// Drops the oldest items until the rest fits.
fn within<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    drop_oldest(items, limit, meter, 1)
}

/// Whether a host accepts another compaction's result: it is not empty, fits, is smaller than before, and
/// kept the last ask and at least one result if there were any.
pub fn accepts<I: Borrow<Item>>(before: &[I], after: &[I], tokens_max: usize, meter: &Meter) -> bool {
    let results = |items: &[I]| items.iter().any(|item| item.borrow().outcomes().next().is_some());
    let asks = |items: &[I]| last_ask(items).map(|at| items[at].borrow().clone());
    let tokens = weight(after, meter);
    !after.is_empty()
        && tokens <= tokens_max
        && tokens < weight(before, meter)
        && (!results(before) || results(after))
        && (asks(before).is_none() || asks(before) == asks(after))
}

/// The number of tokens of items.
fn weight<I: Borrow<Item>>(items: &[I], meter: &Meter) -> usize {
    items.iter().map(|item| meter.item(item.borrow())).sum()
}

/// Number of system items at the start of the conversation.
fn leading<I: Borrow<Item>>(items: &[I]) -> usize {
    items
        .iter()
        .map(Borrow::borrow)
        .take_while(|item: &&Item| item.role == Role::System)
        .count()
}

/// The position of the user's last item that asks.
fn last_ask<I: Borrow<Item>>(items: &[I]) -> Option<usize> {
    items.iter().rposition(|item| item.borrow().asks())
}

/// The positions of items that belong together, calls with their results, in order of their first.
fn groups<I: Borrow<Item>>(items: &[I]) -> Vec<BTreeSet<usize>> {
    let mut group_of: Vec<usize> = (0..items.len()).collect();
    let mut groups: Vec<BTreeSet<usize>> = (0..items.len()).map(|index| BTreeSet::from([index])).collect();
    for pair in cut::pairs(items) {
        let Some(outcome) = pair.outcome else { continue };
        let (into, from) = (
            group_of[pair.call].min(group_of[outcome]),
            group_of[pair.call].max(group_of[outcome]),
        );
        if into != from {
            let moved = std::mem::take(&mut groups[from]);
            for &index in &moved {
                group_of[index] = into;
            }
            groups[into].extend(moved);
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// `keep`, extended to whole groups.
fn with_partners<I: Borrow<Item>>(items: &[I], keep: &BTreeSet<usize>) -> BTreeSet<usize> {
    let kept = groups(items)
        .into_iter()
        .filter(|group| group.iter().any(|index| keep.contains(index)));
    kept.flatten().collect()
}

/// The leading system items, a marker, the newest items, and before them the important ones and the last ask.
fn window<I: Entry>(items: &[I], rules: &Rules) -> Vec<I> {
    let lead = leading(items);
    let scores = score::score(&items[lead..], &score::ScoreRules::default());
    let recent = items.len().saturating_sub(rules.recent).max(lead);
    let important = scores
        .iter()
        .filter(|score| score.value > rules.important_over)
        .map(|score| lead + score.index);
    let keep = with_partners(
        items,
        &(0..lead)
            .chain(recent..items.len())
            .chain(important)
            .chain(last_ask(items))
            .collect(),
    );
    let gone = items.len() - keep.len();
    if gone == 0 {
        return items.to_vec();
    }
    let mut view: Vec<I> = keep.iter().map(|&index| items[index].clone()).collect();
    if lead > 0 {
        let marker = format!("[Previous {gone} messages summarized due to context limits]");
        view.insert(lead, Item::text(Role::System, marker).into());
    }
    view
}

fn summarise<I: Entry>(items: &[I], rules: &Rules) -> Vec<I> {
    let lead = leading(items);
    let recent = items.len().saturating_sub(rules.recent).max(lead);
    let asked = last_ask(items).filter(|&ask| ask >= lead);
    let keep = with_partners(items, &(recent..items.len()).chain(asked).collect());
    let old: Vec<&Item> = (lead..items.len())
        .filter(|index| !keep.contains(index))
        .map(|index| items[index].borrow())
        .collect();
    if old.is_empty() {
        return items.to_vec();
    }
    let role = if lead > 0 { Role::System } else { Role::User };
    let mut view = items[..lead].to_vec();
    view.push(Item::text(role, first_lines(&old, rules.ratio)).into());
    view.extend(
        keep.into_iter()
            .filter(|&index| index >= lead)
            .map(|index| items[index].clone()),
    );
    view
}

fn cut_results<I: Entry>(item: &I) -> I {
    const MARKER: &str = "[truncated for context limits] ...\n";
    let results = item
        .borrow()
        .outcomes()
        .any(|outcome| outcome.text.len() > RESULT_BYTES_MAX);
    if !results {
        return item.clone();
    }
    map_outcomes(item, &|text| {
        let tail = Unit::Bytes.tail(text, RESULT_BYTES_MAX - MARKER.len());
        (text.len() > RESULT_BYTES_MAX).then(|| format!("{MARKER}{tail}"))
    })
}

fn cut_content(text: &str) -> Option<String> {
    let cut = format!("{}... [truncated]", Unit::Utf16.head(text, CONTENT_UNITS_MAX));
    (cut.len() < text.len()).then_some(cut)
}

/// Drops the oldest groups until the rest fits; never the leading system items, the last ask or the last
/// `items_min`.
fn drop_oldest<I: Entry>(items: &[I], tokens_max: usize, meter: &Meter, items_min: usize) -> Vec<I> {
    let weights: Vec<usize> = items.iter().map(|item| meter.item(item.borrow())).collect();
    let (lead, ask) = (leading(items), last_ask(items));
    let mut tokens: usize = weights.iter().sum();
    let mut keep: BTreeSet<usize> = (0..items.len()).collect();
    for group in groups(items) {
        let stays = group.iter().any(|&index| index < lead || Some(index) == ask);
        if tokens <= tokens_max {
            break;
        }
        if !stays && keep.len() >= lead + items_min + group.len() {
            tokens -= group.iter().map(|&index| weights[index]).sum::<usize>();
            keep.retain(|index| !group.contains(index));
        }
    }
    keep.into_iter().map(|index| items[index].clone()).collect()
}

/// The item with the results that `change` replaces.
fn map_outcomes<I: Entry>(item: &I, change: &dyn Fn(&str) -> Option<String>) -> I {
    let mut item: Item = item.borrow().clone();
    for block in &mut item.blocks {
        if let Block::Outcome(outcome) = block
            && let Some(text) = change(&outcome.text)
        {
            outcome.text = text;
            item.edited = item.raw.is_some();
        }
    }
    item.into()
}

fn map_texts<I: Entry>(item: &I, change: &dyn Fn(&str) -> Option<String>) -> I {
    let mut item: Item = item.borrow().clone();
    for block in &mut item.blocks {
        if let Block::Text(said) = block
            && let Some(text) = change(said)
        {
            *said = text;
            item.edited = item.raw.is_some();
        }
    }
    map_outcomes(&I::from(item), change)
}

#[cfg(test)]
mod tests;
