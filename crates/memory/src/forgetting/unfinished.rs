//! Deletions from their request to their end, over errors and crashes.
//!
//! Owns: finishing deletions that stopped midway. Never: what a deletion deletes.
//!
//! A late deletion must not take new messages: until it is finished, no message is stored that it could delete.

use super::forget::once;
use super::leftovers;
use super::state::Forgetting;
use crate::api::{Forget, Forgot};
use crate::error::EngineError;
use model::warned;

pub(crate) use super::note::could_take;

/// Deletes from the vault, the ledger and the index, and reports the leftovers.
pub(crate) async fn forget(forgetting: &Forgetting, forget: Forget) -> Result<Forgot, EngineError> {
    let base = &forgetting.base;
    base.answering().await?;
    // Nothing can be deleted from an unmounted vault, so the ledger must not begin.
    base.parts.vault.is_present().await?;
    leftovers::with_leftovers(base, &forget, with_note(forgetting, forget.clone())).await
}

/// Deletes, with a note that stays until the deletion is done or refused.
async fn with_note(forgetting: &Forgetting, forget: Forget) -> Result<Forgot, EngineError> {
    let unfinished = &forgetting.unfinished;
    unfinished.write(&forget).await?;
    let done = Box::pin(once(forgetting, forget.clone())).await;
    if matches!(done, Ok(_) | Err(EngineError::Invalid(_))) && unfinished.strike(&forget).await.is_ok() {
        return done;
    }
    unfinished.stop(forget);
    done
}

/// Finishes those stopped deletions that match.
pub(crate) async fn finish(
    forgetting: &Forgetting,
    concerns: impl Fn(&Forget) -> bool,
) -> Result<(), EngineError> {
    let unfinished = &forgetting.unfinished;
    if unfinished.next(&concerns).is_none() {
        return Ok(());
    }
    let _turn = unfinished.finishing.lock().await;
    while let Some(forget) = unfinished.next(&concerns) {
        match Box::pin(once(forgetting, forget.clone())).await {
            // A repetition does not find the rows that the first attempt removed, so the old history is deleted in any
            // case.
            Ok(_) => drop(forgetting.base.parts.vault.delete_old_history().await?),
            Err(EngineError::Invalid(_)) => {}
            Err(error) => return Err(error),
        }
        unfinished.strike(&forget).await?;
        unfinished.is_finished(&forget);
        tracing::info!("finished a deletion that had stopped midway");
    }
    Ok(())
}

/// Finishes all stopped deletions; an error is only logged.
pub(crate) async fn try_to_finish(forgetting: &Forgetting) {
    let finished = finish(forgetting, |_| true).await;
    warned!(finished, "cannot finish a deletion yet; trying again in a minute");
}
