//! Neighbouring turns that explain each other: a question and its answer, a remark and its subject.
//!
//! Owns: what a turn counts for those around it. The length of the text between them counts, not
//! the number of turns: in quick talk a few turns belong together, after a long answer hardly one.
//! Never: their content.

use crate::lineup::Lineup;
use crate::turns::{REACH, Turns};

#[derive(Debug)]
pub(crate) struct Near {
    /// By place, how much the next turns count.
    weights: Vec<[f32; REACH]>,
}

impl Near {
    pub(crate) fn new(lineup: &Lineup, turns: &Turns) -> Self {
        let mut weights: Vec<_> = lineup.turns.iter().map(|slot| turns.ahead(*slot)).collect();
        for sitting in &lineup.sittings {
            // The next turns can be too new to be seen.
            for (seen, at) in sitting.clone().rev().take(REACH).enumerate() {
                weights[at][seen..].fill(0.0);
            }
        }
        Self { weights }
    }

    /// Adds what a turn has to the sums of its neighbourhood, by place.
    pub(crate) fn share(&self, at: usize, has: f32, sums: &mut [f32]) {
        sums[at] += has;
        for (sum, weight) in sums[at + 1..].iter_mut().zip(self.weights[at]) {
            *sum += has * weight;
        }
        let start = at.saturating_sub(REACH);
        for (step, weights) in (1..).zip(self.weights[start..at].iter().rev()) {
            sums[at - step] += has * weights[step - 1];
        }
    }
}
