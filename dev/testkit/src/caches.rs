//! Prefix caches without a model: the tokens of a request that a backend would evaluate.
//!
//! Owns: four models of caches over plain tokens. Never: time (no entry expires), the meaning of a token.

mod blocks;
mod slots;

pub use blocks::Blocks;
pub use slots::{Checkpoints, Rewind, Slots};

/// The cost of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluated {
    /// Tokens read from the cache.
    pub cached: usize,
    /// Evaluated tokens; with `cached`, all of the request's.
    pub evaluated: usize,
}

impl Evaluated {
    fn of(tokens: usize, cached: usize) -> Self {
        Self {
            cached,
            evaluated: tokens - cached,
        }
    }
}

/// A backend's cache.
pub trait Cache {
    /// Evaluates a prompt.
    fn request(&mut self, tokens: &[u32]) -> Evaluated;
    /// Adds the tokens that the backend generated after the last request.
    fn reply(&mut self, tokens: &[u32]);
}
