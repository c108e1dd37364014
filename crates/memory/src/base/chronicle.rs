//! What is known of the history of the vault, and for whom the work that is polled writes.
//!
//! Owns: that a version is announced before its file has it. Never: a write, what a version says.

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

/// Files are compared when none changed for so long,
const QUIET: Duration = Duration::from_secs(10);
/// or the first change is so old.
const WAIT_MAX: Duration = Duration::from_mins(5);

tokio::task_local! {
    /// What the work that is polled writes for.
    pub(crate) static DOING: Arc<Doing>;
}

/// What a write is made for. Outside of it, a write is a person's, through a door.
#[derive(Debug)]
pub(crate) enum Doing {
    Run {
        by: By,
        at: Timestamp,
        /// The change of the run, once it wrote something.
        change: Mutex<Option<ChangeId>>,
    },
    /// What goes leaves the history too.
    Forgetting(Going),
}

/// What a deletion took out.
#[derive(Debug, Default)]
pub(crate) struct Going {
    pub(crate) entries: Mutex<BTreeMap<(Scope, Owner), BTreeSet<String>>>,
    /// Files beside memory whose versions went.
    pub(crate) files: Mutex<BTreeSet<VaultPath>>,
    /// The history of an earlier version went too.
    pub(crate) has_dropped_old: AtomicBool,
}

/// What is known of the history, and of what it does not have yet.
#[derive(Debug)]
pub(crate) struct Chronicle {
    pub(crate) history: Arc<dyn History>,
    pub(crate) is_recording: bool,
    /// One run or undo at a time.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// Versions that are in their files, which the ledger does not know yet.
    pub(crate) settled: Mutex<Vec<VersionId>>,
    /// When the first and the last change of files beside memory were seen, by the clock that never goes back.
    pub(crate) changed: Mutex<Option<(Duration, Duration)>>,
    pub(crate) begun: Notify,
    /// The ledger knew no file at the start, and the vault was not looked at yet: what stands there was not changed.
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

    /// The whole vault was looked at.
    pub(crate) fn has_looked(&self) {
        self.is_new.store(false, Ordering::Relaxed);
    }

    /// Records versions that are about to be written, for whom the work is. None if nothing is recorded of it.
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

    /// Versions are in their files.
    pub(crate) fn are_written(&self, versions: impl IntoIterator<Item = VersionId>) {
        self.settled.lock().extend(versions);
    }

    pub(crate) fn take_settled(&self) -> Vec<VersionId> {
        std::mem::take(&mut *self.settled.lock())
    }

    /// The ledger's history, which knows all that was written.
    pub(crate) async fn up_to_date(&self) -> Result<&Arc<dyn History>, LedgerError> {
        let settled = self.take_settled();
        if !settled.is_empty() {
            let done = self.history.settle(settled.clone()).await;
            done.inspect_err(|_| self.settled.lock().extend(settled))?;
        }
        Ok(&self.history)
    }

    /// Something beside memory may have changed.
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

/// Does work whose writes are a run's; the caller's future alone counts, not what it spawns.
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

/// Notes files beside memory of which a deletion takes versions out.
pub(crate) fn note_files(paths: impl Iterator<Item = VaultPath>) {
    if let Ok(Doing::Forgetting(going)) = DOING.try_with(Arc::clone).as_deref() {
        going.files.lock().extend(paths);
    }
}

/// A file's text.
pub(crate) fn text_of(bytes: &[u8]) -> VersionText {
    let (digest, text) = (Fnv::of(bytes), None);
    let bare = VersionText {
        digest,
        bytes: bytes.len() as u64,
        text,
    };
    std::str::from_utf8(bytes).map_or(bare, |text| VersionText::new(digest, text.to_owned()))
}
