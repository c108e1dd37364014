//! What was taken out of the vault goes out of the index, and what hung on it goes too.
//!
//! Owns: the cascade from an episode to its facts. Never: deciding that something is gone.

use std::collections::{BTreeMap, BTreeSet};

use model::{Doc, DocId, DocKey, DocKind, EntryId, EntryKind, Owner, ParentKind, Scope};
use ports::{Edit, FileMark, VaultPath};

use super::Pass;
use crate::api::EngineError;

/// An entry that stands in its file no more.
#[derive(Debug, Clone)]
pub(super) struct Gone {
    scope: Scope,
    owner: Owner,
    pub(super) entry: EntryId,
    docs: Vec<DocId>,
}

impl Gone {
    pub(super) fn new(scope: &Scope, owner: &Owner, mark: &FileMark) -> Self {
        Self {
            scope: scope.clone(),
            owner: owner.clone(),
            entry: mark.entry.clone(),
            docs: mark.docs.clone(),
        }
    }
}

impl Pass<'_> {
    /// Removes entries that stand nowhere now. Facts of an episode that is gone are taken out of their files first
    /// and are gone themselves; facts have nothing that hangs on them, so this ends.
    pub(super) async fn remove_gone(&mut self) -> Result<(), EngineError> {
        loop {
            let mut by_owner: BTreeMap<(Scope, Owner), Vec<(VaultPath, Gone)>> = BTreeMap::new();
            for ((path, _), gone) in std::mem::take(&mut self.gone) {
                if !self
                    .present
                    .contains(&(gone.scope.clone(), gone.owner.clone(), gone.entry.clone()))
                {
                    let owner = (gone.scope.clone(), gone.owner.clone());
                    by_owner.entry(owner).or_default().push((path, gone));
                }
            }
            if by_owner.is_empty() {
                return Ok(());
            }
            for ((scope, owner), gone) in by_owner {
                let rows = self.world.parts.index.load(&scope, &owner).await?;
                let gone = not_elsewhere(gone, &rows);
                self.take_out_children(&gone, &rows).await?;
                self.remove_rows(&scope, &owner, gone).await?;
            }
        }
    }

    async fn take_out_children(&mut self, gone: &[Gone], rows: &[Doc]) -> Result<(), EngineError> {
        let parents: BTreeSet<&str> = gone.iter().map(|gone| gone.entry.as_str()).collect();
        let mut children: BTreeMap<VaultPath, BTreeSet<&str>> = BTreeMap::new();
        for row in rows
            .iter()
            .filter(|row| row.kind == DocKind::Entry(EntryKind::Fact))
        {
            let parent = row
                .parent
                .as_ref()
                .filter(|parent| parent.kind == ParentKind::Episode);
            if parent.is_some_and(|parent| parents.contains(parent.id.as_str())) {
                children.entry(row.path.clone()).or_default().insert(&row.key.id);
            }
        }
        for (path, ids) in children {
            let Some(file) = self.world.parts.vault.read(&path).await? else {
                continue;
            };
            let standing = file.entries.iter().map(|read| &read.entry.id);
            let edits: Vec<Edit> = standing
                .filter(|id| ids.contains(id.as_str()))
                .cloned()
                .map(Edit::Remove)
                .collect();
            if edits.is_empty() {
                continue;
            }
            self.world.parts.vault.edit(&path, &edits).await?;
            for edit in edits {
                if let Edit::Remove(id) = edit {
                    let entry = file
                        .entries
                        .iter()
                        .find(|read| read.entry.id == id)
                        .map(|read| &read.entry);
                    if let Some(entry) = entry {
                        self.present
                            .remove(&(entry.scope.clone(), entry.owner.clone(), id));
                    }
                }
            }
            Box::pin(self.look(&path)).await?;
        }
        Ok(())
    }

    async fn remove_rows(
        &mut self,
        scope: &Scope,
        owner: &Owner,
        gone: Vec<Gone>,
    ) -> Result<(), EngineError> {
        self.synced.entries_removed += gone.len();
        let ids: Vec<DocId> = gone.into_iter().flat_map(|gone| gone.docs).collect();
        let keys = ids.iter().map(|id| DocKey {
            scope: scope.clone(),
            owner: owner.clone(),
            id: id.clone(),
        });
        self.world.writer.apply(Vec::new(), keys.collect()).await?;
        self.world.corpora.rows(scope, owner, Vec::new(), ids);
        Ok(())
    }
}

/// Leaves out what an earlier sync already found in another file.
fn not_elsewhere(gone: Vec<(VaultPath, Gone)>, rows: &[Doc]) -> Vec<Gone> {
    let paths: BTreeMap<&str, &VaultPath> = rows.iter().map(|row| (&*row.key.id, &row.path)).collect();
    let is_elsewhere = |path: &VaultPath, gone: &Gone| {
        paths
            .get(gone.entry.as_str())
            .is_some_and(|standing| *standing != path)
    };
    gone.into_iter()
        .filter(|(path, gone)| !is_elsewhere(path, gone))
        .map(|(_, gone)| gone)
        .collect()
}
