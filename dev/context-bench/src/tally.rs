//! Counting: how many of how many, and the median and the tail of times.
//!
//! Owns: that arithmetic. Never: a clock.

use std::time::Duration;

/// A count of hits and a total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub hit: usize,
    pub all: usize,
}

impl Tally {
    pub fn add(&mut self, hit: bool) {
        self.hit += usize::from(hit);
        self.all += 1;
    }

    pub fn join(&mut self, other: Self) {
        self.hit += other.hit;
        self.all += other.all;
    }

    /// In percent; not a number if nothing was counted.
    pub fn percent(self) -> f64 {
        100.0 * self.hit as f64 / self.all as f64
    }
}

/// Times of one kind of work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn sum(&self) -> Duration {
        self.0.iter().sum()
    }

    /// The time within which this share of the work was done, in milliseconds; not a number if there was none.
    pub fn ms_at(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a count"
        )]
        let rank = (sorted.len() as f64 * share).ceil() as usize;
        sorted
            .get(rank.saturating_sub(1))
            .map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }
}

/// The mean and the standard deviation.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_times_is_the_time_within_which_it_was_done() {
        let mut times = Times::default();
        (1..=100).for_each(|ms| times.add(Duration::from_millis(ms)));
        let shares: Vec<f64> = [0.5, 0.99, 1.0].map(|share| times.ms_at(share).round()).to_vec();
        assert_eq!(shares, [50.0, 99.0, 100.0]);
        assert!(Times::default().ms_at(0.5).is_nan());
        let (mean, deviation) = mean_and_deviation(&[1.0, 3.0]);
        assert!((mean - 2.0).abs() < 1e-9 && (deviation - 1.0).abs() < 1e-9);
    }
}
