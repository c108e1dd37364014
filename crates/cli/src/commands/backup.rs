//! `quipu backup`: copies everything that cannot be generated again, while the root is in use.
//!
//! Owns: the content of a backup, and the order of reading it. Never: the backup's format (`archive`).
//!
//! A segment is written to the ledger first and to the memory folder later. So the ledger is copied before the files of the
//! memory folder, and the two together are a state that a crash could have left: the next start finishes the rest. Most files are
//! copied once before the ledger, so that little time lies between the two. Then the ledger's copy receives the history recorded
//! meanwhile: so it knows the authors of the writes that only the files have.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use anyhow::Context;
use ledger::SqliteLedger;
use model::text::counted;
use ports::Clock;
use serde_json::json;
use vault::{FileTurns, OLD_HISTORY};

use super::Desk;
use crate::archive::{Archive, ArchivedFile, absolute, check_empty, copy, files_below};
use crate::belonging;
use crate::clock::SystemClock;
use crate::config::portable;
use crate::error::{Exit, Failure, Hinted as _};
use crate::output::say;
use crate::private::{self, if_there};
use crate::root::{CONFIGURATION, MEMORY};
use crate::serving::LEDGER;
use crate::tokens;
use crate::world::zone;

const LOCKS: &str = "memory/.locks";
/// A person's own repository of the memory folder.
const PERSONS_HISTORY: &str = "memory/.git";
const INSTRUCTIONS: &str = "instructions";

pub(super) fn backup(desk: &Desk, folder: &Path) -> Result<Exit, Failure> {
    let root = desk.root.as_path();
    if !root.join(LEDGER).exists() {
        let none = Failure::missing(format!("`{}` has no memory", root.display()));
        return Err(none.hint("name the data folder with --root DIR"));
    }
    belonging::check(root)?;
    check_empty(folder, "the folder")
        .hint("choose a new folder for each backup, as in `backups/2026-11-24`")?;
    if absolute(folder)?.starts_with(absolute(root)?) {
        let failure = Failure::usage("a backup inside of the root would be lost with it");
        return Err(failure.hint("choose a folder elsewhere, best on another disk"));
    }
    private::folder(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let archive = taken(desk, folder)?;
    SqliteLedger::check(&folder.join(LEDGER))?;
    archive.verify(folder)?;
    archive.write(folder)?;
    told(desk, folder, &archive)
}

/// Copies everything; returns the list of the files.
fn taken(desk: &Desk, folder: &Path) -> Result<Archive, Failure> {
    let clock = SystemClock::new();
    let root = desk.root.as_path();
    let mut copies = Copies {
        root,
        folder,
        turns: FileTurns::open(&root.join(MEMORY)).context("cannot open the locks of the memory folder")?,
        done: BTreeMap::new(),
    };
    copies.follow()?;
    let taken = zone(&desk.loaded.config)?.render(clock.now());
    let ledger = folder.join(LEDGER);
    SqliteLedger::copy(&root.join(LEDGER), &ledger)?;
    copies.follow()?;
    SqliteLedger::copy_newer_history(&root.join(LEDGER), &ledger)?;
    let copied = synced(&ledger)?;
    let mut files = copies.files();
    files.push(ArchivedFile::new(LEDGER, Path::new(LEDGER), copied));
    let mut left_out = Vec::new();
    let configuration = root.join(CONFIGURATION);
    let text = if_there(fs::read_to_string(&configuration));
    if let Some(text) = text.with_context(|| format!("cannot read `{}`", configuration.display()))? {
        let (text, secrets) = portable(&text);
        left_out = secrets;
        let copied = copy(&mut text.as_bytes(), &folder.join(CONFIGURATION));
        let copied = copied.context("cannot write the configuration")?;
        files.push(ArchivedFile::new(CONFIGURATION, Path::new(CONFIGURATION), copied));
    }
    Ok(Archive::new(taken, left_out, files))
}

/// Syncs to disk a file that SQLite wrote; returns its size and checksum.
fn synced(file: &Path) -> Result<(u64, String), Failure> {
    let state = File::open(file).and_then(|mut file| {
        file.sync_all()?;
        crate::archive::sum(&mut file)
    });
    Ok(state.context("cannot read the copy of the ledger")?)
}

/// The copied files of the root.
struct Copies<'a> {
    root: &'a Path,
    folder: &'a Path,
    turns: FileTurns,
    done: BTreeMap<String, Copied>,
}

struct Copied {
    state: (u64, SystemTime),
    file: ArchivedFile,
}

impl Copies<'_> {
    /// Copies every new or changed file, and deletes the copies of files that are gone.
    fn follow(&mut self) -> Result<(), Failure> {
        let mut present = files_below(self.root, MEMORY, &[LOCKS, PERSONS_HISTORY])?;
        for (path, from) in &present {
            let in_vault = path.strip_prefix("memory/").unwrap_or(path);
            let turn = self.turns.wait(in_vault);
            let _turn = turn.with_context(|| format!("cannot lock `{path}`"))?;
            self.copy(path, from)?;
        }
        let mut others = files_below(self.root, INSTRUCTIONS, &[])?;
        for repository in [PERSONS_HISTORY, OLD_HISTORY] {
            others.extend(files_below(self.root, repository, &[])?);
        }
        others.extend([tokens::FILE, belonging::FILE].map(|file| (file.to_owned(), file.into())));
        others.iter().try_for_each(|(path, from)| self.copy(path, from))?;
        present.extend(others);
        let is_gone = |path: &String, _: &mut Copied| !present.contains_key(path);
        let gone = self.done.extract_if(.., is_gone);
        gone.map(|(path, _)| path)
            .try_for_each(|path| Ok(fs::remove_file(self.folder.join(path))?))
    }

    /// Copies a file, unless its copy is current; a file that has disappeared meanwhile is not an error.
    fn copy(&mut self, path: &str, from: &Path) -> Result<(), Failure> {
        let to = self.folder.join(path);
        let copied = || -> io::Result<Option<Copied>> {
            let mut file = File::open(self.root.join(from))?;
            let about = file.metadata()?;
            let state = (about.len(), about.modified()?);
            if self.done.get(path).is_some_and(|done| done.state == state) {
                return Ok(None);
            }
            private::folder(to.parent().unwrap_or(self.folder))?;
            let file = ArchivedFile::new(path, from, copy(&mut file, &to)?);
            Ok(Some(Copied { state, file }))
        };
        let copied = if_there(copied()).with_context(|| format!("cannot copy `{path}`"))?;
        if let Some(copied) = copied.flatten() {
            self.done.insert(path.to_owned(), copied);
        }
        Ok(())
    }

    fn files(self) -> Vec<ArchivedFile> {
        self.done.into_values().map(|copied| copied.file).collect()
    }
}

fn told(desk: &Desk, folder: &Path, archive: &Archive) -> Result<Exit, Failure> {
    let (files, bytes) = (archive.files.len(), archive.bytes());
    desk.tell(
        &json!({
            "folder": folder, "files": files, "bytes": bytes, "taken": archive.taken,
            "secrets_left_out": archive.secrets_left_out,
        }),
        || {
            let (root, to, taken) = (desk.root.display(), folder.display(), &archive.taken);
            let (files, megabytes) = (counted(files, "file", "files"), bytes as f64 / 1e6);
            say!("backed up {root} to {to}: {files}, {megabytes:.1} MB, verified")?;
            say!(
                "it has everything that was acknowledged until {taken}; `quipu restore` rebuilds the index"
            )?;
            match archive.secrets_left_out.join(", ") {
                none if none.is_empty() => Ok(()),
                secrets => say!("left out the secrets of quipu.toml: {secrets}"),
            }
        },
    )
}

#[cfg(test)]
mod tests;
