//! The pages of an owner as a port: read and replaced as a whole, never over another writer's change.

use std::collections::BTreeSet;

use async_trait::async_trait;
use model::{Owner, Page, Scope};

use crate::{VaultError, VaultPath};

/// Pages next to an owner's memory files.
#[async_trait]
pub trait Pages: Send + Sync + std::fmt::Debug {
    /// The file of a page.
    fn path_of(&self, scope: &Scope, owner: &Owner, page: Page) -> VaultPath;
    /// A page's text; none if there is no page. A page that is not UTF-8 is [`VaultError::Broken`].
    async fn page(&self, scope: &Scope, owner: &Owner, page: Page) -> Result<Option<String>, VaultError>;
    /// Ids of every memory that strategies ever made for an owner, so that they never remake one that a person deleted.
    async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, VaultError>;
    /// Stores the ids of the memories made by strategies; each id is one word.
    async fn set_made(&self, scope: &Scope, owner: &Owner, ids: &BTreeSet<String>) -> Result<(), VaultError>;
    /// Removes the previous versions of an owner's pages: they can contain deleted text.
    async fn drop_previous(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError>;
    /// Removes an owner's pages with their previous versions, and the ids of generated memories.
    async fn remove_pages(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError>;
}
