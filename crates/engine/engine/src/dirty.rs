//! Vault files that may differ from what the index shows.
//!
//! Owns: collecting them until somebody looks. Never: looking (`sync` does).

use std::sync::{Mutex, MutexGuard, PoisonError};

use ports::{VaultChange, VaultPath};
use tokio::sync::Notify;

/// Paths to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    change: Mutex<VaultChange>,
    notify: Notify,
}

impl Dirty {
    /// A file to look at.
    pub(crate) fn add(&self, path: VaultPath) {
        self.change().paths.insert(path);
        self.notify.notify_one();
    }

    /// Files to look at.
    pub(crate) fn add_all(&self, change: VaultChange) {
        {
            let mut have = self.change();
            have.all |= change.all;
            have.paths.extend(change.paths);
        }
        self.notify.notify_one();
    }

    /// Waits until there is something, and takes all of it.
    pub(crate) async fn take(&self) -> VaultChange {
        loop {
            let change = std::mem::take(&mut *self.change());
            if change.all || !change.paths.is_empty() {
                return change;
            }
            self.notify.notified().await;
        }
    }

    fn change(&self) -> MutexGuard<'_, VaultChange> {
        self.change.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
