//! Taking back: one run's changes out of the newest state, on disk and as a change of its own.
//!
//! Owns: which commits a run made, the merge, and the order of writes after which a crash can be finished. Never:
//! writing over what a person saved meanwhile, or through a link.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use git2::{Commit, Index, IndexConflict, Oid, Tree};
use model::Timestamp;
use ports::{Author, By, CommitPart, HistoryError, RecordedChange, Run, RunId, VaultPath};

use crate::read::by;
use crate::record::{check, path_of, with_trailers};
use crate::repository::{HistoryTurn, LOCK, LOCKS, Step, create_private, io_error};

impl HistoryTurn {
    pub(crate) fn undo(
        &self,
        run: &RunId,
        by: &Run,
        at: Timestamp,
    ) -> Result<Option<RecordedChange>, HistoryError> {
        check(&by.id)?;
        let _writers = self.hold_writers()?;
        self.commit(&Author::Person, &CommitPart::All, at)?;
        let made = self.made_by(run)?;
        let head = self
            .head()?
            .ok_or_else(|| HistoryError::NoRun { run: run.clone() })?;
        let now = self.git(|| head.tree())?;
        let mut tree = now.clone();
        for commit in &made {
            let merged = self.git(|| self.without(&tree, commit))?;
            tree = merged.map_err(|paths| conflict(run, paths))?;
        }
        if tree.id() == now.id() {
            return Ok(None);
        }
        self.check_free(run, &now, &tree)?;
        let subject = self.subject(Some(&now), &tree)?;
        let message = with_trailers(&subject, by, Some(run));
        let commit = self.write_commit(&Author::Run(by.clone()), at, &message, &tree)?;
        self.note(Step::Undo(commit))?;
        self.finish_undo(commit)?;
        self.done()?;
        self.recorded(commit).map(Some)
    }

    /// The commits of a run, the newest first.
    fn made_by(&self, run: &RunId) -> Result<Vec<Commit<'_>>, HistoryError> {
        let mut made = Vec::new();
        // Newest first, so whoever took back a run is known before the run is met.
        let mut undone: BTreeMap<RunId, RunId> = BTreeMap::new();
        for id in self.ids()? {
            let commit = self.git(|| self.repository.find_commit(id))?;
            let By::Run { run: maker, undoes } = by(&commit) else {
                continue;
            };
            if let Some(undoes) = undoes.filter(|_| !undone.contains_key(&maker.id)) {
                undone.entry(undoes).or_insert_with(|| maker.id.clone());
            }
            if maker.id == *run {
                made.push(commit);
            }
        }
        match undone.remove(run) {
            _ if made.is_empty() => Err(HistoryError::NoRun { run: run.clone() }),
            Some(by) => Err(HistoryError::Undone { run: run.clone(), by }),
            None => Ok(made),
        }
    }

    /// A tree without what a commit changed, or the paths where that was changed again.
    fn without(
        &self,
        tree: &Tree<'_>,
        commit: &Commit<'_>,
    ) -> Result<Result<Tree<'_>, Vec<VaultPath>>, git2::Error> {
        let before = match commit.parent_count() {
            0 => self
                .repository
                .find_tree(self.repository.treebuilder(None)?.write()?)?,
            _ => commit.parent(0)?.tree()?,
        };
        let mut merged = self
            .repository
            .merge_trees(&commit.tree()?, tree, &before, None)?;
        let conflicts = merged.conflicts()?.collect::<Result<Vec<_>, _>>()?;
        let mut paths = Vec::new();
        for conflict in &conflicts {
            if !self.resolve(&mut merged, conflict)? {
                let sides = [&conflict.our, &conflict.ancestor, &conflict.their];
                let path = sides.into_iter().flatten().next().map(|entry| &*entry.path);
                paths.push(String::from_utf8_lossy(path.unwrap_or_default()).into());
            }
        }
        if !paths.is_empty() {
            paths.sort();
            paths.dedup();
            return Ok(Err(paths));
        }
        let merged = merged.write_tree_to(&self.repository)?;
        self.repository.find_tree(merged).map(Ok)
    }

    /// Merges a file entry by entry, where git, line by line, takes neighbours for a conflict.
    fn resolve(&self, merged: &mut Index, conflict: &IndexConflict) -> Result<bool, git2::Error> {
        let (Some(was), Some(ours)) = (&conflict.ancestor, &conflict.our) else {
            return Ok(false);
        };
        let theirs = conflict.their.as_ref();
        let is_elsewhere = was.path != ours.path || theirs.is_some_and(|theirs| theirs.path != ours.path);
        if is_elsewhere || !ours.path.ends_with(b".md") {
            return Ok(false);
        }
        let text = |id: Oid| -> Result<Option<String>, git2::Error> {
            let blob = self.repository.find_blob(id)?;
            Ok(String::from_utf8(blob.content().to_vec()).ok())
        };
        let theirs = match theirs {
            None => Some(None),
            Some(theirs) => text(theirs.id)?.map(Some),
        };
        let (Some(was), Some(now), Some(theirs)) = (text(was.id)?, text(ours.id)?, theirs) else {
            return Ok(false);
        };
        let Some(text) = markdown::sections::merge(&was, &now, theirs.as_deref()) else {
            return Ok(false);
        };
        merged.conflict_remove(&path(&ours.path))?;
        merged.add(&git2::IndexEntry {
            id: self.repository.blob(text.as_bytes())?,
            flags: 0,
            path: ours.path.clone(),
            ..*ours
        })?;
        Ok(true)
    }

    /// Files that would come back must not have their place taken by something that is not recorded.
    fn check_free(&self, run: &RunId, now: &Tree<'_>, then: &Tree<'_>) -> Result<(), HistoryError> {
        let mut taken = Vec::new();
        for change in self.file_changes(now, then)? {
            let is_taken = change.old.is_none() && self.root.join(&change.path).symlink_metadata().is_ok();
            if is_taken || self.is_below_link(&change.path) {
                taken.push(change.path.to_string_lossy().into());
            }
        }
        if taken.is_empty() {
            Ok(())
        } else {
            Err(conflict(run, taken))
        }
    }

    fn is_below_link(&self, path: &Path) -> bool {
        let mut full = self.root.clone();
        path.iter().any(|part| {
            full.push(part);
            full.is_symlink()
        })
    }

    /// Makes the files those of a commit, and it the newest. What a person saved meanwhile stays, to be recorded as
    /// theirs; so does everything if they meanwhile went elsewhere with git.
    pub(crate) fn finish_undo(&self, commit: Oid) -> Result<(), HistoryError> {
        let (parent, was, is) = self.git(|| {
            let commit = self.repository.find_commit(commit)?;
            let parent = commit.parent(0)?;
            Ok((parent.id(), parent.tree()?, commit.tree()?))
        })?;
        let head = self.head()?.map(|head| head.id());
        if head != Some(parent) && head != Some(commit) {
            return Ok(());
        }
        for FileChange { path, old, new } in self.file_changes(&was, &is)? {
            let full = self.root.join(&path);
            let there = match fs::read(&full) {
                _ if self.is_below_link(&path) => continue,
                Ok(bytes) => Some(bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(io_error(&full)(error)),
            };
            if there == old {
                put(&full, new.as_deref()).map_err(io_error(&full))?;
            }
        }
        self.set_head(commit)?;
        self.stage(&CommitPart::All, None).map(drop)
    }

    fn file_changes(&self, was: &Tree<'_>, is: &Tree<'_>) -> Result<Vec<FileChange>, HistoryError> {
        let bytes = |id: Oid| -> Result<Option<Vec<u8>>, git2::Error> {
            if id.is_zero() {
                return Ok(None);
            }
            Ok(Some(self.repository.find_blob(id)?.content().to_vec()))
        };
        self.git(|| {
            let diff = self.repository.diff_tree_to_tree(Some(was), Some(is), None)?;
            let change = |delta: git2::DiffDelta<'_>| {
                Ok(FileChange {
                    path: path_of(&delta),
                    old: bytes(delta.old_file().id())?,
                    new: bytes(delta.new_file().id())?,
                })
            };
            diff.deltas().map(change).collect()
        })
    }

    /// Keeps the vault from writing, in this process and in others, until the files are dropped.
    pub(crate) fn hold_writers(&self) -> Result<Vec<File>, HistoryError> {
        let folder = self.root.join(LOCKS);
        let held = || -> io::Result<Vec<File>> {
            let names = fs::read_dir(&folder)?.map(|entry| Ok(entry?.file_name()));
            let mut names = names.collect::<io::Result<Vec<_>>>()?;
            // One at a time is all that a writer holds, so any order will do.
            names.retain(|name| name != LOCK);
            let hold = |name| {
                let file = File::open(folder.join(name))?;
                file.lock()?;
                Ok(file)
            };
            names.into_iter().map(hold).collect()
        };
        held().map_err(io_error(&folder))
    }
}

/// A file as it was and as it shall be.
struct FileChange {
    path: PathBuf,
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
}

fn conflict(run: &RunId, paths: Vec<VaultPath>) -> HistoryError {
    let run = run.clone();
    HistoryError::Conflict { run, paths }
}

/// A path of git's as one of the system.
#[cfg(unix)]
fn path(bytes: &[u8]) -> PathBuf {
    <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).into()
}

/// A path of git's as one of the system.
#[cfg(not(unix))]
fn path(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Puts a file in its place at once, or takes it away.
fn put(full: &Path, bytes: Option<&[u8]>) -> io::Result<()> {
    let (Some(bytes), Some(folder)) = (bytes, full.parent()) else {
        return fs::remove_file(full);
    };
    create_private(folder)?;
    let name = full.file_name().unwrap_or_default().to_string_lossy();
    let beside = full.with_file_name(format!(".{name}.tmp"));
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, full)
}
