//! Due times by key: each key once, with its latest time.
//!
//! Owns: the order. Never: a clock; callers pass times since the clock's start. Looking for due keys costs nothing if
//! none is due, however many wait.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A queue of keys by the time at which each is due.
#[derive(Debug)]
pub struct Due<K> {
    order: BTreeSet<(Duration, K)>,
    times: BTreeMap<K, Duration>,
}

impl<K> Default for Due<K> {
    fn default() -> Self {
        Self {
            order: BTreeSet::new(),
            times: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Clone> Due<K> {
    /// Makes the key due at this time, instead of an earlier one.
    pub fn set(&mut self, key: K, at: Duration) {
        if let Some(before) = self.times.insert(key.clone(), at) {
            self.order.remove(&(before, key.clone()));
        }
        self.order.insert((at, key));
    }

    /// Whether the key waits.
    pub fn has(&self, key: &K) -> bool {
        self.times.contains_key(key)
    }

    /// When the first is due.
    pub fn first(&self) -> Option<Duration> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Removes a key that is due.
    pub fn take(&mut self, now: Duration) -> Option<K> {
        self.first().filter(|at| *at <= now)?;
        let (_, key) = self.order.pop_first()?;
        self.times.remove(&key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_due_once_at_its_latest_time() {
        let seconds = Duration::from_secs;
        let mut due = Due::default();
        due.set("a", seconds(5));
        due.set("b", seconds(3));
        due.set("a", seconds(9));
        assert_eq!(due.first(), Some(seconds(3)));
        assert_eq!(due.take(seconds(2)), None);
        assert_eq!(due.take(seconds(9)), Some("b"));
        assert_eq!(due.take(seconds(9)), Some("a"));
        assert_eq!((due.take(seconds(99)), due.first()), (None, None));
    }
}
