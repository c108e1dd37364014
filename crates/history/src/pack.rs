//! Keeping the repository small: loose objects go into a pack, where they are stored as differences of each other.
//!
//! Owns: which objects stand together in a pack, how a pack takes the place of what is in it, and when an object that nothing
//! reaches is removed. Never: removing anything that a branch, a tag, a stash or the list of staged files reaches.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use git2::{DiffDelta, OdbLookupFlags, Oid, Repository};
use model::Timestamp;
use ports::HistoryError;

use crate::reach::{NamedObject, Walk};
use crate::repository::{HistoryTurn, Step, create_private, io_error};

/// With about so many loose objects they are packed.
const LOOSE_MAX: usize = 500;

/// Git spreads loose objects evenly over 256 folders; one in so many is counted.
const SAMPLED: usize = 16;

/// A pack with so many objects stays as it is: packing it anew would keep others waiting for seconds.
const PACKED_MAX: usize = 20_000;

/// So old a loose object must be before nothing can be about to need it.
const KEPT_MILLIS: i64 = 14 * 24 * 60 * 60 * 1000;

/// With so many packs those that are not large become one.
const PACKS_MAX: usize = 20;

/// The key in a repository's configuration for the bytes in which an object's like is sought, and its value. The states of a file
/// stand side by side in a pack, and other files have little in common: to compare an object with its neighbour is enough.
const WINDOW_MEMORY: (&str, i64) = ("pack.windowMemory", 16 * 1024);

/// So many new files at a time are packed at once, without a file for each object in between,
const BATCH_MIN: usize = 100;

/// unless they are larger: until they are packed they are held in memory.
const BATCH_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What writes in memory comes before what writes files.
const HELD_FIRST: i32 = 3;

/// The folder of packs, and that of one that is not in its place yet, both beside the loose objects.
const PACKS: &str = "pack";
const NEW: &str = "quipu.pack";

/// An object in a file of its own.
struct Loose {
    id: Oid,
    path: PathBuf,
    written_millis: i64,
}

impl HistoryTurn {
    /// Packs loose objects where there are many, or many packs, unless a person's git is at work.
    pub(crate) fn tidy(&self, at: Timestamp) -> Result<(), HistoryError> {
        let packs = self.objects().join(PACKS);
        let small = packs_in(&packs).map_err(io_error(&packs))?;
        let is_tidy = self.loose_about() < LOOSE_MAX && small.len() < PACKS_MAX;
        if is_tidy || self.check_idle().is_err() {
            return Ok(());
        }
        self.pack(at)
    }

    /// Packs the objects of a tree that are not on the disk yet, and leaves nothing to be finished.
    pub(crate) fn pack_new(&self, held: &Repository, tree: Oid) -> Result<(), HistoryError> {
        let found = self.git(|| {
            let odb = self.repository.odb()?;
            let is_new = |id| !odb.exists_ext(id, OdbLookupFlags::NO_REFRESH);
            let mut walk = Walk::new(held, &is_new);
            walk.object(tree)?;
            Ok(walk.found)
        })?;
        if found.is_empty() {
            return Ok(());
        }
        self.put_in_place(held, &found, &[])
    }

    fn loose_about(&self) -> usize {
        let folders = (0..=0xff).step_by(SAMPLED);
        let listed = folders.filter_map(|n| fs::read_dir(self.objects().join(format!("{n:02x}"))).ok());
        listed.map(Iterator::count).sum::<usize>() * SAMPLED
    }

    /// Makes one pack of the loose objects that something reaches and of the packs that are no larger; then removes these, and
    /// old objects that nothing reaches.
    pub(crate) fn pack(&self, at: Timestamp) -> Result<(), HistoryError> {
        let objects = self.objects();
        let (small, loose) = loose_in(&objects)
            .and_then(|loose| Ok((small_packs(&objects.join(PACKS), loose.len())?, loose)))
            .map_err(io_error(&objects))?;
        let mut wanted: HashSet<Oid> = loose.iter().map(|object| object.id).collect();
        let mut merged = Vec::new();
        for pack in &small {
            merged.extend(packed_in(pack).map_err(io_error(pack))?);
        }
        wanted.extend(&merged);
        let mut found = self.git(|| {
            let is_wanted = |id| wanted.contains(&id);
            let mut walk = Walk::new(&self.repository, &is_wanted);
            if let Ok(head) = self.repository.refname_to_id("HEAD") {
                walk.object(head)?;
            }
            Ok(walk.found)
        })?;
        let mut goes: HashSet<Oid> = found.iter().map(|(id, _)| *id).collect();
        // What else a person's git packed stays packed.
        found.extend(merged.into_iter().filter(|id| goes.insert(*id)).map(|id| (id, 0)));
        let is_old = |object: &&Loose| object.written_millis.saturating_add(KEPT_MILLIS) < at.millis();
        let old: HashSet<Oid> = loose
            .iter()
            .filter(is_old)
            .map(|object| object.id)
            .filter(|id| !goes.contains(id))
            .collect();
        if !old.is_empty()
            && let Some(reached) = self.git(|| self.reached(&old))?
        {
            found.extend(&reached);
            goes.extend(old);
        }
        let replaced: Vec<String> = small.iter().filter_map(|pack| name_of(pack)).collect();
        self.put_in_place(&self.repository, &found, &replaced)?;
        for object in loose.iter().filter(|object| goes.contains(&object.id)) {
            fs::remove_file(&object.path).map_err(io_error(&object.path))?;
            // Only where it is empty.
            object.path.parent().map(fs::remove_dir);
        }
        self.done()
    }

    /// Writes some objects as one pack and removes the packs that it replaces. After a crash the next process finishes this.
    fn put_in_place(
        &self,
        from: &Repository,
        objects: &[NamedObject],
        replaced: &[String],
    ) -> Result<(), HistoryError> {
        let new = self.objects().join(NEW);
        remove_folder(&new)
            .and_then(|()| create_private(&new))
            .map_err(io_error(&new))?;
        self.write_pack(from, objects, &new)?;
        self.note(Step::Pack(replaced))?;
        self.finish_pack(&replaced.join(" "))
    }

    /// Writes objects as one pack into a folder, where a power cut does not take it; gives its name.
    pub(crate) fn write_pack(
        &self,
        from: &Repository,
        objects: &[NamedObject],
        into: &Path,
    ) -> Result<Option<String>, HistoryError> {
        if objects.is_empty() {
            return Ok(None);
        }
        let name = self.git(|| {
            let mut config = from.config()?;
            let (key, bytes) = WINDOW_MEMORY;
            if config.get_i64(key).is_err() {
                config.set_i64(key, bytes)?;
            }
            let mut builder = from.packbuilder()?;
            for (id, name) in objects {
                builder.insert_object(*id, Some(&format!("{name:016x}")))?;
            }
            builder.write(into, 0)?;
            Ok(builder.name()?.unwrap_or_default().to_owned())
        })?;
        for file in files_of(into, &name).iter().take(2) {
            File::open(file)
                .and_then(|file| file.sync_all())
                .map_err(io_error(file))?;
        }
        Ok(Some(name))
    }

    /// Moves the new pack to the others, and removes those that it replaces.
    pub(crate) fn finish_pack(&self, replaced: &str) -> Result<(), HistoryError> {
        let new = self.objects().join(NEW);
        let packs = self.objects().join(PACKS);
        let moved = || -> io::Result<()> {
            let mut files: Vec<PathBuf> = match fs::read_dir(&new) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                listed => listed?
                    .map(|entry| Ok(entry?.path()))
                    .collect::<io::Result<_>>()?,
            };
            // By its index git sees a pack: that comes last.
            files.sort_by_key(|file| has_end(file, "idx"));
            for file in &files {
                fs::rename(file, packs.join(file.file_name().unwrap_or_default()))?;
            }
            File::open(&packs)?.sync_all()?;
            if !replaced.is_empty() {
                remove(&packs.join("multi-pack-index"))?;
            }
            for file in replaced
                .split_whitespace()
                .flat_map(|name| files_of(&packs, name))
            {
                remove(&file)?;
            }
            remove_folder(&new)
        };
        moved().map_err(io_error(&packs))
    }

    fn objects(&self) -> PathBuf {
        self.dot_git.join("objects")
    }
}

/// Holds the objects that are written to a repository in memory, where it is worth that.
pub(crate) fn hold_many(repository: &Repository, added: &[DiffDelta<'_>]) -> Result<bool, git2::Error> {
    let bytes: u64 = added.iter().map(|delta| delta.new_file().size()).sum();
    let is_many = added.len() >= BATCH_MIN && bytes <= BATCH_BYTES_MAX;
    if is_many {
        repository.odb()?.add_new_mempack_backend(HELD_FIRST)?;
    }
    Ok(is_many)
}

/// Every object in a file of its own.
fn loose_in(objects: &Path) -> io::Result<Vec<Loose>> {
    let mut loose = Vec::new();
    for folder in fs::read_dir(objects)? {
        let folder = folder?;
        let begin = folder.file_name().to_string_lossy().into_owned();
        if begin.len() != 2 || !folder.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(folder.path())? {
            let file = file?;
            let id = format!("{begin}{}", file.file_name().to_string_lossy());
            if id.len() == 40
                && let Ok(id) = Oid::from_str(&id)
            {
                let written = file.metadata()?.modified()?.duration_since(UNIX_EPOCH);
                let written = written.unwrap_or_default().as_millis();
                loose.push(Loose {
                    id,
                    path: file.path(),
                    written_millis: i64::try_from(written).unwrap_or(i64::MAX),
                });
            }
        }
    }
    Ok(loose)
}

/// The bytes of a pack's index before the ids, for each object, and at the end.
const INDEX_BYTES: [usize; 3] = [8 + 256 * 4, 20 + 4 + 4, 40];

/// The packs that are not too large to be packed anew, by their indexes: the number of objects, the smallest first. A person's git
/// marks those that nobody else may touch.
fn packs_in(packs: &Path) -> io::Result<Vec<(usize, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(packs)? {
        let entry = entry?;
        let path = entry.path();
        let is_marked = ["keep", "mtimes", "promisor"].map(|end| path.with_extension(end).exists());
        if has_end(&path, "idx") && is_marked == [false; 3] {
            let bytes = usize::try_from(entry.metadata()?.len()).unwrap_or(usize::MAX);
            let [before, each, after] = INDEX_BYTES;
            found.push((bytes.saturating_sub(before + after) / each, path));
        }
    }
    found.retain(|(objects, _)| *objects <= PACKED_MAX);
    found.sort();
    Ok(found)
}

/// The packs that have no more objects than what they go into a pack with: so few packs are left, and no object is packed often.
/// Where there are many packs, all of them.
fn small_packs(packs: &Path, mut count: usize) -> io::Result<Vec<PathBuf>> {
    let found = packs_in(packs)?;
    let is_many = found.len() >= PACKS_MAX;
    let small = found.into_iter().take_while(|(objects, _)| {
        let is_small = is_many || *objects <= count;
        count += objects;
        is_small
    });
    Ok(small.map(|(_, path)| path).collect())
}

/// The ids in a pack's index.
fn packed_in(index: &Path) -> io::Result<Vec<Oid>> {
    let bytes = fs::read(index)?;
    let read = || -> Option<Vec<Oid>> {
        let [before, ..] = INDEX_BYTES;
        let is_known = bytes.starts_with(b"\xfftOc\0\0\0\x02");
        let count = bytes.get(before - 4..before).filter(|_| is_known)?;
        let count = u32::from_be_bytes(count.try_into().ok()?) as usize;
        let ids = bytes.get(before..before + count * 20)?;
        ids.chunks_exact(20).map(|id| Oid::from_bytes(id).ok()).collect()
    };
    read().ok_or_else(|| io::Error::other("it is no index of a pack that Quipu knows"))
}

/// A pack's name in the names of its files.
fn name_of(index: &Path) -> Option<String> {
    let stem = index.file_stem()?.to_str()?;
    stem.strip_prefix("pack-").map(str::to_owned)
}

/// The files of a pack, the index first: without it git does not see the rest.
pub(crate) fn files_of(folder: &Path, name: &str) -> [PathBuf; 4] {
    ["idx", "pack", "rev", "bitmap"].map(|end| folder.join(format!("pack-{name}.{end}")))
}

fn has_end(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|there| there == end)
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
