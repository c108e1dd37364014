//! Finding the memory of an id.
//!
//! Owns: trying the possible owners of an id. Never: permissions (the guard checks them before).

use memory::{Engine, EngineError, Hit};
use model::{EntryId, Name, Owner, Scope};

use crate::wire::forget::IdsParts;

/// The first existing memory among some ids, and its owner.
pub(crate) async fn find(engine: &Engine, parts: IdsParts) -> Result<Option<(Owner, Hit)>, EngineError> {
    let IdsParts { scope, owner, ids } = parts;
    for id in ids {
        for owner in owners(owner.as_ref(), &id.owner) {
            if let Some(hit) = entry(engine, &scope, &owner, &id.entry).await? {
                return Ok(Some((owner, hit)));
            }
        }
    }
    Ok(None)
}

/// An owner's entry, if it exists.
pub(crate) async fn entry(
    engine: &Engine,
    scope: &Scope,
    owner: &Owner,
    id: &EntryId,
) -> Result<Option<Hit>, EngineError> {
    match engine.entry(scope, owner, id).await {
        Ok(hit) => Ok(Some(hit)),
        Err(EngineError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Possible owners of an id: an id contains the owner's name, but not whether it is a user or an agent.
pub(crate) fn owners(named: Option<&Owner>, name: &Name) -> Vec<Owner> {
    match named {
        Some(owner) => vec![owner.clone()],
        None => vec![Owner::user(name.clone()), Owner::agent(name.clone())],
    }
}
