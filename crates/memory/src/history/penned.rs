//! The vault, with a note of who writes what.
//!
//! Owns: seeing every write of the engine. Never: a write of its own.

use std::sync::Arc;

use async_trait::async_trait;
use model::{Entry, Owner, Scope};
use ports::{Clock, Edit, FileStat, ParsedFile, Room, Vault, VaultChange, VaultError, VaultPath, Written};

use super::Chronicle;

/// A vault whose writes are noted for the history.
#[derive(Debug)]
pub(crate) struct Penned {
    pub(crate) vault: Arc<dyn Vault>,
    pub(crate) chronicle: Arc<Chronicle>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Penned {
    fn touch(&self) {
        self.chronicle.touch(self.clock.elapsed());
    }
}

#[async_trait]
impl Vault for Penned {
    fn path_of(&self, entry: &Entry) -> VaultPath {
        self.vault.path_of(entry)
    }

    fn folder_of(&self, scope: &Scope) -> String {
        self.vault.folder_of(scope)
    }

    async fn append(&self, entries: &[Entry], fresh: bool) -> Result<Vec<Written>, VaultError> {
        let appended = self.vault.append(entries, fresh).await?;
        for written in &appended {
            let ids = written.ids.iter().map(|(id, digest)| (id.clone(), Some(*digest)));
            self.chronicle.is_written(&written.stat.path, ids);
        }
        self.touch();
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
        let edited = self.vault.edit(path, edits).await?;
        self.chronicle.is_edited(path);
        for edit in edits {
            match edit {
                Edit::Replace(entry) => self.chronicle.is_changed(path, &entry.id),
                Edit::Put(entry) => self
                    .chronicle
                    .is_written(path, std::iter::once((entry.id.clone(), None))),
                Edit::Remove(_) => {}
            }
        }
        self.touch();
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
        let removed = self.vault.remove(scope, owner).await?;
        for path in &removed {
            self.chronicle.is_edited(path);
        }
        self.touch();
        Ok(removed)
    }

    async fn changed(&self) -> VaultChange {
        self.vault.changed().await
    }
}
