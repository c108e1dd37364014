//! The time of work: the wall clock at the start plus the time that the monotonic clock has counted since.
//!
//! Owns: the conversion between the two clocks, and the wait before failed work is repeated. Never: a clock of its own.
//! While a process lives, setting the machine's clock changes no idle time, back-off or lease. The next process reads a
//! stored time as wall time, and bounds every wait anew. Only cron uses the wall clock, since its times are people's.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use model::Timestamp;
use ports::Clock;

/// The clock by which jobs and runs are due.
#[derive(Debug)]
pub struct WorkTime {
    pub clock: Arc<dyn Clock>,
    wall: Timestamp,
    elapsed: Duration,
}

impl WorkTime {
    /// A time of work that starts now.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            wall: clock.now(),
            elapsed: clock.elapsed(),
            clock,
        }
    }

    pub fn now(&self) -> Timestamp {
        self.wall.after(self.clock.elapsed().saturating_sub(self.elapsed))
    }

    /// Time from now until `at`; 0 if it has passed.
    pub fn until(&self, at: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(at.millis() - self.now().millis()).unwrap_or(0))
    }
}

/// The wait before another attempt: twice as long after each, within bounds, with up to half as much again by chance,
/// so that jobs that failed together do not return together.
pub fn backoff(millis: RangeInclusive<u64>, attempt: u32, random: u64) -> Duration {
    let doubled = millis.start() << attempt.saturating_sub(1).min(16);
    let base = doubled.min(*millis.end());
    Duration::from_millis(base + random % (base / 2 + 1))
}
