//! `skills/{skill_id}/approve` and `reject`: a person's verdict on an agent's skill.
//!
//! Owns: finding the agent of a skill's id. Never: making or changing a skill.

use model::{DocKind, EntryId, EntryKind, SkillStatus};

use crate::body::IdQuery;
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::lookup;
use crate::wire::{OneQuery, SkillItem};

pub(crate) async fn approve_skill(visit: Visit, IdQuery(skill_id, query): IdQuery<OneQuery>) -> Answer {
    judged(&visit, &skill_id, &query, SkillStatus::Approved).await
}

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
