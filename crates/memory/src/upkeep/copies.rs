//! A copy of the ledger each day, at a quiet moment.
//!
//! Owns: when a copy is made, and the report when none can be made. Never: the copy (`ledger`).

use std::time::Duration;

use model::Date;
use model::text::chain;
use ports::LedgerError;

use crate::base::Base;

/// Interval between looks whether a copy is due.
const LOOK: Duration = Duration::from_mins(5);
/// Number of looks after which a copy is made although there is work.
const BUSY_LOOKS_MAX: u32 = 12;

/// Makes the copies until the engine stops.
pub(crate) async fn keep(base: &Base) {
    let mut busy_looks = 0;
    while base.pause(LOOK).await {
        let today = base.settings.zone.date(base.now());
        match look(base, today, busy_looks >= BUSY_LOOKS_MAX).await {
            Ok(is_busy) => {
                busy_looks = if is_busy { busy_looks + 1 } else { 0 };
                *base.copy_trouble.lock() = None;
            }
            Err(error) => {
                let trouble = chain(&error);
                tracing::warn!(trouble, "cannot make the daily copy of the ledger; retrying");
                *base.copy_trouble.lock() = Some(trouble);
            }
        }
    }
}

/// Makes the copy of a day unless it exists. True: the copy is due and waits for running work.
async fn look(base: &Base, today: Date, has_waited: bool) -> Result<bool, LedgerError> {
    let retention = &base.parts.retention;
    if retention.copies().await?.contains(&today) {
        return Ok(false);
    }
    let jobs = base.parts.jobs.stats().await?;
    if jobs.queued + jobs.processing > 0 && !has_waited {
        return Ok(true);
    }
    let is_made = retention.copy(today).await?;
    tracing::debug!(%today, is_made, "made the daily copy of the ledger");
    Ok(false)
}
