//! Files of a library next to its memory, as a port: the originals of documents, and the categories.

use async_trait::async_trait;
use model::{Owner, Scope};

use crate::reading::FileBytes;
use crate::vault::{VaultError, VaultPath};

/// The folder of the documents' source files: `originals/<document>/<file>`.
pub const ORIGINALS: &str = "originals";
/// The file with the categories of documents.
pub const TAXONOMY: &str = ".taxonomy.md";

/// Files of a library that are not memory. A `name` is [`TAXONOMY`], or a path below [`ORIGINALS`] with `/` between its
/// parts; any other, and one that leads through a link, is [`VaultError::Outside`].
#[async_trait]
pub trait LibraryFiles: Send + Sync + std::fmt::Debug {
    /// Every library with files in [`ORIGINALS`], in order.
    async fn libraries(&self) -> Result<Vec<(Scope, Owner)>, VaultError>;
    /// Writes a file completely or not at all, in place of an earlier one; returns its path in the vault.
    async fn put(
        &self,
        scope: &Scope,
        library: &Owner,
        name: &str,
        file: FileBytes,
    ) -> Result<VaultPath, VaultError>;
    /// A file's bytes; none if it does not exist.
    async fn get(&self, scope: &Scope, library: &Owner, name: &str) -> Result<Option<Vec<u8>>, VaultError>;
    /// Names in a folder, in order; empty if the folder does not exist.
    async fn names(&self, scope: &Scope, library: &Owner, folder: &str) -> Result<Vec<String>, VaultError>;
    /// Removes a file, or a folder with everything in it; a missing one is no error.
    async fn discard(&self, scope: &Scope, library: &Owner, name: &str) -> Result<(), VaultError>;
}
