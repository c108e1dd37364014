//! Purges of the history: recorded before a deletion, done after it; one caller does all that are due.
//!
//! Owns: which purges are due. Never: holding the gate meanwhile: no write waits for a purge.

use std::sync::Arc;

use model::{Owner, Scope};
use ports::{Debt, History, HistoryError};

use super::note;
use crate::world::World;

/// A purge that will be due. Dropped unsettled, as when its request is cancelled, it is due.
#[derive(Debug)]
pub(crate) struct Owed<'a> {
    world: &'a World,
    debt: Option<Debt>,
}

/// Records that a purge is owed, before a deletion in a scope or of one owner alone.
pub(crate) async fn owe<'a>(world: &'a World, scope: &Scope, owner: Option<&Owner>) -> Owed<'a> {
    let mut owed = Owed { world, debt: None };
    if let Some(history) = &world.chronicle.history {
        let debt = Debt {
            id: world.parts.ids.next().max(1),
            below: history.folder_of(scope, owner),
            at: world.now(),
        };
        world.chronicle.state().open.insert(debt.id);
        owed.debt = Some(debt.clone());
        if let Err(error) = history.owe_purge(&debt).await {
            note::<()>(world, Err(error));
        }
    }
    owed
}

impl Owed<'_> {
    /// Purges the deleted text from the history, with all other due purges; returns when this is done. A failed purge
    /// stays owed, here and in the repository.
    pub(crate) async fn purge(self) {
        let world = self.world;
        drop(self);
        pay_due(world).await;
    }

    /// Settles a deletion that deleted nothing. Does the purges that were due before, so that a repeated request
    /// finishes them.
    pub(crate) async fn forgive(mut self) {
        let world = self.world;
        if let (Some(history), Some(debt)) = (&world.chronicle.history, self.debt.take()) {
            world.chronicle.state().open.remove(&debt.id);
            if let Err(error) = history.forgive(&debt).await {
                // It is done needlessly, later.
                world.chronicle.state().due.insert(debt.id, debt);
                note::<()>(world, Err(error));
            }
        }
        pay_due(world).await;
    }
}

impl Drop for Owed<'_> {
    fn drop(&mut self) {
        if let Some(debt) = self.debt.take() {
            let mut state = self.world.chronicle.state();
            state.open.remove(&debt.id);
            state.due.insert(debt.id, debt);
            drop(state);
            self.world.chronicle.mark(self.world.parts.clock.elapsed());
        }
    }
}

/// Does the purges that are due.
pub(crate) async fn pay_due(world: &World) {
    if let Some(history) = &world.chronicle.history {
        let _turn = world.chronicle.turn.lock().await;
        let paid = pay(world, history).await;
        note(world, paid.map(Some));
    }
}

/// The same for a caller who holds the turn.
pub(super) async fn pay(world: &World, history: &Arc<dyn History>) -> Result<(), HistoryError> {
    let chronicle = &world.chronicle;
    if !chronicle.state().knows_debts {
        let written = history.owed().await?;
        let mut state = chronicle.state();
        let ended = written.into_iter().filter(|debt| !state.open.contains(&debt.id));
        let ended: Vec<Debt> = ended.collect();
        state.due.extend(ended.into_iter().map(|debt| (debt.id, debt)));
        state.knows_debts = true;
    }
    let due: Vec<Debt> = chronicle.state().due.values().cloned().collect();
    if due.is_empty() {
        return Ok(());
    }
    history.purge(&due).await?;
    let mut state = chronicle.state();
    for debt in &due {
        state.due.remove(&debt.id);
    }
    Ok(())
}
