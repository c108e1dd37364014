//! `skills/{skill_id}/approve` and `reject`: a person's word on what an agent has learnt.
//!
//! Owns: finding whose skill an id is. Never: making or changing one.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use memory::{Engine, Hit};
use model::{DocKind, EntryId, EntryKind, Owner, Scope, SkillStatus};
use wire::{Envelope, ErrorCode, OneQuery, SkillItem};

use crate::body::UrlQuery;
use crate::edit;
use crate::failure::Failure;
use crate::frame::Visit;
use crate::openapi::Errors;
use crate::state::Gateway;

/// Approve a skill
///
/// From now on searches with its `agent_id` find it, and only people change it.
#[utoipa::path(
    post,
    path = "/skills/{skill_id}/approve",
    operation_id = "approve_skill",
    tag = "memory",
    params(("skill_id" = String, Path, description = "`id` of a skill, from a listing of `agent_skill`"), OneQuery),
    responses((status = 200, description = "The skill", body = Envelope<SkillItem>), Errors),
)]
pub(crate) async fn approve(
    State(gateway): State<Gateway>,
    visit: Visit,
    skill_id: Result<Path<String>, PathRejection>,
    UrlQuery(query): UrlQuery<OneQuery>,
) -> Result<Response, Failure> {
    judged(&gateway, &visit, skill_id, &query, SkillStatus::Approved).await
}

/// Reject a skill
///
/// No search finds the skill, and Quipu does not make it again while its file exists.
#[utoipa::path(
    post,
    path = "/skills/{skill_id}/reject",
    operation_id = "reject_skill",
    tag = "memory",
    params(("skill_id" = String, Path, description = "`id` of a skill, from a listing of `agent_skill`"), OneQuery),
    responses((status = 200, description = "The skill", body = Envelope<SkillItem>), Errors),
)]
pub(crate) async fn reject(
    State(gateway): State<Gateway>,
    visit: Visit,
    skill_id: Result<Path<String>, PathRejection>,
    UrlQuery(query): UrlQuery<OneQuery>,
) -> Result<Response, Failure> {
    judged(&gateway, &visit, skill_id, &query, SkillStatus::Rejected).await
}

async fn judged(
    gateway: &Gateway,
    visit: &Visit,
    skill_id: Result<Path<String>, PathRejection>,
    query: &OneQuery,
    status: SkillStatus,
) -> Result<Response, Failure> {
    let Ok(Path(skill_id)) = skill_id else {
        return Err(Failure::new(ErrorCode::BadRequest, "the skill's id is not text"));
    };
    let parts = query.parts(&skill_id, &visit.caller.home)?;
    visit.caller.enter(&parts.scope)?;
    let scope = parts.scope.clone();
    let (owner, hit) = edit::find(&gateway.engine, parts)
        .await?
        .filter(|(_, hit)| hit.doc.kind == DocKind::Entry(EntryKind::Skill))
        .ok_or_else(|| Failure::not_found("skill", &skill_id))?;
    let engine = gateway.engine.clone();
    let write = async move { judge(&engine, &scope, &owner, &hit, status).await };
    Ok(visit.answer(gateway.see_through(write).await?))
}

async fn judge(
    engine: &Engine,
    scope: &Scope,
    owner: &Owner,
    hit: &Hit,
    status: SkillStatus,
) -> Result<SkillItem, Failure> {
    let id = EntryId::new(hit.doc.key.id.as_ref());
    engine.judge(scope, owner, &id, status).await?;
    Ok(SkillItem::of(&engine.entry(scope, owner, &id).await?.doc))
}
