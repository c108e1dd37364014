//! Writing: append, edit and remove one file, with its lock held.
//!
//! Owns: the order of writes and syncs: after a crash at any of them the same call finishes the work. Never:
//! waiting for locks, or changing a person's text except for the requested edit.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use markdown::{Broken, Change, Parsed, Place, TailCut};
use model::{Entry, EntryId, EntryKind, Zone};
use ports::{Edit, FileStat, VaultError, VaultPath, Written};

use crate::disk::Disk;
use crate::tree::{Spot, Tree, io_error, outside};

/// Bytes that an append reads of a file's beginning and of its end.
const LOOK_BYTES: usize = 4096;

/// Attempts of a write if another program saves the file in the meantime.
const TRIES: usize = 5;

/// Folder of incomplete entries that were never completed, in files with the names of their origins.
pub(crate) const TORN: &str = ".torn";

/// Writer of a vault.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    pub(crate) tree: Tree,
    pub(crate) zone: Zone,
    pub(crate) disk: Arc<dyn Disk>,
}

/// An append to an existing file.
struct Addition {
    plan: markdown::Plan,
    /// The torn tail, if the append cuts it and does not write it again.
    torn: Vec<u8>,
    ids: Ids,
}

/// Entries of a file, each with its digest.
type Ids = Vec<(EntryId, u64)>;

impl Writer {
    /// Appends entries of one file; `fresh` as in the port.
    pub(crate) fn append(
        &self,
        path: &VaultPath,
        entries: &[Entry],
        fresh: bool,
    ) -> Result<Written, VaultError> {
        let mut fresh = fresh;
        for _ in 0..TRIES {
            let spot = self.tree.spot(path)?;
            spot.check_plain(path)?;
            let before = spot.metadata.as_ref().map(|metadata| Tree::stat(path, metadata));
            let done = match before.as_ref().filter(|stat| stat.bytes > 0) {
                Some(stat) => self.extend(&spot, stat, entries, fresh)?,
                None => self.create(&spot, path, before.as_ref(), entries)?,
            };
            if let Some((stat, ids)) = done {
                return Ok(Written { stat, before, ids });
            }
            // Another program saved the file, perhaps without the appended entries.
            fresh = false;
        }
        Err(busy(path))
    }

    /// Creates a new or empty file, completely or not at all; none if another program wrote it in the meantime.
    fn create(
        &self,
        spot: &Spot,
        path: &VaultPath,
        before: Option<&FileStat>,
        entries: &[Entry],
    ) -> Result<Option<(FileStat, Ids)>, VaultError> {
        let front = markdown::new_file(entries[0].kind, self.zone.date(entries[0].time));
        let parsed = markdown::parse(front.as_bytes(), &place_of(path)?, &self.zone);
        let plan =
            markdown::plan(front.as_bytes(), &parsed, entries, &self.zone).map_err(broken_file(path))?;
        let mut text = plan.text;
        text.insert_str(0, &front);
        let stat = self.replace(spot, path, before, text.as_bytes())?;
        Ok(stat.map(|stat| (stat, entries.iter().map(known).collect())))
    }

    /// Appends to an existing file. None if another program wrote it in the meantime, or if it was of an
    /// earlier format version: such a file is rewritten first, because it accepts no entries of this version.
    fn extend(
        &self,
        spot: &Spot,
        before: &FileStat,
        entries: &[Entry],
        fresh: bool,
    ) -> Result<Option<(FileStat, Ids)>, VaultError> {
        let (path, full) = (&before.path, &spot.path);
        let quick = if fresh {
            self.quick_addition(path, full, entries)?
        } else {
            None
        };
        let addition = if let Some(addition) = quick {
            addition
        } else {
            let bytes = std::fs::read(full).map_err(io_error(path))?;
            if let Some(bytes) = markdown::upgraded(&bytes, &place_of(path)?, &self.zone) {
                self.replace(spot, path, Some(before), &bytes)?;
                return Ok(None);
            }
            self.addition(path, &bytes, entries)?
        };
        let len = self.add(full, before, &addition).map_err(io_error(path))?;
        let stat = self.stat(path)?.filter(|stat| Some(stat.bytes) == len);
        Ok(stat.map(|stat| (stat, addition.ids)))
    }

    /// The append to a file that contains none of the ids, planned from the two ends of the file alone; none
    /// if these do not suffice.
    fn quick_addition(
        &self,
        path: &str,
        full: &Path,
        entries: &[Entry],
    ) -> Result<Option<Addition>, VaultError> {
        let (head, tail) = ends(full).map_err(io_error(path))?;
        let front = markdown::front::Front::of(&String::from_utf8_lossy(&head));
        refuse(
            path,
            front.broken.as_ref().filter(|broken| broken.forbids_writing()),
        )?;
        // For a skill the end of the file proves nothing: its text can end with anything.
        let is_skill = entries[0].kind == EntryKind::Skill;
        let is_readable = front.broken != Some(Broken::Unclosed) && front.version != Some(1);
        if is_skill || !is_readable || !markdown::ends_cleanly(&tail) {
            return Ok(None);
        }
        // The file was not read; only its end is known to be clean.
        let unread = Parsed {
            tail: tail.len(),
            ..Parsed::default()
        };
        Ok(Some(Addition {
            plan: markdown::plan(&tail, &unread, entries, &self.zone).map_err(broken_file(path))?,
            torn: Vec::new(),
            ids: entries.iter().map(known).collect(),
        }))
    }

    fn addition(&self, path: &str, bytes: &[u8], entries: &[Entry]) -> Result<Addition, VaultError> {
        let parsed = markdown::parse(bytes, &place_of(path)?, &self.zone);
        refuse(path, parsed.unwritable())?;
        let plan = markdown::plan(bytes, &parsed, entries, &self.zone).map_err(broken_file(path))?;
        let torn = match plan.cut {
            Some(TailCut {
                at,
                is_rewritten: false,
            }) => bytes[at..].to_vec(),
            _ => Vec::new(),
        };
        let ids = entries.iter().filter_map(|entry| stored_id(&parsed, entry));
        Ok(Addition {
            ids: ids.collect(),
            plan,
            torn,
        })
    }

    /// Returns the new length of the file; none if another program wrote it before the cut.
    fn add(&self, full: &Path, before: &FileStat, addition: &Addition) -> io::Result<Option<u64>> {
        let (path, mut len) = (&before.path, before.bytes);
        if let Some(cut) = addition.plan.cut {
            if !addition.torn.is_empty() {
                tracing::warn!(%path, "moved an unfinished entry to `{TORN}`");
                self.keep_torn(path, &addition.torn)?;
            }
            if Tree::stat(path, &full.metadata()?) != *before {
                return Ok(None);
            }
            len = cut.at as u64;
            self.disk.truncate(full, len)?;
        }
        let text = addition.plan.text.as_bytes();
        if text.is_empty() {
            // An earlier call may have written everything and failed before the sync.
            self.disk.sync(full)?;
            self.sync_folders(full)?;
            return Ok(Some(len));
        }
        self.disk
            .append(full, text)
            .inspect_err(|_| self.take_back(full, len))?;
        Ok(Some(len + text.len() as u64))
    }

    /// After a failed append: cuts the torn part off again, if the disk still allows it.
    fn take_back(&self, full: &Path, len: u64) {
        let is_longer = full.metadata().is_ok_and(|metadata| metadata.len() > len);
        if let (true, Err(error)) = (is_longer, self.disk.truncate(full, len)) {
            tracing::warn!(file = %full.display(), %error, "an append failed midway; the next append repairs the file");
        }
    }

    fn keep_torn(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let kept = self
            .tree
            .spot(&format!("{TORN}/{path}"))
            .map_err(io::Error::other)?
            .path;
        self.create_folders(&kept)?;
        self.disk.append(&kept, &[bytes, b"\n"].concat())?;
        self.sync_folders(&kept)
    }

    /// Rewrites a file with edits.
    pub(crate) fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError> {
        let changes: Vec<Change<'_>> = edits.iter().map(change_of).collect();
        let no_entry = |id: &EntryId| VaultError::NoEntry {
            path: path.to_string(),
            id: id.to_string(),
        };
        let place = place_of(path)?;
        for _ in 0..TRIES {
            let spot = self.tree.spot(path)?;
            let Some(before) = spot.metadata.as_ref().map(|metadata| Tree::stat(path, metadata)) else {
                return Err(changes
                    .first()
                    .map_or_else(|| outside(path), |change| no_entry(change.id())));
            };
            spot.check_plain(path)?;
            let was = std::fs::read(&spot.path).map_err(io_error(path))?;
            let place = place.clone().saved_at(before.modified_ns);
            let upgraded = markdown::upgraded(&was, &place, &self.zone);
            let bytes = upgraded.as_deref().unwrap_or(&was);
            let parsed = markdown::parse(bytes, &place, &self.zone);
            refuse(path, parsed.unwritable())?;
            let edited = markdown::change(bytes, &parsed, &changes, &self.zone)
                .map_err(|missing| no_entry(&missing))?;
            let (edited, torn) =
                markdown::extended(edited, &place, &put(edits), &self.zone).map_err(broken_file(path))?;
            if let Some(torn) = torn {
                self.keep_torn(path, &torn).map_err(io_error(path))?;
            }
            let stat = if edited == was {
                // An earlier call may have renamed it and failed before the sync.
                self.sync_folders(&spot.path).map_err(io_error(path))?;
                Some(Some(before))
            } else if !markdown::is_bare(&edited) {
                self.replace(&spot, path, Some(&before), &edited)?.map(Some)
            } else if self.stat(path)?.as_ref() == Some(&before) {
                self.remove_with_folders(&spot.path).map_err(io_error(path))?;
                Some(None)
            } else {
                None
            };
            let Some(stat) = stat else { continue };
            if edits.iter().any(|edit| matches!(edit, Edit::Remove(_))) {
                // Incomplete entries can contain deleted text too.
                self.discard(&format!("{TORN}/{path}"))?;
            }
            return Ok(stat);
        }
        Err(busy(path))
    }

    /// Writes a whole file in place of an existing one.
    pub(crate) fn overwrite(&self, path: &str, bytes: &[u8]) -> Result<(), VaultError> {
        for _ in 0..TRIES {
            let spot = self.tree.spot(path)?;
            spot.check_plain(path)?;
            let before = spot.metadata.as_ref().map(|metadata| Tree::stat(path, metadata));
            if self.replace(&spot, path, before.as_ref(), bytes)?.is_some() {
                return Ok(());
            }
        }
        Err(busy(path))
    }

    /// Writes a file next to the one to replace, then renames it; none if that one has changed.
    pub(crate) fn replace(
        &self,
        spot: &Spot,
        path: &str,
        before: Option<&FileStat>,
        bytes: &[u8],
    ) -> Result<Option<FileStat>, VaultError> {
        let full = &spot.path;
        let name = full.file_name().unwrap_or_default().to_string_lossy();
        let beside = full.with_file_name(format!(".{name}.tmp"));
        self.create_folders(full).map_err(io_error(path))?;
        self.disk.write(&beside, bytes).map_err(io_error(path))?;
        if let Some(metadata) = &spot.metadata {
            std::fs::set_permissions(&beside, metadata.permissions()).map_err(io_error(path))?;
        }
        // Taken before the rename: a stat taken later could be of another program's save.
        let stat = Tree::stat(path, &beside.metadata().map_err(io_error(path))?);
        if self.stat(path)?.as_ref() != before {
            self.disk.remove(&beside).map_err(io_error(path))?;
            return Ok(None);
        }
        self.disk.rename(&beside, full).map_err(io_error(path))?;
        self.sync_folders(full).map_err(io_error(path))?;
        Ok(Some(stat))
    }

    /// Creates the missing folders of a file.
    pub(crate) fn create_folders(&self, full: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = full
            .ancestors()
            .skip(1)
            .take_while(|folder| !folder.is_dir())
            .collect();
        missing
            .iter()
            .rev()
            .try_for_each(|folder| self.disk.create_folder(folder))
    }

    /// Makes a file's place durable. It syncs every folder up to the root: an earlier call may have created
    /// one without a sync.
    pub(crate) fn sync_folders(&self, full: &Path) -> io::Result<()> {
        let mut folders = full
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(self.tree.root()));
        folders.try_for_each(|folder| self.disk.sync(folder))
    }

    /// Removes a file and then folders left empty.
    pub(crate) fn remove(&self, path: &VaultPath) -> Result<(), VaultError> {
        let spot = self.tree.spot(path)?;
        self.remove_with_folders(&spot.path).map_err(io_error(path))
    }

    pub(crate) fn remove_with_folders(&self, full: &Path) -> io::Result<()> {
        self.disk.remove(full)?;
        for folder in full
            .ancestors()
            .skip(1)
            .take_while(|folder| *folder != self.tree.root())
        {
            // Not empty: the owner has more files, or others have.
            if std::fs::remove_dir(folder).is_err() {
                return self.disk.sync(folder);
            }
        }
        self.disk.sync(self.tree.root())
    }

    /// A file's stat without reading it; none if nothing is there.
    pub(crate) fn stat(&self, path: &str) -> Result<Option<FileStat>, VaultError> {
        let metadata = self.tree.spot(path)?.metadata;
        Ok(metadata.map(|metadata| Tree::stat(path, &metadata)))
    }
}

pub(crate) fn place_of(path: &str) -> Result<Place, VaultError> {
    Place::of(path).map_err(|_| outside(path))
}

fn change_of(edit: &Edit) -> Change<'_> {
    match edit {
        Edit::Replace(entry) => Change::Replace(entry),
        Edit::Put(entry) => Change::Put(entry),
        Edit::Remove(id) => Change::Remove(id),
    }
}

/// The entries of `Put` edits, for files that do not have them.
fn put(edits: &[Edit]) -> Vec<Entry> {
    let put = edits.iter().filter_map(|edit| match edit {
        Edit::Put(entry) => Some((**entry).clone()),
        Edit::Replace(_) | Edit::Remove(_) => None,
    });
    put.collect()
}

fn busy(path: &str) -> VaultError {
    io_error(path)(io::Error::other("another program keeps saving the file"))
}

fn refuse(path: &str, broken: Option<&Broken>) -> Result<(), VaultError> {
    broken.cloned().map_or(Ok(()), |why| Err(broken_file(path)(why)))
}

fn broken_file(path: &str) -> impl FnOnce(Broken) -> VaultError {
    let path = path.to_owned();
    move |broken| VaultError::Broken {
        path,
        reason: broken.to_string(),
    }
}

fn known(entry: &Entry) -> (EntryId, u64) {
    (entry.id.clone(), markdown::digest(entry))
}

/// An entry's id with the digest of its text in the file after the append; none if a person made it
/// unreadable.
fn stored_id(parsed: &Parsed, entry: &Entry) -> Option<(EntryId, u64)> {
    let mut there = parsed
        .blocks
        .iter()
        .filter(|block| block.id == entry.id && !block.is_damaged)
        .peekable();
    if there.peek().is_none() {
        return Some(known(entry));
    }
    there.find_map(|block| block.entry.as_ref()).map(known)
}

/// The first and the last bytes of a file.
fn ends(full: &Path) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut file = File::open(full)?;
    let len = file.metadata()?.len();
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    (&mut file).take(LOOK_BYTES as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(len.saturating_sub(LOOK_BYTES as u64)))?;
    file.take(LOOK_BYTES as u64).read_to_end(&mut tail)?;
    Ok((head, tail))
}
