//! The token counter for one model.
//!
//! Owns: the choice between exact and estimated counts. Never: an item's framing; [`crate::tokens::item`] has it.

use crate::tokens::Vocabulary;
use crate::tokens::estimate::Breadth;
use crate::tokens::memo;

/// Counts tokens for one model. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    pub(crate) source: CountSource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountSource {
    Exact(Vocabulary),
    Estimate(Breadth),
}

impl Default for CountSource {
    fn default() -> Self {
        Self::Estimate(Breadth::default())
    }
}

impl Meter {
    /// The meter for the named model: exact if its vocabulary is OpenAI's, else an estimate that is safe for it. For
    /// models known to have a wide vocabulary it is closer than [`Self::estimate`].
    pub fn for_model(name: &str) -> Self {
        let estimate = || CountSource::Estimate(Breadth::of_model(name));
        Self {
            source: Vocabulary::of_model(name).map_or_else(estimate, CountSource::Exact),
        }
    }

    /// The meter for the first of these names with a known vocabulary, and that name: a client's own name for a model
    /// can mean nothing. If none is known, the first name and the estimate that is safe for any vocabulary.
    pub fn for_models<'a>(names: &[&'a str]) -> (&'a str, Self) {
        let tells =
            |name: &&&str| Vocabulary::of_model(name).is_some() || Breadth::of_model(name) != Breadth::Any;
        let name = names
            .iter()
            .find(tells)
            .or(names.first())
            .copied()
            .unwrap_or_default();
        (name, Self::for_model(name))
    }

    /// The estimate that is safe for any vocabulary.
    pub fn estimate() -> Self {
        Self::default()
    }

    /// The approximate tokens of a text, for uses where somewhat more do no harm: an estimate without most of its
    /// safety margin. [`Self::text`] counts at most a quarter more.
    pub fn roughly(&self, text: &str) -> usize {
        match &self.source {
            CountSource::Exact(_) => self.text(text),
            CountSource::Estimate(_) => self.text(text) * 4 / 5,
        }
    }

    /// The tokens of a text, without a provider's framing; 0 for an empty one.
    pub fn text(&self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        memo::text(self.source, text, || match self.source {
            CountSource::Exact(exact) => exact.count(text),
            CountSource::Estimate(breadth) => breadth.count(text),
        })
    }
}
