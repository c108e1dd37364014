//! Score of a strength.
//!
//! Owns: the scale. A score compares a row with rows that were the true evidence of a question, on
//! conversations with known evidence: .5 is the median of them, .8 is stronger than about four in
//! five. Of rows that were no evidence, one in two hundred reaches .5. It does not depend on the
//! size of the corpus.

/// Conversion of a strength to a score, for each kind of available evidence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// Half of the true evidence lies within 1.1 divided by this of the median.
    slope: f32,
    /// The median strength.
    even: f32,
}

impl Scale {
    /// `open`: the question names only a time, and any row of that time answers.
    pub(crate) fn of(keywords: bool, vectors: bool, open: bool) -> Self {
        let (slope, even) = match (keywords, vectors) {
            _ if open => (2.0, 3.2),
            (true, true) => (3.8, 0.98),
            (true, false) => (4.4, 0.78),
            (false, _) => (16.0, 0.46),
        };
        Self { slope, even }
    }

    /// 0 to 1, rising with strength.
    pub(crate) fn score(self, strength: f32) -> f32 {
        1.0 / (1.0 + (-self.slope * (strength - self.even)).exp())
    }
}
