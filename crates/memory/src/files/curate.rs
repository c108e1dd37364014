//! Derived memories: writes, replaces and removes them in one go.
//!
//! Owns: that the index contains the entries afterwards, that a repetition changes nothing, and that one file changes
//! at once or not at all. Never: their text.

use std::collections::BTreeMap;

use model::{Entry, EntryId, Owner, Scope};
use ports::{Edit, VaultPath, VersionKey};

use super::{edit, history};
use crate::api::Curate;
use crate::base::Base;
use crate::derived;
use crate::error::EngineError;

impl Curate {
    /// A change of these entries of an owner.
    pub fn new(scope: &Scope, owner: &Owner, put: Vec<Entry>, remove: Vec<EntryId>) -> Self {
        Self {
            scope: scope.clone(),
            owner: owner.clone(),
            put,
            remove,
        }
    }
}

/// Carries out a curation of an owner's memories. Replaces an entry in its present file, even if a person moved it
/// there.
pub(crate) async fn curate(base: &Base, curate: Curate) -> Result<(), EngineError> {
    base.accepting()?;
    let Curate {
        scope,
        owner,
        put,
        remove,
    } = curate;
    if put
        .iter()
        .any(|entry| entry.scope != scope || entry.owner != owner)
    {
        return Err(EngineError::invalid("an entry belongs to somebody else"));
    }
    base.answering().await?;
    let _alone = base.alone_in(&scope).await;
    let rows = base.corpora.entries(&scope, &owner).await?;
    let path_of = |id: &EntryId| {
        let row = rows.iter().find(|row| *row.key.id == *id.as_str());
        row.map(|row| row.path.clone())
    };
    let mut edits: BTreeMap<VaultPath, Vec<Edit>> = BTreeMap::new();
    let mut fresh = Vec::new();
    for id in remove {
        if let Some(path) = path_of(&id)
            && may_change(base, &path, &id).await?
        {
            edits.entry(path).or_default().push(Edit::Remove(id));
        }
    }
    for entry in put {
        if !derived::is_supported(&entry, rows.iter().map(|row| &**row)) {
            tracing::debug!(id = %entry.id, "the sources of a memory were deleted in the meantime");
            continue;
        }
        if let Some(path) = path_of(&entry.id) {
            if may_change(base, &path, &entry.id).await? {
                let edit = Edit::Replace(Box::new(entry));
                edits.entry(path).or_default().push(edit);
            }
            continue;
        }
        let path = base.parts.vault.path_of(&entry);
        if base.parts.vault.stat(&path).await?.is_some() {
            edits.entry(path).or_default().push(Edit::Put(Box::new(entry)));
        } else {
            fresh.push(entry);
        }
    }
    let written = base.parts.vault_writer.append(&fresh, false).await?.into_iter();
    let mut paths: Vec<VaultPath> = written.map(|written| written.stat.path).collect();
    for (path, edits) in edits {
        base.parts.vault_writer.edit(&path, &edits).await?;
        paths.push(path);
    }
    edit::follow(base, paths).await
}

async fn may_change(base: &Base, path: &VaultPath, id: &EntryId) -> Result<bool, EngineError> {
    history::may_change(base, VersionKey::of_entry(path, id), None).await
}
