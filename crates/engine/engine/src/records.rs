//! What the index shows of each vault file, as the file-change ledger has it.
//!
//! Owns: the rule that a record never claims more than the live index holds, and a cache of recorded stats, so that
//! an append need not read all marks of its file. Never: reading files.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::try_join_all;
use model::Doc;
use ports::{BrokenFile, FileChanges, FileMark, FileRecord, FileStat, LedgerError, ReadEntry, VaultPath};

/// Stats kept at hand; beyond that the ledger is asked again.
const KNOWN_MAX: usize = 4_096;

/// Records written at a time; the ledger commits them together.
const PUTS_MAX: usize = 256;

/// The file-change ledger with the stats of recently written files at hand.
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

    /// The recorded stats of all files.
    pub(crate) async fn stats(&self) -> Result<Vec<FileStat>, LedgerError> {
        self.ledger.stats().await
    }

    /// A file's recorded stat.
    pub(crate) async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, LedgerError> {
        if let Some(stat) = self.known().get(path) {
            return Ok(Some(stat.clone()));
        }
        let stat = self.ledger.record(path).await?.map(|record| record.stat);
        if let Some(stat) = &stat {
            self.know(stat.clone());
        }
        Ok(stat)
    }

    /// A file's record.
    pub(crate) async fn record(&self, path: &VaultPath) -> Result<Option<FileRecord>, LedgerError> {
        self.ledger.record(path).await
    }

    /// Records a file's whole state.
    pub(crate) async fn put(&self, record: FileRecord) -> Result<(), LedgerError> {
        let stat = record.stat.clone();
        self.known().remove(&stat.path);
        self.ledger.put(record).await?;
        self.know(stat);
        Ok(())
    }

    /// Records many files.
    pub(crate) async fn put_all(&self, records: Vec<FileRecord>) -> Result<(), LedgerError> {
        let mut records = records.into_iter();
        loop {
            let some: Vec<_> = records
                .by_ref()
                .take(PUTS_MAX)
                .map(|record| self.put(record))
                .collect();
            if some.is_empty() {
                return Ok(());
            }
            try_join_all(some).await?;
        }
    }

    /// Records appends.
    pub(crate) async fn extend(&self, records: Vec<FileRecord>) -> Result<(), LedgerError> {
        let stats: Vec<FileStat> = records.iter().map(|record| record.stat.clone()).collect();
        for stat in &stats {
            self.known().remove(&stat.path);
        }
        self.ledger.extend(records).await?;
        stats.into_iter().for_each(|stat| self.know(stat));
        Ok(())
    }

    /// Forgets files.
    pub(crate) async fn drop_paths(&self, paths: &[VaultPath]) -> Result<(), LedgerError> {
        for path in paths {
            self.known().remove(path);
        }
        self.ledger.drop_paths(paths).await
    }

    /// Files with a problem.
    pub(crate) async fn broken(&self) -> Result<Vec<BrokenFile>, LedgerError> {
        self.ledger.broken().await
    }

    fn know(&self, stat: FileStat) {
        let mut known = self.known();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(stat.path.clone(), stat);
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<VaultPath, FileStat>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to remember of an entry and its rows.
pub(crate) fn mark(read: &ReadEntry, docs: &[Doc]) -> FileMark {
    FileMark {
        entry: read.entry.id.clone(),
        digest: read.digest,
        docs: docs.iter().map(|doc| doc.key.id.clone()).collect(),
    }
}
