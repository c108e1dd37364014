//! Records in the file-change ledger: the rows that the index has of each vault file.
//!
//! Owns: the rule that a record never claims more than the live index holds, and the stats that files had after the
//! engine's own last writes, recorded or pending, so that an append knows whether anybody else wrote in between. Never:
//! reading files.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::try_join_all;
use model::{Doc, EntryId, Name, Owner, Scope};
use parking_lot::Mutex;
use ports::{FileChanges, FileMark, FileRecord, FileStat, LedgerError, ParsedFile, VaultPath};

/// Maximum number of cached stats; beyond that the ledger is read again.
const KNOWN_MAX: usize = 4_096;

/// Records written at a time; the ledger commits them together.
const PUTS_MAX: usize = 256;

/// The file-change ledger, with cached stats of recently written files.
#[derive(Debug)]
pub(crate) struct Records {
    ledger: Arc<dyn FileChanges>,
    known: Mutex<BTreeMap<VaultPath, FileStat>>,
}

impl Records {
    pub(crate) fn new(ledger: Arc<dyn FileChanges>) -> Self {
        Self {
            ledger,
            known: Mutex::default(),
        }
    }

    /// A file's recorded stat.
    pub(crate) async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, LedgerError> {
        if let Some(stat) = self.known.lock().get(path) {
            return Ok(Some(stat.clone()));
        }
        let stat = self.ledger.stat(path).await?;
        if let Some(stat) = &stat {
            self.know(stat.clone());
        }
        Ok(stat)
    }

    /// Records a file as a whole.
    pub(crate) async fn put(&self, record: FileRecord) -> Result<(), LedgerError> {
        let stat = record.stat.clone();
        self.known.lock().remove(&stat.path);
        self.ledger.put(record).await?;
        self.know(stat);
        Ok(())
    }

    /// Records many files.
    pub(crate) async fn put_all(&self, records: Vec<FileRecord>) -> Result<(), LedgerError> {
        let mut records = records.into_iter();
        loop {
            let some = records.by_ref().take(PUTS_MAX).map(|record| self.put(record));
            let some: Vec<_> = some.collect();
            if some.is_empty() {
                return Ok(());
            }
            try_join_all(some).await?;
        }
    }

    /// Drops the stat of a file whose pending record was not written.
    pub(crate) fn break_promise(&self, path: &VaultPath) {
        self.known.lock().remove(path);
    }

    /// Removes the records of files.
    pub(crate) async fn drop_paths(&self, paths: &[VaultPath]) -> Result<(), LedgerError> {
        for path in paths {
            self.known.lock().remove(path);
        }
        self.ledger.drop_paths(paths).await
    }

    /// Notes the stat of a file that is recorded, or of an append with a pending record, after those of earlier
    /// appends.
    pub(crate) fn know(&self, stat: FileStat) {
        let mut known = self.known.lock();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(stat.path.clone(), stat);
    }
}

/// The record of an entry that holds all its rows.
pub(crate) fn mark(entry: EntryId, digest: u64, docs: &[Doc]) -> FileMark {
    FileMark {
        entry,
        digest,
        docs: docs.iter().map(|doc| doc.key.id.clone()).collect(),
        is_shared: false,
    }
}

/// The record of a readable file. Its owner comes from its entries or from its earlier record. Without both, the file
/// has no owner; its record fits no file, so the file is read again as soon as it is readable.
pub(crate) fn of_file(file: &ParsedFile, marks: Vec<FileMark>, before: Option<&FileRecord>) -> FileRecord {
    let first = file.entries.first();
    let first = first.map(|read| (&read.entry.scope, &read.entry.owner));
    let owner = first.or_else(|| before.map(|record| (&record.scope, &record.owner)));
    let problem = problem(file);
    match owner {
        Some((scope, owner)) => {
            let (scope, owner) = (scope.clone(), owner.clone());
            FileRecord {
                stat: file.stat.clone(),
                scope,
                owner,
                marks,
                problem,
            }
        }
        None => of_nobody(&file.stat.path, problem),
    }
}

/// The record of a file that was never readable: its problem.
pub(crate) fn of_nobody(path: &VaultPath, problem: Option<String>) -> FileRecord {
    let owner = Owner::user(Name::parse("nobody").expect("a proper name"));
    FileRecord {
        stat: unfitting(path),
        scope: Scope::default(),
        owner,
        marks: Vec::new(),
        problem,
    }
}

/// A stat that no file has: the next sync reads a file with such a record again.
pub(crate) fn unfitting(path: &VaultPath) -> FileStat {
    FileStat {
        path: path.clone(),
        bytes: 0,
        modified_ns: 0,
    }
}

/// Maximum number of unread places that are named after the first one.
const OTHERS_MAX: usize = 19;

/// The problem of a file in one line.
pub(crate) fn problem(file: &ParsedFile) -> Option<String> {
    if let Some(reason) = &file.broken {
        return Some(reason.clone());
    }
    let (first, others) = file.problems.split_first()?;
    let lines = others.iter().take(OTHERS_MAX);
    let lines: Vec<String> = lines.map(|other| format!("line {}", other.line)).collect();
    let also = match others.len().saturating_sub(OTHERS_MAX) {
        _ if others.is_empty() => String::new(),
        0 => format!(" (also {})", lines.join(", ")),
        more => format!(" (also {}, and {more} more)", lines.join(", ")),
    };
    Some(format!("line {}: {}{also}", first.line, first.reason))
}
