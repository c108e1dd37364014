//! B1: the needles of a talk that a model still sees after k compactions.
//!
//! Owns: the schedule (k equal parts, after each a request with a limit that is a share of the talk so far)
//! and the counting by type, role, age, script and phrasing. Never: a strategy.

use std::collections::BTreeMap;
use std::sync::Arc;

use context::tokens::Meter;
use transcript::{Block, Item, Role};

use crate::strategy::{self, Strategy};
use crate::table::{Cell, Table, count, number, text};
use crate::talk::{Needle, TYPES, Talk};
use crate::tally::Tally;

/// Limits as percent of the talk.
pub const LIMITS: [usize; 3] = [10, 25, 50];
/// Numbers of compactions of a talk.
pub const ROUNDS: [usize; 4] = [1, 2, 4, 8];
/// The limit of facets and bars.
pub const LIMIT_MAIN: usize = 25;

/// Needles seen, of those planted.
#[derive(Debug, Clone, Default)]
pub struct Survival {
    /// Strategies in the order of the tables.
    pub names: Vec<String>,
    /// By strategy, limit and rounds.
    pub by_limit: BTreeMap<(usize, usize, usize), Tally>,
    /// By facet and strategy, over all rounds at [`LIMIT_MAIN`].
    pub by_facet: BTreeMap<(Facet, usize), Tally>,
    /// Requests of ours without a view, or with one over its limit.
    pub failed_ours: usize,
}

/// A property that needles share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Facet {
    /// Index in [`TYPES`].
    Type(usize),
    Role(Role),
    /// The quarter of the talk that contains them, from 0, the oldest.
    Age(usize),
    /// Not ASCII.
    Foreign(bool),
    HeldOut(bool),
}

impl Facet {
    fn name(self) -> String {
        match self {
            Self::Type(kind) => TYPES[kind].to_owned(),
            Self::Role(role) => format!("said by {role:?}").to_lowercase(),
            Self::Age(quarter) => format!("quarter {} of the talk", quarter + 1),
            Self::Foreign(true) => "not ASCII".to_owned(),
            Self::Foreign(false) => "ASCII".to_owned(),
            Self::HeldOut(true) => "phrasing held out".to_owned(),
            Self::HeldOut(false) => "phrasing known".to_owned(),
        }
    }

    fn all_of(needle: &Needle, talk: &Talk) -> [Self; 5] {
        [
            Self::Type(needle.kind),
            Self::Role(needle.role),
            Self::Age((needle.item * 4 / talk.items.len()).min(3)),
            Self::Foreign(!needle.text.is_ascii()),
            Self::HeldOut(needle.held_out),
        ]
    }
}

/// The texts of items that a model reads.
pub fn texts(items: &[Arc<Item>]) -> Vec<&str> {
    let blocks = items.iter().flat_map(|item| &item.blocks);
    blocks
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::Call(call) => Some(call.arguments.as_str()),
            Block::Outcome(outcome) => Some(outcome.text.as_str()),
            Block::Image(_) | Block::Thinking(_) | Block::Other(_) => None,
        })
        .collect()
}

/// For each needle, whether a model sees it in a view.
pub fn seen(needles: &[Needle], view: &[Arc<Item>]) -> Vec<bool> {
    let texts = texts(view);
    let shown = |needle: &Needle| texts.iter().any(|text| needle.is_in(text));
    needles.iter().map(shown).collect()
}

/// The talk in `count` parts of equal size, and the size of the talk up to the end of each.
pub fn parts<'a>(items: &'a [Arc<Item>], count: usize, meter: &Meter) -> Vec<(&'a [Arc<Item>], usize)> {
    let weights: Vec<usize> = items.iter().map(|item| meter.item(item)).collect();
    let whole: usize = weights.iter().sum();
    let mut parts = Vec::with_capacity(count);
    let (mut start, mut so_far) = (0, 0);
    for (index, weight) in weights.into_iter().enumerate() {
        so_far += weight;
        let full = so_far * count >= whole * (parts.len() + 1);
        let answered = items.get(index + 1).is_none_or(|next| next.role != Role::Tool);
        if (full && answered && parts.len() + 1 < count) || index + 1 == items.len() {
            parts.push((&items[start..=index], so_far));
            start = index + 1;
        }
    }
    parts
}

/// Runs every strategy on every talk.
pub fn measure(talks: &[Talk], meter: &Meter) -> Survival {
    let mut survival = Survival::default();
    for talk in talks {
        for rounds in ROUNDS {
            let parts = parts(&talk.items, rounds, meter);
            for limit in LIMITS {
                let strategies = strategy::ours(meter).into_iter().chain(strategy::others(meter));
                let mut names = Vec::new();
                for (index, mut strategy) in strategies.enumerate() {
                    survival.run(talk, &parts, (index, limit, rounds), &mut *strategy, meter);
                    names.push(strategy.name().to_owned());
                }
                survival.names = names;
            }
        }
    }
    survival
}

impl Survival {
    fn run(
        &mut self,
        talk: &Talk,
        parts: &[(&[Arc<Item>], usize)],
        key: (usize, usize, usize),
        strategy: &mut dyn Strategy,
        meter: &Meter,
    ) {
        let Some(((last, whole), earlier)) = parts.split_last() else {
            return;
        };
        for (part, so_far) in earlier {
            strategy.pass(part, so_far * key.1 / 100);
        }
        let limit = whole * key.1 / 100;
        let view = strategy.request(last, limit);
        let ours = strategy.name().starts_with("quipu");
        let fits = || !view.is_empty() && view.iter().map(|item| meter.item(item)).sum::<usize>() <= limit;
        self.failed_ours += usize::from(ours && !fits());
        for (needle, seen) in talk.needles.iter().zip(seen(&talk.needles, &view)) {
            self.by_limit.entry(key).or_default().add(seen);
            if key.1 == LIMIT_MAIN {
                for facet in Facet::all_of(needle, talk) {
                    self.by_facet.entry((facet, key.0)).or_default().add(seen);
                }
            }
        }
    }

    /// In percent, over all rounds at [`LIMIT_MAIN`]; not a number for an unknown strategy.
    pub fn percent(&self, name: &str) -> f64 {
        let mut sum = Tally::default();
        for ((index, limit, _), tally) in &self.by_limit {
            if *limit == LIMIT_MAIN && self.names[*index] == name {
                sum.join(*tally);
            }
        }
        sum.percent()
    }

    /// By limit and rounds, and by facet.
    pub fn tables(&self) -> [Table; 2] {
        let percent = |tally: Option<&Tally>| tally.map_or(Cell::Empty, |tally| number(tally.percent(), 0));
        let columns = LIMITS
            .iter()
            .flat_map(|limit| ROUNDS.map(|rounds| format!("{limit} %, {rounds}×")));
        let keys = || {
            LIMITS
                .iter()
                .flat_map(|limit| ROUNDS.map(|rounds| (*limit, rounds)))
        };
        let rows = self.names.iter().enumerate().map(|(index, name)| {
            let cells = keys().map(|(limit, rounds)| percent(self.by_limit.get(&(index, limit, rounds))));
            std::iter::once(text(name)).chain(cells).collect()
        });
        let by_limit = Table::new(
            "B1",
            "needles seen after k compactions to a share of the talk, percent",
            std::iter::once("strategy".to_owned()).chain(columns),
            rows.collect(),
        );
        let mut facets: Vec<Facet> = self.by_facet.keys().map(|(facet, _)| *facet).collect();
        facets.dedup();
        let rows = facets.into_iter().map(|facet| {
            let needles = self.by_facet.get(&(facet, 0)).map_or(0, |tally| tally.all);
            let cells = (0..self.names.len()).map(|index| percent(self.by_facet.get(&(facet, index))));
            [text(facet.name()), count(needles)]
                .into_iter()
                .chain(cells)
                .collect()
        });
        let by_facet = Table::new(
            "B1",
            "the same at 25 %, all k together, by facet",
            ["needles", "of them"]
                .map(str::to_owned)
                .into_iter()
                .chain(self.names.clone()),
            rows.collect(),
        );
        [by_limit, by_facet]
    }
}
