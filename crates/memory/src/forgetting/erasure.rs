//! Purges deleted memories from the index's files, not only from its rows; a note on disk stays until this is done.
//!
//! Owns: when that note may be removed. Never: how words are purged from files (`Index::erase`).

use std::sync::Arc;
use std::time::Duration;

use model::warned;
use parking_lot::Mutex;
use ports::{Clock, Index, IndexError};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::base::{Base, IndexWriter};
use crate::error::EngineError;
use crate::files::history;

/// How long a removal waits for other removals in progress: one purge of the files serves all of them, and while it
/// runs no other removal can happen.
const OTHERS: Duration = Duration::from_secs(1);

/// The deletions whose text must be purged from the files.
#[derive(Debug)]
pub(crate) struct Erasing {
    index: Arc<dyn Index>,
    writer: IndexWriter,
    clock: Arc<dyn Clock>,
    state: Mutex<ErasureState>,
    /// Removals that have begun and are not done.
    under_way: TaskTracker,
    /// Lock of the note: one writer at a time.
    note: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct ErasureState {
    open: usize,
    /// The files may contain deleted text that no running deletion will purge; true until the note was read.
    is_due: bool,
}

/// Guard of a removal; dropped unsettled, it leaves the files due.
#[derive(Debug)]
pub(crate) struct Removing<'a> {
    erasing: &'a Erasing,
    under_way: Option<TaskTrackerToken>,
    is_settled: bool,
}

impl Erasing {
    pub(crate) fn new(base: &Base) -> Self {
        let (open, is_due) = (0, true);
        let under_way = TaskTracker::new();
        // A closed tracker still accepts tokens; an open one never counts as empty.
        under_way.close();
        Self {
            index: base.parts.index.clone(),
            writer: base.writer.clone(),
            clock: base.parts.clock.clone(),
            state: Mutex::new(ErasureState { open, is_due }),
            under_way,
            note: tokio::sync::Mutex::default(),
        }
    }

    /// Must be called before the first row is removed.
    async fn begin(&self) -> Removing<'_> {
        let _note = self.note.lock().await;
        self.state.lock().open += 1;
        let removing = Removing {
            erasing: self,
            under_way: Some(self.under_way.token()),
            is_settled: false,
        };
        warn(self.index.owe_erasing(true).await);
        removing
    }

    /// Purges for the deletions of an earlier process.
    pub(crate) async fn finish_earlier(&self) {
        if !self.index.owes_erasing().await {
            let mut state = self.state.lock();
            state.is_due &= state.open > 0;
        } else if self.writer.erase().await.is_ok() {
            self.strike_out(true).await;
        }
    }

    /// Removes the note when no deletion is in progress and the files contain no deleted text.
    async fn strike_out(&self, is_erased: bool) {
        let _note = self.note.lock().await;
        let is_nothing_left = {
            let mut state = self.state.lock();
            state.is_due &= !is_erased || state.open > 0;
            state.open == 0 && !state.is_due
        };
        if is_nothing_left {
            warn(self.index.owe_erasing(false).await);
        }
    }
}

impl Removing<'_> {
    /// Purges the removed text from the files; returns when it is done, or when it failed and stays due.
    async fn erase(mut self) {
        drop(self.under_way.take());
        let erasing = self.erasing;
        tokio::select! {
            biased;
            () = erasing.under_way.wait() => {}
            () = erasing.clock.sleep(OTHERS) => {}
        }
        if erasing.writer.erase().await.is_ok() {
            self.is_settled = true;
            drop(self);
            erasing.strike_out(true).await;
        }
    }

    /// Settles a removal that removed nothing. Purges text that an earlier removal left due, so that a repeated request
    /// finishes it.
    async fn forgive(mut self) {
        self.is_settled = true;
        let erasing = self.erasing;
        drop(self);
        let is_due = erasing.state.lock().is_due;
        if !is_due {
            erasing.strike_out(false).await;
        } else if erasing.index.owes_erasing().await && erasing.writer.erase().await.is_ok() {
            erasing.strike_out(true).await;
        }
    }
}

impl Drop for Removing<'_> {
    fn drop(&mut self) {
        let mut state = self.erasing.state.lock();
        state.open -= 1;
        state.is_due |= !self.is_settled;
    }
}

/// Deletes for good: afterwards no file of the index and of the history contains the deleted text. If nothing was
/// deleted, no file is rewritten. Also returns whether the history that an earlier version kept is gone.
pub(crate) async fn erased<T, E: From<EngineError>>(
    base: &Base,
    erasing: &Erasing,
    work: impl Future<Output = Result<(T, bool), E>>,
) -> Result<(T, bool), E> {
    let (removing, history) = (erasing.begin().await, &base.chronicle.history);
    let (done, old_history) = match history::forgetting(base, work).await {
        Ok((done, old_history)) => (done, old_history),
        Err(error) => (Err(error.into()), false),
    };
    if let Ok((done, false)) = done {
        let ((), erased) = tokio::join!(removing.forgive(), history.erased());
        erased.map_err(EngineError::from)?;
        return Ok((done, old_history));
    }
    // A failed deletion may have removed a part.
    let ((), erased) = tokio::join!(removing.erase(), history.erased());
    let (done, _) = done?;
    erased.map_err(EngineError::from)?;
    let deleted = base.parts.vault.delete_old_history().await;
    let deleted = deleted.map_err(EngineError::from)?;
    Ok((done, old_history || deleted))
}

fn warn(noted: Result<(), IndexError>) {
    let problem = "cannot record whether deleted text must still be purged from the index files";
    warned!(noted, "{problem}");
}
