//! `index/sync` and `index/rebuild`: the index brought to what the Markdown says.
//!
//! Owns: who may ask for work on every tenant's files. Never: the work.

use axum::extract::State;
use axum::response::Response;
use memory::{Engine, EngineError, Synced};
use wire::{Envelope, SyncedData};

use crate::failure::{Failure, chain};
use crate::frame::Visit;
use crate::openapi::Errors;
use crate::state::Gateway;

/// Bring the index up to date with the Markdown files
///
/// A running server sees edits by itself; this answers when all of them are found. Needs a token for all tenants.
#[utoipa::path(
    post,
    path = "/index/sync",
    operation_id = "sync_index",
    tag = "index",
    responses((status = 200, description = "It is", body = Envelope<SyncedData>), Errors),
)]
pub(crate) async fn sync(State(gateway): State<Gateway>, visit: Visit) -> Result<Response, Failure> {
    visit.caller.enter_all()?;
    let engine = gateway.engine.clone();
    let work = async move {
        let synced = engine.sync().await.map_err(with_its_cause)?;
        told(&engine, &synced).await
    };
    Ok(visit.answer(gateway.see_through(work).await?))
}

/// Build the index anew from the Markdown files
///
/// It is built beside the one that answers, and takes its place when it is whole; `rebuilding` in `/health` says how
/// far it is. Needs a token for all tenants.
#[utoipa::path(
    post,
    path = "/index/rebuild",
    operation_id = "rebuild_index",
    tag = "index",
    responses((status = 200, description = "Built", body = Envelope<SyncedData>), Errors),
)]
pub(crate) async fn rebuild(State(gateway): State<Gateway>, visit: Visit) -> Result<Response, Failure> {
    visit.caller.enter_all()?;
    let engine = gateway.engine.clone();
    let work = async move {
        let synced = engine.rebuild(None).await.map_err(with_its_cause)?;
        told(&engine, &synced).await
    };
    Ok(visit.answer(gateway.see_through(work).await?))
}

/// Who may ask for this may see every tenant's files, and must know which one stands in the way.
fn with_its_cause(error: EngineError) -> Failure {
    match &error {
        EngineError::Vault(_) => Failure {
            message: chain(&error),
            ..error.into()
        },
        _ => error.into(),
    }
}

/// Files that were broken before count too: earlier work may have looked at them already.
async fn told(engine: &Engine, synced: &Synced) -> Result<SyncedData, Failure> {
    Ok(SyncedData {
        files: synced.files,
        entries_added: synced.entries_added,
        entries_changed: synced.entries_changed,
        entries_removed: synced.entries_removed,
        broken_files: engine.status().await?.broken_files.len(),
    })
}
