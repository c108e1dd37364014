//! `memory/add` and `memory/flush`.
//!
//! Owns: translating the requests and answers of the engine. Never: deciding when memory is made.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use memory::{Add, Added, Flush, MemorizeStatus};
use model::hex;
use ports::JobId;
use sha2::{Digest as _, Sha256};

use crate::body::{JsonBody, UrlQuery};
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::state::Gateway;
use crate::wire::add::{AddStatus, FlushStatus, WaitQuery};
use crate::wire::profile::DAY_MILLIS;
use crate::wire::{AddData, AddRequest, Envelope, FlushData, FlushRequest, MessageItem, QueuedData};

/// A digest of an add without times: all its messages and their day.
fn repeat(messages: &[MessageItem]) -> Sha256 {
    let mut whole = Sha256::new();
    for message in messages {
        let said = MessageItem {
            timestamp: message.timestamp.div_euclid(DAY_MILLIS),
            ..message.clone()
        };
        whole.update(serde_json::to_vec(&said).unwrap_or_default());
    }
    whole
}

pub(crate) async fn add_memory(
    visit: Visit,
    UrlQuery(query): UrlQuery<WaitQuery>,
    JsonBody(mut value, hold, bytes): JsonBody<AddRequest>,
) -> Answer {
    let gateway = &visit.gateway;
    value.wait |= query.wait;
    let async_bytes_max = gateway.settings.async_body_bytes_max;
    if value.async_mode && bytes > async_bytes_max {
        return Err(Failure::too_large(async_bytes_max));
    }
    let task = value.async_mode.then(|| task_id(gateway, &visit));
    let wait = value.wait;
    let add = accepted(&visit, value, task.clone())?;
    let engine = gateway.engine.clone();
    let write = async move {
        let session = add.session.clone();
        let added = engine.add(add).await?;
        // The messages are on disk; the extraction below may need the room.
        drop(hold);
        if wait {
            return Ok(engine.settled(&session, added).await?);
        }
        Ok(added)
    };
    let added = gateway.see_through(write).await?;
    gateway.metrics.added(added.accepted.len(), duplicates(&added));
    let status = match added.status {
        MemorizeStatus::Queued => return Ok(queued(&visit, task, &added)),
        MemorizeStatus::Accumulated => AddStatus::Accumulated,
        MemorizeStatus::Extracted => AddStatus::Extracted,
    };
    Ok(visit.answer(data(&added, status)))
}

/// The add of a request, if the caller may add it.
pub(crate) fn accepted(visit: &Visit, request: AddRequest, task: Option<JobId>) -> Result<Add, Failure> {
    let whole = request.undated.then(|| repeat(&request.messages));
    let mut add = request.into_add(&visit.caller.home)?;
    visit.caller.enter_add(&add)?;
    for (at, new) in add.messages.iter_mut().enumerate() {
        let key = |whole: &Sha256| hex(whole.clone().chain_update(at.to_le_bytes()).finalize());
        new.repeat_key = whole.as_ref().map(key);
    }
    Ok(Add { task, ..add })
}

pub(crate) async fn flush_memory(
    visit: Visit,
    UrlQuery(query): UrlQuery<WaitQuery>,
    JsonBody(value, ..): JsonBody<FlushRequest>,
) -> Answer {
    let session = value.session(&visit.caller.home)?;
    visit.caller.enter_flush(&session)?;
    let wait = value.wait || query.wait;
    let flush = Flush {
        session,
        task: None,
        wait,
    };
    let engine = visit.gateway.engine.clone();
    let added = visit.write(async move { engine.flush(flush).await }).await?;
    let status = match added.status {
        MemorizeStatus::Queued => return Ok(queued(&visit, None, &added)),
        MemorizeStatus::Accumulated => FlushStatus::NoExtraction,
        MemorizeStatus::Extracted => FlushStatus::Extracted,
    };
    Ok(visit.answer(FlushData { status }))
}

/// The id of a task: the request's id if the server made it. A client's id is not used: two tenants may choose the
/// same.
fn task_id(gateway: &Gateway, visit: &Visit) -> JobId {
    JobId(if visit.id_is_ours {
        visit.request_id.as_ref().to_owned()
    } else {
        gateway.fresh_id()
    })
}

fn queued(visit: &Visit, task: Option<JobId>, added: &Added) -> Response {
    let data = QueuedData::of(&data(added, AddStatus::Accumulated), added.pending);
    let request_id = task.map_or_else(|| visit.request_id.as_ref().to_owned(), |task| task.0);
    (StatusCode::ACCEPTED, Json(Envelope { request_id, data })).into_response()
}

fn data(added: &Added, status: AddStatus) -> AddData {
    let accepted = || added.accepted.iter();
    let stored = accepted().filter(|one| !one.forgotten);
    let withheld = accepted().enumerate();
    let withheld = withheld.filter_map(|(at, one)| one.forgotten.then_some(at));
    let withheld: Vec<usize> = withheld.collect();
    AddData {
        message_count: added.accepted.len(),
        status,
        message_ids: stored.map(|one| one.id.to_string()).collect(),
        duplicates: duplicates(added),
        forgotten: withheld.len(),
        withheld,
        restored: accepted().filter(|one| one.restored).count(),
        redacted: added.redacted,
    }
}

fn duplicates(added: &Added) -> usize {
    added.accepted.iter().filter(|one| one.duplicate).count()
}
