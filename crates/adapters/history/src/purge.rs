//! Beginning anew: what stands on disk as one commit, and nothing else in any file of the repository.
//!
//! Owns: the list of what a purge keeps, and the debt of one that could not be done. Never: keeping what it does not know.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use git2::Oid;
use model::Timestamp;
use ports::{HistoryError, Part};

use crate::record::quipu;
use crate::repository::{NOTE, Step, Turn, create_private, io_error};

/// What of a repository holds no memory: settings, a person's scripts, and the list of the present files.
const KEPT: [&str; 6] = ["config", "description", "HEAD", "hooks", "index", "info"];

/// The file in the repository that says since when a purge is owed, in milliseconds. A purge sweeps it away.
const DEBT: &str = "quipu.purge";

impl Turn {
    pub(crate) fn owe_purge(&self, at: Timestamp) -> Result<(), HistoryError> {
        let debt = self.dot_git.join(DEBT);
        fs::write(&debt, at.millis().to_string())
            .and_then(|()| File::open(&debt)?.sync_all())
            .map_err(io_error(&debt))
    }

    pub(crate) fn purge(&self, at: Timestamp) -> Result<(), HistoryError> {
        if self.has_paid {
            return Ok(());
        }
        self.owe_purge(at)?;
        let tree = self.noted(|| self.stage(&Part::All, true))?;
        let message = "the history begins anew";
        let commit = self.git(|| {
            let quipu = quipu(&self.zone, at)?;
            self.repository.commit(None, &quipu, &quipu, message, &tree, &[])
        })?;
        self.note(Step::Purge(commit))?;
        self.finish_purge(commit)?;
        self.done()
    }

    /// Does a purge that is owed, if it can be done now; whether it was.
    pub(crate) fn pay_debt(&self) -> Result<bool, HistoryError> {
        match fs::read_to_string(self.dot_git.join(DEBT)) {
            Ok(at) if self.check_idle().is_ok() => {
                self.purge(Timestamp::from_millis(at.parse().unwrap_or_default()))?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Puts a commit and all it needs in one pack, makes it the newest, and sweeps away everything else.
    pub(crate) fn finish_purge(&self, commit: Oid) -> Result<(), HistoryError> {
        let objects = self.dot_git.join("objects");
        let (pack, branch) = self.git(|| {
            // An index remembers the names of folders that are gone, until it is filled anew.
            let mut index = self.repository.index()?;
            index.read_tree(&self.repository.find_commit(commit)?.tree()?)?;
            index.write()?;
            let mut pack = self.repository.packbuilder()?;
            pack.insert_commit(commit)?;
            pack.write(&objects.join("pack"), 0)?;
            let head = self.repository.find_reference("HEAD")?;
            let branch = head.symbolic_target()?.map(|branch| self.dot_git.join(branch));
            Ok((pack.name()?.unwrap_or_default().to_owned(), branch))
        })?;
        let pack = ["pack", "idx"].map(|end| objects.join(format!("pack/pack-{pack}.{end}")));
        for file in &pack {
            // Before all else that could tell the same is gone.
            File::open(file)
                .and_then(|file| file.sync_all())
                .map_err(io_error(file))?;
        }
        self.set_head(commit)?;
        let names = KEPT.into_iter().chain([NOTE]);
        let mut kept: Vec<PathBuf> = names.map(|name| self.dot_git.join(name)).collect();
        kept.extend(pack);
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
