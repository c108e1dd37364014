//! Boundaries by a chat model: asked in the background, only when a boundary is possible, never twice at a time for
//! one session.
//!
//! Owns: when the model is asked and what happens when it is of no use. Never: the prompt (`extract` has it).

use std::collections::BTreeMap;
use std::sync::Arc;

use extract::{AnswerPart, Boundary, Interview, Tail};
use model::{CellId, CutReason, Message, SessionKey};
use parking_lot::{Mutex, MutexGuard};
use ports::LedgerError;
use text::chain;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::api::ModelAnswers;
use crate::error::{EngineError, Trouble};
use crate::world::World;
use crate::{boundaries, interview};

/// Sessions remembered for what the model was asked about them; beyond that some are asked once more.
const SESSIONS_MAX: usize = 4_096;
/// Answers kept for the jobs that will write them; a job without its answer asks again.
const ANSWERS_MAX: usize = 256;
/// Questions that the model has to answer at a time.
const CALLS_MAX: usize = 4;

/// Running passes of the model.
#[derive(Debug)]
pub(crate) struct ModelPasses {
    sessions: Mutex<BTreeMap<SessionKey, PassState>>,
    answers: Mutex<BTreeMap<CellId, AnswerPart>>,
    permits: Semaphore,
    tally: Mutex<ModelAnswers>,
}

#[derive(Debug, Default, Clone, Copy)]
struct PassState {
    running: bool,
    /// Messages came while the model was thinking.
    again: bool,
    /// How many messages of the buffer the model saw without cutting them off.
    asked: usize,
}

impl ModelPasses {
    pub(crate) fn new() -> Self {
        Self {
            sessions: Mutex::default(),
            answers: Mutex::default(),
            permits: Semaphore::new(CALLS_MAX),
            tally: Mutex::default(),
        }
    }

    /// How many sessions the model is asked about now, this one or any.
    pub(crate) fn running(&self, session: Option<&SessionKey>) -> usize {
        let sessions = self.sessions.lock();
        let running = sessions
            .iter()
            .filter(|(key, pass)| pass.running && session.is_none_or(|s| s == *key));
        running.count()
    }

    /// The model's extraction of a segment, made when it found the boundary.
    pub(crate) fn answer(&self, cell: &CellId) -> Option<AnswerPart> {
        self.answers.lock().get(cell).cloned()
    }

    /// The segment is written.
    pub(crate) fn forget_answer(&self, cell: &CellId) {
        self.answers.lock().remove(cell);
    }

    /// What came of the model's answers so far.
    pub(crate) fn tally(&self) -> MutexGuard<'_, ModelAnswers> {
        self.tally.lock()
    }

    /// Waits for one's turn to ask the model.
    pub(crate) async fn turn(&self) -> SemaphorePermit<'_> {
        self.permits.acquire().await.expect("it is never closed")
    }

    fn keep_answers(&self, told: impl IntoIterator<Item = (CellId, AnswerPart)>) {
        let mut answers = self.answers.lock();
        answers.extend(told);
        while answers.len() > ANSWERS_MAX {
            answers.pop_first();
        }
    }

    /// Whether the caller must run a pass; otherwise the running pass looks again.
    fn begin(&self, session: &SessionKey) -> bool {
        let mut sessions = self.sessions.lock();
        if sessions.len() >= SESSIONS_MAX {
            sessions.retain(|_, pass| pass.running);
        }
        let pass = sessions.entry(session.clone()).or_default();
        pass.again = pass.running;
        !std::mem::replace(&mut pass.running, true)
    }

    /// Whether the pass must be repeated; otherwise it is over.
    fn repeats(&self, session: &SessionKey, asked: usize) -> bool {
        let mut sessions = self.sessions.lock();
        let Some(pass) = sessions.get_mut(session) else {
            return false;
        };
        pass.asked = asked;
        pass.running = std::mem::take(&mut pass.again);
        let repeats = pass.running;
        if !repeats && asked == 0 {
            sessions.remove(session);
        }
        repeats
    }

    fn asked(&self, session: &SessionKey) -> usize {
        self.sessions.lock().get(session).map_or(0, |pass| pass.asked)
    }
}

/// Looks at a session in the background.
pub(crate) fn nudge(world: &Arc<World>, session: &SessionKey) {
    if !world.passes.begin(session) {
        return;
    }
    let (own, session) = (world.clone(), session.clone());
    world.work.spawn(async move {
        loop {
            let asked = pass(&own, &session).await.unwrap_or_else(|error| {
                tracing::warn!(
                    error = chain(&error),
                    "cannot look for a segment boundary; retrying with the next message"
                );
                0
            });
            if !own.passes.repeats(&session, asked) {
                break;
            }
        }
        own.bell.finished();
    });
}

/// One pass, for a job that waits for it. Another pass over the same session may be running; the buffer decides.
pub(crate) async fn pass(world: &World, session: &SessionKey) -> Result<usize, EngineError> {
    let buffer = world.parts.transcripts.buffer(session).await?;
    let limits = boundaries::limits(world);
    let asked = world.passes.asked(session).min(buffer.len());
    if !extract::boundary_possible(&buffer, asked, &limits) {
        return Ok(asked);
    }
    let question = Interview::parts(&buffer, &world.settings.zone, Tail::Open);
    let parts = match interview::ask(world, question).await {
        Ok(answer) => answer.parts,
        Err(trouble) => {
            if !matches!(trouble, Trouble::NoModel) {
                tracing::warn!(%trouble, "no segment boundary from the model; falling back to rules");
            }
            boundaries::cut_by_rules(world, session).await?;
            return Ok(0);
        }
    };
    let cut = cut_at(world, session, &buffer, parts).await?;
    let is_full = |rest: &[Message]| {
        let tokens: usize = rest.iter().map(|message| extract::tokens(&message.said())).sum();
        rest.len() >= limits.messages_max || tokens >= limits.tokens_max
    };
    if cut == 0 && is_full(&buffer) {
        // The model asks for more messages, but the buffer has reached its limit.
        boundaries::cut_by_rules(world, session).await?;
        return Ok(0);
    }
    Ok(buffer.len() - cut)
}

/// Cuts at the model's boundary, if the buffer still begins with the messages that the model saw; returns the number of
/// messages cut.
async fn cut_at(
    world: &World,
    session: &SessionKey,
    seen: &[Message],
    parts: Vec<AnswerPart>,
) -> Result<usize, EngineError> {
    let Some(end) = parts.last().map(|part| part.end) else {
        return Ok(0);
    };
    let _held = world.sessions.lock(session).await;
    let buffer = world.parts.transcripts.buffer(session).await?;
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
    match boundaries::commit(world, session, &buffer, &ends).await {
        Ok(cells) if cells.is_empty() => Ok(0),
        Ok(cells) => {
            world.passes.keep_answers(cells.into_iter().zip(parts));
            Ok(end)
        }
        Err(LedgerError::Conflict) => Ok(0),
        Err(error) => Err(error.into()),
    }
}
