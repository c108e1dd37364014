//! The in-memory vault as a shelf.
//!
//! Owns: the port's behaviour in the same map of files, so that library files are removed with their library.
//! Never: links.

use std::collections::BTreeSet;

use async_trait::async_trait;
use markdown::Place;
use model::{Owner, OwnerKind, Scope};
use ports::{FileBytes, LibraryFiles, ORIGINALS, TAXONOMY, VaultError, VaultPath};

use super::MemoryVault;

fn path_of(scope: &Scope, library: &Owner, name: &str) -> Result<VaultPath, VaultError> {
    let is_kept = name == TAXONOMY || name == ORIGINALS || name.starts_with(&format!("{ORIGINALS}/"));
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0']);
    if library.kind != OwnerKind::Library || !is_kept || !name.split('/').all(is_plain) {
        let path = name.to_owned();
        return Err(VaultError::Outside { path });
    }
    let folder = markdown::place::folder_of(scope, Some(library));
    Ok(format!("{folder}/{name}").into())
}

#[async_trait]
impl LibraryFiles for MemoryVault {
    async fn libraries(&self) -> Result<Vec<(Scope, Owner)>, VaultError> {
        drop(self.serving()?);
        let of = |path: &VaultPath| {
            let (folder, _) = path.split_once(&format!("/{ORIGINALS}/"))?;
            let place = Place::of(&format!("{folder}/topics/any.md")).ok()?;
            Some((place.scope, place.owner))
        };
        let mut libraries: Vec<_> = self.paths().iter().filter_map(of).collect();
        libraries.dedup();
        Ok(libraries)
    }

    async fn put(
        &self,
        scope: &Scope,
        library: &Owner,
        name: &str,
        file: FileBytes,
    ) -> Result<VaultPath, VaultError> {
        let path = path_of(scope, library, name)?;
        self.serving()?.put(&path, crate::reading::all_bytes(file));
        Ok(path)
    }

    async fn get(&self, scope: &Scope, library: &Owner, name: &str) -> Result<Option<Vec<u8>>, VaultError> {
        let path = path_of(scope, library, name)?;
        drop(self.serving()?);
        Ok(self.bytes(&path))
    }

    async fn names(&self, scope: &Scope, library: &Owner, folder: &str) -> Result<Vec<String>, VaultError> {
        let folder = format!("{}/", path_of(scope, library, folder)?);
        drop(self.serving()?);
        let below = |path: &VaultPath| path.strip_prefix(&folder)?.split('/').next().map(str::to_owned);
        let names: BTreeSet<String> = self.paths().iter().filter_map(below).collect();
        Ok(names.into_iter().collect())
    }

    async fn discard(&self, scope: &Scope, library: &Owner, name: &str) -> Result<(), VaultError> {
        let path = path_of(scope, library, name)?;
        let below = format!("{path}/");
        let mut shared = self.serving()?;
        shared
            .files
            .retain(|there, _| *there != path && !there.starts_with(&below));
        Ok(())
    }
}
