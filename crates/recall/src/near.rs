//! Neighbouring turns that explain each other: a question and its answer, a remark and its subject.
//!
//! Owns: how much neighbours count for each other. The length of the text between them counts, not
//! the number of turns: in quick talk a few turns belong together, after a long answer hardly one.
//! Never: their content.

use crate::lineup::Lineup;

/// Number of turns of a neighbourhood on each side.
const REACH: usize = 4;

#[derive(Debug)]
pub(crate) struct Near {
    /// By place, how much the next turns count.
    weights: Vec<[f32; REACH]>,
}

impl Near {
    /// `words` is the distance, from middle to middle, at which a neighbour counts half.
    pub(crate) fn new(lineup: &Lineup, lengths: &[f32], words: f32) -> Self {
        let mut weights = vec![[0.0; REACH]; lengths.len()];
        for sitting in &lineup.sittings {
            for at in sitting.clone() {
                let mut between = lengths[at] / 2.0;
                for step in 1..=REACH.min(sitting.end - 1 - at) {
                    let length = lengths[at + step];
                    let distance = (between + length / 2.0) / words;
                    let weight = 1.0 / (1.0 + distance * distance);
                    // In steps that f32 adds exactly, so that a sum does not depend on the order of its terms.
                    weights[at][step - 1] = (weight * 256.0).round() / 256.0;
                    between += length;
                }
            }
        }
        Self { weights }
    }

    /// A turn's neighbourhood, itself included, with weights.
    pub(crate) fn neighbourhood(&self, lineup: &Lineup, at: usize) -> impl Iterator<Item = (usize, f32)> {
        let sitting = lineup.sitting(at);
        let places = at.saturating_sub(REACH).max(sitting.start)..(at + REACH + 1).min(sitting.end);
        places.map(move |other| {
            let weight = match at.abs_diff(other) {
                0 => 1.0,
                step => self.weights[at.min(other)][step - 1],
            };
            (other, weight)
        })
    }

    /// The length of each neighbourhood, in words.
    pub(crate) fn lengths(&self, lineup: &Lineup, lengths: &[f32]) -> Vec<f32> {
        (0..lengths.len())
            .map(|at| {
                self.neighbourhood(lineup, at)
                    .map(|(other, weight)| lengths[other] * weight)
                    .sum()
            })
            .collect()
    }
}
