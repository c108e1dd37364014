//! The time of work: the wall clock as it was at the start, plus what the clock that never goes back has counted since.
//!
//! Owns: the conversion between the two clocks, and how long failed work waits. Never: a clock of its own. While a process lives, a
//! machine's clock that is set moves no idle time, back-off or lease. A stored time is read as wall time by the next process, which
//! bounds every wait anew. Only cron asks the wall clock, since its times are people's.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use model::Timestamp;
use ports::Clock;

/// The time by which jobs and runs are due.
#[derive(Debug)]
pub struct WorkTime {
    pub clock: Arc<dyn Clock>,
    wall: Timestamp,
    elapsed: Duration,
}

impl WorkTime {
    /// The time of work that begins now.
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

    /// How long until then.
    pub fn until(&self, at: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(at.millis() - self.now().millis()).unwrap_or(0))
    }
}

/// The wait before another attempt: twice as long after each, within bounds, with up to half as much again by chance, so that
/// work that failed together does not return together.
pub fn backoff(millis: RangeInclusive<u64>, attempt: u32, random: u64) -> Duration {
    let doubled = millis.start() << attempt.saturating_sub(1).min(16);
    let base = doubled.min(*millis.end());
    Duration::from_millis(base + random % (base / 2 + 1))
}
