//! From commits to what the port tells: the log, who made a change, differences.
//!
//! Owns: reading a commit's message. Never: writing.

use std::path::Path;

use git2::{Commit, Diff, DiffFormat, DiffOptions, ErrorCode, Oid, Sort};
use model::Timestamp;
use ports::{By, HistoryError, RecordedChange, Run, Touching, VaultPath};

use crate::record::{QUIPU, paths};
use crate::repository::HistoryTurn;

impl HistoryTurn {
    pub(crate) fn log(&self, touching: &Touching, limit: usize) -> Result<Vec<RecordedChange>, HistoryError> {
        let below = match touching {
            Touching::All => None,
            Touching::Path(path) => Some(path.trim_end_matches('/').to_owned()),
            Touching::Owner(scope, owner) => Some(markdown::place::folder_of(scope, Some(owner))),
            Touching::Alone(scope) => Some(markdown::place::folder_of(scope, None)),
        };
        let touches = |change: &RecordedChange| {
            let Some(below) = &below else { return true };
            let mut files = change.files.iter();
            let is_below = |file: &VaultPath| Path::new(&**file).starts_with(below);
            match touching {
                Touching::Alone(_) => files.len() > 0 && files.all(is_below),
                _ => files.any(is_below),
            }
        };
        let mut found = Vec::new();
        for id in self.ids()? {
            if found.len() == limit {
                break;
            }
            found.extend(Some(self.recorded(id)?).filter(touches));
        }
        Ok(found)
    }

    /// Every commit of what is checked out, the newest first.
    pub(crate) fn ids(&self) -> Result<Vec<Oid>, HistoryError> {
        let Some(head) = self.head()? else {
            return Ok(Vec::new());
        };
        self.git(|| {
            let mut walk = self.repository.revwalk()?;
            walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME)?;
            walk.push(head.id())?;
            walk.collect()
        })
    }

    pub(crate) fn recorded(&self, id: Oid) -> Result<RecordedChange, HistoryError> {
        self.git(|| {
            let commit = self.repository.find_commit(id)?;
            let files = paths(&self.difference(&commit)?);
            let subject = commit.summary_bytes().unwrap_or_default();
            Ok(RecordedChange {
                id: self.known.id(id).to_string().into(),
                at: Timestamp::from_millis(commit.author().when().seconds().saturating_mul(1000)),
                by: by(&commit),
                subject: String::from_utf8_lossy(subject).into_owned(),
                files: files.iter().map(|path| path.to_string_lossy().into()).collect(),
            })
        })
    }

    pub(crate) fn diff(&self, id: Option<&str>) -> Result<String, HistoryError> {
        let Some(id) = id else {
            return self.git(|| unified(&self.unrecorded()?));
        };
        let unknown = |_| HistoryError::NoChange { id: id.to_owned() };
        let commit = match self.known.find(id) {
            Some(known) => self.repository.find_commit(known),
            None => self.repository.find_commit_by_prefix(id),
        };
        let commit = commit.map_err(unknown)?;
        self.git(|| unified(&self.difference(&commit)?))
    }

    /// What a commit changed; of a merge, what it brought to the branch that it is on.
    fn difference(&self, commit: &Commit<'_>) -> Result<Diff<'_>, git2::Error> {
        let was = match commit.parent(0) {
            Ok(parent) => Some(parent.tree()?),
            Err(error) if error.code() == ErrorCode::NotFound => None,
            Err(error) => return Err(error),
        };
        self.repository
            .diff_tree_to_tree(was.as_ref(), Some(&commit.tree()?), None)
    }

    /// What stands on disk and is in no commit.
    fn unrecorded(&self) -> Result<Diff<'_>, git2::Error> {
        let head = self.repository.head().and_then(|head| head.peel_to_tree()).ok();
        let mut options = DiffOptions::new();
        options
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .show_untracked_content(true);
        self.repository
            .diff_tree_to_workdir_with_index(head.as_ref(), Some(&mut options))
    }
}

fn unified(diff: &Diff<'_>) -> Result<String, git2::Error> {
    let mut bytes = Vec::new();
    diff.print(DiffFormat::Patch, |_, _, line| {
        if let sign @ ('+' | '-' | ' ') = line.origin() {
            bytes.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
        }
        bytes.extend_from_slice(line.content());
        true
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Who made a commit, as its author and its message tell.
pub(crate) fn by(commit: &Commit<'_>) -> By {
    let author = commit.author();
    if author.email_bytes() != QUIPU.1.as_bytes() {
        let name = String::from_utf8_lossy(author.name_bytes()).into_owned();
        return By::Person { name };
    }
    let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
    let trailer = |key: &str| {
        let mut values = message
            .lines()
            .skip(1)
            .filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        values.next()
    };
    match trailer("Run") {
        None => By::Purge,
        Some(id) => By::Run {
            run: Run {
                id: id.into(),
                strategy: trailer("Strategy").unwrap_or_default().to_owned(),
                reason: trailer("Reason").unwrap_or_default().to_owned(),
            },
            undoes: trailer("Undoes").map(Into::into),
        },
    }
}
