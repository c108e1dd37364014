//! `memory/review` and `memory/answer`: what Quipu believes of a person, and the person's word on it.
//!
//! Owns: permissions for both, and pages of statements. Never: what an answer does (the engine does).

use macro_rules_attribute::apply;
use memory::{Belief, Believed, Verdict};

use crate::body::JsonBody;
use crate::describe::described;
use crate::frame::{Answer, Visit};
use crate::wire::review::{Belief as BeliefWord, Verdict as VerdictWord};
use crate::wire::{AnswerData, AnswerRequest, ApiId, BelievedItem, ReviewData, ReviewRequest};

/// Show what is believed of a user
///
/// Facts, statements of which it is in doubt whose words they are, and what was answered.
#[apply(described!)]
#[post("/memory/review", ReviewRequest => "The statements" ReviewData)]
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

/// Say whether a statement is true
///
/// A person's word: it stands in the Markdown file, and what was made of a statement that is taken back goes. `keep` brings it
/// back. Messages stay as they are.
#[apply(described!)]
#[post("/memory/answer", AnswerRequest => "What it changed" AnswerData)]
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
