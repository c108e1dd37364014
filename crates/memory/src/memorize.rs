//! Messages in: accepted durably, visible to every search at once, cut into memcells.
//!
//! Owns: what an add and a flush do before they answer. Never: writing memories (`write_cell` does, later).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::{Message, Owner, Role, SessionKey};
use ports::{Accepted, JobId, JobKind, JobState, LedgerError, NewJob, NewMessage, TaskQuery};

use crate::api::{Add, Added, EngineError, Flush, MemorizeStatus};
use crate::boundaries;
use crate::corpora::Said;
use crate::ids;
use crate::secrets;
use crate::settle;
use crate::world::World;

/// The kinds of jobs that clients ask for.
const ASKED_FOR: [JobKind; 2] = [JobKind::MemoryAdd, JobKind::MemoryFlush];

/// Remembers messages.
pub(crate) async fn add(world: &Arc<World>, add: Add) -> Result<Added, EngineError> {
    world.accepting()?;
    if add.messages.is_empty() {
        return Err(EngineError::Invalid(
            "an add needs at least one message".to_owned(),
        ));
    }
    let Add {
        session,
        messages,
        defer_extraction,
        task,
        wait,
    } = add;
    refuse_if_saturated(world, &session, task.as_ref()).await?;
    // Not in the caller's own task: a caller that goes away must not leave a message on disk that nobody at hand has.
    let accepting = accept(world.clone(), session.clone(), messages);
    let (accepted, redacted) = world.work.run(accepting).await??;
    let status = if let Some(id) = task {
        queue(world, &session, JobKind::MemoryAdd, id).await?;
        MemorizeStatus::Queued
    } else if defer_extraction {
        MemorizeStatus::Accumulated
    } else {
        boundaries::look(world, &session).await?
    };
    let added = answer(world, &session, accepted, status, wait).await?;
    Ok(Added { redacted, ..added })
}

/// How long a title may be; it becomes the heading of an episode.
const TITLE_CHARS_MAX: usize = 80;

/// Gives a session a title, in one line and without secrets.
pub(crate) async fn entitle(world: &World, session: &SessionKey, title: &str) -> Result<(), EngineError> {
    world.accepting()?;
    let mut title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if world.settings.redacts {
        world
            .redacted
            .fetch_add(secrets::clean(&mut title), Ordering::Relaxed);
    }
    if title.chars().count() > TITLE_CHARS_MAX {
        title = title.chars().take(TITLE_CHARS_MAX - 1).chain(['…']).collect();
    }
    if !title.is_empty() {
        world.parts.transcripts.entitle(session, title).await?;
    }
    Ok(())
}

/// Cuts what a session's buffer holds.
pub(crate) async fn flush(world: &Arc<World>, flush: Flush) -> Result<Added, EngineError> {
    world.accepting()?;
    let Flush { session, task, wait } = flush;
    refuse_if_saturated(world, &session, task.as_ref()).await?;
    let status = if let Some(id) = task {
        queue(world, &session, JobKind::MemoryFlush, id).await?;
        MemorizeStatus::Queued
    } else {
        boundaries::cut_all(world, &session).await?
    };
    answer(world, &session, Vec::new(), status, wait).await
}

async fn answer(
    world: &World,
    session: &SessionKey,
    accepted: Vec<Accepted>,
    status: MemorizeStatus,
    wait: bool,
) -> Result<Added, EngineError> {
    if wait {
        settle::session(world, session).await?;
    }
    let pending = match status {
        MemorizeStatus::Queued => unfinished(world, session, &ASKED_FOR).await?,
        MemorizeStatus::Accumulated | MemorizeStatus::Extracted => 0,
    };
    Ok(Added {
        accepted,
        status,
        pending,
        redacted: 0,
    })
}

/// Accepts messages: without their secrets, on disk first, then at hand for whoever searches next.
async fn accept(
    world: Arc<World>,
    session: SessionKey,
    messages: Vec<NewMessage>,
) -> Result<(Vec<Accepted>, usize), EngineError> {
    let named = |new| named(&world, &session, new);
    let mut messages: Vec<NewMessage> = messages.into_iter().map(named).collect();
    let mut redacted = 0;
    if world.settings.redacts {
        redacted = messages
            .iter_mut()
            .map(|new| secrets::take_out(&mut new.message))
            .sum();
        world.redacted.fetch_add(redacted, Ordering::Relaxed);
    }
    let copies: Vec<Message> = messages.iter().map(|new| new.message.clone()).collect();
    let ticket = world.corpora.ticket();
    let appended = world.parts.transcripts.append(&session, messages, world.now());
    let outcome = appended.await.inspect_err(|_| {
        // It may have happened all the same, and a retry will be told that it is nothing new.
        world.corpora.let_go(&session.scope);
    })?;
    let pairs = copies.into_iter().zip(&outcome.accepted);
    let fresh: Vec<Message> = pairs
        .filter(|(_, accepted)| !accepted.duplicate)
        .map(|(message, _)| message)
        .collect();
    let speakers: BTreeSet<Owner> = fresh
        .iter()
        .filter(|m| m.role == Role::User)
        .map(|m| Owner::user(m.sender.clone()))
        .collect();
    if !fresh.is_empty() {
        let due = world.parts.clock.elapsed() + world.settings.idle_after;
        world.idle.touch(&session, due);
    }
    if !fresh.is_empty() && world.corpora.concerns(&session, &speakers) {
        let vectors = if world.may_embed_now() {
            world.rows.of_messages(&fresh).await.ok()
        } else {
            None
        };
        let said = Said {
            session,
            speakers,
            has_backlog: outcome.buffered > fresh.len(),
            messages: fresh,
            vectors,
        };
        world.corpora.said(ticket, &Arc::new(said));
    }
    Ok((outcome.accepted, redacted))
}

fn named(world: &World, session: &SessionKey, new: NewMessage) -> NewMessage {
    let NewMessage { message, client_id } = new;
    let id = ids::message_id(&*world.parts.ids, message.time);
    NewMessage {
        message: Message {
            id,
            session: session.clone(),
            ..message
        },
        client_id,
    }
}

async fn queue(world: &World, session: &SessionKey, kind: JobKind, id: JobId) -> Result<(), LedgerError> {
    let now = world.work_time();
    let job = NewJob {
        id,
        kind,
        session: session.clone(),
        subject: String::new(),
        run_at: now,
    };
    world.parts.jobs.enqueue(vec![job], now).await?;
    world.bell.ring();
    Ok(())
}

/// A task more than the session may have is refused before anything is accepted.
async fn refuse_if_saturated(
    world: &World,
    session: &SessionKey,
    task: Option<&JobId>,
) -> Result<(), EngineError> {
    if task.is_none() {
        return Ok(());
    }
    let pending = unfinished(world, session, &ASKED_FOR).await?;
    if pending >= world.settings.session_pending_max {
        return Err(EngineError::Saturated { pending });
    }
    Ok(())
}

/// How many jobs of some kinds (of all, when none are named) a session has waiting or running.
pub(crate) async fn unfinished(
    world: &World,
    session: &SessionKey,
    kinds: &[JobKind],
) -> Result<usize, LedgerError> {
    let mut count = 0;
    for state in [JobState::Queued, JobState::Processing] {
        let query = TaskQuery {
            scope: session.scope.clone(),
            session: Some(session.session.clone()),
            state: Some(state),
            kinds: kinds.to_vec(),
            made_from: None,
            made_before: None,
            page: 1,
            page_size: 1,
        };
        count += world.parts.jobs.page(&query).await?.total;
    }
    Ok(count)
}
