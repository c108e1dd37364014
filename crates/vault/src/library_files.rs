//! Files of libraries next to their memory.
//!
//! Owns: `originals/` and `.taxonomy.md` in a library's folder, as port [`LibraryFiles`]. Never: memory, or a name
//! that leads outside.

use std::fs;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

use async_trait::async_trait;
use markdown::place::{Place, folder_of};
use model::{Owner, OwnerKind, Scope};
use ports::{FileBytes, LibraryFiles, ORIGINALS, TAXONOMY, VaultError, VaultPath};

use crate::tree::{io_error, outside};
use crate::vault::MarkdownVault;
use crate::write::Writer;

/// Bytes of a copied file that are in memory at a time.
const PIECE_BYTES: u64 = 4 << 20;

/// The path of a library's file; an error for other names.
fn path_of(scope: &Scope, library: &Owner, name: &str) -> Result<String, VaultError> {
    let is_kept = name == TAXONOMY || name == ORIGINALS || name.starts_with(&format!("{ORIGINALS}/"));
    if library.kind != OwnerKind::Library || !is_kept {
        return Err(outside(name));
    }
    Ok(format!("{}/{name}", folder_of(scope, Some(library))))
}

impl Writer {
    fn put(&self, path: &str, file: &FileBytes) -> Result<(), VaultError> {
        let spot = self.tree.spot(path)?;
        spot.check_plain(path)?;
        let name = spot.path.file_name().unwrap_or_default().to_string_lossy();
        let beside = spot.path.with_file_name(format!(".{name}.tmp"));
        let written = self
            .create_folders(&spot.path)
            .and_then(|()| self.copy(file, &beside))
            .and_then(|()| self.disk.rename(&beside, &spot.path))
            .and_then(|()| self.sync_folders(&spot.path));
        written.map_err(io_error(path))
    }

    fn copy(&self, file: &FileBytes, path: &Path) -> io::Result<()> {
        let mut file = match file {
            FileBytes::Memory(bytes) => return self.disk.write(path, bytes),
            FileBytes::Disk(file) => &**file,
        };
        file.rewind()?;
        self.disk.write(path, &[])?;
        loop {
            let mut piece = Vec::new();
            file.take(PIECE_BYTES).read_to_end(&mut piece)?;
            if piece.is_empty() {
                return Ok(());
            }
            self.disk.append(path, &piece)?;
        }
    }

    /// Removes a file, or a folder with all its files, and then folders left empty.
    pub(crate) fn discard(&self, path: &str) -> Result<(), VaultError> {
        let spot = self.tree.spot(path)?;
        match spot.metadata {
            None => Ok(()),
            Some(found) if found.is_dir() => fs::remove_dir_all(&spot.path)
                .and_then(|()| self.remove_with_folders(&spot.path))
                .map_err(io_error(path)),
            Some(_) => self.remove_with_folders(&spot.path).map_err(io_error(path)),
        }
    }

    /// Removes the library files next to memory: of all libraries in a folder, or of the library whose folder
    /// it is.
    pub(crate) fn clear_library_files(&self, folder: &str) -> Result<(), VaultError> {
        let libraries = format!("{folder}/libraries");
        let mut folders = vec![folder.to_owned()];
        let names = self.names(&libraries)?.into_iter();
        folders.extend(names.map(|name| format!("{libraries}/{name}")));
        for folder in folders {
            if folder.split('/').nth(2) == Some("libraries") {
                self.discard(&format!("{folder}/{ORIGINALS}"))?;
                self.discard(&format!("{folder}/{TAXONOMY}"))?;
            }
        }
        Ok(())
    }

    /// The libraries with originals; links do not count.
    fn libraries(&self) -> Vec<(Scope, Owner)> {
        let within = |folder: &str| self.names(folder).unwrap_or_default().into_iter();
        let mut found = Vec::new();
        for app in within("") {
            for project in within(&app) {
                let libraries = format!("{app}/{project}/libraries");
                for library in within(&libraries) {
                    let folder = format!("{libraries}/{library}");
                    if let Ok(place) = Place::of(&format!("{folder}/topics/any.md"))
                        && within(&format!("{folder}/{ORIGINALS}")).next().is_some()
                    {
                        found.push((place.scope, place.owner));
                    }
                }
            }
        }
        found
    }

    /// Names in a folder, in order; with an empty path, in the vault itself.
    fn names(&self, path: &str) -> Result<Vec<String>, VaultError> {
        let folder = if path.is_empty() {
            self.tree.root().to_owned()
        } else {
            self.tree.spot(path)?.path
        };
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let found = fs::read_dir(&folder).map_err(io_error(path))?;
        let mut names: Vec<String> = found
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        Ok(names)
    }
}

#[async_trait]
impl LibraryFiles for MarkdownVault {
    async fn libraries(&self) -> Result<Vec<(Scope, Owner)>, VaultError> {
        self.blocking(|writer| Ok(writer.libraries())).await
    }

    async fn put(
        &self,
        scope: &Scope,
        library: &Owner,
        name: &str,
        file: FileBytes,
    ) -> Result<VaultPath, VaultError> {
        let path: VaultPath = path_of(scope, library, name)?.into();
        self.in_turn(&path, move |writer, path| {
            writer.put(path, &file)?;
            Ok(path.clone())
        })
        .await
    }

    async fn get(&self, scope: &Scope, library: &Owner, name: &str) -> Result<Option<Vec<u8>>, VaultError> {
        let path = path_of(scope, library, name)?;
        self.blocking(move |writer| {
            let spot = writer.tree.spot(&path)?;
            spot.check_plain(&path)?;
            match fs::read(&spot.path) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(io_error(&path)(error)),
            }
        })
        .await
    }

    async fn names(&self, scope: &Scope, library: &Owner, folder: &str) -> Result<Vec<String>, VaultError> {
        let path = path_of(scope, library, folder)?;
        self.blocking(move |writer| writer.names(&path)).await
    }

    async fn discard(&self, scope: &Scope, library: &Owner, name: &str) -> Result<(), VaultError> {
        let path: VaultPath = path_of(scope, library, name)?.into();
        self.in_turn(&path, |writer, path| writer.discard(path)).await
    }
}
