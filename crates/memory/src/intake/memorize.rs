//! Accepts messages: stores them durably, shows them to every search at once, cuts them into segments.
//!
//! Owns: the work of an add and a flush before they answer. Never: writing memories (`writing` does, later).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::{Content, Message, Owner, Role, SessionKey, TURN_BYTES_MAX};
use ports::{AppendOutcome, CutWithAppend, JobId, JobKind, LedgerError, NewJob, NewMessage};

use super::settle::unfinished;
use super::{Intake, attachments, boundaries, model_pass, secrets, settle};
use crate::api::{Add, Added, Flush, MemorizeStatus};
use crate::base::{AcceptedMessages, LONG_BYTES, Ticket};
use crate::error::EngineError;
use crate::ids;
use crate::runtime::on_text;

/// The kinds of jobs that clients request.
const ASKED_FOR: [JobKind; 2] = [JobKind::MemoryAdd, JobKind::MemoryFlush];

/// Adds messages to a session.
pub(crate) async fn add(intake: &Arc<Intake>, add: Add) -> Result<Added, EngineError> {
    let base = &intake.base;
    if add.messages.is_empty() {
        return Err(EngineError::invalid("an add needs at least one message"));
    }
    let Add {
        session,
        messages,
        title,
        defer_extraction,
        task,
    } = add;
    refuse_if_saturated(intake, &session, task.as_ref()).await?;
    let messages = attachments::read(base, messages).await?;
    if let Some(title) = title {
        // Before the messages: a segment can end and its episode be written as soon as they are stored.
        let accept_forgotten = messages.iter().any(|new| new.accept_forgotten);
        entitle(intake, &session, &title, accept_forgotten).await?;
    }
    // In a task of its own: if the caller goes away, no message may stay on disk that no cached owner has.
    let next = match task {
        Some(id) => NextStep::Task(id),
        None if defer_extraction => NextStep::Wait,
        None => NextStep::Look,
    };
    let accepting = accept_and_look(intake.clone(), session, messages, next);
    base.work.run(accepting).await?
}

/// The next step for a session's buffer after new messages.
enum NextStep {
    Look,
    Wait,
    Task(JobId),
}

/// Stores messages; with [`NextStep::Look`], also cuts the buffer. Both are one commit unless another task works on the
/// session, or a chat model finds the boundaries.
async fn accept_and_look(
    intake: Arc<Intake>,
    session: SessionKey,
    messages: Vec<NewMessage>,
    next: NextStep,
) -> Result<Added, EngineError> {
    let base = &intake.base;
    let (messages, redacted) = prepared(&intake, &session, messages);
    let bytes: usize = messages.iter().map(|new| new.message.bytes()).sum();
    // Long messages are stored first and then cut; otherwise the buffer would be in memory next to the ledger's copies
    // of them.
    let by_rules = matches!(next, NextStep::Look) && base.parts.chat.is_none() && bytes <= LONG_BYTES;
    let held = by_rules.then(|| intake.sessions.try_lock(&session)).flatten();
    let Some(held) = held else {
        let appended = accept(&intake, &session, messages, None).await?;
        let (status, pending) = match next {
            NextStep::Look => (look(&intake, &session).await?, 0),
            NextStep::Wait => (MemorizeStatus::Accumulated, 0),
            NextStep::Task(id) => (
                MemorizeStatus::Queued,
                queue(&intake, &session, JobKind::MemoryAdd, id).await?,
            ),
        };
        return Ok(Added {
            accepted: appended.accepted,
            status,
            pending,
            redacted,
        });
    };
    let mut buffer = match intake.buffers.take(&session) {
        Some(buffer) => buffer,
        None => base.parts.transcripts.buffer(&session).await?,
    };
    let buffered_before = buffer.len();
    buffer.extend(messages.iter().map(|new| new.message.clone()));
    // The ledger's order: by time, then by arrival.
    buffer.sort_by_key(|message| message.time);
    let ends = boundaries::by_rules(&intake, &buffer).await;
    let cut =
        boundaries::plan(&intake, &session, &buffer, &ends).map(|cut| CutWithAppend { cut, buffered_before });
    let is_planned = cut.is_some();
    let appended = accept(&intake, &session, messages, cut).await?;
    let is_new = appended.accepted.iter().all(|accepted| !accepted.duplicate);
    if is_new && appended.buffered == buffer.len() {
        if appended.is_cut {
            buffer.drain(..ends.last().map_or(0, |end| end.end));
        }
        intake.buffers.put(&session, buffer);
    }
    drop(held);
    let status = match (is_planned, appended.is_cut) {
        (_, true) => MemorizeStatus::Extracted,
        (false, false) if is_new => MemorizeStatus::Accumulated,
        // The ledger's buffer differed from the cached one.
        (_, false) => boundaries::cut_by_rules(&intake, &session).await?,
    };
    Ok(Added {
        accepted: appended.accepted,
        status,
        pending: 0,
        redacted,
    })
}

/// Cuts by rules at once, or asks a chat model in the background.
async fn look(intake: &Arc<Intake>, session: &SessionKey) -> Result<MemorizeStatus, EngineError> {
    if intake.base.parts.chat.is_some() {
        model_pass::nudge(intake, session);
        return Ok(MemorizeStatus::Accumulated);
    }
    boundaries::cut_by_rules(intake, session).await
}

/// Maximum length of a title; it becomes the heading of an episode.
const TITLE_CHARS_MAX: usize = 80;

/// Gives a session a title, in one line and without secrets.
async fn entitle(
    intake: &Intake,
    session: &SessionKey,
    title: &str,
    accept_forgotten: bool,
) -> Result<(), EngineError> {
    let base = &intake.base;
    let mut title = model::one_line(title);
    if base.settings.redacts {
        intake
            .redacted
            .fetch_add(secrets::clean(&mut title), Ordering::Relaxed);
    }
    if title.chars().count() > TITLE_CHARS_MAX {
        title = title.chars().take(TITLE_CHARS_MAX - 1).chain(['…']).collect();
    }
    if !title.is_empty() {
        let transcripts = &base.parts.transcripts;
        transcripts.entitle(session, title, accept_forgotten).await?;
    }
    Ok(())
}

/// Cuts the whole buffer of a session.
pub(crate) async fn flush(intake: &Arc<Intake>, flush: Flush) -> Result<Added, EngineError> {
    intake.base.accepting()?;
    let Flush { session, task, wait } = flush;
    refuse_if_saturated(intake, &session, task.as_ref()).await?;
    let (status, pending) = match task {
        Some(id) => (
            MemorizeStatus::Queued,
            queue(intake, &session, JobKind::MemoryFlush, id).await?,
        ),
        None => (boundaries::cut_all(intake, &session).await?, 0),
    };
    let added = Added {
        accepted: Vec::new(),
        status,
        pending,
        redacted: 0,
    };
    if wait {
        return settled(intake, &session, added).await;
    }
    Ok(added)
}

/// Waits until the memories of a session are written.
pub(crate) async fn settled(
    intake: &Intake,
    session: &SessionKey,
    mut added: Added,
) -> Result<Added, EngineError> {
    settle::session(intake, session).await?;
    if added.status == MemorizeStatus::Queued {
        added.pending = unfinished(intake, session, &ASKED_FOR).await?;
    }
    Ok(added)
}

/// Gives messages their ids and removes their secrets; returns them with the number of secrets.
fn prepared(intake: &Intake, session: &SessionKey, messages: Vec<NewMessage>) -> (Vec<NewMessage>, usize) {
    let messages = messages.into_iter().map(|new| with_id(intake, session, new));
    let mut messages: Vec<NewMessage> = messages.collect();
    let redacted = redact(intake, &mut messages);
    (messages, redacted)
}

/// Removes secrets from messages; returns their number.
fn redact(intake: &Intake, messages: &mut [NewMessage]) -> usize {
    if !intake.base.settings.redacts {
        return 0;
    }
    let bytes = messages.iter().map(|new| new.message.bytes()).sum();
    let redacted = on_text(bytes, || {
        messages
            .iter_mut()
            .map(|new| secrets::take_out(&mut new.message))
            .sum()
    });
    intake.redacted.fetch_add(redacted, Ordering::Relaxed);
    redacted
}

/// Accepts messages that keep their ids, and returns the number of new ones. They wait in the session's buffer like
/// those of an add.
pub(crate) async fn import(
    intake: &Intake,
    session: &SessionKey,
    mut messages: Vec<NewMessage>,
) -> Result<usize, EngineError> {
    redact(intake, &mut messages);
    let accepted = accept(intake, session, messages, None).await?.accepted;
    Ok(accepted.iter().filter(|one| !one.duplicate).count())
}

/// Stores messages in the ledger, then shows them to searches.
async fn accept(
    intake: &Intake,
    session: &SessionKey,
    messages: Vec<NewMessage>,
    cut: Option<CutWithAppend>,
) -> Result<AppendOutcome, EngineError> {
    let base = &intake.base;
    let copies: Vec<Message> = messages.iter().map(|new| beginning(&new.message)).collect();
    let ticket = base.corpora.cache.ticket();
    let transcripts = &base.parts.transcripts;
    let outcome = match cut {
        Some(cut) => transcripts.append_and_cut(messages, cut, base.now()).await,
        None => transcripts.append(session, messages, base.now()).await,
    };
    let outcome = outcome.inspect_err(|_| {
        // The ledger may have stored them although it failed, and then a retry finds no new message.
        base.corpora.cache.let_go(&session.scope);
    })?;
    let pairs = copies.into_iter().zip(&outcome.accepted);
    let fresh = pairs.filter(|(_, accepted)| !accepted.duplicate);
    let fresh: Vec<Message> = fresh.map(|(message, _)| message).collect();
    show(intake, session, ticket, fresh, outcome.buffered).await;
    if outcome.is_cut {
        base.jobs.ring();
    }
    Ok(outcome)
}

/// A message as searches see it: only the beginning of a long one, as in its row. The ledger returns the rest when the
/// segment is written.
fn beginning(message: &Message) -> Message {
    let mut seen = message.clone();
    if message.bytes() > TURN_BYTES_MAX {
        seen.content = Content::Text(message.beginning(TURN_BYTES_MAX)).into();
    }
    seen
}

/// Shows accepted messages to the cached owners that they concern.
async fn show(intake: &Intake, session: &SessionKey, ticket: Ticket, fresh: Vec<Message>, buffered: usize) {
    let base = &intake.base;
    if fresh.is_empty() {
        return;
    }
    let due = base.parts.clock.elapsed() + base.settings.idle_after;
    intake.idle.touch(session, due);
    let speakers = fresh.iter().filter(|m| m.role == Role::User);
    let speakers: BTreeSet<Owner> = speakers.map(|m| Owner::user(m.sender.clone())).collect();
    if !base.corpora.cache.concerns(session, &speakers) {
        return;
    }
    let added = AcceptedMessages {
        session: session.clone(),
        speakers,
        has_backlog: buffered > fresh.len(),
        vectors: base.corpora.vectors_now(&fresh).await,
        messages: fresh,
    };
    base.corpora.cache.add(ticket, &Arc::new(added));
}

fn with_id(intake: &Intake, session: &SessionKey, new: NewMessage) -> NewMessage {
    let id = ids::message_id(&*intake.base.parts.ids, new.message.time);
    NewMessage {
        message: Message {
            id,
            session: session.clone(),
            ..new.message
        },
        ..new
    }
}

/// Queues a task; returns the number of tasks that wait in its session.
async fn queue(
    intake: &Intake,
    session: &SessionKey,
    kind: JobKind,
    id: JobId,
) -> Result<usize, LedgerError> {
    let base = &intake.base;
    let now = base.time.now();
    let job = NewJob {
        id,
        kind,
        session: session.clone(),
        subject: String::new(),
        run_at: now,
    };
    base.parts.jobs.enqueue(vec![job], now).await?;
    let pending = unfinished(intake, session, &ASKED_FOR).await?;
    base.jobs.ring();
    Ok(pending)
}

/// Refuses a task beyond the session's limit before anything is stored.
async fn refuse_if_saturated(
    intake: &Intake,
    session: &SessionKey,
    task: Option<&JobId>,
) -> Result<(), EngineError> {
    if task.is_none() {
        return Ok(());
    }
    let pending = unfinished(intake, session, &ASKED_FOR).await?;
    if pending >= intake.base.settings.session_pending_max {
        return Err(EngineError::Saturated { pending });
    }
    Ok(())
}
