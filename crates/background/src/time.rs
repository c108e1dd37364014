//! The dispatcher's time: the wall clock as it was at the start, plus what the clock that never goes back has counted since.
//!
//! Owns: the conversion between the two. Never: a clock of its own. While a process lives, a machine's clock that jumps
//! moves no idle time, back-off or lease; a stored time is read as wall time by the next process, which bounds every wait
//! anew (`Runs::release_all`). Only cron asks the wall clock, since its times are people's: the wait until then is measured
//! there and kept here.

use std::sync::Arc;
use std::time::Duration;

use model::{Date, Timestamp, Zone};
use ports::Clock;

use crate::cron::Cron;

#[derive(Debug)]
pub(crate) struct Time {
    pub(crate) clock: Arc<dyn Clock>,
    wall: Timestamp,
    elapsed: Duration,
}

impl Time {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            wall: clock.now(),
            elapsed: clock.elapsed(),
            clock,
        }
    }

    /// The dispatcher's time now.
    pub(crate) fn now(&self) -> Timestamp {
        later(self.wall, self.clock.elapsed().saturating_sub(self.elapsed))
    }

    /// How long until then.
    pub(crate) fn until(&self, at: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(at.millis() - self.now().millis()).unwrap_or(0))
    }

    /// Which day people have.
    pub(crate) fn today(&self, zone: &Zone) -> Date {
        zone.date(self.clock.now())
    }

    /// When an expression's next time is. Both clocks are read within a moment: where they agree, it is the time itself.
    pub(crate) fn next(&self, cron: &Cron, zone: &Zone) -> Option<Timestamp> {
        let wall = self.clock.now();
        let (next, ahead) = (cron.after(wall, zone)?, self.now().millis() - wall.millis());
        Some(if ahead.abs() < 1_000 {
            next
        } else {
            next.plus_millis(ahead)
        })
    }
}

/// `at + by`.
pub(crate) fn later(at: Timestamp, by: Duration) -> Timestamp {
    at.plus_millis(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
}
