//! The memory files of one owner, read.
//!
//! Owns: where an owner's files are. Never: the index, or a use of the entries.

use model::{Entry, Owner, Page, Scope};
use ports::{VaultError, VaultPath};

use crate::parts::Parts;

/// The folder of an owner.
pub(crate) fn folder_of(parts: &Parts, scope: &Scope, owner: &Owner) -> String {
    let page = parts.pages.path_of(scope, owner, Page::Memory);
    let folder = page.strip_suffix(Page::Memory.as_str()).unwrap_or(&page);
    folder.trim_end_matches('/').to_owned()
}

/// The entries of all files of an owner, each with its file, and the files that cannot be read.
pub(crate) async fn entries(
    parts: &Parts,
    scope: &Scope,
    owner: &Owner,
) -> Result<(Vec<(VaultPath, Entry)>, Vec<VaultPath>), VaultError> {
    let folder = folder_of(parts, scope, owner) + "/";
    let (mut entries, mut broken) = (Vec::new(), Vec::new());
    for stat in parts.vault.scan().await? {
        if !stat.path.starts_with(&folder) {
            continue;
        }
        let Some(file) = parts.vault.read(&stat.path).await? else {
            continue;
        };
        if file.broken.is_some() || !file.problems.is_empty() {
            broken.push(stat.path.clone());
        }
        let read = file.entries.into_iter().map(|read| read.entry);
        entries.extend(read.map(|entry| (stat.path.clone(), entry)));
    }
    Ok((entries, broken))
}
