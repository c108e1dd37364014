//! Boundaries by a chat model: asked in the background, only when a boundary is possible, never twice at a time for one
//! session.
//!
//! Owns: when the model is asked, and the fallback when its answer is unusable. Never: the prompt (`extract` has it).

use std::sync::Arc;

use extract::{AnswerPart, Boundary, Interview, Tail};
use model::{CutReason, Message, SessionKey, warned};
use ports::LedgerError;

use super::{Intake, boundaries};
use crate::error::{EngineError, Trouble};

/// Starts a pass over a session in the background, or has the running one repeated.
pub(crate) fn nudge(intake: &Arc<Intake>, session: &SessionKey) {
    if !intake.passes.begin(session) {
        return;
    }
    let (own, session) = (intake.clone(), session.clone());
    intake.base.work.spawn(async move {
        loop {
            let asked = pass(&own, &session).await;
            let asked = warned!(
                asked,
                "cannot look for a segment boundary; retrying with the next message"
            );
            if !own.passes.repeats(&session, asked.unwrap_or_default()) {
                break;
            }
        }
        own.base.jobs.finished();
    });
}

/// One pass, for a job that waits for it. Another pass over the same session may be running; the buffer decides.
pub(crate) async fn pass(intake: &Intake, session: &SessionKey) -> Result<usize, EngineError> {
    let base = &intake.base;
    let buffer = base.parts.transcripts.buffer(session).await?;
    let limits = boundaries::limits(intake);
    let asked = intake.passes.asked(session).min(buffer.len());
    if !extract::boundary_possible(&buffer, asked, &limits) {
        return Ok(asked);
    }
    let question = Interview::parts(&buffer, &base.settings.zone, Tail::Open);
    let parts = match base.model.ask(question).await {
        Ok(answer) => answer.parts,
        Err(trouble) => {
            if !matches!(trouble, Trouble::NoModel) {
                tracing::warn!(%trouble, "no segment boundary from the model; falling back to rules");
            }
            boundaries::cut_by_rules(intake, session).await?;
            return Ok(0);
        }
    };
    let cut = cut_at(intake, session, &buffer, parts).await?;
    let is_full = |rest: &[Message]| {
        let tokens: usize = rest
            .iter()
            .map(|message| extract::tokens(&message.own_text()))
            .sum();
        rest.len() >= limits.messages_max || tokens >= limits.tokens_max
    };
    if cut == 0 && is_full(&buffer) {
        // The model asks for more messages, but the buffer has reached its limit.
        boundaries::cut_by_rules(intake, session).await?;
        return Ok(0);
    }
    Ok(buffer.len() - cut)
}

/// Cuts at the model's boundary, if the buffer still begins with the messages that the model saw; returns the number of
/// messages cut.
async fn cut_at(
    intake: &Intake,
    session: &SessionKey,
    seen: &[Message],
    parts: Vec<AnswerPart>,
) -> Result<usize, EngineError> {
    let Some(end) = parts.last().map(|part| part.end) else {
        return Ok(0);
    };
    let _held = intake.sessions.lock(session).await;
    let buffer = intake.base.parts.transcripts.buffer(session).await?;
    let is_same = buffer.len() >= end
        && buffer
            .iter()
            .zip(&seen[..end])
            .all(|(now, then)| now.id == then.id);
    if !is_same {
        return Ok(0);
    }
    let ends: Vec<Boundary> = parts
        .iter()
        .map(|part| Boundary {
            end: part.end,
            reason: CutReason::Model,
        })
        .collect();
    match boundaries::commit(intake, session, &buffer, &ends).await {
        Ok(cells) if cells.is_empty() => Ok(0),
        Ok(cells) => {
            intake.passes.keep_answers(cells.into_iter().zip(parts));
            Ok(end)
        }
        Err(LedgerError::Conflict) => Ok(0),
        Err(error) => Err(error.into()),
    }
}
