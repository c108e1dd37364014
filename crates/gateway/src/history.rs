//! `history` and `audit`: changes of the memory files and problems in them, for each tenant.
//!
//! Owns: limiting both, and undo, to the caller's tenant. Never: reading or writing the history.

use memory::{Audited, Moment, PastFile};
use model::Scope;

use crate::body::{IdQuery, JsonBody, UrlQuery};
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::wire::history::{
    AuditData, ChangeItem, DiffData, FindingItem, HistoryData, HistoryQuery, PastData, PastFileItem,
    PastQuery, TenantQuery, UndoData, UndoRequest,
};
use crate::wire::search::When;
use crate::wire::{Invalid, scope};

pub(crate) async fn history(visit: Visit, UrlQuery(query): UrlQuery<HistoryQuery>) -> Answer {
    let within = within(&visit, query.app_id.as_deref(), query.project_id.as_deref())?;
    let (owner, limit) = query.parts(within.as_ref().unwrap_or(&visit.caller.home))?;
    let engine = &visit.gateway.engine;
    let shown = (query.before, limit);
    let changes = engine.history(within.as_ref(), owner.as_ref(), shown).await?;
    let zone = visit.gateway.zone();
    let changes = changes
        .iter()
        .map(|change| ChangeItem::of(change, zone))
        .collect();
    Ok(visit.answer(HistoryData { changes }))
}

pub(crate) async fn diff(visit: Visit, IdQuery(id, query): IdQuery<TenantQuery>) -> Answer {
    let within = within(&visit, query.app_id.as_deref(), query.project_id.as_deref())?;
    let diff = visit.gateway.engine.diff(within.as_ref(), &id).await?;
    Ok(visit.answer(DiffData { diff }))
}

pub(crate) async fn past_files(visit: Visit, UrlQuery(query): UrlQuery<PastQuery>) -> Answer {
    let within = within(&visit, query.app_id.as_deref(), query.project_id.as_deref())?;
    let moment = match (query.change, query.at) {
        (Some(change), None) => Moment::After(change),
        (None, Some(at)) => Moment::At(When::Text(at).resolve("at", visit.gateway.zone())?),
        _ => return Err(Invalid::request("give either `at` or `change`").into()),
    };
    let path = query.path.as_deref();
    let engine = &visit.gateway.engine;
    let files = engine.files_then(within.as_ref(), moment, path).await?;
    let item = |PastFile { path, text }| PastFileItem {
        path: path.as_ref().to_owned(),
        text,
    };
    let files = files.into_iter().map(item).collect();
    Ok(visit.answer(PastData { files }))
}

pub(crate) async fn undo(visit: Visit, JsonBody(value, ..): JsonBody<UndoRequest>) -> Answer {
    let within = within(&visit, value.app_id.as_deref(), value.project_id.as_deref())?;
    let engine = visit.gateway.engine.clone();
    let run = value.run()?.to_owned();
    let undo = async move { Ok(engine.undo(within.as_ref(), &run).await?) };
    let undone = visit.gateway.see_through(undo).await?;
    let change = undone.map(|change| ChangeItem::of(&change, visit.gateway.zone()));
    Ok(visit.answer(UndoData { change }))
}

pub(crate) async fn audit(visit: Visit, UrlQuery(query): UrlQuery<TenantQuery>) -> Answer {
    let within = within(&visit, query.app_id.as_deref(), query.project_id.as_deref())?;
    let audited = visit.gateway.engine.audit(within.as_ref()).await?;
    let finding = |one: Audited| FindingItem::of(&one.finding, one.run);
    let findings = audited.into_iter().map(finding).collect();
    Ok(visit.answer(AuditData { findings }))
}

/// The tenant of a request's files. None means all tenants: the token allows it and the request names no tenant.
pub(crate) fn within(
    visit: &Visit,
    app_id: Option<&str>,
    project_id: Option<&str>,
) -> Result<Option<Scope>, Failure> {
    let scope = scope::scope(app_id, project_id, &visit.caller.home)?;
    visit.caller.enter(&scope)?;
    let is_limited = app_id.is_some() || project_id.is_some() || !visit.caller.sees_all();
    Ok(is_limited.then_some(scope))
}
