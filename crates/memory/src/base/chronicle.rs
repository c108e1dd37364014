//! State of the vault's history, and the run or deletion that the current task writes for.
//!
//! Owns: that a version is announced before the file contains it. Never: a write, or a version's text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::text::Fnv;
use model::{Owner, Scope, Timestamp};
use parking_lot::Mutex;
use ports::{
    By, ChangeId, ChangeTarget, History, LedgerError, NewVersion, VaultPath, VersionId, VersionText,
};
use tokio::sync::Notify;

/// Files are compared when none has changed for this time.
const QUIET: Duration = Duration::from_secs(10);
/// Files are compared at the latest when the first change is this old.
const WAIT_MAX: Duration = Duration::from_mins(5);

tokio::task_local! {
    /// The run or deletion that the current task writes for.
    pub(crate) static DOING: Arc<Doing>;
}

/// The run or deletion that a task writes for. Without one, a write is a person's, through a door.
#[derive(Debug)]
pub(crate) enum Doing {
    Run {
        by: By,
        at: Timestamp,
        /// The change of the run, once it has written something.
        change: Mutex<Option<ChangeId>>,
    },
    /// A deletion: its targets leave the history too.
    Forgetting(Going),
}

/// Targets of a deletion, noted while it runs.
#[derive(Debug, Default)]
pub(crate) struct Going {
    pub(crate) entries: Mutex<BTreeMap<(Scope, Owner), BTreeSet<String>>>,
    /// Files beside memory of which versions were deleted.
    pub(crate) files: Mutex<BTreeSet<VaultPath>>,
    /// The history of an earlier version was deleted too.
    pub(crate) has_dropped_old: AtomicBool,
}

/// The vault's history, and the changes that it has not recorded yet.
#[derive(Debug)]
pub(crate) struct Chronicle {
    pub(crate) history: Arc<dyn History>,
    pub(crate) is_recording: bool,
    /// One run or undo at a time.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// Versions that are in their files, but not yet marked as written in the ledger.
    pub(crate) settled: Mutex<Vec<VersionId>>,
    /// When the first and the last change of files beside memory were seen, by the monotonic clock.
    pub(crate) changed: Mutex<Option<(Duration, Duration)>>,
    pub(crate) begun: Notify,
    /// The ledger knew no file at the start, and the vault was not scanned yet: files that are found now count as
    /// unchanged.
    pub(crate) is_new: AtomicBool,
}

impl Chronicle {
    pub(crate) fn new(history: Arc<dyn History>, is_recording: bool) -> Self {
        Self {
            history,
            is_recording,
            turn: tokio::sync::Mutex::default(),
            settled: Mutex::default(),
            changed: Mutex::default(),
            begun: Notify::new(),
            is_new: AtomicBool::default(),
        }
    }

    /// The whole vault was scanned.
    pub(crate) fn has_looked(&self) {
        self.is_new.store(false, Ordering::Relaxed);
    }

    /// Records versions that are about to be written, under the current run or as a person's. None if nothing is recorded.
    pub(crate) async fn announce(
        &self,
        versions: Vec<NewVersion>,
        now: Timestamp,
    ) -> Result<Vec<VersionId>, LedgerError> {
        let doing = DOING.try_with(Arc::clone).ok();
        let is_forgetting = matches!(doing.as_deref(), Some(Doing::Forgetting(_)));
        if !self.is_recording || is_forgetting || versions.is_empty() {
            return Ok(Vec::new());
        }
        let target = match doing.as_deref() {
            Some(Doing::Run { by, at, change }) => ChangeTarget {
                known: *change.lock(),
                by: by.clone(),
                at: *at,
            },
            _ => ChangeTarget {
                known: None,
                by: By::Person,
                at: now,
            },
        };
        let settled = self.take_settled();
        let announced = self.history.announce(target, versions, settled.clone()).await;
        let announced = announced.inspect_err(|_| self.settled.lock().extend(settled))?;
        if let Some(Doing::Run { change, .. }) = doing.as_deref() {
            *change.lock() = Some(announced.change);
        }
        Ok(announced.versions)
    }

    /// The files now contain these versions.
    pub(crate) fn are_written(&self, versions: impl IntoIterator<Item = VersionId>) {
        self.settled.lock().extend(versions);
    }

    pub(crate) fn take_settled(&self) -> Vec<VersionId> {
        std::mem::take(&mut *self.settled.lock())
    }

    /// The ledger's history, after all written versions were marked in it.
    pub(crate) async fn up_to_date(&self) -> Result<&Arc<dyn History>, LedgerError> {
        let settled = self.take_settled();
        if !settled.is_empty() {
            let done = self.history.settle(settled.clone()).await;
            done.inspect_err(|_| self.settled.lock().extend(settled))?;
        }
        Ok(&self.history)
    }

    /// A file beside memory may have changed.
    pub(crate) fn touch(&self, now: Duration) {
        if !self.is_recording {
            return;
        }
        let mut changed = self.changed.lock();
        let first = changed.map_or(now, |(first, _)| first);
        let is_first = changed.replace((first, now)).is_none();
        drop(changed);
        if is_first {
            self.begun.notify_one();
        }
    }

    pub(crate) fn due(&self) -> Option<Duration> {
        let (first, last) = (*self.changed.lock())?;
        Some((last + QUIET).min(first + WAIT_MAX))
    }
}

/// Does work as a run. Only writes of this future count as the run's, not writes of tasks that it spawns.
pub(crate) async fn as_run<T>(
    (by, at, known): (By, Timestamp, Option<ChangeId>),
    work: impl Future<Output = T>,
) -> (T, Option<ChangeId>) {
    let doing = Arc::new(Doing::Run {
        by,
        at,
        change: Mutex::new(known),
    });
    let done = DOING.scope(doing.clone(), work).await;
    let made = match &*doing {
        Doing::Run { change, .. } => *change.lock(),
        Doing::Forgetting(_) => None,
    };
    (done, made)
}

/// Notes files beside memory from which a deletion removes versions.
pub(crate) fn note_files(paths: impl Iterator<Item = VaultPath>) {
    if let Ok(Doing::Forgetting(going)) = DOING.try_with(Arc::clone).as_deref() {
        going.files.lock().extend(paths);
    }
}

/// A file's digest, size and text; no text if it is not UTF-8.
pub(crate) fn text_of(bytes: &[u8]) -> VersionText {
    let (digest, text) = (Fnv::of(bytes), None);
    let bare = VersionText {
        digest,
        bytes: bytes.len() as u64,
        text,
    };
    std::str::from_utf8(bytes).map_or(bare, |text| VersionText::new(digest, text.to_owned()))
}
