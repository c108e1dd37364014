//! Vault files that may differ from their rows in the index.
//!
//! Owns: collecting them for the next sync, and the files that the engine itself is writing. Never: reading them
//! (`sync` does).

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
    /// Files and folders (`…/`) that the engine is writing, with the number of writers: for a moment these files differ
    /// from their records.
    writing: BTreeMap<VaultPath, usize>,
    /// The paths to read once they are written.
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

    /// Waits until there is a path, and takes all of them.
    pub(crate) async fn take(&self) -> VaultChange {
        loop {
            let change = std::mem::take(&mut self.state.lock().change);
            if change != VaultChange::default() {
                return change;
            }
            self.notify.notified().await;
        }
    }

    /// Notes that the engine begins to write these files, and all files below the folders (`…/`) among them.
    pub(crate) fn writing(&self, paths: BTreeSet<VaultPath>) -> WriteGuard<'_> {
        let mut state = self.state.lock();
        for path in &paths {
            *state.writing.entry(path.clone()).or_default() += 1;
        }
        drop(state);
        WriteGuard { dirty: self, paths }
    }

    /// Whether the engine is writing a file; if so, the file is synced after that. So a sync need not stop all writers
    /// to read their own writes.
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
