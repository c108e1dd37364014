//! Evidence for rows: their own words and vectors, those of the turns around them, those of the
//! whole sitting.
//!
//! Owns: BM25 over rows, neighbourhoods and sittings; standardised cosines. Never: weighing one
//! kind against another. Every value is 0 to 1, the share of the best possible value, so it is
//! comparable between corpora of any size.

use crate::corpus::Corpus;
use crate::cosines::Cosines;
use crate::lineup::Lineup;
use crate::near::Near;
use crate::postings::Slot;
use crate::question::Question;
use crate::row::RowKind;
use crate::vectors::Quantised;
use crate::weights::Weights;

/// Evidence by slot; for turns also by place in the line-up and by sitting.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// Calibration of the cosines.
    pub(crate) scale: Cosines,
    /// By slot.
    pub(crate) keyword: Vec<f32>,
    /// By slot.
    pub(crate) vector: Vec<f32>,
    /// By place.
    pub(crate) near: Vec<f32>,
    /// By sitting.
    pub(crate) sitting_keyword: Vec<f32>,
    /// By sitting.
    pub(crate) sitting_vector: Vec<f32>,
}

/// Number of turns whose vectors represent a sitting.
const SITTING_BEST: usize = 3;

impl Evidence {
    /// No evidence for anything.
    pub(crate) fn none(corpus: &Corpus, lineup: &Lineup, scale: Cosines) -> Self {
        Self {
            scale,
            keyword: vec![0.0; corpus.slots_end()],
            vector: vec![0.0; corpus.slots_end()],
            near: vec![0.0; lineup.turns.len()],
            sitting_keyword: vec![0.0; lineup.sittings.len()],
            sitting_vector: vec![0.0; lineup.sittings.len()],
        }
    }

    /// Adds the evidence of words.
    pub(crate) fn add_keywords(
        &mut self,
        corpus: &Corpus,
        lineup: &Lineup,
        question: &Question,
        weights: &Weights,
    ) {
        let length = |slot: &Slot| corpus.row(*slot).words as f32;
        let lengths: Vec<f32> = lineup.turns.iter().map(length).collect();
        let near = Near::new(lineup, &lengths, weights.near_words);
        let around = Lengths::new(near.lengths(lineup, &lengths));
        let sittings = Lengths::new(
            lineup
                .sittings
                .iter()
                .map(|s| lengths[s.clone()].iter().sum())
                .collect(),
        );
        let turns = Lengths::new(lengths);
        let mut in_near = TermTally::new(lineup.turns.len());
        let mut in_sitting = TermTally::new(lineup.sittings.len());
        for wanted in &question.wanted {
            let Some(term) = wanted.term else { continue };
            for posting in corpus.postings(RowKind::Turn).of(term) {
                let Some(at) = lineup.place(posting.slot) else {
                    continue;
                };
                let count = f32::from(posting.count);
                self.keyword[posting.slot as usize] +=
                    wanted.share * turns.saturate(at, count, weights.k1, weights.b);
                for (other, weight) in near.neighbourhood(lineup, at) {
                    in_near.add(other, count * weight);
                }
                in_sitting.add(lineup.sitting_of[at] as usize, count);
            }
            in_near.empty(|at, count| {
                self.near[at] += wanted.share * around.saturate(at, count, weights.k1, weights.b);
            });
            in_sitting.empty(|of, count| {
                self.sitting_keyword[of] +=
                    wanted.share * sittings.saturate(of, count, weights.k1, weights.sitting_b);
            });
            for kind in [RowKind::Episode, RowKind::Fact] {
                let postings = corpus.postings(kind);
                for posting in postings.of(term) {
                    let (slot, count) = (posting.slot as usize, f32::from(posting.count));
                    let relative = corpus.row(posting.slot).words as f32 / postings.words_mean();
                    self.keyword[slot] += wanted.share * saturate(count, relative, weights.k1, weights.b);
                }
            }
        }
    }

    /// Adds the evidence of vectors.
    pub(crate) fn add_vectors(
        &mut self,
        corpus: &Corpus,
        lineup: &Lineup,
        query: &Quantised,
        weights: &Weights,
    ) {
        for slots in [&lineup.turns, &lineup.entries] {
            let cosines: Vec<Option<f32>> = slots
                .iter()
                .map(|slot| Some(self.scale.usual(corpus.vectors.cosine(*slot, query)?)))
                .collect();
            let spread = Spread::of(&cosines);
            for (slot, cosine) in slots.iter().zip(cosines) {
                self.vector[*slot as usize] =
                    cosine.map_or(0.0, |cosine| spread.standardised(cosine, weights.far));
            }
        }
        for (of, sitting) in lineup.sittings.iter().enumerate() {
            let values = lineup.turns[sitting.clone()]
                .iter()
                .map(|slot| self.vector[*slot as usize]);
            self.sitting_vector[of] = best_mean::<SITTING_BEST>(values);
        }
    }
}

/// Lengths of texts, relative to their mean.
struct Lengths {
    lengths: Vec<f32>,
    mean: f32,
}

impl Lengths {
    fn new(lengths: Vec<f32>) -> Self {
        let mean = (lengths.iter().sum::<f32>() / lengths.len().max(1) as f32).max(1.0);
        Self { lengths, mean }
    }

    fn saturate(&self, at: usize, count: f32, k1: f32, b: f32) -> f32 {
        saturate(count, self.lengths[at] / self.mean, k1, b)
    }
}

/// The share of a term's weight for `count` occurrences in a text of that length, as in BM25.
fn saturate(count: f32, relative_length: f32, k1: f32, b: f32) -> f32 {
    count / (count + k1 * (1.0 - b + b * relative_length))
}

/// Counts by place. Clearing it after a term visits only the places with a count.
struct TermTally {
    counts: Vec<f32>,
    touched: Vec<usize>,
}

impl TermTally {
    fn new(places: usize) -> Self {
        Self {
            counts: vec![0.0; places],
            touched: Vec::new(),
        }
    }

    fn add(&mut self, at: usize, count: f32) {
        if self.counts[at] == 0.0 {
            self.touched.push(at);
        }
        self.counts[at] += count;
    }

    fn empty(&mut self, mut each: impl FnMut(usize, f32)) {
        for at in self.touched.drain(..) {
            each(at, std::mem::take(&mut self.counts[at]));
        }
    }
}

/// Distribution of a question's cosines, on the usual scale.
#[derive(Debug, Clone, Copy)]
struct Spread {
    mean: f32,
    deviation: f32,
}

impl Spread {
    /// A few imaginary rows keep small corpora from extreme values.
    fn of(cosines: &[Option<f32>]) -> Self {
        const IMAGINED: f32 = 10.0;
        const MEAN: f32 = 0.1;
        const DEVIATION: f32 = 0.12;
        let values = || cosines.iter().flatten();
        let rows = values().count() as f32 + IMAGINED;
        let mean = (values().sum::<f32>() + IMAGINED * MEAN) / rows;
        let squares = values().map(|value| (value - mean).powi(2)).sum::<f32>();
        let deviation = ((squares + IMAGINED * DEVIATION * DEVIATION) / rows).sqrt();
        Self { mean, deviation }
    }

    /// 0 for an ordinary row; 1 for a row `far` deviations above it.
    fn standardised(self, cosine: f32, far: f32) -> f32 {
        ((cosine - self.mean) / (self.deviation * far)).clamp(0.0, 1.0)
    }
}

/// The mean of the best few; fewer values count as if the others were 0.
pub(crate) fn best_mean<const FEW: usize>(values: impl Iterator<Item = f32>) -> f32 {
    let mut best = [0.0f32; FEW];
    for value in values {
        if let Some(at) = best.iter().position(|have| value > *have) {
            best[at..].rotate_right(1);
            best[at] = value;
        }
    }
    best.iter().sum::<f32>() / FEW as f32
}
