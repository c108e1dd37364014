//! Cutting a session's buffer into segments, under the session's lock.
//!
//! Owns: when the rules look for boundaries, and that segments and their jobs are one commit. Never: where to cut
//! (`extract` decides).

use extract::{Boundary, Limits};
use model::{Cell, CellId, CutReason, Message, SessionKey};
use ports::{Cut, JobKind, LedgerError, NewJob};

use super::Intake;
use crate::api::MemorizeStatus;
use crate::base::LONG_BYTES;
use crate::error::EngineError;
use crate::ids;
use crate::runtime::on_text;

/// How often a buffer is read again if it changed meanwhile; only a deletion can change it.
const CONFLICTS_MAX: usize = 8;

/// Cuts at the boundaries of the rules; the rest stays in the buffer.
pub(crate) async fn cut_by_rules(
    intake: &Intake,
    session: &SessionKey,
) -> Result<MemorizeStatus, EngineError> {
    cut(intake, session, false).await
}

/// Cuts at the boundaries of the rules, and at the end.
pub(crate) async fn cut_all(intake: &Intake, session: &SessionKey) -> Result<MemorizeStatus, EngineError> {
    cut(intake, session, true).await
}

/// The limits from the settings.
pub(crate) fn limits(intake: &Intake) -> Limits {
    let base = &intake.base;
    Limits {
        gap_minutes: base.settings.gap_minutes,
        messages_max: base.settings.messages_max,
        tokens_max: base.settings.tokens_max,
    }
}

async fn cut(intake: &Intake, session: &SessionKey, all: bool) -> Result<MemorizeStatus, EngineError> {
    let _held = intake.sessions.lock(session).await;
    drop(intake.buffers.take(session));
    let mut tries = 0;
    loop {
        let buffer = intake.base.parts.transcripts.buffer(session).await?;
        let mut ends = by_rules(intake, &buffer).await;
        if all && !buffer.is_empty() && ends.last().is_none_or(|last| last.end < buffer.len()) {
            ends.push(Boundary {
                end: buffer.len(),
                reason: CutReason::Flush,
            });
        }
        tries += 1;
        match commit(intake, session, &buffer, &ends).await {
            Ok(cells) if cells.is_empty() => return Ok(MemorizeStatus::Accumulated),
            Ok(_) => return Ok(MemorizeStatus::Extracted),
            Err(LedgerError::Conflict) if tries < CONFLICTS_MAX => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The boundaries of the rules in a buffer.
pub(crate) async fn by_rules(intake: &Intake, buffer: &[Message]) -> Vec<Boundary> {
    let base = &intake.base;
    let vectors = if base.parts.embedder.is_instant() {
        base.rows.of_messages(buffer).await.ok()
    } else {
        None
    };
    let bytes = buffer.iter().map(Message::bytes).sum();
    on_text(bytes, || {
        extract::boundaries(buffer, vectors.as_deref(), &limits(intake))
    })
}

/// Cuts a buffer at some ends, in one commit with the jobs that will write the segments; the caller holds the session's
/// lock.
pub(crate) async fn commit(
    intake: &Intake,
    session: &SessionKey,
    buffer: &[Message],
    ends: &[Boundary],
) -> Result<Vec<CellId>, LedgerError> {
    let base = &intake.base;
    let Some(cut) = plan(intake, session, buffer, ends) else {
        return Ok(Vec::new());
    };
    let ids = cut.cells.iter().map(|cell| cell.id.clone()).collect();
    base.parts.transcripts.cut(cut).await?;
    base.jobs.ring();
    Ok(ids)
}

/// The segments of a buffer that is cut at some ends, with the jobs that will write them. A buffer without a message of
/// a user belongs to nobody yet, and stays.
pub(crate) fn plan(
    intake: &Intake,
    session: &SessionKey,
    buffer: &[Message],
    ends: &[Boundary],
) -> Option<Cut> {
    let base = &intake.base;
    let speakers = extract::owners(buffer);
    if ends.is_empty() || speakers.is_empty() {
        return None;
    }
    let mut cells = Vec::new();
    let mut start = 0;
    for end in ends {
        let messages = buffer[start..end.end].to_vec();
        start = end.end;
        let Some(last) = messages.last() else { continue };
        let mut owners = extract::owners(&messages);
        if owners.is_empty() {
            owners.clone_from(&speakers);
        }
        let cell = Cell {
            id: ids::cell_id(&*base.parts.ids, last.time, &base.settings.zone),
            session: session.clone(),
            messages,
            owners,
            reason: end.reason,
        };
        if cell.bytes() > LONG_BYTES {
            base.turns.long_cells.lock().insert(cell.id.clone(), cell.bytes());
        }
        cells.push(cell);
    }
    let now = base.time.now();
    let jobs = cells.iter().map(|cell| NewJob {
        id: ids::job_of(&cell.id),
        kind: JobKind::WriteCell,
        session: session.clone(),
        subject: cell.id.as_str().to_owned(),
        run_at: now,
    });
    Some(Cut {
        session: session.clone(),
        jobs: jobs.collect(),
        cells,
    })
}
