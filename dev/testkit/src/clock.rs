//! Time and randomness under a test's control: a clock that stands still until the test moves it, and ids
//! that count.
//!
//! Owns: the only time in tests. Never: the machine's clock.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use model::Timestamp;
use ports::{Clock, Ids};
use tokio::sync::watch;

/// A clock that starts at [`ManualClock::START_MILLIS`] and moves only when the test moves it. Sleeps end in
/// the order of their times, then of their starts, so that a run can be repeated.
#[derive(Debug)]
pub struct ManualClock {
    time: Mutex<Time>,
    /// How far the wall clock was set forward, in milliseconds.
    set_forth: AtomicI64,
    /// Number of sleeps under way.
    sleepers: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Time {
    elapsed: Duration,
    slept: u64,
    /// By the end time of each sleep and its number.
    asleep: BTreeMap<(Duration, u64), Waker>,
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl ManualClock {
    /// 2026-03-02T09:00:00Z, a Monday, in milliseconds since 1970.
    pub const START_MILLIS: i64 = 1_772_442_000_000;

    /// A clock at its start.
    pub fn new() -> Self {
        Self {
            time: Mutex::default(),
            set_forth: AtomicI64::new(0),
            sleepers: watch::Sender::new(0),
        }
    }

    /// Moves the clock; every sleep whose time has come ends.
    pub fn advance(&self, duration: Duration) {
        let mut time = self.time();
        time.elapsed += duration;
        let later = (time.elapsed + Duration::from_nanos(1), 0);
        let asleep = time.asleep.split_off(&later);
        let due = std::mem::replace(&mut time.asleep, asleep);
        drop(time);
        due.into_values().for_each(Waker::wake);
    }

    /// Time until the first sleep ends; none when nobody sleeps.
    pub fn next(&self) -> Option<Duration> {
        let time = self.time();
        let ((due, _), _) = time.asleep.first_key_value()?;
        Some(due.saturating_sub(time.elapsed))
    }

    /// Sets only the wall clock, forward or back: no sleep ends by it.
    pub fn set_wall(&self, forth_millis: i64) {
        self.set_forth.fetch_add(forth_millis, Ordering::Relaxed);
    }

    /// Waits until at least this many tasks sleep on this clock: the moment to move it.
    pub async fn sleeping(&self, count: usize) {
        self.sleepers
            .subscribe()
            .wait_for(|sleepers| *sleepers >= count)
            .await
            .expect("the sender lives in self");
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a sleep for as long as it lasts, also when it is dropped half-way.
struct Asleep<'a> {
    clock: &'a ManualClock,
    key: (Duration, u64),
}

impl<'a> Asleep<'a> {
    fn new(clock: &'a ManualClock, due: Duration) -> Self {
        let mut time = clock.time();
        time.slept += 1;
        let key = (due, time.slept);
        drop(time);
        clock.sleepers.send_modify(|count| *count += 1);
        Self { clock, key }
    }
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.clock.time().asleep.remove(&self.key);
        self.clock.sleepers.send_modify(|count| *count -= 1);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.elapsed().as_millis()).unwrap_or(i64::MAX);
        let set_forth = self.set_forth.load(Ordering::Relaxed);
        Timestamp::from_millis(Self::START_MILLIS).plus_millis(elapsed.saturating_add(set_forth))
    }

    fn elapsed(&self) -> Duration {
        self.time().elapsed
    }

    async fn sleep(&self, duration: Duration) {
        let due = self.elapsed().saturating_add(duration);
        if duration.is_zero() {
            return;
        }
        let asleep = Asleep::new(self, due);
        poll_fn(|context| {
            let mut time = self.time();
            if time.elapsed >= due {
                return Poll::Ready(());
            }
            time.asleep.insert(asleep.key, context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Ids that count from 1, so that a test run gives the same ids every time.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl CountingIds {
    /// Ids from 1.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Ids for CountingIds {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn a_sleep_ends_when_the_clock_reaches_it_and_not_before() {
        let clock = Arc::new(ManualClock::new());
        assert_eq!(clock.now().to_string(), "2026-03-02T09:00:00Z");
        let mut tasks = tokio::task::JoinSet::new();
        for seconds in [5, 10] {
            let clock = Arc::clone(&clock);
            tasks.spawn(async move {
                clock.sleep(Duration::from_secs(seconds)).await;
                seconds
            });
        }
        clock.sleeping(2).await;
        clock.advance(Duration::from_secs(4));
        tokio::task::yield_now().await;
        assert!(tasks.try_join_next().is_none(), "nobody's time has come");
        clock.advance(Duration::from_secs(1));
        assert_eq!(tasks.join_next().await.expect("one").expect("no panic"), 5);
        clock.sleeping(1).await;
        clock.advance(Duration::from_mins(1));
        assert_eq!(tasks.join_next().await.expect("two").expect("no panic"), 10);
        assert_eq!(clock.now().to_string(), "2026-03-02T09:01:05Z");
        assert_eq!(*clock.sleepers.borrow(), 0);
    }

    #[test]
    fn ids_count() {
        let ids = CountingIds::new();
        assert_eq!([ids.next(), ids.next(), ids.next()], [1, 2, 3]);
    }
}
