//! A clock on which waits take no time and limits never strike; it distinguishes them by their length.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use model::{Timestamp, Zone};
use ports::Clock;

/// Records waits and ends them at once; a wait of the length of a limit never ends.
#[derive(Debug)]
pub(crate) struct Timer {
    limits: Vec<Duration>,
    waits: Mutex<Vec<Duration>>,
}

impl Timer {
    pub(crate) fn with_limit(limit: Duration) -> Arc<Self> {
        Self::with_limits(&[limit])
    }

    pub(crate) fn with_limits(limits: &[Duration]) -> Arc<Self> {
        Arc::new(Self {
            limits: limits.to_vec(),
            waits: Mutex::default(),
        })
    }

    /// Every limit strikes at once.
    pub(crate) fn hasty() -> Arc<Self> {
        Self::with_limits(&[])
    }

    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.waits
            .lock()
            .expect("no test panics while it holds this")
            .clone()
    }
}

#[async_trait]
impl Clock for Timer {
    fn now(&self) -> Timestamp {
        Zone::utc().parse("2026-03-02T09:00:00Z").expect("a time")
    }

    fn elapsed(&self) -> Duration {
        self.waits().iter().sum()
    }

    async fn sleep(&self, duration: Duration) {
        if self.limits.contains(&duration) {
            return std::future::pending().await;
        }
        self.waits
            .lock()
            .expect("no test panics while it holds this")
            .push(duration);
    }
}
