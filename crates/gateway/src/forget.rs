//! `memory/delete` and `memory/delete_by_ids`.
//!
//! Owns: the target of a deletion, and removing it from open conversations. Never: choosing the other memories that
//! are deleted too (the engine does).

use memory::{Forget, Forgot, Leftover};
use model::{EntryId, Name};

use crate::body::JsonBody;
use crate::failure::Failure;
use crate::frame::{Answer, Visit};
use crate::lookup::owners;
use crate::state::Gateway;
use crate::wire::forget::IdsParts;
use crate::wire::{
    ApiId, DeleteByIdsData, DeleteByIdsRequest, DeleteData, DeleteRequest, LeftItem, MemoryType,
};

pub(crate) async fn delete_memory(visit: Visit, JsonBody(value, ..): JsonBody<DeleteRequest>) -> Answer {
    let what = value.target(&visit.caller.home)?;
    enter(&visit, &what)?;
    let forgot = forget(&visit.gateway, what).await?;
    Ok(visit.answer(DeleteData {
        filters: value.filters(),
        count: forgot.entries,
        message_count: forgot.messages,
        conversation_count: forgot.conversations,
        rewritten_count: forgot.rewritten,
        old_history_deleted: forgot.old_history,
        ledger_copies: forgot.copies,
        left: forgot.left.iter().map(LeftItem::of).collect(),
    }))
}

/// Checks that the caller may delete the target.
pub(crate) fn enter(visit: &Visit, what: &Forget) -> Result<(), Failure> {
    visit.caller.enter(what.scope())?;
    match what.owner() {
        Some(owner) => visit.caller.enter_owner(owner),
        None => visit.caller.enter_everybodys(),
    }
}

/// Deletes to the end, even if the client disconnects.
pub(crate) async fn forget(gateway: &Gateway, what: Forget) -> Result<Forgot, Failure> {
    let this = gateway.clone();
    let forget = async move { forget_with_conversations(&this, what).await };
    gateway.see_through(forget).await
}

/// Deletes the target, and removes it from conversations in memory.
async fn forget_with_conversations(gateway: &Gateway, what: Forget) -> Result<Forgot, Failure> {
    gateway.deletions.count(what.scope());
    let scope = what.scope().clone();
    let partner = match (&what, &gateway.direct) {
        (Forget::Session(key), Some(direct)) => direct.contexts().store().owner_of(key).await.unwrap_or(None),
        _ => None,
    };
    let forgot = gateway.engine.forget(what).await;
    // Also after a deletion that failed, which may have deleted a part.
    if let Some(direct) = &gateway.direct {
        direct.contexts().store().reload(&scope).await;
    }
    if let Some(proxy) = &gateway.proxy {
        proxy.forgotten(&scope).await;
    }
    let mut forgot = forgot?;
    if let Some(direct) = &gateway.direct {
        forgot.owners.extend(partner);
        let files = forgot.owners.iter();
        let files = files.filter_map(|owner| direct.contexts().facts_of(&scope, owner));
        forgot.left.extend(files.map(|path| Leftover::new(path, FACTS)));
    }
    Ok(forgot)
}

/// Why a file in `context.flush_folder` is kept.
const FACTS: &str = "facts of conversations; Quipu only adds to this file and does not look into it";

pub(crate) async fn delete_memories_by_ids(
    visit: Visit,
    JsonBody(value, ..): JsonBody<DeleteByIdsRequest>,
) -> Answer {
    let mut parts = value.parts(&visit.caller.home)?;
    visit.caller.enter_ids(&mut parts)?;
    let memory_type = value.memory_type.unwrap_or(MemoryType::Episode);
    let this = visit.gateway.clone();
    let forget = async move { by_ids(&this, parts, memory_type).await };
    Ok(visit.answer(visit.gateway.see_through(forget).await?))
}

async fn by_ids(
    gateway: &Gateway,
    parts: IdsParts,
    memory_type: MemoryType,
) -> Result<DeleteByIdsData, Failure> {
    let IdsParts { scope, owner, ids } = parts;
    let mut data = DeleteByIdsData {
        memory_type,
        success: true,
        ..DeleteByIdsData::default()
    };
    for (name, mut entries) in by_owner(ids) {
        for owner in owners(owner.as_ref(), &name) {
            if entries.is_empty() {
                break;
            }
            let entries_of = Forget::Entries(scope.clone(), owner, entries);
            let forgot = forget_with_conversations(gateway, entries_of).await?;
            data.count += forgot.entries;
            data.message_count += forgot.messages;
            data.old_history_deleted |= forgot.old_history;
            data.ledger_copies += forgot.copies;
            for left in forgot.left.iter().map(LeftItem::of) {
                if !data.left.contains(&left) {
                    data.left.push(left);
                }
            }
            entries = forgot.missing;
        }
        let missing = entries.iter().map(|entry| ApiId::render(&name, entry.as_str()));
        data.missing.extend(missing);
    }
    Ok(data)
}

/// Groups ids by owner, in the order of each owner's first id.
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
