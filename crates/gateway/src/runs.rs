//! `runs`, `ome/trigger`, `cascade/quiesce`: background runs.
//!
//! Owns: permissions for them. Never: running anything. The last two answer without an envelope, as the clients of the
//! memory API expect.

use axum::Json;
use axum::response::IntoResponse;
use background::{Offline, Triggered};
use memory::EngineError;
use ports::LedgerError;

use crate::body::{JsonBody, UrlQuery};
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::state::Gateway;
use crate::wire::runs::{
    QuiesceData, RunItem, RunPageData, RunsQuery, TriggerData, TriggerRequest, TriggerStatus, TriggeredRun,
};

pub(crate) async fn list_runs(visit: Visit, UrlQuery(query): UrlQuery<RunsQuery>) -> Answer {
    let wanted = query.runs(&visit.caller.home)?;
    visit.caller.enter(&query.scope(&visit.caller.home)?)?;
    let zone = visit.gateway.zone();
    let found = offline(&visit.gateway)?.page(&wanted).await.map_err(failed)?;
    Ok(visit.answer(RunPageData {
        total: found.total,
        page: wanted.page,
        page_size: wanted.page_size,
        items: found.runs.iter().map(|run| RunItem::of(run, zone)).collect(),
    }))
}

/// Strategies of EverOS that have no runs here: each extraction does their work.
const INCLUDED: [&str; 3] = [
    "extract_atomic_facts",
    "trigger_profile_clustering",
    "trigger_skill_clustering",
];

pub(crate) async fn trigger(visit: Visit, JsonBody(value, ..): JsonBody<TriggerRequest>) -> Answer {
    visit.caller.enter_all()?;
    let wait = value.wait()?;
    let triggered = offline(&visit.gateway)?
        .trigger(&value.name, wait, value.force)
        .await;
    let triggered = match triggered.map_err(failed)? {
        Some(triggered) => triggered,
        None if INCLUDED.contains(&value.name.as_str()) => Triggered::default(),
        None => {
            let shown: String = value.name.chars().take(128).collect();
            return Err(Failure::not_found("strategy", &shown));
        }
    };
    let dispatched = triggered.runs.len();
    let answer = TriggerData {
        status: match (dispatched, triggered.timed_out) {
            (0, _) => TriggerStatus::NotDispatched,
            (_, true) => TriggerStatus::Timeout,
            (_, false) => TriggerStatus::Ok,
        },
        name: value.name,
        dispatched,
        runs: triggered.runs.iter().map(TriggeredRun::of).collect(),
    };
    Ok(Json(answer).into_response())
}

pub(crate) async fn quiesce(visit: Visit) -> Answer {
    visit.caller.enter_all()?;
    let offline = offline(&visit.gateway)?.clone();
    let engine = visit.gateway.engine.clone();
    let work = async move {
        let before = engine.status().await?.jobs;
        engine.settle().await?;
        engine.sync().await?;
        let runs = offline.quiesce().await.map_err(failed)?;
        let after = engine.status().await?.jobs;
        let pending_before = before.queued + before.processing + runs.before;
        let pending_after = after.queued + after.processing + runs.after;
        Ok(QuiesceData {
            quiesced: true,
            drained: pending_before.saturating_sub(pending_after),
            pending_before,
            pending_after,
            failed_permanent: after.failed + runs.dead_letters,
        })
    };
    Ok(Json(visit.gateway.see_through(work).await?).into_response())
}

fn offline(gateway: &Gateway) -> Result<&Offline, Failure> {
    gateway
        .offline
        .as_ref()
        .ok_or_else(|| Failure::lacks("has no background strategies"))
}

fn failed(error: LedgerError) -> Failure {
    EngineError::from(error).into()
}
