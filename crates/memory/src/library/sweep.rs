//! Removes files that unfinished uploads, replacements and deletions left on the shelves.
//!
//! Owns: which originals belong to no document. Never: removing a person's file, or the original of a document that a
//! person moved or broke.

use model::Scope;
use ports::{ORIGINALS, VaultError};

use crate::library::api::KnowledgeError;
use crate::library::knowledge::Knowledge;
use crate::library::shape::{Facts, is_head_of, is_of};
use crate::library::shelve::VERSION_DIGITS;

impl Knowledge {
    /// Removes these files. Must run before anything is uploaded.
    pub async fn sweep(&self) -> Result<(), KnowledgeError> {
        let shelf = &self.parts.shelf;
        for (scope, library) in shelf.libraries().await? {
            if library != self.library {
                continue;
            }
            for id in shelf.names(&scope, &library, ORIGINALS).await? {
                let digits = id.strip_prefix("d_").unwrap_or_default();
                if digits.len() == 12 && is_hex(digits) {
                    self.sweep_one(&scope, &id).await?;
                }
            }
        }
        Ok(())
    }

    /// Removes the unused originals of one document, according to its file.
    pub(crate) async fn sweep_one(&self, scope: &Scope, id: &str) -> Result<(), VaultError> {
        let folder = format!("{ORIGINALS}/{id}");
        let (path, vault) = (self.path_of(scope, id), &self.parts.vault);
        if vault.stat(&path).await?.is_none() {
            if !self.is_elsewhere(scope, id).await? {
                tracing::info!(%id, "removed an original without a document");
                self.discard(scope, &folder).await?;
            }
            return Ok(());
        }
        let names = self.parts.shelf.names(scope, &self.library, &folder).await?;
        if names.len() < 2 {
            return Ok(());
        }
        let Ok(Some(file)) = vault.read(&path).await else {
            return Ok(());
        };
        let head = file.entries.iter().find(|read| is_head_of(&read.entry, id));
        let zone = &self.parts.engine.settings().zone;
        let named = head.and_then(|head| Facts::read(&head.entry.body, zone).original);
        let named = named.as_deref().and_then(|path| path.rsplit('/').next());
        let is_other_version = |name: &&String| {
            let version = name.split_once('-').map_or("", |(version, _)| version);
            named != Some(name) && version.len() == VERSION_DIGITS && is_hex(version)
        };
        if names.iter().any(|name| named == Some(name)) {
            for other in names.iter().filter(is_other_version) {
                self.discard(scope, &format!("{folder}/{other}")).await?;
            }
        }
        Ok(())
    }

    /// Whether a document is in another file of its library, or in an unreadable one.
    async fn is_elsewhere(&self, scope: &Scope, id: &str) -> Result<bool, VaultError> {
        let path = self.path_of(scope, id);
        let library = path.rsplitn(3, '/').nth(2).unwrap_or_default();
        for stat in self.parts.vault.scan().await? {
            let below = stat.path.strip_prefix(library);
            let is_near = below.is_some_and(|rest| rest.starts_with('/'));
            if !is_near {
                continue;
            }
            let is_there = match self.parts.vault.read(&stat.path).await {
                Ok(Some(file)) if file.broken.is_none() && file.problems.is_empty() => {
                    file.entries.iter().any(|read| is_of(&read.entry, id))
                }
                Ok(None) => false,
                _ => true,
            };
            if is_there {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
