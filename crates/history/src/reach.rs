//! Which objects something reaches, and in the place of which file each stands.
//!
//! Owns: the walk over commits, trees and files. Never: writing.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use git2::{ObjectType, Oid, Repository};

use crate::repository::HistoryTurn;

/// An object, and a number for its path. The states of one file have the same number, so that a pack stores them as differences
/// of each other.
pub(crate) type NamedObject = (Oid, u64);

/// A walk from some objects to all that they reach.
pub(crate) struct Walk<'a> {
    repository: &'a Repository,
    /// The walk ends where it meets another object.
    within: &'a dyn Fn(Oid) -> bool,
    seen: HashSet<Oid>,
    /// The newest first.
    pub(crate) found: Vec<NamedObject>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(repository: &'a Repository, within: &'a dyn Fn(Oid) -> bool) -> Self {
        Self {
            repository,
            within,
            seen: HashSet::new(),
            found: Vec::new(),
        }
    }

    /// An object of any kind, and what it reaches.
    pub(crate) fn object(&mut self, id: Oid) -> Result<(), git2::Error> {
        match self.repository.find_object(id, None)?.kind() {
            Some(ObjectType::Commit) => self.commits(id),
            Some(ObjectType::Tree) => self.tree(id, 0),
            Some(ObjectType::Tag) if self.meets(id, 0) => {
                self.object(self.repository.find_tag(id)?.target_id())
            }
            _ => {
                self.meets(id, 0);
                Ok(())
            }
        }
    }

    fn commits(&mut self, tip: Oid) -> Result<(), git2::Error> {
        let mut next = vec![tip];
        while let Some(id) = next.pop() {
            if self.meets(id, 0) {
                let commit = self.repository.find_commit(id)?;
                self.tree(commit.tree_id(), 0)?;
                next.extend(commit.parent_ids());
            }
        }
        Ok(())
    }

    fn tree(&mut self, id: Oid, path: u64) -> Result<(), git2::Error> {
        if !self.meets(id, path) {
            return Ok(());
        }
        for entry in &self.repository.find_tree(id)? {
            let mut below = DefaultHasher::new();
            (path, entry.name_bytes()).hash(&mut below);
            match entry.kind() {
                Some(ObjectType::Tree) => self.tree(entry.id(), below.finish())?,
                Some(ObjectType::Blob) => drop(self.meets(entry.id(), below.finish())),
                // A repository inside the vault is somebody else's.
                _ => {}
            }
        }
        Ok(())
    }

    fn meets(&mut self, id: Oid, path: u64) -> bool {
        let is_new = (self.within)(id) && self.seen.insert(id);
        if is_new {
            self.found.push((id, path));
        }
        is_new
    }
}

impl HistoryTurn {
    /// Those of some objects that anything reaches: a branch, a tag, a stash, what was staged. None where it cannot be told.
    pub(crate) fn reached(&self, some: &HashSet<Oid>) -> Result<Option<Vec<NamedObject>>, git2::Error> {
        let repository = &self.repository;
        let mut index = repository.index()?;
        if !repository.worktrees()?.is_empty() || index.has_conflicts() {
            return Ok(None);
        }
        let mut tips = vec![index.write_tree()?];
        let names = repository.references()?.map(|reference| {
            let reference = reference?;
            Ok(String::from_utf8_lossy(reference.name_bytes()).into_owned())
        });
        let mut names = names.collect::<Result<Vec<_>, git2::Error>>()?;
        names.push("HEAD".to_owned());
        for name in names {
            tips.extend(repository.refname_to_id(&name));
            for entry in repository.reflog(&name)?.iter() {
                tips.extend([entry.id_new(), entry.id_old()]);
            }
        }
        let mut walk = Walk::new(repository, &|_| true);
        // Of a reflog the older ones may be gone.
        for tip in tips
            .into_iter()
            .filter(|tip| repository.find_object(*tip, None).is_ok())
        {
            walk.object(tip)?;
        }
        walk.found.retain(|(id, _)| some.contains(id));
        Ok(Some(walk.found))
    }
}
