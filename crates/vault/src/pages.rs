//! The pages of an owner: `users/<name>/MEMORY.md` and the others, next to the folders of memories.
//!
//! Owns: the pages, their previous versions below `.previous/`, and `.made`, a list of ids. Never: the text
//! of a page, or a memory file.

use std::collections::BTreeSet;

use async_trait::async_trait;
use model::{Owner, Page, Scope};
use ports::{Pages, Vault as _, VaultError, VaultPath};

use crate::MarkdownVault;
use crate::tree::{Tree, io_error};
use crate::write::Writer;

/// Folder of previous versions in the owner's folder.
const PREVIOUS: &str = ".previous";

/// List of generated memories in the owner's folder.
pub(crate) const MADE: &str = ".made";

/// The list of the ledger with a name, or of the only ledger.
fn made_of(scope: &Scope, owner: &Owner, name: Option<&str>) -> VaultPath {
    let folder = markdown::place::folder_of(scope, Some(owner));
    let of = name.map_or_else(String::new, |name| format!(".{name}"));
    format!("{folder}/{MADE}{of}").into()
}

pub(crate) fn path_of(scope: &Scope, owner: &Owner, page: Page) -> VaultPath {
    let folder = markdown::place::folder_of(scope, Some(owner));
    format!("{folder}/{}", page.as_str()).into()
}

pub(crate) fn previous_of(scope: &Scope, owner: &Owner, page: Page) -> VaultPath {
    let folder = markdown::place::folder_of(scope, Some(owner));
    format!("{folder}/{PREVIOUS}/{}", page.as_str()).into()
}

/// A page's text; none if there is no page.
pub(crate) fn read(writer: &Writer, path: &str) -> Result<Option<String>, VaultError> {
    let spot = writer.tree.spot(path)?;
    if spot.metadata.is_none() {
        return Ok(None);
    }
    spot.check_plain(path)?;
    let bytes = std::fs::read(&spot.path).map_err(io_error(path))?;
    let text = String::from_utf8(bytes).map_err(|_| VaultError::Broken {
        path: path.to_owned(),
        reason: "it is not UTF-8".to_owned(),
    });
    text.map(Some)
}

/// Replaces a page's text, if it is still `before`.
pub(crate) fn put(writer: &Writer, path: &str, before: Option<&str>, text: &str) -> Result<bool, VaultError> {
    let spot = writer.tree.spot(path)?;
    if read(writer, path)?.as_deref() != before {
        return Ok(false);
    }
    if text.is_empty() {
        if spot.metadata.is_some() {
            writer.remove(&path.into())?;
        }
        return Ok(true);
    }
    let stat = spot.metadata.as_ref().map(|metadata| Tree::stat(path, metadata));
    let replaced = writer.replace(&spot, path, stat.as_ref(), text.as_bytes())?;
    Ok(replaced.is_some())
}

#[async_trait]
impl Pages for MarkdownVault {
    fn path_of(&self, scope: &Scope, owner: &Owner, page: Page) -> VaultPath {
        path_of(scope, owner, page)
    }

    async fn page(&self, scope: &Scope, owner: &Owner, page: Page) -> Result<Option<String>, VaultError> {
        let path = path_of(scope, owner, page);
        self.blocking(move |writer| read(writer, &path)).await
    }

    async fn made(&self, scope: &Scope, owner: &Owner) -> Result<BTreeSet<String>, VaultError> {
        let own = made_of(scope, owner, self.name().as_deref());
        let first = made_of(scope, owner, None);
        let text = self.blocking(move |writer| {
            Ok(match read(writer, &own)? {
                None => read(writer, &first)?,
                own => own,
            })
        });
        let text = text.await?.unwrap_or_default();
        Ok(text.lines().map(str::to_owned).collect())
    }

    async fn set_made(&self, scope: &Scope, owner: &Owner, ids: &BTreeSet<String>) -> Result<(), VaultError> {
        let text: String = ids.iter().flat_map(|id| [id.as_str(), "\n"]).collect();
        let name = self.name();
        self.in_turn(&made_of(scope, owner, name.as_deref()), move |writer, path| {
            writer.overwrite(path, text.as_bytes())
        })
        .await
    }

    async fn drop_previous(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        for page in Page::ALL {
            let previous = previous_of(scope, owner, page);
            self.in_turn(&path_of(scope, owner, page), move |writer, _| {
                remove(writer, &previous)
            })
            .await?;
        }
        Ok(())
    }

    async fn remove_pages(&self, scope: &Scope, owner: &Owner) -> Result<(), VaultError> {
        self.drop_previous(scope, owner).await?;
        for name in [None, self.name()] {
            self.in_turn(&made_of(scope, owner, name.as_deref()), remove)
                .await?;
        }
        for page in Page::ALL {
            self.in_turn(&path_of(scope, owner, page), remove).await?;
        }
        Ok(())
    }
}

fn remove(writer: &Writer, path: &VaultPath) -> Result<(), VaultError> {
    match writer.stat(path)? {
        Some(_) => writer.remove(path),
        None => Ok(()),
    }
}
