//! The vault and its pages, with each write announced before it is made.
//!
//! Owns: what of a write the history has. Never: a write of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use model::{Entry, EntryId, Owner, Page, Scope};
use ports::{
    Clock, Edit, FileStat, ForeignFile, HasText, LedgerError, NewVersion, OtherFile, Pages, ParsedFile, Room,
    Vault, VaultChange, VaultError, VaultPath, VersionId, VersionKey, VersionText, Written,
};

use super::chronicle::{Chronicle, text_of};
use crate::parts::Parts;

/// A vault whose writes are in the history.
#[derive(Debug)]
struct RecordedVault {
    vault: Arc<dyn Vault>,
    pages: Arc<dyn Pages>,
    chronicle: Arc<Chronicle>,
    clock: Arc<dyn Clock>,
}

/// Has every write through the parts announced from now on.
pub(crate) async fn record(chronicle: &Arc<Chronicle>, parts: &mut Parts) -> Result<(), LedgerError> {
    let is_new = parts.file_changes.count().await? == 0;
    chronicle.is_new.store(is_new, Ordering::Relaxed);
    let recorded = Arc::new(RecordedVault {
        vault: parts.vault.clone(),
        pages: parts.pages.clone(),
        chronicle: chronicle.clone(),
        clock: parts.clock.clone(),
    });
    (parts.vault, parts.pages) = (recorded.clone(), recorded);
    Ok(())
}

fn unrecorded(path: &VaultPath, error: LedgerError) -> VaultError {
    VaultError::Io {
        path: path.to_string(),
        source: std::io::Error::other(error),
    }
}

impl RecordedVault {
    async fn announce(
        &self,
        path: &VaultPath,
        versions: Vec<NewVersion>,
    ) -> Result<Vec<VersionId>, VaultError> {
        let announced = self.chronicle.announce(versions, self.clock.now()).await;
        announced.map_err(|error| unrecorded(path, error))
    }

    /// The entries of a file as they are.
    async fn standing(&self, path: &VaultPath) -> Result<BTreeMap<EntryId, Entry>, VaultError> {
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
impl Vault for RecordedVault {
    fn path_of(&self, entry: &Entry) -> VaultPath {
        self.vault.path_of(entry)
    }

    fn name(&self) -> Option<Arc<str>> {
        self.vault.name()
    }

    async fn take_name(&self, name: &str) -> Result<(), VaultError> {
        self.vault.take_name(name).await
    }

    fn is_named(&self, path: &VaultPath) -> bool {
        self.vault.is_named(path)
    }

    fn folder_of(&self, scope: &Scope) -> String {
        self.vault.folder_of(scope)
    }

    async fn append(&self, entries: &[Entry], fresh: bool) -> Result<Vec<Written>, VaultError> {
        let Some(first) = entries.first().filter(|_| self.chronicle.is_recording) else {
            return self.vault.append(entries, fresh).await;
        };
        let mut standing: BTreeMap<VaultPath, BTreeMap<EntryId, Entry>> = BTreeMap::new();
        let mut versions = Vec::with_capacity(entries.len());
        for entry in entries {
            let path = self.vault.path_of(entry);
            if !fresh && !standing.contains_key(&path) {
                standing.insert(path.clone(), self.standing(&path).await?);
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
        let appended = self.vault.append(entries, fresh).await?;
        let written: BTreeSet<&(EntryId, u64)> = appended.iter().flat_map(|file| &file.ids).collect();
        let settled = ids.into_iter().zip(&keys);
        let settled = settled.filter(|(_, key)| written.contains(key));
        self.chronicle.are_written(settled.map(|(id, _)| id));
        Ok(appended)
    }

    async fn is_present(&self) -> Result<(), VaultError> {
        self.vault.is_present().await
    }

    async fn read(&self, path: &VaultPath) -> Result<Option<ParsedFile>, VaultError> {
        self.vault.read(path).await
    }

    async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, VaultError> {
        self.vault.stat(path).await
    }

    async fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError> {
        if !self.chronicle.is_recording {
            return self.vault.edit(path, edits).await;
        }
        let standing = self.standing(path).await?;
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
        let edited = self.vault.edit(path, edits).await?;
        self.chronicle.are_written(ids);
        Ok(edited)
    }

    async fn scan(&self) -> Result<Vec<FileStat>, VaultError> {
        self.vault.scan().await
    }

    fn strangers(&self) -> Vec<VaultPath> {
        self.vault.strangers()
    }

    fn room(&self) -> Option<Room> {
        self.vault.room()
    }

    async fn remove(&self, scope: &Scope, owner: Option<&Owner>) -> Result<Vec<VaultPath>, VaultError> {
        self.vault.remove(scope, owner).await
    }

    fn text_of(&self, entry: &Entry) -> VersionText {
        self.vault.text_of(entry)
    }

    fn entry_of(&self, path: &VaultPath, text: &str) -> Option<Entry> {
        self.vault.entry_of(path, text)
    }

    fn file_of(&self, path: &VaultPath, texts: &[&str]) -> Option<String> {
        self.vault.file_of(path, texts)
    }

    async fn others(&self) -> Result<Vec<OtherFile>, VaultError> {
        self.vault.others().await
    }

    async fn bytes(&self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError> {
        self.vault.bytes(path).await
    }

    async fn has_old_history(&self) -> Result<bool, VaultError> {
        self.vault.has_old_history().await
    }

    async fn delete_old_history(&self) -> Result<bool, VaultError> {
        self.vault.delete_old_history().await
    }

    async fn foreign(&self, folder: &str, has: HasText) -> Result<Vec<ForeignFile>, VaultError> {
        self.vault.foreign(folder, has).await
    }

    async fn going(&self) -> Result<Vec<String>, VaultError> {
        self.vault.going().await
    }

    async fn set_going(&self, deletions: &[String]) -> Result<(), VaultError> {
        self.vault.set_going(deletions).await
    }

    async fn changed(&self) -> VaultChange {
        self.vault.changed().await
    }
}

#[async_trait]
impl Pages for RecordedVault {
    fn path_of(&self, scope: &Scope, owner: &Owner, page: Page) -> VaultPath {
        self.pages.path_of(scope, owner, page)
    }

    async fn page(&self, scope: &Scope, owner: &Owner, page: Page) -> Result<Option<String>, VaultError> {
        self.pages.page(scope, owner, page).await
    }

    async fn replace(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
        before: Option<&str>,
        text: &str,
    ) -> Result<bool, VaultError> {
        let replace = self.pages.replace(scope, owner, page, before, text);
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

    async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, VaultError> {
        self.pages.made(scope, owner).await
    }

    async fn set_made(&self, scope: &Scope, owner: &Owner, ids: &BTreeSet<String>) -> Result<(), VaultError> {
        self.pages.set_made(scope, owner, ids).await
    }

    async fn drop_previous(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        self.pages.drop_previous(scope, owner).await
    }

    async fn remove_pages(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        self.pages.remove_pages(scope, owner).await
    }
}
