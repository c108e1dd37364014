//! Purges deleted memories from the index's files, not only from its rows; a note on disk stays until this is done.
//!
//! Owns: when that note may go. Never: how files are rid of words (`Index::erase`).

use std::time::Duration;

use parking_lot::Mutex;
use ports::IndexError;
use text::chain;

use crate::error::EngineError;
use crate::history;
use crate::runtime::signal::Signal;
use crate::world::World;

/// How long a removal waits for others that are under way: one pass over the files does for all, and while it runs no other can
/// remove anything.
const OTHERS: Duration = Duration::from_secs(1);

/// The deletions whose text must leave the files.
#[derive(Debug)]
pub(crate) struct Erasing {
    state: Mutex<ErasureState>,
    /// How many have begun and have not yet removed what they are to remove.
    under_way: Signal<usize>,
    /// One at a time writes the note.
    note: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct ErasureState {
    open: usize,
    /// The files may contain deleted text that no running deletion will purge; true until the note was read.
    is_due: bool,
}

impl Erasing {
    pub(crate) fn new() -> Self {
        let (open, is_due) = (0, true);
        Self {
            state: Mutex::new(ErasureState { open, is_due }),
            under_way: Signal::new(0),
            note: tokio::sync::Mutex::default(),
        }
    }
}

/// Something is being removed. Dropped unsettled, the files are due.
#[derive(Debug)]
pub(crate) struct Removing<'a> {
    world: &'a World,
    is_under_way: bool,
    is_settled: bool,
}

/// To be called before the first row is removed.
pub(crate) async fn begin(world: &World) -> Removing<'_> {
    let _note = world.erasing.note.lock().await;
    world.erasing.state.lock().open += 1;
    world.erasing.under_way.set_if(|count| {
        *count += 1;
        false
    });
    let removing = Removing {
        world,
        is_under_way: true,
        is_settled: false,
    };
    warn(world.parts.index.owe_erasing(true).await);
    removing
}

impl Removing<'_> {
    /// Takes what was removed out of the files; returns when it is done, or when it failed and stays owed.
    pub(crate) async fn erase(mut self) {
        self.has_removed();
        let (clock, under_way) = (&self.world.parts.clock, &self.world.erasing.under_way);
        tokio::select! {
            biased;
            _ = under_way.wait_for(|count| *count == 0) => {}
            () = clock.sleep(OTHERS) => {}
        }
        if self.world.writer.erase().await.is_ok() {
            self.is_settled = true;
            let world = self.world;
            drop(self);
            strike_out(world, true).await;
        }
    }

    /// Settles a removal that removed nothing. Erases what an earlier removal left due, so that a repeated request finishes it.
    pub(crate) async fn forgive(mut self) {
        self.is_settled = true;
        self.has_removed();
        let world = self.world;
        drop(self);
        let is_due = world.erasing.state.lock().is_due;
        if !is_due {
            strike_out(world, false).await;
        } else if world.parts.index.owes_erasing().await && world.writer.erase().await.is_ok() {
            strike_out(world, true).await;
        }
    }
}

impl Removing<'_> {
    fn has_removed(&mut self) {
        if std::mem::take(&mut self.is_under_way) {
            self.world.erasing.under_way.set_if(|count| {
                *count -= 1;
                true
            });
        }
    }
}

impl Drop for Removing<'_> {
    fn drop(&mut self) {
        self.has_removed();
        let mut state = self.world.erasing.state.lock();
        state.open -= 1;
        state.is_due |= !self.is_settled;
    }
}

/// Deletes for good: afterwards no file of the index and of the history contains the deleted text. If nothing was deleted,
/// nothing is rewritten. Returns also whether the history that an earlier version kept is gone.
pub(crate) async fn erased<T, E: From<EngineError>>(
    world: &World,
    work: impl Future<Output = Result<(T, bool), E>>,
) -> Result<(T, bool), E> {
    let removing = begin(world).await;
    let (done, old_history) = match history::forgetting(world, work).await {
        Ok((done, old_history)) => (done, old_history),
        Err(error) => (Err(error.into()), false),
    };
    if let Ok((done, false)) = done {
        let ((), erased) = tokio::join!(removing.forgive(), history::erased(world));
        erased?;
        return Ok((done, old_history));
    }
    // Of what failed midway something may be gone.
    let ((), erased) = tokio::join!(removing.erase(), history::erased(world));
    let (done, _) = done?;
    erased?;
    let deleted = world
        .parts
        .vault
        .delete_old_history()
        .await
        .map_err(EngineError::from)?;
    Ok((done, old_history || deleted))
}

/// Does what an earlier process owed.
pub(crate) async fn finish_earlier(world: &World) {
    if !world.parts.index.owes_erasing().await {
        let mut state = world.erasing.state.lock();
        state.is_due &= state.open > 0;
    } else if world.writer.erase().await.is_ok() {
        strike_out(world, true).await;
    }
}

/// Removes the note when no deletion runs and the files contain nothing deleted.
async fn strike_out(world: &World, is_erased: bool) {
    let _note = world.erasing.note.lock().await;
    let is_nothing_left = {
        let mut state = world.erasing.state.lock();
        state.is_due &= !is_erased || state.open > 0;
        state.open == 0 && !state.is_due
    };
    if is_nothing_left {
        warn(world.parts.index.owe_erasing(false).await);
    }
}

fn warn(noted: Result<(), IndexError>) {
    if let Err(error) = noted {
        tracing::warn!(
            error = chain(&error),
            "cannot record whether deleted text must still be purged from the index files"
        );
    }
}
