//! The port on top of files: threads and locks of each call.
//!
//! Owns: the opened vault. Never: blocking the runtime, or holding two locks at once.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use markdown::{NoPlace, Parsed, Place};
use model::{Entry, Owner, Page, Scope, Zone};
use parking_lot::Mutex;
use ports::{
    Clock, Edit, EntryProblem, FileStat, ForeignFile, HasText, NoRoom, OtherFile, ParsedFile, ReadEntry,
    Room, Vault, VaultChange, VaultError, VaultPath, VaultWriter, VersionText, Written,
};
use tokio::sync::OnceCell;

use crate::disk::{self, Disk, RealDisk};
use crate::foreign::foreign;
use crate::id::VaultId;
use crate::locks::Locks;
use crate::pages;
use crate::tree::{Tree, io_error, outside};
use crate::watch::{Watch, Watching, blocking};
use crate::write::{TORN, Writer};

/// Folder of the lock files.
pub(crate) const LOCKS: &str = ".locks";

/// File with the list of unfinished deletions.
const GOING: &str = ".forgetting";

/// Name of the git repository next to the vault's folder. Builds before 0.2 kept it in the folder.
pub const OLD_HISTORY: &str = "history.before.git";

/// The folder of that history, if it exists.
fn old_history(writer: &Writer) -> Option<PathBuf> {
    let old = writer.tree.root().parent()?.join(OLD_HISTORY);
    old.symlink_metadata()
        .is_ok_and(|old| old.is_dir())
        .then_some(old)
}

/// Interval of scans if the system reports no file events.
const RESCAN: Duration = Duration::from_secs(30);

/// The Markdown files below one folder, as port [`Vault`].
#[derive(Debug)]
pub struct MarkdownVault {
    writer: Writer,
    locks: OnceCell<Locks>,
    watch: Watch,
    id: Option<VaultId>,
    name: Arc<Mutex<Option<Arc<str>>>>,
    /// The file with the ledger's name.
    name_file: Option<PathBuf>,
}

impl MarkdownVault {
    /// Opens the vault in a folder, which is created if it does not exist; new files are named after dates in
    /// `zone`.
    pub fn open(root: impl Into<PathBuf>, zone: Zone, clock: Arc<dyn Clock>) -> Result<Self, VaultError> {
        let watching = Watching {
            events: true,
            rescan: RESCAN,
        };
        Self::open_with(&root.into(), zone, clock, Arc::new(RealDisk), watching)
    }

    pub(crate) fn open_with(
        root: &Path,
        zone: Zone,
        clock: Arc<dyn Clock>,
        disk: Arc<dyn Disk>,
        watching: Watching,
    ) -> Result<Self, VaultError> {
        let shown = root.display().to_string();
        create_private(root).map_err(io_error(&shown))?;
        let tree = Tree::open(root).map_err(io_error(&shown))?;
        let locks = match open_locks(&tree) {
            Ok(locks) => OnceCell::new_with(Some(locks)),
            // Such a disk can be read; the first write opens the locks.
            Err(error) if NoRoom::of(&error).is_some() => OnceCell::new(),
            Err(error) => return Err(error),
        };
        Ok(Self {
            locks,
            watch: Watch::new(tree.clone(), clock, watching),
            writer: Writer { tree, zone, disk },
            id: None,
            name: Arc::default(),
            name_file: None,
        })
    }

    /// Requires this id of the folder; a folder with another id counts as missing.
    #[must_use]
    pub fn known_as(self, id: Option<VaultId>) -> Self {
        Self { id, ..self }
    }

    /// Keeps the ledger's name in a file next to the ledger.
    pub fn with_name_file(self, file: PathBuf) -> Result<Self, VaultError> {
        let name = match std::fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            name => Some(name.map_err(io_error(&file.display().to_string()))?),
        };
        let name = name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        *self.name.lock() = name.map(Arc::from);
        Ok(Self {
            name_file: Some(file),
            ..self
        })
    }

    /// Runs work on a file under its lock, on a thread that may block.
    pub(crate) async fn in_turn<T: Send + 'static>(
        &self,
        path: &VaultPath,
        work: impl FnOnce(&Writer, &VaultPath) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let id = self.id.clone();
        let locks = self.locks.get_or_try_init(async || {
            id.iter().try_for_each(|id| id.check(&self.writer.tree))?;
            open_locks(&self.writer.tree)
        });
        let turn = locks.await?.turn(path).await;
        let path = path.clone();
        self.blocking(move |writer| {
            id.iter().try_for_each(|id| id.check(&writer.tree))?;
            let _locked = turn.lock().map_err(io_error(&path))?;
            work(writer, &path)
        })
        .await
    }

    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Writer) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let writer = self.writer.clone();
        blocking(move || work(&writer)).await
    }
}

fn open_locks(tree: &Tree) -> Result<Locks, VaultError> {
    let folder = tree.spot(LOCKS)?.path;
    let opened = create_private(&folder).and_then(|()| Locks::open(&folder));
    opened.map_err(io_error(LOCKS))
}

/// Creates a folder that only its owner can enter, because memory is private.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[async_trait]
impl VaultWriter for MarkdownVault {
    async fn append(&self, entries: &[Entry], fresh: bool) -> Result<Vec<Written>, VaultError> {
        let mut files: Vec<(VaultPath, Vec<Entry>)> = Vec::new();
        for entry in entries {
            let path = self.path_of(entry);
            match files.iter_mut().find(|(there, _)| *there == path) {
                Some((_, entries)) => entries.push(entry.clone()),
                None => files.push((path, vec![entry.clone()])),
            }
        }
        let mut written = Vec::with_capacity(files.len());
        for (path, entries) in files {
            written.push(
                self.in_turn(&path, move |writer, path| writer.append(path, &entries, fresh))
                    .await?,
            );
        }
        Ok(written)
    }

    async fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError> {
        let edits = edits.to_vec();
        self.in_turn(path, move |writer, path| writer.edit(path, &edits))
            .await
    }

    async fn replace_page(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
        before: Option<&str>,
        text: &str,
    ) -> Result<bool, VaultError> {
        let previous = pages::previous_of(scope, owner, page);
        let (before, text) = (before.map(str::to_owned), text.to_owned());
        self.in_turn(&pages::path_of(scope, owner, page), move |writer, path| {
            if pages::read(writer, path)? != before {
                return Ok(false);
            }
            if let Some(before) = &before {
                let kept = pages::read(writer, &previous).or_else(|error| match error {
                    VaultError::Broken { .. } => Ok(None),
                    error => Err(error),
                })?;
                if kept.as_ref() != Some(before) {
                    writer.overwrite(&previous, before.as_bytes())?;
                }
            }
            pages::put(writer, path, before.as_deref(), &text)
        })
        .await
    }
}

#[async_trait]
impl Vault for MarkdownVault {
    fn path_of(&self, entry: &Entry) -> VaultPath {
        let path = markdown::path_of(entry, &self.writer.zone);
        match self.name() {
            Some(name) => markdown::place::ledger_path(&path, entry.kind, &name).into(),
            None => path.into(),
        }
    }

    fn name(&self) -> Option<Arc<str>> {
        self.name.lock().clone()
    }

    async fn take_name(&self, name: &str) -> Result<(), VaultError> {
        let (file, line) = (self.name_file.clone(), format!("{name}\n"));
        self.blocking(move |writer| {
            let Some(file) = file else { return Ok(()) };
            let beside = file.with_extension("tmp");
            let written = writer
                .disk
                .write(&beside, line.as_bytes())
                .and_then(|()| writer.disk.rename(&beside, &file))
                .and_then(|()| file.parent().map_or(Ok(()), |folder| writer.disk.sync(folder)));
            written.map_err(io_error(&file.display().to_string()))
        })
        .await?;
        *self.name.lock() = Some(name.into());
        Ok(())
    }

    fn is_own_file(&self, path: &VaultPath) -> bool {
        self.name()
            .is_some_and(|name| markdown::place::is_ledger_path(path, &name))
    }

    fn folder_of(&self, scope: &Scope) -> String {
        markdown::place::folder_of(scope, None)
    }

    async fn read(&self, path: &VaultPath) -> Result<Option<ParsedFile>, VaultError> {
        let path = path.clone();
        self.blocking(move |writer| read(&writer.tree, &writer.zone, &path))
            .await
    }

    async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, VaultError> {
        let path = path.clone();
        self.blocking(move |writer| {
            check_not_foreign(&path)?;
            writer.stat(&path)
        })
        .await
    }

    async fn scan(&self) -> Result<Vec<FileStat>, VaultError> {
        self.blocking(|writer| {
            writer.tree.adopt();
            writer.tree.files()
        })
        .await
    }

    fn strangers(&self) -> Vec<VaultPath> {
        self.writer.tree.strangers()
    }

    fn room(&self) -> Option<Room> {
        disk::room(self.writer.tree.root())
    }

    async fn remove(&self, scope: &Scope, owner: Option<&Owner>) -> Result<Vec<VaultPath>, VaultError> {
        let folder = markdown::place::folder_of(scope, owner);
        let below = folder.clone();
        let files = self.blocking(move |writer| writer.tree.files_in(&below)).await?;
        let mut removed = Vec::with_capacity(files.len());
        for stat in files {
            self.in_turn(&stat.path, Writer::remove).await?;
            removed.push(stat.path);
        }
        self.blocking(move |writer| {
            writer.discard(&format!("{TORN}/{folder}"))?;
            writer.clear_library_files(&folder)
        })
        .await?;
        Ok(removed)
    }

    async fn is_present(&self) -> Result<(), VaultError> {
        let Some(id) = self.id.clone() else {
            return Ok(());
        };
        self.blocking(move |writer| id.check(&writer.tree)).await
    }

    fn text_of(&self, entry: &Entry) -> VersionText {
        VersionText::new(
            markdown::digest(entry),
            markdown::render(entry, &self.writer.zone),
        )
    }

    fn entry_of(&self, path: &VaultPath, text: &str) -> Option<Entry> {
        markdown::parse_entry(text, &Place::of(path).ok()?, &self.writer.zone)
    }

    fn file_of(&self, path: &VaultPath, texts: &[&str]) -> Option<String> {
        let place = Place::of(path).ok()?;
        Some(markdown::file_of(
            texts.iter().copied(),
            &place,
            &self.writer.zone,
        ))
    }

    async fn others(&self) -> Result<Vec<OtherFile>, VaultError> {
        self.blocking(|writer| Ok(writer.tree.others())).await
    }

    async fn bytes(&self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError> {
        let path = path.clone();
        let read = move |writer: &Writer| {
            let spot = writer.tree.spot(&path)?;
            match spot.metadata {
                Some(metadata) if metadata.is_file() => {
                    std::fs::read(&spot.path).map(Some).map_err(io_error(&path))
                }
                _ => Ok(None),
            }
        };
        self.blocking(read).await
    }

    async fn has_old_history(&self) -> Result<bool, VaultError> {
        self.blocking(|writer| Ok(old_history(writer).is_some())).await
    }

    async fn delete_old_history(&self) -> Result<bool, VaultError> {
        self.blocking(|writer| {
            let Some(old) = old_history(writer) else {
                return Ok(false);
            };
            std::fs::remove_dir_all(&old).map_err(io_error(OLD_HISTORY))?;
            Ok(true)
        })
        .await
    }

    async fn foreign(&self, folder: &str, has: HasText) -> Result<Vec<ForeignFile>, VaultError> {
        let folder = folder.to_owned();
        self.blocking(move |writer| foreign(&writer.tree, &writer.zone, &folder, &*has))
            .await
    }

    async fn going(&self) -> Result<Vec<String>, VaultError> {
        let text = self.bytes(&GOING.into()).await?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&text)
            .lines()
            .map(str::to_owned)
            .collect())
    }

    async fn set_going(&self, deletions: &[String]) -> Result<(), VaultError> {
        let text: String = deletions.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        let set = move |writer: &Writer, path: &VaultPath| match text.as_str() {
            "" if writer.stat(path)?.is_none() => Ok(()),
            "" => writer.remove(path),
            text => writer.overwrite(path, text.as_bytes()),
        };
        self.in_turn(&GOING.into(), set).await
    }

    async fn changed(&self) -> VaultChange {
        self.watch.changed().await
    }
}

/// Other files in the folder do not concern the vault. A memory file in a misnamed folder does: it is broken.
fn check_not_foreign(path: &str) -> Result<(), VaultError> {
    match Place::of(path) {
        Err(NoPlace::Foreign) => Err(outside(path)),
        _ => Ok(()),
    }
}

fn read(tree: &Tree, zone: &Zone, path: &VaultPath) -> Result<Option<ParsedFile>, VaultError> {
    check_not_foreign(path)?;
    let Some(metadata) = tree.spot(path)?.metadata else {
        return Ok(None);
    };
    // Taken before the content is read: a change in between makes the file look changed, and it is read
    // again.
    let stat = Tree::stat(path, &metadata);
    let place = match Place::of(path) {
        Ok(place) => place.saved_at(stat.modified_ns),
        Err(misnamed) => {
            tree.adopt();
            let is_there = tree.spot(path)?.metadata.is_some();
            return Ok(is_there.then(|| unread(stat, misnamed.to_string())));
        }
    };
    if !metadata.is_file() {
        return Ok(Some(unread(stat, "this is not a file".to_owned())));
    }
    match std::fs::read(tree.root().join(&**path)) {
        Ok(bytes) => Ok(Some(as_read(markdown::parse(&bytes, &place, zone), stat))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Ok(Some(unread(stat, format!("the file cannot be read: {error}")))),
    }
}

fn unread(stat: FileStat, reason: String) -> ParsedFile {
    ParsedFile {
        stat,
        entries: Vec::new(),
        broken: Some(reason),
        problems: Vec::new(),
        unreadable: BTreeSet::new(),
        is_unread: true,
    }
}

fn as_read(parsed: Parsed, stat: FileStat) -> ParsedFile {
    let entry = |entry: Entry| ReadEntry {
        digest: markdown::digest(&entry),
        entry,
    };
    let problem = |markdown::Problem { line, reason }| EntryProblem { line, reason };
    ParsedFile {
        stat,
        unreadable: parsed.unreadable(),
        is_unread: parsed.is_unread,
        entries: parsed
            .blocks
            .into_iter()
            .filter_map(|block| block.entry)
            .map(entry)
            .collect(),
        broken: parsed.broken.map(|broken| broken.to_string()),
        problems: parsed.problems.into_iter().map(problem).collect(),
    }
}
