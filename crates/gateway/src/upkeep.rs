//! `index/sync` and `index/rebuild`: the index updated from the Markdown files.
//!
//! Owns: permissions for work on every tenant's files. Never: the work.

use axum::extract::State;
use axum::response::Response;
use memory::{Engine, EngineError, Synced};
use text::chain;
use wire::{Envelope, SyncedData};

use crate::failure::Failure;
use crate::frame::Visit;
use crate::openapi::Errors;
use crate::state::Gateway;

/// Update the index with changes of the Markdown files
///
/// A running server sees edits by itself; this answers when all of them are searchable. Needs a token for all tenants.
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

/// Rebuild the index from the Markdown files
///
/// The new index is built beside the old one and replaces it when it is complete; `rebuilding` in `/health` shows the
/// progress. Needs a token for all tenants.
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

/// A caller with this permission sees every tenant's files, and must know which one blocks the work.
fn with_its_cause(error: EngineError) -> Failure {
    match &error {
        EngineError::Vault(_) => Failure {
            message: chain(&error),
            ..error.into()
        },
        _ => error.into(),
    }
}

/// Files that were broken before count too: an earlier sync may have read them already.
async fn told(engine: &Engine, synced: &Synced) -> Result<SyncedData, Failure> {
    Ok(SyncedData {
        files: synced.files,
        entries_added: synced.entries_added,
        entries_changed: synced.entries_changed,
        entries_removed: synced.entries_removed,
        broken_files: engine.status().await?.broken_files.len(),
    })
}
