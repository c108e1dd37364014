//! The index's keeper: checks the index at the start of the engine, and builds it if needed.
//!
//! Owns: the decision whether the index is usable. Never: building it (`rebuild` does).

use std::sync::Arc;
use std::time::Duration;

use ports::{IndexHealth, VaultChange};
use text::chain;

use crate::error::EngineError;
use crate::runtime::gate::Everywhere;
use crate::serving::Serving;
use crate::world::World;
use crate::{erase, going, portable, rebuild, sync};

/// Attempts after which no caller waits for an index that must be built.
const TRIES_MAX: u32 = 3;
/// How long to wait between those tries, and between later ones.
const BETWEEN: Duration = Duration::from_secs(2);
const BETWEEN_LATER: Duration = Duration::from_mins(1);

/// Keeps the index until the engine stops. The gate is held until the state of the index is known; a restart of this
/// loop must take the gate itself, and ask whether the ledger is a new one.
pub(crate) async fn keep(world: Arc<World>, begun: Option<(Everywhere, bool)>) {
    let (gate, is_new) = match begun {
        Some(begun) => begun,
        None => (world.gate.alone().await, is_new(&world).await),
    };
    let must_build = look(&world, is_new).await;
    drop(gate);
    if world.gauge.now() != Serving::Building {
        follow_the_vault(&world).await;
        going::try_to_finish(&world).await;
    }
    world.gauge.set_synced();
    if must_build {
        build(&world).await;
    }
    going::try_to_finish(&world).await;
    erase::finish_earlier(&world).await;
    loop {
        tokio::select! {
            biased;
            () = world.work.stopping() => return,
            () = world.gauge.building() => build(&world).await,
            () = going::due(&world) => going::try_to_finish(&world).await,
        }
    }
}

/// Sets the state of the index; returns whether it must be built.
async fn look(world: &World, is_new: bool) -> bool {
    match world.parts.index.health(world.parts.embedder.id()).await {
        IndexHealth::Ready => {
            world.gauge.set(Serving::Ready);
            // Without records, nothing shows which of its rows are still in the vault.
            is_new && world.parts.index.stats().await.is_ok_and(|stats| stats.rows > 0)
        }
        IndexHealth::Fresh => {
            world.gauge.set(Serving::Building);
            true
        }
        IndexHealth::NeedsRebuild { reason } => {
            tracing::warn!(reason, "rebuilding the index");
            let can_read = world.parts.index.stats().await.is_ok();
            world.gauge.set(if can_read {
                Serving::Words
            } else {
                Serving::Building
            });
            true
        }
    }
}

/// Before the first message: a new ledger gets the messages of all files. Whether it is one.
pub(crate) async fn adopt(world: &World) -> bool {
    let is_new = is_new(world).await;
    if is_new && let Err(error) = portable::adopt_files(world).await {
        tracing::warn!(
            error = chain(&error),
            "cannot read the messages of the vault's files into the ledger"
        );
    }
    is_new
}

/// Without a record of a file a ledger is a new one, or has been lost.
async fn is_new(world: &World) -> bool {
    world.records.count().await.is_ok_and(|count| count == 0)
}

/// Looks at what changed in the vault while no engine ran.
async fn follow_the_vault(world: &World) {
    if let Err(error) = sync::everything(world).await {
        tracing::warn!(error = chain(&error), "cannot scan the vault; retrying");
        world.mind(&error);
        world.dirty.add_all(VaultChange {
            all: true,
            ..VaultChange::default()
        });
    }
}

/// Builds the index, with retries until it succeeds: an embedding model can be unavailable for hours.
async fn build(world: &Arc<World>) {
    for attempt in 1.. {
        let error = match rebuild::rebuild(world, None).await {
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
            world.gauge.give_up(&chain(&error));
        }
        tokio::select! {
            biased;
            () = world.work.stopping() => return,
            () = world.parts.clock.sleep(if is_late { BETWEEN_LATER } else { BETWEEN }) => {}
        }
    }
}
