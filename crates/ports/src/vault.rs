//! The Markdown vault as a port: it appends each entry once, reads any file whatever its content, and reports
//! hand edits.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use model::{Entry, EntryId, Owner, Page, Scope};

use crate::history::VersionText;
use crate::room::Room;

/// A file of the vault, relative to the vault's folder, with `/` between its parts.
pub type VaultPath = Arc<str>;

/// Errors of the vault.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The path leaves the vault, goes through a link, or is not a path of the vault's own files.
    #[error("`{path}` is not a path inside the vault")]
    Outside { path: String },
    /// The file is broken in a way that makes writing to it unsafe; `sync` reports where.
    #[error("`{path}` is broken: {reason}")]
    Broken { path: String, reason: String },
    /// There is no such entry.
    #[error("`{path}` has no entry `{id}`")]
    NoEntry { path: String, id: String },
    /// The disk failed or is full; another try may succeed.
    #[error("cannot write or read `{path}`")]
    Io {
        path: String,
        #[source]
        source: std::io::Error,
    },
}

/// Properties that show whether a file changed, without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStat {
    pub path: VaultPath,
    pub bytes: u64,
    /// The file's own modification time, in nanoseconds since 1970.
    pub modified_ns: i128,
}

/// A place in a file that was unreadable as an entry; its text stays in the file untouched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryProblem {
    /// Counted from 1.
    pub line: usize,
    pub reason: String,
}

/// An entry, as its file contains it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadEntry {
    pub entry: Entry,
    /// Changes with any part of the entry, an inline key included; the same in every process.
    pub digest: u64,
}

/// A file's readable entries and its problems.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedFile {
    pub stat: FileStat,
    pub entries: Vec<ReadEntry>,
    /// Why the whole file is quarantined, if it is; then `entries` are those that were still readable.
    pub broken: Option<String>,
    pub problems: Vec<EntryProblem>,
    /// Ids of unreadable entries in the file.
    pub unreadable: BTreeSet<EntryId>,
    /// Whether the file was unreadable as a whole, so that any entry may still be in it.
    pub is_unread: bool,
}

/// The file to which entries were appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub stat: FileStat,
    /// The file's stat just before, so that the caller can distinguish its own append from a hand edit; none
    /// if the file is new.
    pub before: Option<FileStat>,
    /// The entries that the file now contains, in the given order, each with its digest. An entry that was
    /// there before has the digest of its text in the file.
    pub ids: Vec<(EntryId, u64)>,
}

/// A change to one entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Replaces the entry with the same id.
    Replace(Box<Entry>),
    /// Replaces the entry with the same id, or appends it if the file has none.
    Put(Box<Entry>),
    /// Removes the entry.
    Remove(EntryId),
}

/// Paths that may have changed since the last call; `all` after an overflow or a restart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VaultChange {
    pub paths: BTreeSet<VaultPath>,
    pub all: bool,
    /// Files that are no memory may have changed, such as notes: the history records them, and no index has
    /// them.
    pub beside: bool,
}

impl VaultChange {
    /// Adds another change to this one.
    pub fn add(&mut self, other: Self) {
        self.paths.extend(other.paths);
        self.all |= other.all;
        self.beside |= other.beside;
    }
}

/// A file of the vault's folder that is no memory file, such as a note or a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherFile {
    pub stat: FileStat,
    /// The owner of its folder.
    pub owner: Option<(Scope, Owner)>,
}

/// Whether a text contains the searched text.
pub type HasText = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// A file in the vault's folder that Quipu does not write, or cannot read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignFile {
    /// Relative to the vault, for a person to read: a name need not be UTF-8.
    pub path: String,
    /// The file was read and has the text. Otherwise it is a folder, too large, or unreadable.
    pub is_read: bool,
}

/// Writer of memory files and pages. The engine records each of its writes in the history.
#[async_trait]
pub trait VaultWriter: Send + Sync + std::fmt::Debug {
    /// Appends entries to their files and syncs them to disk. An entry whose id is already in the file is not written
    /// again; `fresh` promises that no id is there, which saves the check. An incomplete tail that a crash left is
    /// removed first. A skill is a file of its own: it is written completely or not at all, and refused if another file
    /// is there. The cost depends on the entries, not on the file.
    async fn append(&self, entries: &[Entry], fresh: bool) -> Result<Vec<Written>, VaultError>;
    /// Applies these changes to a file in one rewrite; all other bytes stay. A file without content, except
    /// for Quipu's front matter, is removed; then there is no stat.
    async fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError>;
    /// Replaces `before`, a page's text, with another, atomically and durably, and keeps `before` as the page's previous version.
    /// An empty text removes the page. Returns false, without a change, if the page is not `before`.
    async fn replace_page(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
        before: Option<&str>,
        text: &str,
    ) -> Result<bool, VaultError>;
}

/// Markdown on disk. All writes to one file are serialised by the adapter, across processes too.
#[async_trait]
pub trait Vault: Send + Sync + std::fmt::Debug {
    /// The file that an entry belongs in: by scope, owner, kind, the date of its time in the configured zone,
    /// and the ledger's name in the vault, if it has one.
    fn path_of(&self, entry: &Entry) -> VaultPath;
    /// The name that distinguishes this ledger's files from those of other ledgers that write to the vault;
    /// none while it knows of no other.
    fn name(&self) -> Option<Arc<str>> {
        None
    }
    /// Adopts a name permanently; it is on disk when this returns.
    async fn take_name(&self, name: &str) -> Result<(), VaultError> {
        let _ = name;
        Ok(())
    }
    /// Whether the name of a file marks it as written by this ledger alone.
    fn is_own_file(&self, path: &VaultPath) -> bool {
        let _ = path;
        false
    }
    /// The folder of a scope's files, without a slash at its end.
    fn folder_of(&self, scope: &Scope) -> String;
    /// Reads a file; none if it does not exist. Its content never causes an error.
    async fn read(&self, path: &VaultPath) -> Result<Option<ParsedFile>, VaultError>;
    /// A file's stat without reading it; none if it does not exist.
    async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, VaultError>;
    /// Every memory file, sorted by path.
    async fn scan(&self) -> Result<Vec<FileStat>, VaultError>;
    /// Removes all files of an owner, or of a whole scope when no owner is given, with the library files next
    /// to them ([`crate::LibraryFiles`]); returns the paths of memory files.
    async fn remove(&self, scope: &Scope, owner: Option<&Owner>) -> Result<Vec<VaultPath>, VaultError>;
    /// Vault entries of the last scan that are neither a plain file nor a folder: links, pipes, sockets, devices.
    fn strangers(&self) -> Vec<VaultPath> {
        Vec::new()
    }
    /// Room on the vault's disk now; none if the file system does not report it.
    fn room(&self) -> Option<Room> {
        None
    }
    /// Fails while the vault's folder is missing or is another vault's, as with an unmounted disk. Then a
    /// missing file does not count as deleted, and no call writes.
    async fn is_present(&self) -> Result<(), VaultError> {
        Ok(())
    }
    /// The text of an entry in its file.
    fn text_of(&self, entry: &Entry) -> VersionText;
    /// The entry of such a text in a file; none if another program wrote it.
    fn entry_of(&self, path: &VaultPath, text: &str) -> Option<Entry>;
    /// The content of a file with such texts as entries; none if the path is no memory file's.
    fn file_of(&self, path: &VaultPath, texts: &[&str]) -> Option<String>;
    /// The files that are no memory files, sorted by path; without links, and names that begin with `.`, `#`
    /// or `~`.
    async fn others(&self) -> Result<Vec<OtherFile>, VaultError> {
        Ok(Vec::new())
    }
    /// The bytes of such a file; none if it does not exist.
    async fn bytes(&self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError> {
        let _ = path;
        Ok(None)
    }
    /// Whether the history of an earlier version exists next to the folder.
    async fn has_old_history(&self) -> Result<bool, VaultError> {
        Ok(false)
    }
    /// Deletes that history; returns whether there was one.
    async fn delete_old_history(&self) -> Result<bool, VaultError> {
        Ok(false)
    }
    /// The files below a folder that are not Quipu's and may contain a text, sorted; and the folder of a git
    /// repository in the vault's folder.
    async fn foreign(&self, _folder: &str, _has: HasText) -> Result<Vec<ForeignFile>, VaultError> {
        Ok(Vec::new())
    }
    /// The unfinished deletions, as [`Vault::set_going`] recorded them.
    async fn going(&self) -> Result<Vec<String>, VaultError>;
    /// Records the unfinished deletions, each as a line.
    async fn set_going(&self, deletions: &[String]) -> Result<(), VaultError>;
    /// Waits until files may have changed; changes of the same moment are in one answer.
    async fn changed(&self) -> VaultChange;
}
