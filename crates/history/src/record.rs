//! From the disk to a change: what differs is staged, told in a line, and committed.
//!
//! Owns: what of the disk is staged, and the form of a commit's message. Never: reading a file that looks as it did when
//! it was last staged.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use git2::{Delta, Diff, DiffOptions, ErrorCode, Oid, Signature, Time, Tree};
use markdown::sections::{Counts, headline, with_entries};
use model::{EntryId, Timestamp, Zone};
use ports::{Author, CommitPart, Debt, HistoryError, RecordedChange, Run, RunId, VaultPath};

use crate::pack::hold_many;
use crate::repository::{HistoryTurn, open};

/// Who Quipu is in a commit; nobody else has this address.
pub(crate) const QUIPU: (&str, &str) = ("Quipu", "quipu@localhost");

/// Who a person is that told git nothing.
const HAND: (&str, &str) = ("hand", "hand@localhost");

impl HistoryTurn {
    pub(crate) fn commit(
        &self,
        author: &Author,
        part: &CommitPart,
        at: Timestamp,
    ) -> Result<Option<RecordedChange>, HistoryError> {
        if let Author::Run(run) = author {
            check(&run.id)?;
        }
        self.noted(|| self.commit_noted(author, part, at))
    }

    fn commit_noted(
        &self,
        author: &Author,
        part: &CommitPart,
        at: Timestamp,
    ) -> Result<Option<RecordedChange>, HistoryError> {
        let tree = self.stage(part, None)?;
        let head = self.head()?;
        let was = self.git(|| head.map(|head| head.tree()).transpose())?;
        let is_same = was.as_ref().map_or(tree.is_empty(), |was| was.id() == tree.id());
        if is_same {
            return Ok(None);
        }
        let subject = self.subject(was.as_ref(), &tree)?;
        let message = match author {
            Author::Person => subject,
            Author::Run(run) => with_trailers(&subject, run, None),
        };
        let commit = self.write_commit(author, at, &message, &tree)?;
        self.set_head(commit)?;
        self.recorded(commit).map(Some)
    }

    /// Makes a part of the index what stands on disk, and a tree of the whole. A file that cannot be read just now stays as
    /// it was recorded, unless what some debts concern is recorded `anew`, and nothing else.
    pub(crate) fn stage(&self, part: &CommitPart, anew: Option<&[Debt]>) -> Result<Tree<'_>, HistoryError> {
        let is_anew = |path: &Path| {
            anew.is_none_or(|debts| debts.iter().any(|debt| debt.concerns(&path.to_string_lossy())))
        };
        let is_of_part = |path: &Path| match part {
            CommitPart::All => true,
            CommitPart::Files(files) => path.to_str().is_some_and(|path| files.contains(path)),
            CommitPart::Entries(entries) => path.to_str().is_some_and(|path| entries.contains_key(path)),
        };
        let takes = |path: &Path| is_of_part(path) && is_anew(path);
        let staging = self.git(|| open(&self.dot_git, &self.root))?;
        let (mut index, tree, is_held, is_other) = self.git(|| {
            let mut index = staging.index()?;
            let mut options = DiffOptions::new();
            options.include_untracked(true).recurse_untracked_dirs(true);
            options.update_index(true);
            // Only what is named is looked at.
            options.disable_pathspec_match(true);
            for path in named(part) {
                options.pathspec(&**path);
            }
            let diff = staging.diff_index_to_workdir(Some(&index), Some(&mut options))?;
            let (gone, there): (Vec<_>, Vec<_>) =
                diff.deltas().partition(|delta| delta.status() == Delta::Deleted);
            let is_held = anew.is_none() && hold_many(&staging, &there)?;
            // What is gone first: a file may have given its place to a folder.
            for path in gone.iter().filter_map(|delta| delta.old_file().path()) {
                if takes(path) && !matches!(part, CommitPart::Entries(_)) {
                    index.remove_path(path)?;
                }
            }
            for path in there.iter().filter_map(|delta| delta.new_file().path()) {
                if !takes(path) {
                    continue;
                }
                let is_added = match (part, path.to_str()) {
                    (CommitPart::Entries(entries), Some(name)) => {
                        self.add_entries(&mut index, path, &entries[name])?
                    }
                    _ => self.add(&mut index, path)?,
                };
                if !is_added && anew.is_some() {
                    index.remove_path(path)?;
                }
            }
            // With the trees in it, the next commit writes only those of folders where something changed.
            let tree = index.write_tree()?;
            Ok((index, tree, is_held, gone.len() + there.len() > 0))
        })?;
        if is_held {
            // Before the list of staged files names what is in no file yet.
            self.pack_new(&staging, tree)?;
        }
        self.git(|| {
            if is_other {
                index.write()?;
            }
            self.repository.find_tree(tree)
        })
    }

    /// Whether a file could be read.
    fn add(&self, index: &mut git2::Index, path: &Path) -> Result<bool, git2::Error> {
        let full = self.root.join(path);
        if full.is_dir() && !full.is_symlink() {
            // A repository inside the vault is somebody else's.
            return Ok(false);
        }
        let stat = || {
            full.symlink_metadata()
                .map(|file| (file.len(), file.modified().ok()))
                .ok()
        };
        let before = stat();
        match index.add_path(path) {
            // Gone, or just being saved: the next commit has it.
            Err(error) if error.code() == ErrorCode::NotFound || stat() != before => Ok(false),
            Err(error) if !full.is_symlink() && File::open(&full).is_err() => {
                tracing::warn!(path = %path.display(), %error, "cannot read the file; the history keeps its last version");
                Ok(false)
            }
            added => added.map(|()| true),
        }
    }

    /// Whether some entries of a file could be read, and told from what else was changed in it.
    fn add_entries(
        &self,
        index: &mut git2::Index,
        path: &Path,
        ids: &BTreeSet<EntryId>,
    ) -> Result<bool, git2::Error> {
        let full = self.root.join(path);
        let Some(now) = fs::read_to_string(&full).ok().filter(|_| !full.is_symlink()) else {
            return Ok(false);
        };
        let was = match index.get_path(path, 0) {
            Some(entry) => {
                let blob = self.repository.find_blob(entry.id)?;
                Some(String::from_utf8_lossy(blob.content()).into_owned())
            }
            None => None,
        };
        let is_brought = |id: &str| ids.iter().any(|brought| brought.as_str() == id);
        match with_entries(was.as_deref(), &now, is_brought) {
            None => Ok(false),
            Some(text) if text == now => self.add(index, path),
            Some(text) => {
                // Its size is none that a file has, so that the rest of the file is seen to differ.
                let entry = git2::IndexEntry {
                    ctime: git2::IndexTime::new(0, 0),
                    mtime: git2::IndexTime::new(0, 0),
                    dev: 0,
                    ino: 0,
                    mode: 0o100_644,
                    uid: 0,
                    gid: 0,
                    file_size: 0,
                    id: self.repository.blob(text.as_bytes())?,
                    flags: 0,
                    flags_extended: 0,
                    path: path.to_string_lossy().into_owned().into_bytes(),
                };
                index.add(&entry).map(|()| true)
            }
        }
    }

    /// What a person or a run changed, in one line.
    pub(crate) fn subject(&self, was: Option<&Tree<'_>>, is: &Tree<'_>) -> Result<String, HistoryError> {
        self.git(|| {
            let diff = self.repository.diff_tree_to_tree(was, Some(is), None)?;
            let text = |id: Oid, path: &str| -> Result<String, git2::Error> {
                if id.is_zero() || Path::new(path).extension().is_none_or(|end| end != "md") {
                    return Ok(String::new());
                }
                let blob = self.repository.find_blob(id)?;
                Ok(String::from_utf8_lossy(blob.content()).into_owned())
            };
            let mut files = Vec::new();
            for delta in diff.deltas() {
                let path = path_of(&delta).to_string_lossy().into_owned();
                let before = text(delta.old_file().id(), &path)?;
                let counts = Counts::of(&before, &text(delta.new_file().id(), &path)?);
                files.push((path, counts));
            }
            let files: Vec<(&str, Counts)> = files
                .iter()
                .map(|(path, counts)| (path.as_str(), *counts))
                .collect();
            Ok(headline(&files))
        })
    }

    /// Writes a commit on top of the newest one, which it stays beside for now.
    pub(crate) fn write_commit(
        &self,
        author: &Author,
        at: Timestamp,
        message: &str,
        tree: &Tree<'_>,
    ) -> Result<Oid, HistoryError> {
        let parent = self.head()?;
        let parents: Vec<_> = parent.iter().collect();
        let signature = self.signature(author, at)?;
        self.git(|| {
            let repository = &self.repository;
            repository.commit(None, &signature, &signature, message, tree, &parents)
        })
    }

    /// An author at a time, with the offset of the configured zone.
    fn signature(&self, author: &Author, at: Timestamp) -> Result<Signature<'static>, HistoryError> {
        self.git(|| match author {
            Author::Run(_) => quipu(&self.zone, at),
            Author::Person => {
                let [name, email] = [("user.name", HAND.0), ("user.email", HAND.1)]
                    .map(|(key, otherwise)| self.told(key, otherwise));
                Signature::new(&name, &email, &time(&self.zone, at))
            }
        })
    }

    /// What git was told of the person, without what cannot stand in a commit.
    fn told(&self, key: &str, otherwise: &str) -> String {
        let config = self.repository.config();
        let text = config
            .and_then(|config| config.get_string(key))
            .unwrap_or_default();
        let text = text.replace(|c: char| c.is_control() || "<>".contains(c), " ");
        match text.trim() {
            "" => otherwise.to_owned(),
            text => text.to_owned(),
        }
    }
}

/// Quipu at a time, with the offset of a zone.
pub(crate) fn quipu(zone: &Zone, at: Timestamp) -> Result<Signature<'static>, git2::Error> {
    Signature::new(QUIPU.0, QUIPU.1, &time(zone, at))
}

fn time(zone: &Zone, at: Timestamp) -> Time {
    Time::new(at.millis().div_euclid(1000), zone.offset_minutes(at))
}

/// A commit's message for a run.
pub(crate) fn with_trailers(subject: &str, run: &Run, undoes: Option<&RunId>) -> String {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut message = format!("{subject}\n\nRun: {}\n", run.id);
    for (key, value) in [
        ("Strategy", line(&run.strategy)),
        ("Reason", line(&run.reason)),
        ("Undoes", undoes.map(ToString::to_string).unwrap_or_default()),
    ] {
        if !value.is_empty() {
            writeln!(message, "{key}: {value}").expect("a string takes any text");
        }
    }
    message
}

/// The files that a part names; none where it is of all.
fn named(part: &CommitPart) -> Vec<&VaultPath> {
    match part {
        CommitPart::All => Vec::new(),
        CommitPart::Files(files) => files.iter().collect(),
        CommitPart::Entries(entries) => entries.keys().collect(),
    }
}

/// Whether an id can stand in a message.
pub(crate) fn check(run: &RunId) -> Result<(), HistoryError> {
    let is_bad = |c: char| c.is_whitespace() || c.is_control();
    if run.is_empty() || run.contains(is_bad) {
        return Err(HistoryError::BadRun { run: run.clone() });
    }
    Ok(())
}

/// The path of what changed, be it there or gone.
pub(crate) fn path_of(delta: &git2::DiffDelta<'_>) -> PathBuf {
    let path = delta.new_file().path().or_else(|| delta.old_file().path());
    path.map(Path::to_owned).unwrap_or_default()
}

/// The paths of everything that changed, sorted.
pub(crate) fn paths(diff: &Diff<'_>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = diff.deltas().map(|delta| path_of(&delta)).collect();
    paths.sort();
    paths
}
