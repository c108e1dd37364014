//! `index/sync` and `index/rebuild`: the index updated from the Markdown files.
//!
//! Owns: permissions for work on every tenant's files. Never: the work.

use memory::{Engine, EngineError, Synced};
use model::text::chain;

use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::wire::SyncedData;

pub(crate) async fn sync_index(visit: Visit) -> Answer {
    visit.caller.enter_all()?;
    let engine = visit.gateway.engine.clone();
    let work = async move {
        let synced = engine.sync().await.map_err(with_its_cause)?;
        synced_data(&engine, &synced).await
    };
    Ok(visit.answer(visit.gateway.see_through(work).await?))
}

pub(crate) async fn rebuild_index(visit: Visit) -> Answer {
    visit.caller.enter_all()?;
    let engine = visit.gateway.engine.clone();
    let work = async move {
        let synced = engine.rebuild().await.map_err(with_its_cause)?;
        synced_data(&engine, &synced).await
    };
    Ok(visit.answer(visit.gateway.see_through(work).await?))
}

/// Adds the cause to an error. A caller with this permission sees every tenant's files, and must know the file that
/// blocks the work.
fn with_its_cause(error: EngineError) -> Failure {
    match &error {
        EngineError::Vault(_) => Failure {
            message: chain(&error),
            ..error.into()
        },
        _ => error.into(),
    }
}

/// The answer. It also counts files that were broken before: an earlier sync may have read them already.
async fn synced_data(engine: &Engine, synced: &Synced) -> Result<SyncedData, Failure> {
    let broken_files = engine.status().await?.broken_files.len();
    Ok(SyncedData::of(synced, broken_files))
}
