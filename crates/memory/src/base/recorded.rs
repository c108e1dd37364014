//! The writer of the vault, which announces each write in the history before it makes it.
//!
//! Owns: which versions a write has in the history. Never: a write of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use model::{Entry, EntryId, Owner, Page, Scope};
use ports::{
    Clock, Edit, FileStat, LedgerError, NewVersion, Pages, Vault, VaultError, VaultPath, VaultWriter,
    VersionId, VersionKey, VersionText, Written,
};

use super::chronicle::{Chronicle, text_of};
use crate::parts::Parts;

/// A writer whose writes are recorded in the history.
#[derive(Debug)]
struct RecordedWriter {
    writer: Arc<dyn VaultWriter>,
    vault: Arc<dyn Vault>,
    pages: Arc<dyn Pages>,
    chronicle: Arc<Chronicle>,
    clock: Arc<dyn Clock>,
}

/// Replaces the writer of the parts by a recording one.
pub(crate) async fn record(chronicle: &Arc<Chronicle>, parts: &mut Parts) -> Result<(), LedgerError> {
    let is_new = parts.file_changes.count().await? == 0;
    chronicle.is_new.store(is_new, Ordering::Relaxed);
    parts.vault_writer = Arc::new(RecordedWriter {
        writer: parts.vault_writer.clone(),
        vault: parts.vault.clone(),
        pages: parts.pages.clone(),
        chronicle: chronicle.clone(),
        clock: parts.clock.clone(),
    });
    Ok(())
}

fn unrecorded(path: &VaultPath, error: LedgerError) -> VaultError {
    VaultError::Io {
        path: path.to_string(),
        source: std::io::Error::other(error),
    }
}

impl RecordedWriter {
    async fn announce(
        &self,
        path: &VaultPath,
        versions: Vec<NewVersion>,
    ) -> Result<Vec<VersionId>, VaultError> {
        let announced = self.chronicle.announce(versions, self.clock.now()).await;
        announced.map_err(|error| unrecorded(path, error))
    }

    /// The present entries of a file.
    async fn entries(&self, path: &VaultPath) -> Result<BTreeMap<EntryId, Entry>, VaultError> {
        let file = self.vault.read(path).await?;
        let entries = file.into_iter().flat_map(|file| file.entries);
        Ok(entries.map(|read| (read.entry.id.clone(), read.entry)).collect())
    }
}

fn version(
    path: &VaultPath,
    entry: &Entry,
    before: Option<VersionText>,
    after: Option<VersionText>,
) -> NewVersion {
    NewVersion {
        key: VersionKey::of_entry(path, &entry.id),
        owner: Some((entry.scope.clone(), entry.owner.clone())),
        session: entry.session.clone(),
        before,
        after,
    }
}

#[async_trait]
impl VaultWriter for RecordedWriter {
    async fn append(&self, entries: &[Entry], fresh: bool) -> Result<Vec<Written>, VaultError> {
        let Some(first) = entries.first().filter(|_| self.chronicle.is_recording) else {
            return self.writer.append(entries, fresh).await;
        };
        let mut standing: BTreeMap<VaultPath, BTreeMap<EntryId, Entry>> = BTreeMap::new();
        let mut versions = Vec::with_capacity(entries.len());
        for entry in entries {
            let path = self.vault.path_of(entry);
            if !fresh && !standing.contains_key(&path) {
                standing.insert(path.clone(), self.entries(&path).await?);
            }
            let there = standing.get(&path);
            if there.is_none_or(|there| !there.contains_key(&entry.id)) {
                let after = Some(self.vault.text_of(entry));
                versions.push(version(&path, entry, None, after));
            }
        }
        let key = |new: &NewVersion| Some((new.key.entry.clone()?, new.after.as_ref()?.digest));
        let keys: Vec<(EntryId, u64)> = versions.iter().filter_map(key).collect();
        let ids = self.announce(&self.vault.path_of(first), versions).await?;
        let appended = self.writer.append(entries, fresh).await?;
        let written: BTreeSet<&(EntryId, u64)> = appended.iter().flat_map(|file| &file.ids).collect();
        let settled = ids.into_iter().zip(&keys);
        let settled = settled.filter(|(_, key)| written.contains(key));
        self.chronicle.are_written(settled.map(|(id, _)| id));
        Ok(appended)
    }

    async fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError> {
        if !self.chronicle.is_recording {
            return self.writer.edit(path, edits).await;
        }
        let standing = self.entries(path).await?;
        let mut versions = Vec::new();
        for edit in edits {
            let (id, put) = match edit {
                Edit::Replace(entry) | Edit::Put(entry) => (&entry.id, Some(&**entry)),
                Edit::Remove(id) => (id, None),
            };
            let there = standing.get(id);
            let Some(entry) = put.or(there) else { continue };
            let [before, after] = [there, put].map(|entry| entry.map(|entry| self.vault.text_of(entry)));
            if before != after {
                versions.push(version(path, entry, before, after));
            }
        }
        let ids = self.announce(path, versions).await?;
        let edited = self.writer.edit(path, edits).await?;
        self.chronicle.are_written(ids);
        Ok(edited)
    }

    async fn replace_page(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
        before: Option<&str>,
        text: &str,
    ) -> Result<bool, VaultError> {
        let replace = self.writer.replace_page(scope, owner, page, before, text);
        if before.unwrap_or_default() == text || !self.chronicle.is_recording {
            return replace.await;
        }
        if self.pages.page(scope, owner, page).await?.as_deref() != before {
            return Ok(false);
        }
        let path = self.pages.path_of(scope, owner, page);
        let version = NewVersion {
            key: VersionKey::of_file(path.clone()),
            owner: Some((scope.clone(), owner.clone())),
            session: None,
            before: before.map(|before| text_of(before.as_bytes())),
            after: (!text.is_empty()).then(|| text_of(text.as_bytes())),
        };
        let ids = self.announce(&path, vec![version]).await?;
        let replaced = replace.await?;
        if replaced {
            self.chronicle.are_written(ids);
        }
        Ok(replaced)
    }
}
