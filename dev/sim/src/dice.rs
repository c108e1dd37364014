//! The one source of every decision: numbers that follow from the seed.
//!
//! Owns: the generator. Never: a decision.

use std::sync::atomic::{AtomicU64, Ordering};

use ports::Ids;

/// A `SplitMix64`: each number comes once in 2^64, so that they serve as ids too.
#[derive(Debug)]
pub(crate) struct Dice(AtomicU64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub(crate) fn below(&self, count: usize) -> usize {
        usize::try_from(self.next() % (count.max(1) as u64)).expect("it is below the count")
    }

    /// True in `chance` percent of the calls.
    pub(crate) fn percent(&self, chance: u64) -> bool {
        self.next() % 100 < chance
    }

    /// One of the elements; none if there are none.
    pub(crate) fn pick<T: Clone>(&self, from: &[T]) -> Option<T> {
        from.get(self.below(from.len())).cloned()
    }

    /// One of the elements, each as often as its weight says.
    pub(crate) fn weighed<T: Copy>(&self, from: &[(usize, T)]) -> T {
        let mut left = self.below(from.iter().map(|(weight, _)| weight).sum());
        for (weight, one) in from {
            if left < *weight {
                return *one;
            }
            left -= weight;
        }
        unreachable!("it is below the sum of the weights")
    }
}

impl Ids for Dice {
    fn next(&self) -> u64 {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let mut z = self.0.fetch_add(step, Ordering::Relaxed).wrapping_add(step);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
