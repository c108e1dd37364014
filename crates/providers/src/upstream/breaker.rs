//! Stops requests to a server that failed repeatedly.
//!
//! Owns: counting failures, and admitting the next try. Never: the definition of a failure, a clock.

use std::time::Duration;

use parking_lot::Mutex;

const FAILURES_MAX: u32 = 5;
const REST: Duration = Duration::from_secs(10);

/// Times are those of `Clock::elapsed`.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<BreakerState>);

#[derive(Debug, Default)]
struct BreakerState {
    /// Failures in a row.
    failures: u32,
    rest_until: Duration,
}

impl Breaker {
    /// Lets a request through, or returns how long no request is let through. After a rest, one request passes in each
    /// interval: the others need not wait for a trial that can read its prompt for minutes, or was aborted.
    pub(super) fn admit(&self, now: Duration) -> Result<(), Duration> {
        let mut state = self.0.lock();
        if state.failures < FAILURES_MAX {
            return Ok(());
        }
        let left = state.rest_until.saturating_sub(now);
        if !left.is_zero() {
            return Err(left);
        }
        state.rest_until = now + REST;
        Ok(())
    }

    /// Records the outcome of an admitted request.
    pub(super) fn record(&self, now: Duration, failed: bool) {
        let mut state = self.0.lock();
        state.failures = if failed {
            state.failures.saturating_add(1)
        } else {
            0
        };
        state.rest_until = now + REST;
    }
}
