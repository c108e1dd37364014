//! Prefix caches without a model: what a backend would evaluate of a request.
//!
//! Owns: four models of caches over plain tokens. Never: time (no entry expires), what a token means.

mod blocks;
mod slots;

pub use blocks::Blocks;
pub use slots::{Checkpoints, Rewind, Slots};

/// What a request cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluated {
    /// Tokens taken from the cache.
    pub cached: usize,
    /// Tokens worked on; with `cached`, all of the request's.
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
    /// A prompt comes in.
    fn request(&mut self, tokens: &[u32]) -> Evaluated;
    /// The backend has generated these tokens after the last request.
    fn reply(&mut self, tokens: &[u32]);
}
