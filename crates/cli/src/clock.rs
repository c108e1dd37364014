//! The system clock and random numbers: the only place that reads either.

#![expect(clippy::disallowed_methods, reason = "this file owns the machine's clocks")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use model::Timestamp;
use ports::{Clock, Ids};

/// The system clock.
#[derive(Debug)]
pub(crate) struct SystemClock {
    started: Instant,
}

impl SystemClock {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Random numbers of the operating system.
#[derive(Debug)]
pub(crate) struct RandomIds;

impl Ids for RandomIds {
    fn next(&self) -> u64 {
        getrandom::u64().expect("the operating system gives randomness")
    }
}
