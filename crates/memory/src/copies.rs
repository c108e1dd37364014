//! A copy of the ledger each day, at a quiet moment.
//!
//! Owns: when a copy is made, and what to report when none can be. Never: the copy (`ledger`).

use std::time::Duration;

use model::Date;
use parking_lot::Mutex;
use ports::LedgerError;
use text::chain;

use crate::api::Forgot;
use crate::error::EngineError;
use crate::world::World;

/// Interval between looks whether a copy is due.
const LOOK: Duration = Duration::from_mins(5);
/// Number of looks after which a copy is made although there is work.
const BUSY_LOOKS_MAX: u32 = 12;

/// Why the last try to make a copy failed.
#[derive(Debug, Default)]
pub(crate) struct CopyTrouble(Mutex<Option<String>>);

impl CopyTrouble {
    pub(crate) fn now(&self) -> Option<String> {
        self.0.lock().clone()
    }
}

/// Makes the copies until the engine stops.
pub(crate) async fn keep(world: &World) {
    let mut busy_looks = 0;
    while world
        .work
        .unless_stopping(world.parts.clock.sleep(LOOK))
        .await
        .is_some()
    {
        let today = world.settings.zone.date(world.now());
        match look(world, today, busy_looks >= BUSY_LOOKS_MAX).await {
            Ok(is_busy) => {
                busy_looks = if is_busy { busy_looks + 1 } else { 0 };
                *world.copy_trouble.0.lock() = None;
            }
            Err(error) => {
                let trouble = chain(&error);
                tracing::warn!(trouble, "cannot make the daily copy of the ledger; retrying");
                *world.copy_trouble.0.lock() = Some(trouble);
            }
        }
    }
}

/// A deletion, with the number of copies that the ledger removed for it.
pub(crate) async fn removed_by(
    world: &World,
    deletion: impl Future<Output = Result<Forgot, EngineError>>,
) -> Result<Forgot, EngineError> {
    let count = async || world.parts.retention.copies().await.map_or(0, |days| days.len());
    let before = count().await;
    let mut forgot = deletion.await?;
    forgot.copies = before.saturating_sub(count().await);
    Ok(forgot)
}

/// Makes the copy of a day if it is not there. True: the copy is due and waits for running work.
async fn look(world: &World, today: Date, has_waited: bool) -> Result<bool, LedgerError> {
    let retention = &world.parts.retention;
    if retention.copies().await?.contains(&today) {
        return Ok(false);
    }
    let jobs = world.parts.jobs.stats().await?;
    if jobs.queued + jobs.processing > 0 && !has_waited {
        return Ok(true);
    }
    let is_made = retention.copy(today).await?;
    tracing::debug!(%today, is_made, "made the daily copy of the ledger");
    Ok(false)
}
