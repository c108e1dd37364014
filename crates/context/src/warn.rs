//! Warnings about the use of a context.
//!
//! Owns: the thresholds, and those of them that were sent since the usage last fell. Never: counting tokens, or the
//! reaction.

use std::fmt;

use crate::budget::percent_of;

/// A threshold of a warning: the share of the limit or the tokens, whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WarnThreshold {
    /// Share of the limit, 0 to 1.
    pub share: f64,
    /// Very wide windows are slow and expensive long before they are full.
    pub tokens: Option<usize>,
}

impl WarnThreshold {
    fn reached(&self, used: usize, limit: usize) -> bool {
        used as f64 >= self.share * limit as f64 || self.tokens.is_some_and(|tokens| used >= tokens)
    }
}

/// A threshold was crossed upwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Warning {
    pub threshold: WarnThreshold,
    /// Tokens.
    pub used: usize,
    /// Tokens.
    pub limit: usize,
}

impl Warning {
    /// Used share of the limit, in percent; 100 if the limit is 0.
    pub fn percent(&self) -> f64 {
        percent_of(self.limit, self.used)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "context is {:.0} % full: {} of {} tokens",
            self.percent(),
            self.used,
            self.limit
        )
    }
}

/// Reported thresholds of one conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Warnings {
    /// In ascending order of their shares.
    thresholds: Vec<WarnThreshold>,
    /// Number of thresholds, from the lowest, that are sent or below a sent one.
    sent: usize,
}

impl Warnings {
    /// Creates the warnings with these thresholds, in any order; without any, it never warns.
    pub fn new(mut thresholds: Vec<WarnThreshold>) -> Self {
        thresholds.sort_by(|left, right| left.share.total_cmp(&right.share));
        Self { thresholds, sent: 0 }
    }

    /// The warning that is due with `used` of `limit` tokens: for the highest reached threshold, unless that one or a
    /// higher one was sent since the usage last fell below it.
    pub fn observe(&mut self, used: usize, limit: usize) -> Option<Warning> {
        let reached = self
            .thresholds
            .iter()
            .rposition(|threshold| threshold.reached(used, limit))
            .map_or(0, |place| place + 1);
        let sent = std::mem::replace(&mut self.sent, reached);
        let threshold = *self.thresholds[sent.min(reached)..reached].last()?;
        Some(Warning {
            threshold,
            used,
            limit,
        })
    }

    /// Number of thresholds that are sent or below a sent one.
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// Resets the sent thresholds.
    pub fn reset(&mut self) {
        self.sent = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::Policy;

    fn ours() -> Warnings {
        Warnings::new(Policy::quipu().warn_at)
    }

    fn shares(warnings: &mut Warnings, usage: &[usize], limit: usize) -> Vec<Option<f64>> {
        usage
            .iter()
            .map(|used| {
                warnings
                    .observe(*used, limit)
                    .map(|warning| warning.threshold.share)
            })
            .collect()
    }

    #[test]
    fn cm_7_each_threshold_once_until_reset() {
        let mut warnings = Warnings::new(
            [0.90, 0.50, 0.75]
                .map(|share| WarnThreshold { share, tokens: None })
                .to_vec(),
        );
        assert_eq!(
            shares(&mut warnings, &[199, 200, 250], 400),
            [None, Some(0.50), None]
        );
        assert_eq!(warnings.sent(), 1);
        warnings.reset();
        assert_eq!(warnings.sent(), 0);
        assert_eq!(shares(&mut warnings, &[250], 400), [Some(0.50)]);
        assert_eq!(Warnings::new(vec![]).observe(400, 400), None);
    }

    #[test]
    fn cm_7_no_lower_threshold_after_a_higher_one() {
        let mut warnings = ours();
        assert_eq!(
            shares(&mut warnings, &[95, 95, 95], 100),
            [Some(0.90), None, None]
        );
    }

    #[test]
    fn i32_a_threshold_warns_again_after_usage_fell_below_it() {
        let mut warnings = ours();
        assert_eq!(
            shares(&mut warnings, &[95, 60, 80, 80, 40, 50], 100),
            [Some(0.90), None, Some(0.75), None, None, Some(0.50)]
        );
    }

    #[test]
    fn wide_windows_warn_at_absolute_tokens() {
        let mut warnings = ours();
        let usage = [199_999, 200_000, 400_000, 899_999, 900_000];
        let levels: Vec<_> = usage
            .iter()
            .map(|used| {
                warnings
                    .observe(*used, 1_000_000)
                    .map(|warning| warning.threshold.share)
            })
            .collect();
        assert_eq!(levels, [None, Some(0.50), Some(0.75), None, Some(0.90)]);
    }

    #[test]
    fn a_warning_reads_well() {
        let warning = ours().observe(90, 120).expect("three quarters");
        assert_eq!(warning.to_string(), "context is 75 % full: 90 of 120 tokens");
        assert_eq!(ours().observe(0, 0).map(|warning| warning.percent()), Some(100.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn i32_once_per_upward_crossing(usage in proptest::collection::vec(0..1_200usize, 0..60)) {
            let marks = [500, 750, 900];
            let mut warnings = ours();
            let mut before = 0;
            for used in usage {
                let crossed = marks.iter().rposition(|mark| before < *mark && *mark <= used);
                let sent = warnings.observe(used, 1_000).map(|warning| warning.threshold.share * 1_000.0);
                prop_assert_eq!(sent, crossed.map(|place| marks[place] as f64));
                before = used;
            }
        }
    }
}
