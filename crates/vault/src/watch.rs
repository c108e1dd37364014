//! Changes by other programs: from file events or, without events, from scans.
//!
//! Owns: the watcher, and merging the changes of one moment. Never: the meaning of a change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use markdown::{NoPlace, Place};
use notify::event::{CreateKind, EventKind, ModifyKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use ports::{Clock, FileStat, OtherFile, VaultChange, VaultPath};
use tokio::sync::{Notify, OnceCell};

use crate::tree::{Tree, is_kept, may_hold_memory};

/// Length of one moment: an editor's save is several events.
const MOMENT: Duration = Duration::from_millis(100);

/// Maximum number of paths recorded; beyond it the change is "all".
const PATHS_MAX: usize = 10_000;

/// The way to watch a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Watching {
    /// Whether to ask the system for events.
    pub(crate) events: bool,
    /// Interval of scans if the system gives no events.
    pub(crate) rescan: Duration,
}

/// Watcher of a vault, started at the first request for changes.
#[derive(Debug)]
pub(crate) struct Watch {
    tree: Tree,
    clock: Arc<dyn Clock>,
    watching: Watching,
    source: OnceCell<WatchSource>,
    pending: Arc<Pending>,
}

#[derive(Debug)]
enum WatchSource {
    /// Dropping the watcher ends the events.
    Events(Arc<Mutex<RecommendedWatcher>>),
    /// The files at the last scan.
    Rescans(Mutex<Seen>),
}

/// The memory files, and all others.
type Seen = (BTreeMap<VaultPath, FileStat>, Vec<OtherFile>);

/// Changes since the last answer.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    news: Mutex<News>,
    notify: Notify,
}

#[derive(Debug, Default)]
struct News {
    change: VaultChange,
    /// New folders: files may have been created in them before the system watched them.
    folders: BTreeSet<String>,
}

impl Watch {
    pub(crate) fn new(tree: Tree, clock: Arc<dyn Clock>, watching: Watching) -> Self {
        Self {
            tree,
            clock,
            watching,
            source: OnceCell::new(),
            pending: Arc::default(),
        }
    }

    /// Waits until files may have changed; changes in between are reported by the next call.
    pub(crate) async fn changed(&self) -> VaultChange {
        let source = self.source.get_or_init(|| self.start()).await;
        loop {
            if self.pending.news().change.all {
                return self.pending.take();
            }
            match source {
                WatchSource::Events(_) if self.pending.is_empty() => self.pending.notify.notified().await,
                WatchSource::Events(watcher) => {
                    self.clock.sleep(MOMENT).await;
                    self.look_into_new_folders(watcher).await;
                    let change = self.pending.take();
                    if change != VaultChange::default() {
                        return change;
                    }
                }
                WatchSource::Rescans(last) => {
                    self.clock.sleep(self.watching.rescan).await;
                    let change = self.rescan(last).await;
                    if change != VaultChange::default() {
                        return change;
                    }
                }
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn pending(&self) -> Arc<Pending> {
        self.pending.clone()
    }

    /// Starts to watch; earlier changes are unknown, so the first answer is "all".
    async fn start(&self) -> WatchSource {
        let (tree, pending) = (self.tree.clone(), self.pending.clone());
        let source = if self.watching.events {
            blocking(move || watcher(tree.root(), &pending)).await
        } else {
            None
        };
        let source = match source {
            Some(watcher) => WatchSource::Events(Arc::new(Mutex::new(watcher))),
            None => WatchSource::Rescans(Mutex::new(self.files().await.unwrap_or_default())),
        };
        self.pending.news().change.all = true;
        source
    }

    async fn files(&self) -> Option<Seen> {
        let tree = self.tree.clone();
        let (files, beside) = blocking(move || (tree.files(), tree.others())).await;
        let files = files
            .inspect_err(|error| tracing::warn!(%error, "cannot scan the vault"))
            .ok()?;
        let files = files.into_iter().map(|stat| (stat.path.clone(), stat));
        Some((files.collect(), beside))
    }

    async fn rescan(&self, last: &Mutex<Seen>) -> VaultChange {
        let Some((files, beside)) = self.files().await else {
            return VaultChange::default();
        };
        let mut last = held(last);
        let changed = files
            .iter()
            .filter(|(path, stat)| last.0.get(*path) != Some(stat));
        let gone = last.0.keys().filter(|path| !files.contains_key(*path));
        let change = VaultChange {
            paths: changed.map(|(path, _)| path).chain(gone).cloned().collect(),
            all: false,
            beside: beside != last.1,
        };
        *last = (files, beside);
        change
    }

    /// Finds files created in a new folder before the system watched it.
    async fn look_into_new_folders(&self, watcher: &Arc<Mutex<RecommendedWatcher>>) {
        let folders = self.pending.news().folders.clone();
        for folder in folders {
            let (tree, watcher, below) = (self.tree.clone(), watcher.clone(), folder.clone());
            let files = blocking(move || {
                // The watcher reaches new folders with a delay; after this call it has reached this one, and
                // no more events are missed.
                let watched = held(&watcher).watch(&tree.root().join(&below), RecursiveMode::Recursive);
                if let Err(error) = watched {
                    tracing::debug!(folder = %below, %error, "cannot watch a new folder; it may already be gone");
                }
                tree.files_below(&below)
            });
            let files = files.await;
            let mut news = self.pending.news();
            news.change.paths.extend(files.into_iter().map(|stat| stat.path));
            news.folders.remove(&folder);
        }
    }
}

/// Runs work on a blocking thread. It only fails by panicking, and the panic is passed on.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // Only a runtime in shutdown cancels it, and then there is no caller.
        Err(_) => std::future::pending().await,
    }
}

fn watcher(root: &Path, pending: &Arc<Pending>) -> Option<RecommendedWatcher> {
    let (base, pending) = (root.to_owned(), pending.clone());
    let watcher = notify::recommended_watcher(move |event| pending.note(&base, event));
    let watching = watcher.and_then(|mut watcher| {
        watcher.watch(root, RecursiveMode::Recursive)?;
        Ok(watcher)
    });
    watching
        .inspect_err(
            |error| tracing::warn!(%error, "file events unavailable; scanning the vault at intervals instead"),
        )
        .ok()
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics while it holds the lock")
}

impl Pending {
    fn news(&self) -> MutexGuard<'_, News> {
        held(&self.news)
    }

    pub(crate) fn is_empty(&self) -> bool {
        let news = self.news();
        news.change == VaultChange::default() && news.folders.is_empty()
    }

    pub(crate) fn take(&self) -> VaultChange {
        let mut news = self.news();
        let change = std::mem::take(&mut news.change);
        if change.all {
            news.folders.clear();
            return VaultChange {
                all: true,
                ..VaultChange::default()
            };
        }
        change
    }

    /// Records the changes of an event.
    pub(crate) fn note(&self, root: &Path, event: notify::Result<Event>) {
        let mut news = self.news();
        match event {
            Ok(event) if event.need_rescan() => news.change.all = true,
            Ok(event) => event
                .paths
                .iter()
                .for_each(|path| news.note(root, path, event.kind)),
            Err(error) => {
                tracing::warn!(%error, "lost file events; scanning the whole vault");
                news.change.all = true;
            }
        }
        if news.change.paths.len() > PATHS_MAX {
            news.change.all = true;
        }
        drop(news);
        if !self.is_empty() {
            self.notify.notify_one();
        }
    }
}

impl News {
    fn note(&mut self, root: &Path, path: &Path, kind: EventKind) {
        let inside = path.strip_prefix(root).ok().and_then(Path::to_str);
        let Some(inside) = inside.filter(|inside| !inside.is_empty() && !kind.is_access()) else {
            return;
        };
        let metadata = path.symlink_metadata().ok();
        let is_folder = metadata.as_ref().is_some_and(std::fs::Metadata::is_dir);
        let is_memory = Place::of(inside) != Err(NoPlace::Foreign);
        let has_come = matches!(
            kind,
            EventKind::Create(CreateKind::Folder | CreateKind::Any) | EventKind::Modify(ModifyKind::Name(_))
        );
        // Files that change in a folder have events of their own.
        self.change.beside |= !is_memory && is_kept(inside) && (!is_folder || has_come);
        if metadata.as_ref().is_some_and(std::fs::Metadata::is_symlink) {
            // The link may have replaced files that are now gone.
            self.change.all |= may_hold_memory(inside) || is_memory;
        } else if is_memory && !is_folder {
            self.change.paths.insert(inside.into());
        } else if may_hold_memory(inside) {
            let is_gone = metadata.is_none() && !kind.is_create();
            if is_gone {
                // The event does not name the files that moved with it.
                self.change.all = true;
            } else if is_folder && has_come {
                self.folders.insert(inside.to_owned());
            }
        }
    }
}
