//! The pages of an owner as a port: read whole, replaced whole, never over what somebody else wrote meanwhile.

use std::collections::BTreeSet;

use async_trait::async_trait;
use model::{Owner, Page, Scope};

use crate::{VaultError, VaultPath};

/// Pages beside an owner's memory files.
#[async_trait]
pub trait Pages: Send + Sync + std::fmt::Debug {
    /// The file of a page.
    fn path_of(&self, scope: &Scope, owner: &Owner, page: Page) -> VaultPath;
    /// A page's text; none when there is no page. A page that is no UTF-8 is [`VaultError::Broken`].
    async fn page(&self, scope: &Scope, owner: &Owner, page: Page) -> Result<Option<String>, VaultError>;
    /// Puts a text in the place of `before`, at once and for good, and keeps `before` as the page's previous version.
    /// False, and nothing done, where something else stands there.
    async fn replace(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
        before: Option<&str>,
        text: &str,
    ) -> Result<bool, VaultError>;
    /// The ids of what was ever made of an owner's memories, so that what a person took out is not made again.
    async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, VaultError>;
    /// Sets them; each is one word.
    async fn set_made(&self, scope: &Scope, owner: &Owner, ids: &BTreeSet<String>) -> Result<(), VaultError>;
    /// Removes the previous versions of an owner's pages: what was forgotten may stand in them.
    async fn drop_previous(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError>;
    /// Removes an owner's pages with their previous versions, and the ids of what was made.
    async fn remove_pages(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError>;
}
