//! The index's keeper: checks the index at the start of the engine, and builds it if needed.
//!
//! Owns: the decision whether the index is usable. Never: building it (`rebuild` does).

use std::sync::Arc;
use std::time::Duration;

use model::text::chain;
use model::warned;
use ports::{IndexHealth, VaultChange};

use super::portable;
use crate::base::{Base, Serving};
use crate::error::EngineError;
use crate::files::{rebuild, sync};
use crate::forgetting::{Forgetting, unfinished};
use crate::runtime::Everywhere;

/// Number of attempts after which callers no longer wait for an index that must be built.
const TRIES_MAX: u32 = 3;
/// How long to wait between these attempts, and between later ones.
const BETWEEN: Duration = Duration::from_secs(2);
const BETWEEN_LATER: Duration = Duration::from_mins(1);

/// Keeps the index until the engine stops. The gate is held until the state of the index is known; a restart of this
/// loop must take the gate itself, and check whether the ledger is a new one.
pub(crate) async fn keep(forgetting: Arc<Forgetting>, begun: Option<(Everywhere, bool)>) {
    let base = &forgetting.base;
    let (gate, is_new) = match begun {
        Some(begun) => begun,
        None => (base.gate.alone().await, is_new(base).await),
    };
    let must_build = look(base, is_new).await;
    drop(gate);
    if base.gauge.now() != Serving::Building {
        follow_the_vault(base).await;
        unfinished::try_to_finish(&forgetting).await;
    }
    base.gauge.set_synced();
    if must_build {
        build(base).await;
    }
    unfinished::try_to_finish(&forgetting).await;
    forgetting.erasing.finish_earlier().await;
    loop {
        tokio::select! {
            biased;
            () = base.work.stopping() => return,
            () = base.gauge.building() => build(base).await,
            () = forgetting.unfinished.due(&*base.parts.clock) => unfinished::try_to_finish(&forgetting).await,
        }
    }
}

/// Sets the state of the index; returns whether it must be built.
async fn look(base: &Base, is_new: bool) -> bool {
    match base.parts.index.health(base.parts.embedder.id()).await {
        IndexHealth::Ready => {
            base.gauge.set(Serving::Ready);
            // Without records, nothing shows which of its rows are still in the vault.
            is_new && base.parts.index.stats().await.is_ok_and(|stats| stats.rows > 0)
        }
        IndexHealth::Fresh => {
            base.gauge.set(Serving::Building);
            true
        }
        IndexHealth::NeedsRebuild { reason } => {
            tracing::warn!(reason, "rebuilding the index");
            let can_read = base.parts.index.stats().await.is_ok();
            base.gauge.set(if can_read {
                Serving::Words
            } else {
                Serving::Building
            });
            true
        }
    }
}

/// Before the first message: gives a new ledger the messages of all files. Returns whether the ledger is new.
pub(crate) async fn adopt(base: &Base) -> bool {
    let is_new = is_new(base).await;
    if is_new {
        let adopted = portable::adopt_files(base).await;
        warned!(
            adopted,
            "cannot read the messages of the vault's files into the ledger"
        );
    }
    is_new
}

/// A ledger without a record of a file is new, or was lost.
async fn is_new(base: &Base) -> bool {
    base.parts
        .file_changes
        .count()
        .await
        .is_ok_and(|count| count == 0)
}

/// Syncs changes of the vault that were made while no engine ran.
async fn follow_the_vault(base: &Base) {
    match sync::everything(base).await {
        // The next start scans it.
        Ok(_) | Err(EngineError::Stopping) => {}
        Err(error) => {
            tracing::warn!(error = chain(&error), "cannot scan the vault; retrying");
            base.note_error(&error);
            base.dirty.add_all(VaultChange {
                all: true,
                ..VaultChange::default()
            });
        }
    }
}

/// Builds the index, with retries until it succeeds: an embedding model can be unavailable for hours.
async fn build(base: &Arc<Base>) {
    for attempt in 1.. {
        let error = match rebuild::rebuild(base).await {
            Ok(built) => {
                tracing::info!(?built, "built the index");
                return;
            }
            Err(EngineError::Stopping) => return,
            Err(error) => error,
        };
        tracing::warn!(error = chain(&error), attempt, "cannot build the index; retrying");
        let is_late = attempt >= TRIES_MAX;
        if is_late {
            base.gauge.give_up(&chain(&error));
        }
        if !base.pause(if is_late { BETWEEN_LATER } else { BETWEEN }).await {
            return;
        }
    }
}
