//! Time and randomness as ports, so that tests own both.

use std::time::Duration;

use async_trait::async_trait;
use model::Timestamp;

/// The current time and waiting.
#[async_trait]
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The wall clock, in UTC.
    fn now(&self) -> Timestamp;
    /// A clock that never goes back, for measuring: time since a fixed start.
    fn elapsed(&self) -> Duration;
    /// Waits for this duration; a test's clock ends the wait when the test moves it.
    async fn sleep(&self, duration: Duration);
}

/// Fresh randomness for ids.
pub trait Ids: Send + Sync + std::fmt::Debug {
    /// 64 bits that no other call returned.
    fn next(&self) -> u64;
}
