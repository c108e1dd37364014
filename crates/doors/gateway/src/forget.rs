//! `memory/delete`, `memory/delete_by_ids` and `memory/edit`.
//!
//! Owns: finding whose memory an id is. Never: what else goes with a memory (the engine knows).

use axum::extract::State;
use axum::response::Response;
use engine::{EditEntry, Engine, EngineError, Flush, Forget, Forgot, List, SortBy};
use model::{Comparison, EntryId, EntryKind, Field, Filter, Name, Owner, SessionKey, Value};
use wire::forget::{DeleteParts, IdsParts};
use wire::get::PAGE_SIZE_MAX;
use wire::{
    ApiId, DeleteByIdsData, DeleteByIdsRequest, DeleteData, DeleteRequest, EditData, EditRequest, Envelope,
    MemoryType,
};

use crate::body::JsonBody;
use crate::failure::Failure;
use crate::frame::Visit;
use crate::openapi::Errors;
use crate::state::Gateway;

/// Forget a session, an owner, or an owner's part of a session
///
/// It is gone from the Markdown, the ledger and the index.
#[utoipa::path(
    post,
    path = "/memory/delete",
    operation_id = "delete_memory",
    tag = "memory",
    request_body = DeleteRequest,
    responses((status = 200, description = "Forgotten", body = Envelope<DeleteData>), Errors),
)]
pub(crate) async fn delete(
    State(gateway): State<Gateway>,
    visit: Visit,
    JsonBody { value, .. }: JsonBody<DeleteRequest>,
) -> Result<Response, Failure> {
    let parts = value.parts(&visit.caller.home)?;
    visit.caller.enter(parts.scope())?;
    let engine = gateway.engine.clone();
    let forget = async move {
        Ok(match parts {
            DeleteParts::Session(session) => engine.forget(Forget::Session(session)).await?,
            DeleteParts::Owner(scope, owner) => engine.forget(Forget::Owner(scope, owner)).await?,
            DeleteParts::OwnerInSession(session, owner) => owner_in_session(&engine, session, owner).await?,
        })
    };
    let forgot = gateway.see_through(forget).await?;
    Ok(visit.answer(DeleteData {
        filters: value.filters(),
        count: forgot.entries,
        message_count: forgot.messages,
    }))
}

/// What an owner remembers of a session, the others' memory of it left alone. The buffer becomes memory first, or it
/// would do so afterwards.
async fn owner_in_session(engine: &Engine, session: SessionKey, owner: Owner) -> Result<Forgot, EngineError> {
    let flush = Flush {
        session: session.clone(),
        task: None,
        wait: true,
    };
    engine.flush(flush).await?;
    let mut forgot = Forgot::default();
    let in_session = Value::Text(session.session.as_str().to_owned());
    for kind in EntryKind::ALL {
        loop {
            let list = List {
                scope: session.scope.clone(),
                owner: owner.clone(),
                kind,
                filter: Some(Filter::Compare(
                    Field::SessionId,
                    Comparison::Eq,
                    in_session.clone(),
                )),
                sort_by: SortBy::Time,
                descending: false,
                page: 1,
                page_size: PAGE_SIZE_MAX,
            };
            let listed = engine.list(list).await?;
            let ids: Vec<EntryId> = listed
                .hits
                .iter()
                .map(|hit| EntryId::new(hit.doc.key.id.clone()))
                .collect();
            if ids.is_empty() {
                break;
            }
            let what = Forget::Entries(session.scope.clone(), owner.clone(), ids);
            let more = engine.forget(what).await?;
            if more.entries == 0 {
                break;
            }
            forgot.entries += more.entries;
            forgot.messages += more.messages;
        }
    }
    Ok(forgot)
}

/// Forget single memories
///
/// What they alone support goes with them. An id that is not there is told, and is no error.
#[utoipa::path(
    post,
    path = "/memory/delete_by_ids",
    operation_id = "delete_memories_by_ids",
    tag = "memory",
    request_body = DeleteByIdsRequest,
    responses((status = 200, description = "Forgotten", body = Envelope<DeleteByIdsData>), Errors),
)]
pub(crate) async fn delete_by_ids(
    State(gateway): State<Gateway>,
    visit: Visit,
    JsonBody { value, .. }: JsonBody<DeleteByIdsRequest>,
) -> Result<Response, Failure> {
    let parts = value.parts(&visit.caller.home)?;
    visit.caller.enter(&parts.scope)?;
    let engine = gateway.engine.clone();
    let memory_type = value.memory_type.unwrap_or(MemoryType::Episode);
    let forget = async move { Ok(by_ids(&engine, parts, memory_type).await?) };
    Ok(visit.answer(gateway.see_through(forget).await?))
}

async fn by_ids(
    engine: &Engine,
    parts: IdsParts,
    memory_type: MemoryType,
) -> Result<DeleteByIdsData, EngineError> {
    let IdsParts { scope, owner, ids } = parts;
    let mut data = DeleteByIdsData {
        memory_type,
        success: true,
        count: 0,
        message_count: 0,
        missing: Vec::new(),
    };
    for (name, mut entries) in by_owner(ids) {
        for owner in owners(owner.as_ref(), &name) {
            if entries.is_empty() {
                break;
            }
            let forgot = engine
                .forget(Forget::Entries(scope.clone(), owner, entries))
                .await?;
            data.count += forgot.entries;
            data.message_count += forgot.messages;
            entries = forgot.missing;
        }
        let missing = entries.iter().map(|entry| ApiId::render(&name, entry.as_str()));
        data.missing.extend(missing);
    }
    Ok(data)
}

/// The ids of each owner, owners in the order of their first id.
fn by_owner(ids: Vec<ApiId>) -> Vec<(Name, Vec<EntryId>)> {
    let mut groups: Vec<(Name, Vec<EntryId>)> = Vec::new();
    for ApiId { owner, entry } in ids {
        match groups.iter_mut().find(|(name, _)| *name == owner) {
            Some((_, entries)) => entries.push(entry),
            None => groups.push((owner, vec![entry])),
        }
    }
    groups
}

/// Whose an id may be: an id names its owner, not whether that is a user or an agent.
fn owners(given: Option<&Owner>, name: &Name) -> Vec<Owner> {
    match given {
        Some(owner) => vec![owner.clone()],
        None => vec![Owner::user(name.clone()), Owner::agent(name.clone())],
    }
}

/// Change a memory's text
///
/// The change is written to the Markdown file and is found at once.
#[utoipa::path(
    post,
    path = "/memory/edit",
    operation_id = "edit_memory",
    tag = "memory",
    request_body = EditRequest,
    responses((status = 200, description = "Changed", body = Envelope<EditData>), Errors),
)]
pub(crate) async fn edit(
    State(gateway): State<Gateway>,
    visit: Visit,
    JsonBody { value, .. }: JsonBody<EditRequest>,
) -> Result<Response, Failure> {
    let parts = value.parts(&visit.caller.home)?;
    visit.caller.enter(&parts.scope)?;
    let changed = value.changed();
    let id = value.id.clone();
    let engine = gateway.engine.clone();
    let found = gateway
        .see_through(async move { Ok(change(&engine, parts, value).await?) })
        .await?;
    if !found {
        return Err(Failure::not_found("memory", &id));
    }
    Ok(visit.answer(EditData { id, changed }))
}

/// Whether it was there.
async fn change(engine: &Engine, parts: IdsParts, request: EditRequest) -> Result<bool, EngineError> {
    let IdsParts { scope, owner, ids } = parts;
    for id in ids {
        for owner in owners(owner.as_ref(), &id.owner) {
            let edit = EditEntry {
                scope: scope.clone(),
                owner,
                id: id.entry.clone(),
                subject: request.subject.clone(),
                summary: request.summary.clone(),
                body: request.episode.clone(),
            };
            match engine.edit(edit).await {
                Ok(()) => return Ok(true),
                Err(EngineError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(false)
}
