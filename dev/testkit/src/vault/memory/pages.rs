//! The pages of the in-memory vault: files among the others.
//!
//! Owns: the port's behaviour without a disk. Never: the text of a page.

use std::collections::BTreeSet;

use async_trait::async_trait;
use model::{Owner, Page, Scope};
use ports::{Pages, VaultError, VaultPath};

use super::MemoryVault;

fn path_of(scope: &Scope, owner: &Owner, page: &str) -> VaultPath {
    format!("{}/{page}", markdown::place::folder_of(scope, Some(owner))).into()
}

pub(super) fn previous_of(scope: &Scope, owner: &Owner, page: Page) -> VaultPath {
    path_of(scope, owner, &format!(".previous/{}", page.as_str()))
}

#[async_trait]
impl Pages for MemoryVault {
    fn path_of(&self, scope: &Scope, owner: &Owner, page: Page) -> VaultPath {
        path_of(scope, owner, page.as_str())
    }

    async fn page(&self, scope: &Scope, owner: &Owner, page: Page) -> Result<Option<String>, VaultError> {
        let path = path_of(scope, owner, page.as_str());
        let shared = self.serving()?;
        let text = shared
            .files
            .get(&path)
            .map(|file| String::from_utf8(file.bytes.clone()));
        text.transpose().map_err(|_| VaultError::Broken {
            path: path.to_string(),
            reason: "it is not UTF-8".to_owned(),
        })
    }

    async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, VaultError> {
        let shared = self.serving()?;
        let file = shared.files.get(&path_of(scope, owner, ".made"));
        let text = file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
        Ok(text.unwrap_or_default().lines().map(str::to_owned).collect())
    }

    async fn set_made(&self, scope: &Scope, owner: &Owner, ids: &BTreeSet<String>) -> Result<(), VaultError> {
        let text: String = ids.iter().flat_map(|id| [id.as_str(), "\n"]).collect();
        self.serving()?
            .put(&path_of(scope, owner, ".made"), text.into_bytes());
        Ok(())
    }

    async fn drop_previous(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        let mut shared = self.serving()?;
        for page in Page::ALL {
            shared.files.remove(&previous_of(scope, owner, page));
        }
        Ok(())
    }

    async fn remove_pages(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        let mut shared = self.serving()?;
        shared.files.remove(&path_of(scope, owner, ".made"));
        for page in Page::ALL {
            shared.files.remove(&previous_of(scope, owner, page));
            shared.files.remove(&path_of(scope, owner, page.as_str()));
        }
        Ok(())
    }
}
