//! How older systems make a conversation fit, as pure functions: for presets that re-create them, and to compare with.
//!
//! Owns: code-buddy's compaction with its markers, and in [`baselines`] the ideas of others. Never: what Quipu itself does.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use crate::tokens::Meter;
use transcript::{Block, Item, Role, cut};

use crate::shorten::score;
use crate::shorten::truncate::Unit;

pub mod baselines;

/// An item, or a handle of one: `Item`, `Arc<Item>`.
pub trait Entry: Borrow<Item> + Clone + From<Item> {}

impl<I: Borrow<Item> + Clone + From<Item>> Entry for I {}

/// What opens a summary.
const SUMMARY: &str = "[Conversation Summary]";

/// code-buddy's numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// The newest items that stay, besides the leading system items.
    pub recent: usize,
    /// Older items stay if their score is above.
    pub important_over: f64,
    /// Of so many lines the summary keeps one, the oldest.
    pub ratio: usize,
    /// What the hard cut leaves at least, besides system items.
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

/// A tool's result keeps its last bytes, marker included.
const RESULT_BYTES_MAX: usize = 500;
/// Hard truncation: what is left of a text, in UTF-16 code units.
const CONTENT_UNITS_MAX: usize = 200;
/// A line of the summary, in UTF-16 code units.
const LINE_UNITS_MAX: usize = 100;
const FAILURES_MAX: usize = 5;

type Step<I> = fn(&[I], &Rules) -> Vec<I>;

/// code-buddy's compaction to `tokens_max`: one step after another until the items fit. The result can be too heavy still, if
/// the system items and the last ask are.
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

/// Whether a host takes what another compaction made: it is not empty, fits, is lighter than before, and kept the last ask and
/// at least one result if there were any.
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

/// The tokens of items.
pub(crate) fn weight<I: Borrow<Item>>(items: &[I], meter: &Meter) -> usize {
    items.iter().map(|item| meter.item(item.borrow())).sum()
}

/// How many system items open the conversation.
pub(crate) fn leading<I: Borrow<Item>>(items: &[I]) -> usize {
    items
        .iter()
        .map(Borrow::borrow)
        .take_while(|item: &&Item| item.role == Role::System)
        .count()
}

/// The place of the last user's item that asks.
pub(crate) fn last_ask<I: Borrow<Item>>(items: &[I]) -> Option<usize> {
    items.iter().rposition(|item| item.borrow().asks())
}

/// The places of items that belong together, calls with their results, in order of their first.
pub(crate) fn groups<I: Borrow<Item>>(items: &[I]) -> Vec<BTreeSet<usize>> {
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

/// `keep` and what its members belong together with.
pub(crate) fn with_partners<I: Borrow<Item>>(items: &[I], keep: &BTreeSet<usize>) -> BTreeSet<usize> {
    let kept = groups(items)
        .into_iter()
        .filter(|group| group.iter().any(|index| keep.contains(index)));
    kept.flatten().collect()
}

/// The leading system items, a marker, the newest items, and before them the important ones and the last ask.
fn window<I: Entry>(items: &[I], rules: &Rules) -> Vec<I> {
    let lead = leading(items);
    let scores = score::score(&items[lead..], &score::Rules::codebuddy());
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

/// The beginnings of what user and assistant said, the oldest of `ratio`, and the last failures of tools.
pub fn first_lines<I: Borrow<Item>>(items: &[I], ratio: usize) -> String {
    let mut lines = Vec::new();
    let mut failures = Vec::new();
    for item in items {
        let item = item.borrow();
        let speaker = match item.role {
            Role::User => "User",
            Role::Assistant => "Assistant",
            Role::System | Role::Tool => "",
        };
        let said = item.prose();
        if !speaker.is_empty() && !said.trim().is_empty() {
            lines.push(format!("{speaker}: {}", one_line(&said, LINE_UNITS_MAX)));
        }
        let failed = item
            .outcomes()
            .filter(|outcome| outcome.failed || score::says_failed(&outcome.text));
        failures.extend(failed.map(|outcome| format!("- {}", one_line(&outcome.text, CONTENT_UNITS_MAX))));
    }
    lines.truncate(lines.len().div_ceil(ratio.max(1)));
    lines.insert(0, SUMMARY.to_owned());
    if !failures.is_empty() {
        lines.push("Failed tool attempts (do not retry):".to_owned());
        lines.extend(failures.split_off(failures.len().saturating_sub(FAILURES_MAX)));
    }
    lines.join("\n")
}

fn one_line(text: &str, units: usize) -> String {
    Unit::Utf16.head(text.trim(), units).replace(['\n', '\r'], " ")
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

/// Without the oldest groups, until the rest fits; never the leading system items, the last ask or the last `items_min`.
pub(crate) fn drop_oldest<I: Entry>(
    items: &[I],
    tokens_max: usize,
    meter: &Meter,
    items_min: usize,
) -> Vec<I> {
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

/// The item with the results that `change` gives another text.
pub(crate) fn map_outcomes<I: Entry>(item: &I, change: &dyn Fn(&str) -> Option<String>) -> I {
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
