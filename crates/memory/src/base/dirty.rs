//! Vault files that may differ from what the index shows.
//!
//! Owns: collecting them for the next sync, and which of them the engine itself is writing. Never: reading them (`sync`
//! does).

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use ports::{VaultChange, VaultPath};
use tokio::sync::Notify;

/// Paths to sync.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    state: Mutex<DirtyState>,
    notify: Notify,
}

#[derive(Debug, Default)]
struct DirtyState {
    change: VaultChange,
    /// Files and folders (`…/`) that the engine is writing, with the number of writers: the files differ from their records for a
    /// moment.
    writing: BTreeMap<VaultPath, usize>,
    /// The paths to read after that moment.
    deferred: BTreeSet<VaultPath>,
}

/// Files are being written until it is dropped.
#[derive(Debug)]
pub(crate) struct WriteGuard<'a> {
    dirty: &'a Dirty,
    paths: BTreeSet<VaultPath>,
}

impl Dirty {
    /// Adds files to sync.
    pub(crate) fn add(&self, paths: impl IntoIterator<Item = VaultPath>) {
        self.state.lock().change.paths.extend(paths);
        self.notify.notify_one();
    }

    /// Adds files to sync, or all.
    pub(crate) fn add_all(&self, change: VaultChange) {
        self.state.lock().change.add(change);
        self.notify.notify_one();
    }

    /// Waits until there is something, and takes all of it.
    pub(crate) async fn take(&self) -> VaultChange {
        loop {
            let change = std::mem::take(&mut self.state.lock().change);
            if change != VaultChange::default() {
                return change;
            }
            self.notify.notified().await;
        }
    }

    /// The engine begins to write these files, and all files below those that are folders (`…/`).
    pub(crate) fn writing(&self, paths: BTreeSet<VaultPath>) -> WriteGuard<'_> {
        let mut state = self.state.lock();
        for path in &paths {
            *state.writing.entry(path.clone()).or_default() += 1;
        }
        drop(state);
        WriteGuard { dirty: self, paths }
    }

    /// Whether the engine is writing a file; then it is looked at when that is done. To stop all writers for the sake
    /// of what they write would be a pity.
    pub(crate) fn defers(&self, path: &VaultPath) -> bool {
        let mut state = self.state.lock();
        let defers = state.writing.keys().any(|written| covers(written, path));
        if defers {
            state.deferred.insert(path.clone());
        }
        defers
    }
}

/// Whether a path is this file, or below this folder (`…/`).
fn covers(written: &VaultPath, path: &VaultPath) -> bool {
    path == written || written.ends_with('/') && path.starts_with(&**written)
}

impl Drop for WriteGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.dirty.state.lock();
        for path in &self.paths {
            let Some(writers) = state.writing.get_mut(path) else {
                continue;
            };
            *writers -= 1;
            if *writers > 0 {
                continue;
            }
            state.writing.remove(path);
            let due: Vec<VaultPath> = state.deferred.extract_if(.., |one| covers(path, one)).collect();
            if !due.is_empty() {
                state.change.paths.extend(due);
                self.dirty.notify.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests;
