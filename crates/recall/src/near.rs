//! Neighbouring turns that explain each other: a question and its answer, a remark and its subject.
//!
//! Owns: how much neighbours count for each other. The length of the text between them counts, not
//! the number of turns: in quick talk a few turns belong together, after a long answer hardly one.
//! Never: their content.

use crate::lineup::Lineup;
use crate::turns::{REACH, ahead};

#[derive(Debug)]
pub(crate) struct Near {
    /// By place, how much the next turns count.
    weights: Vec<[f32; REACH]>,
}

impl Near {
    pub(crate) fn new(lineup: &Lineup, lengths: &[f32]) -> Self {
        let mut weights = vec![[0.0; REACH]; lengths.len()];
        for sitting in &lineup.sittings {
            for at in sitting.clone() {
                for (weight, next) in weights[at].iter_mut().zip(ahead(&lengths[at..sitting.end])) {
                    *weight = next;
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
