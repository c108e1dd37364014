//! Every port with a count of its calls.
//!
//! Owns: the wrappers. Never: the fault of a call (`Faults` has it).

mod ledger;

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use model::{Doc, DocKey, EmbedderId, Entry, Owner, Page, Scope, Vector};

use ports::{
    CandidateQuery, Edit, EmbedError, EmbedPurpose, Embedder, FileStat, ForeignFile, HasText, Index,
    IndexError, IndexHealth, IndexStage, IndexStats, LedgerError, OtherFile, Pages, ParsedFile, Room, Vault,
    VaultChange, VaultError, VaultPath, VaultWriter, VersionText, Written,
};

use super::Faults;

/// A port with faults.
#[derive(Debug)]
pub struct Faulty<T: ?Sized> {
    inner: Arc<T>,
    faults: Arc<Faults>,
}

impl<T: ?Sized> Faulty<T> {
    /// A port with calls that count among all.
    pub fn new(inner: Arc<T>, faults: &Arc<Faults>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            faults: faults.clone(),
        })
    }
}

fn no_ledger() -> LedgerError {
    LedgerError::Store("planned fault".into())
}

fn no_vault() -> VaultError {
    VaultError::Io {
        path: "planned".to_owned(),
        source: std::io::Error::other("planned fault"),
    }
}

fn no_index() -> IndexError {
    IndexError::Store("planned fault".into())
}

#[async_trait]
impl Pages for Faulty<dyn Pages> {
    fn path_of(&self, scope: &Scope, owner: &Owner, page: Page) -> VaultPath {
        Pages::path_of(&*self.inner, scope, owner, page)
    }
    async fn page(&self, scope: &Scope, owner: &Owner, page: Page) -> Result<Option<String>, VaultError> {
        self.faults
            .call("page", self.inner.page(scope, owner, page), no_vault)
            .await
    }
    async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, VaultError> {
        self.faults
            .call("made", self.inner.made(scope, owner), no_vault)
            .await
    }
    async fn set_made(&self, scope: &Scope, owner: &Owner, ids: &BTreeSet<String>) -> Result<(), VaultError> {
        self.faults
            .call("set made", self.inner.set_made(scope, owner, ids), no_vault)
            .await
    }
    async fn drop_previous(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        self.faults
            .call("drop previous", self.inner.drop_previous(scope, owner), no_vault)
            .await
    }
    async fn remove_pages(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        self.faults
            .call("remove pages", self.inner.remove_pages(scope, owner), no_vault)
            .await
    }
}

#[async_trait]
impl VaultWriter for Faulty<dyn VaultWriter> {
    async fn append(&self, entries: &[Entry], fresh: bool) -> Result<Vec<Written>, VaultError> {
        self.faults
            .call("vault append", self.inner.append(entries, fresh), no_vault)
            .await
    }
    async fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError> {
        self.faults
            .call("edit", self.inner.edit(path, edits), no_vault)
            .await
    }
    async fn replace_page(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
        before: Option<&str>,
        text: &str,
    ) -> Result<bool, VaultError> {
        let replace = self.inner.replace_page(scope, owner, page, before, text);
        self.faults.call("replace page", replace, no_vault).await
    }
}

#[async_trait]
impl Vault for Faulty<dyn Vault> {
    fn path_of(&self, entry: &Entry) -> VaultPath {
        self.inner.path_of(entry)
    }

    fn folder_of(&self, scope: &Scope) -> String {
        self.inner.folder_of(scope)
    }
    async fn read(&self, path: &VaultPath) -> Result<Option<ParsedFile>, VaultError> {
        self.faults.call("read", self.inner.read(path), no_vault).await
    }
    async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, VaultError> {
        self.faults.call("stat", self.inner.stat(path), no_vault).await
    }
    async fn scan(&self) -> Result<Vec<FileStat>, VaultError> {
        self.faults.call("scan", self.inner.scan(), no_vault).await
    }
    fn strangers(&self) -> Vec<VaultPath> {
        self.inner.strangers()
    }
    async fn is_present(&self) -> Result<(), VaultError> {
        self.inner.is_present().await
    }
    fn room(&self) -> Option<Room> {
        self.inner.room()
    }
    async fn remove(&self, scope: &Scope, owner: Option<&Owner>) -> Result<Vec<VaultPath>, VaultError> {
        self.faults
            .call("remove", self.inner.remove(scope, owner), no_vault)
            .await
    }
    fn text_of(&self, entry: &Entry) -> VersionText {
        self.inner.text_of(entry)
    }
    fn entry_of(&self, path: &VaultPath, text: &str) -> Option<Entry> {
        self.inner.entry_of(path, text)
    }
    fn file_of(&self, path: &VaultPath, texts: &[&str]) -> Option<String> {
        self.inner.file_of(path, texts)
    }
    async fn others(&self) -> Result<Vec<OtherFile>, VaultError> {
        self.inner.others().await
    }
    async fn bytes(&self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError> {
        self.inner.bytes(path).await
    }
    async fn has_old_history(&self) -> Result<bool, VaultError> {
        self.inner.has_old_history().await
    }

    async fn delete_old_history(&self) -> Result<bool, VaultError> {
        self.inner.delete_old_history().await
    }
    async fn foreign(&self, folder: &str, has: HasText) -> Result<Vec<ForeignFile>, VaultError> {
        self.inner.foreign(folder, has).await
    }
    async fn going(&self) -> Result<Vec<String>, VaultError> {
        self.faults.call("going", self.inner.going(), no_vault).await
    }
    async fn set_going(&self, deletions: &[String]) -> Result<(), VaultError> {
        self.faults
            .call("set going", self.inner.set_going(deletions), no_vault)
            .await
    }
    async fn changed(&self) -> VaultChange {
        self.inner.changed().await
    }
}

#[async_trait]
impl Index for Faulty<dyn Index> {
    async fn health(&self, embedder: &EmbedderId) -> IndexHealth {
        self.inner.health(embedder).await
    }
    async fn apply(&self, add: &[Doc], remove: &[DocKey]) -> Result<(), IndexError> {
        self.faults
            .call("apply", self.inner.apply(add, remove), no_index)
            .await
    }
    async fn load_up_to(
        &self,
        scope: &Scope,
        owner: &Owner,
        rows_max: usize,
    ) -> Result<Option<Vec<Doc>>, IndexError> {
        self.faults
            .call("load", self.inner.load_up_to(scope, owner, rows_max), no_index)
            .await
    }
    async fn facts(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Doc>, IndexError> {
        self.faults
            .call("facts", self.inner.facts(scope, owner), no_index)
            .await
    }
    async fn get(&self, keys: &[DocKey]) -> Result<Vec<Doc>, IndexError> {
        self.faults.call("get", self.inner.get(keys), no_index).await
    }
    async fn candidates(&self, query: &CandidateQuery) -> Result<Vec<Doc>, IndexError> {
        self.faults
            .call("candidates", self.inner.candidates(query), no_index)
            .await
    }
    async fn maintain(&self) -> Result<(), IndexError> {
        self.faults
            .call("maintain", self.inner.maintain(), no_index)
            .await
    }
    async fn erase(&self) -> Result<(), IndexError> {
        self.faults.call("erase", self.inner.erase(), no_index).await
    }
    async fn owe_erasing(&self, is_owed: bool) -> Result<(), IndexError> {
        self.faults
            .call("owe erasing", self.inner.owe_erasing(is_owed), no_index)
            .await
    }
    async fn owes_erasing(&self) -> bool {
        self.inner.owes_erasing().await
    }
    async fn stats(&self) -> Result<IndexStats, IndexError> {
        self.faults
            .call("index stats", self.inner.stats(), no_index)
            .await
    }
    async fn stage(&self, embedder: &EmbedderId) -> Result<Box<dyn IndexStage>, IndexError> {
        let stage = self
            .faults
            .call("stage", self.inner.stage(embedder), no_index)
            .await?;
        Ok(Box::new(FaultyStage {
            inner: stage,
            faults: self.faults.clone(),
        }))
    }
}

#[derive(Debug)]
struct FaultyStage {
    inner: Box<dyn IndexStage>,
    faults: Arc<Faults>,
}

#[async_trait]
impl IndexStage for FaultyStage {
    async fn add(&mut self, docs: &[Doc]) -> Result<(), IndexError> {
        self.faults
            .call("stage add", self.inner.add(docs), no_index)
            .await
    }
    async fn publish(self: Box<Self>) -> Result<(), IndexError> {
        self.faults.call("publish", self.inner.publish(), no_index).await
    }
}

#[async_trait]
impl Embedder for Faulty<dyn Embedder> {
    fn id(&self) -> &EmbedderId {
        self.inner.id()
    }
    fn is_instant(&self) -> bool {
        self.inner.is_instant()
    }
    async fn embed(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vector>, EmbedError> {
        let error = || EmbedError::Unavailable {
            reason: "planned fault".to_owned(),
        };
        self.faults
            .call("embed", self.inner.embed(texts, purpose), error)
            .await
    }
}
