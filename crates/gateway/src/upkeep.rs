//! `index/sync` and `index/rebuild`: the index updated from the Markdown files.
//!
//! Owns: permissions for work on every tenant's files. Never: the work.

use memory::{EngineError, Synced};
use model::text::chain;

use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::wire::SyncedData;

pub(crate) async fn sync_index(visit: Visit) -> Answer {
    let engine = visit.gateway.engine.clone();
    updated(visit, async move { engine.sync().await }).await
}

pub(crate) async fn rebuild_index(visit: Visit) -> Answer {
    let engine = visit.gateway.engine.clone();
    updated(visit, async move { engine.rebuild().await }).await
}

/// Does the work, and answers with its counts and the broken files. Those of before count too: an earlier sync may have
/// read them already.
async fn updated(
    visit: Visit,
    work: impl Future<Output = Result<Synced, EngineError>> + Send + 'static,
) -> Answer {
    visit.caller.enter_all()?;
    let engine = visit.gateway.engine.clone();
    let work = async move {
        let synced = work.await.map_err(with_its_cause)?;
        let broken_files = engine.status().await?.broken_files.len();
        Ok::<_, Failure>(SyncedData::of(&synced, broken_files))
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
