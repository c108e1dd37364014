//! The file-change ledger in memory.
//!
//! Owns: `FileChanges` of the fake. Never: reading files.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use model::{DocKey, EntryId, Name, Owner, OwnerKind, Scope};
use ports::{BrokenFile, FileAppend, FileChanges, FileMark, FileRecord, FileStat, LedgerError, VaultPath};

use super::MemoryLedger;

/// One mark for each entry, the last given one, in order of the entries' ids.
fn merged(marks: impl IntoIterator<Item = FileMark>) -> Vec<FileMark> {
    let by_entry: BTreeMap<EntryId, FileMark> =
        marks.into_iter().map(|mark| (mark.entry.clone(), mark)).collect();
    by_entry.into_values().collect()
}

#[async_trait]
impl FileChanges for MemoryLedger {
    async fn stats(&self) -> Result<Vec<FileStat>, LedgerError> {
        self.call(|state| Ok(state.files.values().map(|file| file.stat.clone()).collect()))
    }

    async fn count(&self) -> Result<usize, LedgerError> {
        self.call(|state| Ok(state.files.len()))
    }

    async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, LedgerError> {
        self.call(|state| Ok(state.files.get(path).map(|file| file.stat.clone())))
    }

    async fn record(&self, path: &VaultPath) -> Result<Option<FileRecord>, LedgerError> {
        self.call(|state| Ok(state.files.get(path).cloned()))
    }

    async fn put(&self, record: FileRecord) -> Result<(), LedgerError> {
        self.call(|state| {
            let marks = merged(record.marks);
            let path = record.stat.path.clone();
            if !state.recorded.contains(&path) {
                state.recorded.push(path.clone());
            }
            state.files.insert(path, FileRecord { marks, ..record });
            Ok(())
        })
    }

    async fn extend(&self, appends: Vec<FileAppend>) -> Result<(), LedgerError> {
        self.call(|state| {
            for FileAppend { before, after } in appends {
                let path = after.stat.path.clone();
                let recorded = state.files.get(&path);
                if recorded.map(|record| &record.stat) != before.as_ref() {
                    continue;
                }
                let (have, head) = match recorded {
                    Some(recorded) => (recorded.marks.clone(), recorded.clone()),
                    None => (Vec::new(), after.clone()),
                };
                let extended = FileRecord {
                    stat: after.stat,
                    marks: merged(have.into_iter().chain(after.marks)),
                    ..head
                };
                if !state.recorded.contains(&path) {
                    state.recorded.push(path.clone());
                }
                state.files.insert(path, extended);
            }
            Ok(())
        })
    }

    async fn drop_paths(&self, paths: &[VaultPath]) -> Result<(), LedgerError> {
        self.call(|state| {
            state.files.retain(|path, _| !paths.contains(path));
            state.recorded.retain(|path| !paths.contains(path));
            Ok(())
        })
    }

    async fn facts(&self, app: &Name, owner: &Owner) -> Result<Vec<DocKey>, LedgerError> {
        self.call(|state| {
            let is_theirs = |file: &&FileRecord| {
                file.scope.app == *app
                    && file.owner == *owner
                    && file.stat.path.split('/').nth(4) == Some("facts")
            };
            let files = state.files.values().filter(is_theirs);
            let keys = files.flat_map(|file| {
                let docs = file.marks.iter().flat_map(|mark| &mark.docs);
                docs.map(|id| DocKey {
                    scope: file.scope.clone(),
                    owner: owner.clone(),
                    id: id.clone(),
                })
            });
            Ok(keys.collect())
        })
    }

    async fn sharing(&self, of: Option<(&Scope, &Owner)>) -> Result<Vec<VaultPath>, LedgerError> {
        self.call(|state| {
            let is_sharing = |file: &&FileRecord| {
                of.is_none_or(|of| of == (&file.scope, &file.owner))
                    && file.marks.iter().any(|mark| mark.is_shared)
            };
            let mut sharing: Vec<&FileRecord> = state.files.values().filter(is_sharing).collect();
            sharing.sort_by_key(|file| state.recorded.iter().position(|path| *path == file.stat.path));
            Ok(sharing.into_iter().map(|file| file.stat.path.clone()).collect())
        })
    }

    async fn users(&self, scope: &Scope) -> Result<Vec<Owner>, LedgerError> {
        self.call(|state| {
            let files = state.files.values().filter(|file| file.scope == *scope);
            let users = files.filter(|file| file.owner.kind == OwnerKind::User);
            let users: BTreeSet<Owner> = users.map(|file| file.owner.clone()).collect();
            Ok(users.into_iter().collect())
        })
    }

    async fn broken(&self) -> Result<Vec<BrokenFile>, LedgerError> {
        self.call(|state| {
            let broken = state.files.values().filter_map(|file| {
                Some(BrokenFile {
                    path: file.stat.path.clone(),
                    problem: file.problem.clone()?,
                })
            });
            Ok(broken.collect())
        })
    }
}
