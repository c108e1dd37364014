//! Whether the index can answer, and by which methods.
//!
//! Owns: the one state that searches wait on. Never: building an index (`rebuild` does).

use std::collections::BTreeSet;
use std::time::Duration;

use model::text::counted;
use parking_lot::Mutex;
use ports::{Clock, IndexError, VaultPath};

use crate::error::EngineError;
use crate::runtime::Signal;

/// How long a search waits for an index that is being built from nothing.
const WAIT: Duration = Duration::from_secs(30);
/// Time that a search waits for the first scan of changes made before the start.
const FIRST_SYNC_WAIT: Duration = Duration::from_secs(5);

/// Availability of the live index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Serving {
    /// Not checked yet.
    Checking,
    /// All methods work.
    Ready,
    /// Its vectors are of another model: only keyword search works, until a rebuild.
    Words,
    /// Nothing works: the index must be built, or is being built.
    Building,
    /// A new index is being swapped in.
    Swapping,
    /// Nothing works, and building the index failed.
    Unusable(String),
}

impl Serving {
    /// Whether waiting helps.
    fn is_passing(&self) -> bool {
        matches!(self, Self::Checking | Self::Building | Self::Swapping)
    }
}

/// The state, to be waited on.
#[derive(Debug)]
pub(crate) struct Gauge {
    serving: Signal<Serving>,
    synced: Signal<bool>,
    progress: Mutex<Option<(usize, usize)>>,
    /// Changed files that the sync under way has not read yet.
    pub(crate) unread: Mutex<BTreeSet<VaultPath>>,
}

impl Gauge {
    pub(crate) fn new() -> Self {
        Self {
            serving: Signal::new(Serving::Checking),
            synced: Signal::new(false),
            progress: Mutex::new(None),
            unread: Mutex::default(),
        }
    }

    /// The present availability.
    pub(crate) fn now(&self) -> Serving {
        self.serving.get()
    }

    /// Whether vectors of the configured model may be read from it and written to it.
    pub(crate) fn takes_vectors(&self) -> bool {
        self.serving.get() != Serving::Words
    }

    pub(crate) fn set(&self, serving: Serving) {
        self.serving.set(serving);
    }

    /// Notes that the live index is unusable; returns whether this was unknown.
    pub(crate) fn found_unusable(&self) -> bool {
        self.serving.set_if(|serving| {
            let is_news = matches!(serving, Serving::Ready | Serving::Words);
            if is_news {
                *serving = Serving::Building;
            }
            is_news
        })
    }

    /// Waits until an index must be built.
    pub(crate) async fn building(&self) {
        self.serving.wait_for(|now| *now == Serving::Building).await;
    }

    /// Notes that the index could not be built; an index that serves keyword search continues to do so.
    pub(crate) fn give_up(&self, reason: &str) {
        self.serving.set_if(|serving| {
            let is_nothing = serving.is_passing();
            if is_nothing {
                *serving = Serving::Unusable(reason.to_owned());
            }
            is_nothing
        });
    }

    /// Notes that the first sync has ended, with or without success.
    pub(crate) fn set_synced(&self) {
        self.synced.set(true);
    }

    /// Notes changed files that a sync will read.
    pub(crate) fn add_unread(&self, paths: &[VaultPath]) {
        self.unread.lock().extend(paths.iter().cloned());
    }

    /// Notes that files were read.
    pub(crate) fn remove_unread(&self, paths: &[VaultPath]) {
        let mut unread = self.unread.lock();
        for path in paths {
            unread.remove(path);
        }
    }

    /// A warning for an answer that lacks changed files of a tenant's folder while the first scan goes on.
    pub(crate) fn unread_warning(&self, folder: &str) -> Option<String> {
        if self.is_synced() {
            return None;
        }
        let is_below = |path: &&VaultPath| {
            path.strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        let files = self.unread.lock().iter().filter(is_below).count();
        let shown = counted(files, "changed file is", "changed files are");
        (files > 0).then(|| format!("{shown} not read yet: search again for all memories"))
    }

    /// Rows that a rebuild has done, and rows in total; none without a rebuild.
    pub(crate) fn progress(&self) -> Option<(usize, usize)> {
        *self.progress.lock()
    }

    pub(crate) fn set_progress(&self, progress: Option<(usize, usize)>) {
        *self.progress.lock() = progress;
    }

    /// Waits, within a bound, until the index can answer for the whole vault.
    pub(crate) async fn answering(&self, clock: &dyn Clock) -> Result<(), EngineError> {
        self.usable(clock).await?;
        self.synced(clock).await;
        Ok(())
    }

    /// Waits until the index can be read, within a bound.
    pub(crate) async fn usable(&self, clock: &dyn Clock) -> Result<(), EngineError> {
        let reason = tokio::select! {
            biased;
            now = self.serving.wait_for(|now| !now.is_passing()) => match now {
                Serving::Unusable(reason) => Some(reason),
                _ => None,
            },
            () = clock.sleep(WAIT) => Some(self.how_far()),
        };
        match reason {
            Some(reason) => Err(EngineError::Index(IndexError::Unusable { reason })),
            None => Ok(()),
        }
    }

    /// Whether the vault was scanned since the start.
    pub(crate) fn is_synced(&self) -> bool {
        self.synced.get()
    }

    /// Waits until the vault was scanned once, within a bound.
    pub(crate) async fn synced(&self, clock: &dyn Clock) {
        tokio::select! {
            biased;
            _ = self.synced.wait_for(|synced| *synced) => {}
            () = clock.sleep(FIRST_SYNC_WAIT) => {}
        }
    }

    fn how_far(&self) -> String {
        match self.progress() {
            Some((done, total)) => format!("it is being built, {done} of {total} rows are done"),
            None => "it is being opened".to_owned(),
        }
    }
}
