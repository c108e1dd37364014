//! Purging: the history of some folders restarts, and text that no present change needs is in no file.
//!
//! Owns: the list of what a purge keeps, and the debts of those that were not done. Never: keeping what it does not know.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use git2::Oid;
use model::Timestamp;
use ports::{CommitPart, Debt, HistoryError};

use crate::pack::files_of;
use crate::reach::Walk;
use crate::record::quipu;
use crate::repository::{HistoryTurn, NOTE, Step, create_private, io_error};
use crate::rewrite::{KNOWN, parts, standing_at};

/// What of a repository holds no memory: settings, a person's scripts, the list of the present files, ids, debts.
const KEPT: [&str; 9] = [
    "config", "description", "HEAD", "hooks", "index", "info", KNOWN, OWED, OWED_BEFORE,
];

/// The folder in the repository with a file for each debt: its time in milliseconds, then the folder that it concerns.
const OWED: &str = "quipu.owed";

/// The file in which earlier versions wrote since when all of the history had to begin anew, in milliseconds.
const OWED_BEFORE: &str = "quipu.purge";

/// Writes down that a purge is owed.
pub(crate) fn owe(dot_git: &Path, debt: &Debt) -> Result<(), HistoryError> {
    let folder = dot_git.join(OWED);
    let path = file_of(dot_git, debt);
    create_private(&folder)
        .and_then(|()| fs::write(&path, format!("{}\n{}", debt.at.millis(), debt.below)))
        .and_then(|()| File::open(&path)?.sync_all())
        .and_then(|()| File::open(&folder)?.sync_all())
        .map_err(io_error(&path))
}

/// Strikes a debt out.
pub(crate) fn forgive(dot_git: &Path, debt: &Debt) -> Result<(), HistoryError> {
    let path = file_of(dot_git, debt);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(&path)(error)),
        _ => Ok(()),
    }
}

/// Every debt that is written down. One whose writing a power cut tore is of everything.
pub(crate) fn owed(dot_git: &Path) -> Result<Vec<Debt>, HistoryError> {
    let folder = dot_git.join(OWED);
    let listed = || -> io::Result<Vec<Debt>> {
        let mut owed = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if let Ok(id) = u64::from_str_radix(&name, 16) {
                owed.push(debt(id, &fs::read_to_string(&path)?));
            }
        }
        Ok(owed)
    };
    let mut owed = match listed() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        listed => listed.map_err(io_error(&folder))?,
    };
    if let Ok(text) = fs::read_to_string(dot_git.join(OWED_BEFORE)) {
        owed.push(debt(0, &text));
    }
    Ok(owed)
}

fn debt(id: u64, text: &str) -> Debt {
    let (at, below) = text.split_once('\n').unwrap_or((text, ""));
    Debt {
        id,
        below: below.into(),
        at: Timestamp::from_millis(at.parse().unwrap_or_default()),
    }
}

fn file_of(dot_git: &Path, debt: &Debt) -> PathBuf {
    match debt.id {
        0 => dot_git.join(OWED_BEFORE),
        id => dot_git.join(OWED).join(format!("{id:016x}")),
    }
}

impl HistoryTurn {
    pub(crate) fn purge(&self, debts: &[Debt]) -> Result<(), HistoryError> {
        for debt in debts {
            owe(&self.dot_git, debt)?;
        }
        let commit = self.noted(|| self.begin_anew(debts))?;
        self.note(Step::Purge(commit))?;
        self.finish_purge(commit)?;
        for debt in debts {
            forgive(&self.dot_git, debt)?;
        }
        self.done()
    }

    /// A commit whose history has nothing of some folders but what stands there now.
    fn begin_anew(&self, debts: &[Debt]) -> Result<Oid, HistoryError> {
        let staged = self.stage(&CommitPart::All, Some(debts))?;
        let (newest, known) = self.rewrite(debts)?;
        known.write(&self.dot_git)?;
        let newest = self.git(|| newest.map(|id| self.repository.find_commit(id)).transpose())?;
        self.git(|| {
            let mut standing = newest.as_ref().map(|newest| (newest.tree_id(), 0));
            for debt in debts {
                standing = self.put(standing, &parts(debt), standing_at(&staged, debt))?;
            }
            let tree = self.tree(standing)?;
            match &newest {
                Some(newest) if newest.tree_id() == tree.id() => Ok(newest.id()),
                _ => {
                    let at = debts.iter().map(|debt| debt.at).max().unwrap_or_default();
                    let quipu = quipu(&self.zone, at)?;
                    let parents: Vec<_> = newest.iter().collect();
                    let message = "history restarted after a deletion";
                    self.repository
                        .commit(None, &quipu, &quipu, message, &tree, &parents)
                }
            }
        })
    }

    /// Puts a commit, those before it and all they need in one pack, makes it the newest, and sweeps away everything else.
    pub(crate) fn finish_purge(&self, commit: Oid) -> Result<(), HistoryError> {
        let (objects, branch) = self.git(|| {
            // An index remembers the names of folders that are gone, until it is filled anew.
            let mut index = self.repository.index()?;
            index.read_tree(&self.repository.find_commit(commit)?.tree()?)?;
            index.write()?;
            let mut walk = Walk::new(&self.repository, &|_| true);
            walk.object(commit)?;
            let head = self.repository.find_reference("HEAD")?;
            let branch = head.symbolic_target()?.map(|branch| self.dot_git.join(branch));
            Ok((walk.found, branch))
        })?;
        // On the disk before all else that could tell the same is gone.
        let packs = self.dot_git.join("objects/pack");
        let pack = self
            .write_pack(&self.repository, &objects, &packs)?
            .unwrap_or_default();
        self.set_head(commit)?;
        let names = KEPT.into_iter().chain([NOTE]);
        let mut kept: Vec<PathBuf> = names.map(|name| self.dot_git.join(name)).collect();
        kept.extend(files_of(&packs, &pack));
        kept.extend(branch);
        sweep(&self.dot_git, &kept)
            .and_then(|()| create_private(&self.dot_git.join("refs")))
            .map_err(io_error(&self.dot_git))
    }
}

/// Removes whatever is below a folder and not kept.
fn sweep(folder: &Path, kept: &[PathBuf]) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if kept.contains(&path) {
            continue;
        }
        let is_folder = entry.file_type()?.is_dir();
        if kept.iter().any(|kept| kept.starts_with(&path)) {
            sweep(&path, kept)?;
        } else if is_folder {
            fs::remove_dir_all(&path)?;
        } else {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
