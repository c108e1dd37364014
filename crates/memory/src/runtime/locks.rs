//! One lock for each key, created for the first caller and removed after the last one.
//!
//! Owns: keyed mutual exclusion across awaits. Never: the work under a lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

type Lock = Arc<tokio::sync::Mutex<()>>;

/// Locks by key: holders of one key take turns in the order in which they came; other keys do not wait.
#[derive(Debug)]
pub(crate) struct KeyedLocks<K: Ord + Clone> {
    locks: Mutex<BTreeMap<K, Lock>>,
}

/// Holds one key's lock until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldLock<'a, K: Ord + Clone> {
    // Declared before the claim, so that the lock is free when the claim checks whether anybody wants it.
    _guard: OwnedMutexGuard<()>,
    _claim: LockClaim<'a, K>,
}

/// Counts a task that holds the lock or waits for it.
#[derive(Debug)]
struct LockClaim<'a, K: Ord + Clone> {
    locks: &'a KeyedLocks<K>,
    key: K,
    lock: Option<Lock>,
}

impl<K: Ord + Clone> Default for KeyedLocks<K> {
    fn default() -> Self {
        Self {
            locks: Mutex::default(),
        }
    }
}

impl<K: Ord + Clone> KeyedLocks<K> {
    /// Waits for the key's lock.
    pub(crate) async fn lock(&self, key: &K) -> HeldLock<'_, K> {
        let (lock, claim) = self.claim(key);
        HeldLock {
            _guard: lock.lock_owned().await,
            _claim: claim,
        }
    }

    /// The key's lock, if it is free.
    pub(crate) fn try_lock(&self, key: &K) -> Option<HeldLock<'_, K>> {
        let (lock, claim) = self.claim(key);
        Some(HeldLock {
            _guard: lock.try_lock_owned().ok()?,
            _claim: claim,
        })
    }

    fn claim(&self, key: &K) -> (Lock, LockClaim<'_, K>) {
        let lock = self.locks.lock().entry(key.clone()).or_default().clone();
        let claim = LockClaim {
            locks: self,
            key: key.clone(),
            lock: Some(lock.clone()),
        };
        (lock, claim)
    }

    /// Number of keys that are held or waited for.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.locks.lock().len()
    }
}

impl<K: Ord + Clone> Drop for LockClaim<'_, K> {
    fn drop(&mut self) {
        let mut map = self.locks.locks.lock();
        self.lock = None;
        // One reference is the map's own: the lock is free, and no caller waits.
        if map
            .get(&self.key)
            .is_some_and(|lock| Arc::strong_count(lock) == 1)
        {
            map.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests;
