//! Health and metrics.
//!
//! Owns: the answers to probes, and hiding other tenants' health. Never: finding problems (`Status::problems` does);
//! an envelope around a success: the programs that read these routes know no other shape.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use memory::{EngineError, Status};
use model::text::counted;
use ports::IndexHealth;

use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::state::Gateway;
use crate::wire::HealthData;
use crate::wire::health::{HealthStatus, Probe};

pub(crate) async fn health(visit: Visit) -> Answer {
    let gateway = &visit.gateway;
    let status = gateway.engine.status().await?;
    let runs = match &gateway.offline {
        Some(offline) => Some(offline.stats().await.map_err(EngineError::from)?),
        None => None,
    };
    let direct = gateway.direct.as_ref();
    let near_limit = direct.map_or(0, |direct| direct.contexts().store().near_limit());
    let (now, sees_all) = (gateway.clock.now(), visit.caller.sees_all());
    let mut problems = if sees_all {
        status.problems()
    } else {
        nameless_problems(&status)
    };
    let dead_letters = runs.map_or(0, |runs| runs.dead_letters);
    if dead_letters > 0 {
        problems.push(format!(
            "{} failed permanently: see `quipu runs` for the reason, retry with `quipu runs start NAME`",
            counted(dead_letters, "background run", "background runs")
        ));
    }
    let health = HealthData::of(&status, problems, runs, near_limit, now, sees_all);
    Ok(Json(health).into_response())
}

/// The problems without paths: a path names users of other tenants.
fn nameless_problems(status: &Status) -> Vec<String> {
    let files = status.broken_files.len();
    let mut problems = Status {
        broken_files: Vec::new(),
        copy_trouble: None,
        disk: status.disk.nameless(),
        ..status.clone()
    }
    .problems();
    if files > 0 {
        problems.push(format!("{files} files cannot be read"));
    }
    if status.copy_trouble.is_some() {
        problems.push("cannot make the daily copy of the ledger; retrying".to_owned());
    }
    problems
}

/// Whether the process runs
///
/// Needs no token.
#[utoipa::path(
    get,
    path = "/health/live",
    responses((status = 200, description = "It runs", body = Probe)),
)]
pub(crate) async fn health_live() -> Response {
    let status = HealthStatus::Ok;
    Json(Probe { status }).into_response()
}

pub(crate) async fn health_ready(State(gateway): State<Gateway>) -> Result<Response, Failure> {
    let status = gateway.engine.status().await?;
    let can_search = !matches!(status.index, IndexHealth::NeedsRebuild { .. });
    let (code, status) = if can_search && status.disk.refusal.is_none() {
        (StatusCode::OK, HealthStatus::Ok)
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, HealthStatus::Degraded)
    };
    Ok((code, Json(Probe { status })).into_response())
}

pub(crate) async fn metrics(visit: Visit) -> Answer {
    visit.caller.enter_all()?;
    let status = visit.gateway.engine.status().await?;
    let mut text = String::new();
    visit.gateway.metrics.render(&mut text, &status);
    if let Some(proxy) = &visit.gateway.proxy {
        proxy.measures().render_prometheus(&mut text);
        proxy.gates().render_prometheus(&mut text);
    }
    Ok(([(CONTENT_TYPE, PROMETHEUS)], text).into_response())
}

pub(crate) const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
