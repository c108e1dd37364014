//! Daily copies of the ledger in a folder next to it: `ledger.daily/2026-11-27.sqlite`.
//!
//! Owns: that each copy is complete or absent, their number, and that none contains text deleted since.
//! Never: the time of a copy.
//!
//! A copy is written under another name, checked, made durable, and then renamed. A deletion removes all
//! copies before it is answered: erasing text in them would take as long as new copies.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use model::Date;
use parking_lot::Mutex;
use ports::COPIES_MAX;

use crate::backup;
use crate::failure::LedgerResult;

/// Suffix of a copy's name.
const SUFFIX: &str = ".sqlite";
/// Name of an unfinished copy. SQLite may create a file next to it with a name that begins the same.
const UNFINISHED: &str = "unfinished";

/// The steps of a copy; a test interrupts it before each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyStep {
    Begin,
    Write,
    Check,
    Rename,
    RemoveOld,
}

/// The copies of one ledger.
#[derive(Debug)]
pub(crate) struct Copies {
    ledger: PathBuf,
    folder: PathBuf,
    /// How often all copies were removed. A copy begun before the last removal contains deleted text.
    removals: Mutex<u64>,
}

impl Copies {
    pub(crate) fn of(ledger: &Path) -> Self {
        Self {
            ledger: ledger.to_owned(),
            folder: ledger.with_extension("daily"),
            removals: Mutex::default(),
        }
    }

    /// The days of the copies, the oldest first.
    pub(crate) fn days(&self) -> io::Result<Vec<Date>> {
        let mut days: Vec<Date> = self.names()?.iter().filter_map(|name| day_of(name)).collect();
        days.sort_unstable();
        Ok(days)
    }

    /// Makes the copy of a day, in place of an earlier one of that day, and removes the oldest beyond the
    /// maximum. False if a deletion came meanwhile; then there is no new copy.
    pub(crate) fn make(
        &self,
        day: Date,
        mut before: impl FnMut(CopyStep) -> io::Result<()>,
    ) -> LedgerResult<bool> {
        let begun = *self.removals.lock();
        before(CopyStep::Begin)?;
        private_folder(&self.folder)?;
        self.remove_unfinished()?;
        let unfinished = self.folder.join(UNFINISHED);
        let written = self.write(&unfinished, &mut before);
        // Held until the copy is renamed, so that no deletion misses it.
        let removals = self.removals.lock();
        if *removals != begun {
            self.remove_unfinished()?;
            return Ok(false);
        }
        if written.is_err() {
            // On a full disk other files need the room.
            self.remove_unfinished()?;
        }
        written?;
        before(CopyStep::Rename)?;
        fs::rename(&unfinished, self.folder.join(format!("{day}{SUFFIX}")))?;
        sync(&self.folder)?;
        drop(removals);
        before(CopyStep::RemoveOld)?;
        let days = self.days()?;
        let old = &days[..days.len().saturating_sub(COPIES_MAX)];
        self.remove_where(|name| day_of(name).is_some_and(|day| old.contains(&day)))?;
        Ok(true)
    }

    fn write(
        &self,
        unfinished: &Path,
        before: &mut impl FnMut(CopyStep) -> io::Result<()>,
    ) -> LedgerResult<()> {
        before(CopyStep::Write)?;
        backup::copy(&self.ledger, unfinished)?;
        before(CopyStep::Check)?;
        backup::check(unfinished)?;
        Ok(File::open(unfinished)?.sync_all()?)
    }

    /// Removes all copies, also an unfinished one.
    pub(crate) fn remove_all(&self) -> io::Result<()> {
        let mut removals = self.removals.lock();
        *removals += 1;
        self.remove_where(|name| name.starts_with(UNFINISHED) || day_of(name).is_some())
    }

    fn remove_unfinished(&self) -> io::Result<()> {
        self.remove_where(|name| name.starts_with(UNFINISHED))
    }

    fn remove_where(&self, is_named: impl Fn(&str) -> bool) -> io::Result<()> {
        let names = self.names()?;
        let mut names = names.iter().filter(|name| is_named(name)).peekable();
        if names.peek().is_none() {
            return Ok(());
        }
        for name in names {
            match fs::remove_file(self.folder.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        sync(&self.folder)
    }

    /// The names of the files in the folder, except names that are not UTF-8: those are not ours.
    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }
}

fn day_of(name: &str) -> Option<Date> {
    name.strip_suffix(SUFFIX)?.parse().ok()
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes the names in a folder durable.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
