//! Entries removed from the vault leave the index, together with their dependents.
//!
//! Owns: the cascade from an episode to its facts, and from a case to its skill. Never: deciding that something is gone.

use std::collections::{BTreeMap, BTreeSet};

use model::{Doc, DocId, DocKey, DocKind, Entry, EntryId, EntryKind, Owner, ParentKind, Scope, SkillStatus};
use ports::{Edit, FileMark, VaultError, VaultPath};
use text::chain;

use super::Pass;
use crate::api::EngineError;
use crate::records::problem;

/// An entry that is no longer in its file.
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
    /// Removes entries that are in no file now. Facts of a deleted episode, and skills of deleted cases, are first
    /// removed from their files and then gone themselves. They have no dependents, so this ends.
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

    /// Removes the facts of episodes and the skills of cases that are gone. Where such a file is broken or a link, the
    /// parents' files keep their old records, and so are looked at again until it is repaired.
    async fn take_out_children(
        &mut self,
        gone: &[(VaultPath, Gone)],
        rows: &[Doc],
    ) -> Result<(), EngineError> {
        let parents: BTreeSet<&str> = gone.iter().map(|(_, gone)| gone.entry.as_str()).collect();
        for (path, children) in children_of(&parents, rows) {
            match self.take_out(&path, &children).await {
                Err(EngineError::Vault(error)) => {
                    tracing::warn!(path = &*path, "{}", chain(&error));
                    for (parent, _) in gone {
                        self.held.remove(parent);
                        self.vanished.remove(parent);
                        self.again.insert(parent.clone());
                    }
                    if matches!(error, VaultError::Outside { .. }) {
                        Box::pin(self.look(&path)).await?;
                    } else {
                        self.trouble.get_or_insert(error);
                    }
                }
                done => done?,
            }
        }
        Ok(())
    }

    async fn take_out(&mut self, path: &VaultPath, children: &BTreeSet<&str>) -> Result<(), EngineError> {
        let Some(file) = self.world.parts.vault.read(path).await? else {
            return Ok(());
        };
        let standing = file.entries.iter().map(|read| &read.entry);
        let standing: Vec<&Entry> = standing
            .filter(|entry| children.contains(entry.id.as_str()))
            .collect();
        if let Some(reason) = problem(&file).filter(|_| standing.len() < children.len()) {
            let path = path.to_string();
            return Err(VaultError::Broken { path, reason }.into());
        }
        if standing.is_empty() {
            return Ok(());
        }
        let edits: Vec<Edit> = standing
            .iter()
            .map(|entry| Edit::Remove(entry.id.clone()))
            .collect();
        self.world.parts.vault.edit(path, &edits).await?;
        for Entry { scope, owner, id, .. } in standing {
            self.present.remove(&(scope.clone(), owner.clone(), id.clone()));
        }
        Box::pin(self.look(path)).await
    }

    async fn remove_rows(
        &mut self,
        scope: &Scope,
        owner: &Owner,
        gone: Vec<(VaultPath, Gone)>,
    ) -> Result<(), EngineError> {
        self.synced.entries_removed += gone.len();
        let ids: Vec<DocId> = gone.into_iter().flat_map(|(_, gone)| gone.docs).collect();
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

/// The facts of some episodes and the skills of some cases, by file.
fn children_of<'a>(parents: &BTreeSet<&str>, rows: &'a [Doc]) -> BTreeMap<VaultPath, BTreeSet<&'a str>> {
    let mut children: BTreeMap<VaultPath, BTreeSet<&str>> = BTreeMap::new();
    let standing: BTreeSet<&str> = rows
        .iter()
        .map(|row| &*row.key.id)
        .filter(|id| !parents.contains(id))
        .collect();
    for row in rows {
        let hangs = match row.kind {
            DocKind::Entry(EntryKind::Fact) => row.parent.as_ref().is_some_and(|parent| {
                parent.kind == ParentKind::Episode && parents.contains(parent.id.as_str())
            }),
            DocKind::Entry(EntryKind::Skill) => skill_hangs(row, parents, &standing),
            _ => false,
        };
        if hangs {
            children.entry(row.path.clone()).or_default().insert(&row.key.id);
        }
    }
    children
}

/// Whether a skill goes with these cases. A draft can describe any of its cases and is made again from the others; a
/// skill that a person judged goes with the last case.
fn skill_hangs(skill: &Doc, gone: &BTreeSet<&str>, standing: &BTreeSet<&str>) -> bool {
    let mut cases = skill.sources.iter();
    let is_made_of_gone = cases.clone().any(|case| gone.contains(case.as_str()));
    let is_draft = SkillStatus::of(&skill.labels) == SkillStatus::Draft;
    is_made_of_gone && (is_draft || !cases.any(|case| standing.contains(case.as_str())))
}

/// Leaves out what an earlier sync already found in another file.
fn not_elsewhere(gone: Vec<(VaultPath, Gone)>, rows: &[Doc]) -> Vec<(VaultPath, Gone)> {
    let paths: BTreeMap<&str, &VaultPath> = rows.iter().map(|row| (&*row.key.id, &row.path)).collect();
    let is_elsewhere = |path: &VaultPath, gone: &Gone| {
        paths
            .get(gone.entry.as_str())
            .is_some_and(|standing| *standing != path)
    };
    gone.into_iter()
        .filter(|(path, gone)| !is_elsewhere(path, gone))
        .collect()
}
