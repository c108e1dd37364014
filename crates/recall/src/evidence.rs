//! Evidence for rows: their own words and vectors, those of the turns around them, those of the
//! whole sitting.
//!
//! Owns: BM25 over rows, neighbourhoods and sittings; standardised cosines; for a row alone, their
//! weighted sum. Never: weighing other evidence. Each value without a weight is 0 to 1, the share of
//! the best possible value, so it is comparable between corpora of any size.

use std::ops::Range;

use model::Timestamp;

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
    pub(crate) sitting_vector: Vec<f32>,
}

/// Number of turns whose vectors represent a sitting.
const SITTING_BEST: usize = 3;

impl Evidence {
    /// The evidence of each row's own words and vector, as far as they are given.
    pub(crate) fn of_rows(
        corpus: &Corpus,
        scale: Cosines,
        question: Option<&Question>,
        vector: Option<&Quantised>,
        as_of: Option<Timestamp>,
        weights: &Weights,
    ) -> Self {
        let mut evidence = Self {
            scale,
            keyword: vec![0.0; corpus.slots_end()],
            vector: vec![0.0; corpus.slots_end()],
            ..Self::default()
        };
        let wanted = question.iter().flat_map(|question| &question.wanted);
        let terms = wanted.filter_map(|wanted| Some((wanted.term?, wanted.share)));
        for (term, share) in terms {
            for kind in [RowKind::Turn, RowKind::Episode, RowKind::Fact] {
                let postings = corpus.postings(kind);
                let mean = postings.words_mean();
                for posting in postings.of(term) {
                    let (slot, count) = (posting.slot as usize, f32::from(posting.count));
                    let relative = corpus.words[slot] as f32 / mean;
                    evidence.keyword[slot] += share * saturate(count, relative, weights.k1, weights.b);
                }
            }
        }
        if let Some(vector) = vector {
            evidence.add_vectors(corpus, vector, as_of, weights);
        }
        evidence
    }

    /// Evidence of a row's words and meaning.
    pub(crate) fn text(&self, weights: &Weights, slot: Slot) -> f32 {
        let at = slot as usize;
        weights.keyword * self.keyword[at] + weights.vector * self.vector[at]
    }

    /// Adds the evidence of vectors: how far each lies above those of its kind, turns or entries.
    fn add_vectors(
        &mut self,
        corpus: &Corpus,
        query: &Quantised,
        as_of: Option<Timestamp>,
        weights: &Weights,
    ) {
        let Some(mut cosines) = corpus.vectors.cosines(query) else {
            return;
        };
        let class = |kind: Option<RowKind>| usize::from(kind == Some(RowKind::Turn));
        let mut spreads = [Spread::default(); 2];
        for ((slot, kind), cosine) in (0..).zip(&corpus.kinds).zip(&mut cosines) {
            if cosine.is_finite() && corpus.is_visible(slot, as_of) {
                *cosine = self.scale.usual(*cosine);
                spreads[class(*kind)].add(*cosine);
            } else {
                *cosine = f32::NEG_INFINITY;
            }
        }
        let bounds = spreads.map(|spread| spread.bounds(weights.far));
        for (cosine, kind) in cosines.iter_mut().zip(&corpus.kinds) {
            let (ordinary, range) = bounds[class(*kind)];
            *cosine = ((*cosine - ordinary) / range).clamp(0.0, 1.0);
        }
        self.vector = cosines;
    }

    /// Adds what a turn has from the turns around it and from its sitting.
    pub(crate) fn add_context(
        &mut self,
        corpus: &Corpus,
        lineup: &Lineup,
        question: Option<&Question>,
        weights: &Weights,
    ) {
        self.near = vec![0.0; lineup.turns.len()];
        let of_sitting = |sitting: &Range<usize>| {
            let turns = lineup.turns[sitting.clone()].iter();
            best_mean::<SITTING_BEST>(turns.map(|slot| self.vector[*slot as usize]))
        };
        self.sitting_vector = lineup.sittings.iter().map(of_sitting).collect();
        let Some(question) = question else { return };
        let near = Near::new(lineup, &corpus.turns);
        let mut around = vec![0.0; lineup.turns.len()];
        for (at, slot) in lineup.turns.iter().enumerate() {
            near.share(at, corpus.row(*slot).words as f32, &mut around);
        }
        // The mean of all turns, ranked or not.
        let turns = corpus.postings(RowKind::Turn);
        let words = turns.words() as f32;
        let around_mean = ((words + corpus.turns.near_words()) / turns.rows().max(1) as f32).max(1.0);
        let mut counts = vec![0.0; lineup.turns.len()];
        for wanted in &question.wanted {
            let Some(term) = wanted.term else { continue };
            for posting in turns.of(term) {
                if let Some(at) = lineup.place(posting.slot) {
                    near.share(at, f32::from(posting.count), &mut counts);
                }
            }
            for ((near, count), around) in self.near.iter_mut().zip(&mut counts).zip(&around) {
                let count = std::mem::take(count);
                *near += wanted.share * saturate(count, around / around_mean, weights.k1, weights.b);
            }
        }
    }
}

/// The share of a term's weight for `count` occurrences in a text of that length, as in BM25.
fn saturate(count: f32, relative_length: f32, k1: f32, b: f32) -> f32 {
    count / (count + k1 * (1.0 - b + b * relative_length))
}

/// Distribution of a question's cosines, on the usual scale.
#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    rows: f64,
    sum: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, cosine: f32) {
        let cosine = f64::from(cosine);
        self.rows += 1.0;
        self.sum += cosine;
        self.squares += cosine * cosine;
    }

    /// The cosine of an ordinary row, which is no evidence, and how much more is full evidence: `far` deviations. A few
    /// imaginary rows keep small corpora from extreme values.
    #[expect(clippy::cast_possible_truncation, reason = "a cosine is -1 to 1")]
    fn bounds(self, far: f32) -> (f32, f32) {
        const IMAGINED: f64 = 10.0;
        const MEAN: f64 = 0.1;
        const DEVIATION: f64 = 0.12;
        let Self { rows, sum, squares } = self;
        let all = rows + IMAGINED;
        let mean = (sum + IMAGINED * MEAN) / all;
        let apart = squares - 2.0 * mean * sum + rows * mean * mean;
        let deviation = ((apart.max(0.0) + IMAGINED * DEVIATION * DEVIATION) / all).sqrt();
        (mean as f32, deviation as f32 * far)
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
