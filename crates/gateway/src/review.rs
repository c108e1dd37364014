//! `memory/review` and `memory/answer`: statements that Quipu believes of a person, and the person's verdict on each.
//!
//! Owns: permissions for both, and pages of statements. Never: the effect of an answer (the engine applies it).

use memory::{Belief, Believed, Verdict};

use crate::body::JsonBody;
use crate::frame::{Answer, Visit};
use crate::wire::review::{Belief as BeliefWord, Verdict as VerdictWord};
use crate::wire::{AnswerData, AnswerRequest, ApiId, BelievedItem, ReviewData, ReviewRequest};

pub(crate) async fn review_memory(visit: Visit, JsonBody(value, ..): JsonBody<ReviewRequest>) -> Answer {
    let (scope, owner) = value.parts(&visit.caller.home)?;
    visit.caller.enter_memory(&scope, &owner)?;
    let all = visit.gateway.engine.review(&scope, &owner).await?;
    let zone = visit.gateway.zone();
    let item = |one: &Believed| BelievedItem {
        id: ApiId::render(&owner.id, one.id.as_str()),
        belief: model::same!(one.belief, Belief => BeliefWord: Fact, Again, Doubt, Confirmed, Ended, Withdrawn),
        text: one.text.clone(),
        session_id: one.session.as_ref().map(ToString::to_string),
        message_ids: one.sources.iter().map(ToString::to_string).collect(),
        timestamp: zone.render(one.said_at),
    };
    Ok(visit.answer(ReviewData {
        statements: all.iter().skip(value.skip).take(value.limit).map(item).collect(),
        total_count: all.len(),
        open_count: all.iter().filter(|one| one.belief.is_open()).count(),
    }))
}

pub(crate) async fn answer_review(visit: Visit, JsonBody(value, ..): JsonBody<AnswerRequest>) -> Answer {
    let (scope, owner, id) = value.parts(&visit.caller.home)?;
    visit.caller.enter_memory(&scope, &owner)?;
    let verdict = model::same!(value.verdict, VerdictWord => Verdict: Keep, Wrong, Scene, Ended);
    let engine = visit.gateway.engine.clone();
    let answered = visit.write(async move { engine.answer(&scope, &owner, &id, verdict).await });
    let changed = answered.await?;
    Ok(visit.answer(AnswerData {
        facts: changed.statements.len(),
        statements: changed.statements,
        derived: changed.derived,
    }))
}
