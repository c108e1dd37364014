//! The choice of lines for a small room.
//!
//! Owns: the greedy choice by worth per size, with less worth for repeated names and frequent kinds. Never: finding
//! lines.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use crate::tokens::Meter;

use super::line::shortened;
use super::names::{self, Strength};
use super::{Digest, DigestLine, LineKind, bullet};

/// A shorter remainder of an objective is useless.
const OBJECTIVE_BYTES_MIN: usize = 48;
/// Cost of every line beyond its tokens; without it the shortest would always win.
const OVERHEAD: f32 = 10.0;

/// The lines that fit, in their order.
pub(crate) fn fitting(lines: Vec<DigestLine>, tokens_max: usize, meter: &Meter) -> Vec<DigestLine> {
    let mut choice = Choice::new(lines, tokens_max, meter);
    if choice.all_fit() {
        return choice.lines;
    }
    choice.take_constraints();
    choice.take_objective();
    choice.take_best();
    choice.trimmed()
}

struct Choice<'a> {
    lines: Vec<DigestLine>,
    /// The tokens of each line with its bullet.
    costs: Vec<usize>,
    /// Names in each line, of the kinds that can repeat others.
    names: Vec<Vec<u64>>,
    chosen: Vec<bool>,
    /// The order of the choice; the last line has the least worth.
    order: Vec<usize>,
    told: HashSet<u64>,
    /// Tokens by kind; 0 means that its heading is not included yet.
    by_kind: [usize; 10],
    used: usize,
    tokens_max: usize,
    meter: &'a Meter,
}

impl<'a> Choice<'a> {
    fn new(lines: Vec<DigestLine>, tokens_max: usize, meter: &'a Meter) -> Self {
        let costs = lines.iter().map(|line| meter.text(&bullet(line))).collect();
        let names = lines
            .iter()
            .map(|line| {
                if repeats(line.kind) {
                    known(&line.text)
                } else {
                    Vec::new()
                }
            })
            .collect();
        let chosen = vec![false; lines.len()];
        Self {
            lines,
            costs,
            names,
            chosen,
            order: Vec::new(),
            told: HashSet::new(),
            by_kind: [0; 10],
            used: 0,
            tokens_max,
            meter,
        }
    }

    /// Counts the whole only if the sum of the parts is close to the limit.
    fn all_fit(&mut self) -> bool {
        if self.costs.iter().sum::<usize>() > self.tokens_max * 11 / 10 {
            return false;
        }
        let whole = Digest {
            lines: std::mem::take(&mut self.lines),
        };
        let tokens = self.meter.text(&whole.to_text());
        self.lines = whole.lines;
        tokens <= self.tokens_max
    }

    fn cost(&self, at: usize) -> usize {
        let kind = self.lines[at].kind;
        let heading = if self.by_kind[kind as usize] == 0 {
            self.meter.text(kind.as_str())
        } else {
            0
        };
        self.costs[at] + heading
    }

    fn take(&mut self, at: usize) {
        let cost = self.cost(at);
        self.used += cost;
        self.by_kind[self.lines[at].kind as usize] += cost;
        let line = &self.lines[at];
        if repeats(line.kind) {
            self.told.extend(self.names[at].iter().copied());
        } else {
            self.told.extend(known(&line.text));
        }
        self.chosen[at] = true;
        self.order.push(at);
    }

    /// Takes all rules; if they exceed three fifths of the room, only the shortest of them.
    fn take_constraints(&mut self) {
        let is_rule = |at: &usize| self.lines[*at].kind == LineKind::Constraint;
        let mut rules: Vec<usize> = (0..self.lines.len()).filter(is_rule).collect();
        rules.sort_by_key(|&at| self.costs[at]);
        for at in rules {
            if self.used + self.cost(at) <= self.tokens_max * 3 / 5 {
                self.take(at);
            }
        }
        self.order.clear();
    }

    /// Takes the first objective, shortened if necessary to half of the remaining room.
    fn take_objective(&mut self) {
        if self
            .lines
            .first()
            .is_none_or(|line| line.kind != LineKind::Objective)
        {
            return;
        }
        let room = self.tokens_max.saturating_sub(self.used) / 2;
        let mut bytes = self.lines[0].text.len();
        while self.cost(0) > room && bytes > OBJECTIVE_BYTES_MIN {
            bytes = (bytes * 3 / 4).max(OBJECTIVE_BYTES_MIN);
            self.lines[0].text = shortened(&self.lines[0].text, bytes);
            self.costs[0] = self.meter.text(&bullet(&self.lines[0]));
        }
        if self.cost(0) <= room {
            self.take(0);
        }
    }

    /// Worth per size, as an integer so that it can be ordered.
    fn score(&self, at: usize) -> u64 {
        let line = &self.lines[at];
        let names = &self.names[at];
        let told = !names.is_empty() && names.iter().all(|name| self.told.contains(name));
        let fresh = if told { 0.15 } else { 1.0 };
        let share = self.by_kind[line.kind as usize] as f32 / (self.tokens_max.max(1) as f32 * 0.25);
        let score = line.worth * line.worth * fresh / ((self.costs[at] as f32 + OVERHEAD) * (1.0 + share));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 10^9, never negative"
        )]
        let ordered = (score.max(0.0) * 1e9) as u64;
        ordered
    }

    /// Scores only fall while lines are taken, so the top of the heap is the best once its score is up to date.
    fn take_best(&mut self) {
        let open = (0..self.lines.len()).filter(|&at| !self.chosen[at]);
        let mut heap: BinaryHeap<(u64, Reverse<usize>)> =
            open.map(|at| (self.score(at), Reverse(at))).collect();
        while let Some((known, Reverse(at))) = heap.pop() {
            let score = self.score(at);
            if score < known && heap.peek().is_some_and(|(next, _)| *next > score) {
                heap.push((score, Reverse(at)));
            } else if self.used + self.cost(at) <= self.tokens_max {
                self.take(at);
            }
        }
    }

    /// The chosen lines. Their counts add up: the vocabularies join nothing across a beginning with `-` or `#`.
    fn trimmed(mut self) -> Vec<DigestLine> {
        let mut chosen = self.chosen.into_iter();
        self.lines.retain(|_| chosen.next() == Some(true));
        self.lines
    }
}

/// Lines of these kinds have little worth once all their names occur in other lines.
fn repeats(kind: LineKind) -> bool {
    matches!(kind, LineKind::Identifier | LineKind::Excerpt)
}

fn known(text: &str) -> Vec<u64> {
    let names = names::names(text)
        .into_iter()
        .filter(|name| name.strength >= Strength::Fair);
    names.map(|name| names::hash(&text[name.range])).collect()
}
