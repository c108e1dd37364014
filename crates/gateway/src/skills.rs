//! `skills/{skill_id}/approve` and `reject`: a person's word on what an agent has learnt.
//!
//! Owns: finding whose skill an id is. Never: making or changing one.

use macro_rules_attribute::apply;
use model::{DocKind, EntryId, EntryKind, SkillStatus};

use crate::body::IdQuery;
use crate::describe::described;
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::lookup;
use crate::wire::{OneQuery, SkillItem};

/// Approve a skill
///
/// From now on searches with its `agent_id` find it, and only people change it.
#[apply(described!)]
#[route(post "/skills/{skill_id}/approve" [
    params(("skill_id" = String, Path, description = "`id` of a skill, from a listing of `agent_skill`"), OneQuery)
] => "The skill" SkillItem)]
pub(crate) async fn approve_skill(visit: Visit, IdQuery(skill_id, query): IdQuery<OneQuery>) -> Answer {
    judged(&visit, &skill_id, &query, SkillStatus::Approved).await
}

/// Reject a skill
///
/// No search finds the skill, and Quipu does not make it again while its file exists.
#[apply(described!)]
#[route(post "/skills/{skill_id}/reject" [
    params(("skill_id" = String, Path, description = "`id` of a skill, from a listing of `agent_skill`"), OneQuery)
] => "The skill" SkillItem)]
pub(crate) async fn reject_skill(visit: Visit, IdQuery(skill_id, query): IdQuery<OneQuery>) -> Answer {
    judged(&visit, &skill_id, &query, SkillStatus::Rejected).await
}

async fn judged(visit: &Visit, skill_id: &str, query: &OneQuery, status: SkillStatus) -> Answer {
    let parts = query.parts(skill_id, &visit.caller.home)?;
    visit.caller.enter(&parts.scope)?;
    let scope = parts.scope.clone();
    let engine = visit.gateway.engine.clone();
    let (owner, hit) = lookup::find(&engine, parts)
        .await?
        .filter(|(_, hit)| hit.doc.kind == DocKind::Entry(EntryKind::Skill))
        .ok_or_else(|| Failure::not_found("skill", skill_id))?;
    let write = async move {
        let id = EntryId::new(hit.doc.key.id.as_ref());
        engine.judge(&scope, &owner, &id, status).await?;
        engine.entry(&scope, &owner, &id).await
    };
    let judged = visit.write(write).await?;
    Ok(visit.answer(SkillItem::of(&judged.doc)))
}
