//! Memory on disk: Markdown files below one folder, written so that no crash loses or doubles an entry.
//!
//! Owns: the files of the vault and their watcher. Never: the content of a file (`markdown`), or a path, name
//! or link that leaves the folder.
//!
//! A writer holds a lock of the process and of the machine for the file. An append is one write and one sync.
//! A replacement of a file is written next to it and renamed. `.torn/` holds incomplete entries that a crash
//! left and no retry completed.
//!
//! Reading order: [`MarkdownVault`], `pages` (core memory), [`write`] (append, edit, remove), [`tree`]
//! (paths, links, listing), [`disk`] (the seam that tests break), [`locks`], [`watch`], [`library_files`] (library
//! files next to memory), [`copy`] (for processes that copy the files), [`id`] (the identity of a vault).

mod copy;
mod disk;
mod foreign;
mod id;
mod library_files;
mod locks;
mod pages;
mod tree;
mod vault;
mod watch;
mod write;

#[cfg(test)]
mod tests;

pub use copy::FileTurns;
pub use id::{ID_FILE, VaultId};
pub use vault::{MarkdownVault, OLD_HISTORY};
