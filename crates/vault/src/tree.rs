//! The vault's folder: the paths inside it, their state, and the list of all files.
//!
//! Owns: the refusal of links and of everything else that is not a plain file or folder. Never: writing, or
//! reading a file that is no memory file.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use markdown::{NoPlace, Place};
use model::{Owner, Scope};
use parking_lot::Mutex;
use ports::{FileStat, OtherFile, VaultError, VaultPath};

/// Every system accepts a path of this length.
const LONG_PATH_BYTES: usize = 1_000;

/// The vault's folder.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    root: PathBuf,
    /// Entries of the last scan that are not plain files.
    strangers: Arc<Mutex<BTreeSet<VaultPath>>>,
}

/// A path of the vault that leads through no link.
#[derive(Debug)]
pub(crate) struct Spot {
    pub(crate) path: PathBuf,
    /// None if nothing is there.
    pub(crate) metadata: Option<Metadata>,
}

impl Spot {
    /// Refuses a folder, a pipe or another special file with the name of a memory file.
    pub(crate) fn check_plain(&self, path: &str) -> Result<(), VaultError> {
        let is_other = self.metadata.as_ref().is_some_and(|metadata| !metadata.is_file());
        if is_other { Err(outside(path)) } else { Ok(()) }
    }
}

pub(crate) fn outside(path: &str) -> VaultError {
    let path = path.to_owned();
    VaultError::Outside { path }
}

/// An error of the disk, with its path.
pub(crate) fn io_error(path: &str) -> impl FnOnce(io::Error) -> VaultError {
    let path = path.to_owned();
    move |source| VaultError::Io { path, source }
}

impl Tree {
    /// The vault in an existing folder. Only this path may be a link: the machine's owner chose its target.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let strangers = Arc::default();
        Ok(Self { root, strangers })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The place of a path, if every part of it is a plain name and none is a link. `path` may name a folder.
    pub(crate) fn spot(&self, path: &str) -> Result<Spot, VaultError> {
        let mut full = self.root.clone();
        let mut metadata = None;
        for part in path.split('/') {
            if part.is_empty() || part == "." || part == ".." || part.contains(['\\', '\0']) {
                return Err(outside(path));
            }
            full.push(part);
            metadata = match full.symlink_metadata() {
                Ok(metadata) if metadata.is_symlink() => return Err(outside(path)),
                Ok(metadata) => Some(metadata),
                Err(error) if is_absent(&error) => None,
                Err(error) => return Err(io_error(path)(error)),
            };
        }
        Ok(Spot { path: full, metadata })
    }

    /// The stat of a memory file from its metadata.
    pub(crate) fn stat(path: &str, metadata: &Metadata) -> FileStat {
        let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
        let nanos = |duration: std::time::Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
        FileStat {
            path: path.into(),
            bytes: metadata.len(),
            modified_ns: modified
                .duration_since(UNIX_EPOCH)
                .map_or_else(|before| -nanos(before.duration()), nanos),
        }
    }

    /// Renames folders that a person named after an owner to the names that keep owners apart: `Ann` becomes
    /// `Ann=1`, unless that exists.
    pub(crate) fn adopt(&self) {
        for app in self.folders("") {
            for project in self.folders(&app) {
                for owners in ["users", "agents"].map(|owners| format!("{project}/{owners}")) {
                    self.folders(&owners)
                        .iter()
                        .for_each(|folder| self.adopt_one(folder));
                }
            }
        }
    }

    fn adopt_one(&self, path: &str) {
        let Some((parent, name)) = path.rsplit_once('/') else {
            return;
        };
        let Err(NoPlace::Misnamed { folder, expected }) = Place::of(&format!("{path}/facts/any.md")) else {
            return;
        };
        let is_plain = folder == name
            && expected
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('='));
        let to = self.root.join(parent).join(&expected);
        if !is_plain || to.symlink_metadata().is_ok() {
            return;
        }
        match fs::rename(self.root.join(path), to) {
            Ok(()) => tracing::info!(%path, %expected, "renamed a folder after its owner"),
            Err(error) => {
                tracing::warn!(%path, %expected, %error, "cannot rename a folder after its owner");
            }
        }
    }

    /// The paths of the folders in a folder, without links.
    fn folders(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(path)).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
        let plain = names.filter(|name| !name.starts_with('.'));
        plain.map(|name| entry_path(path, &name)).collect()
    }

    /// Every memory file, sorted by path. Links are not followed; a folder that cannot be read is left out.
    pub(crate) fn files(&self) -> Result<Vec<FileStat>, VaultError> {
        fs::read_dir(&self.root).map_err(io_error(""))?;
        let mut strangers = BTreeSet::new();
        let files = self.walk("", |stranger| {
            strangers.insert(stranger.into());
        });
        *self.strangers.lock() = strangers;
        Ok(files)
    }

    /// Entries of the last scan in the place of memory that are neither a plain file nor a folder, and still
    /// exist as such.
    pub(crate) fn strangers(&self) -> Vec<VaultPath> {
        let is_stranger = |path: &VaultPath| {
            let metadata = self.root.join(&**path).symlink_metadata();
            metadata.is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
        };
        let mut strangers = self.strangers.lock();
        strangers.retain(is_stranger);
        strangers.iter().cloned().collect()
    }

    /// Every memory file in a folder that no link leads to, sorted by path.
    pub(crate) fn files_in(&self, folder: &str) -> Result<Vec<FileStat>, VaultError> {
        self.spot(folder)?;
        Ok(self.files_below(folder))
    }

    /// Every memory file below a folder of the vault, sorted by path.
    pub(crate) fn files_below(&self, folder: &str) -> Vec<FileStat> {
        self.walk(folder, |_| {})
    }

    /// Every file that the history covers and that is no memory file, sorted by path.
    pub(crate) fn others(&self) -> Vec<OtherFile> {
        let mut others = Vec::new();
        self.each("", is_kept, |path, metadata| {
            if metadata.is_file() && is_kept(&path) && Place::of(&path) == Err(NoPlace::Foreign) {
                others.push(OtherFile {
                    owner: owner_of(&path),
                    stat: Self::stat(&path, metadata),
                });
            }
        });
        others.sort_by(|a, b| a.stat.path.cmp(&b.stat.path));
        others
    }

    fn walk(&self, folder: &str, mut meets: impl FnMut(String)) -> Vec<FileStat> {
        let mut found = Vec::new();
        self.each(folder, may_hold_memory, |path, metadata| {
            let is_memory = Place::of(&path) != Err(NoPlace::Foreign);
            if metadata.is_file() {
                found.extend(is_memory.then(|| Self::stat(&path, metadata)));
            } else if is_memory || may_hold_memory(&path) {
                tracing::warn!(%path, "skipping a vault entry that is not a regular file");
                meets(path);
            }
        });
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    /// Calls `meets` with everything except folders below a folder; it walks into the folders that `enters`
    /// accepts.
    fn each(&self, folder: &str, enters: impl Fn(&str) -> bool, mut meets: impl FnMut(String, &Metadata)) {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(self.root.join(&folder)) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    tracing::warn!(%folder, %error, "cannot read a folder of the vault");
                    continue;
                }
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let (Some(name), Ok(metadata)) = (name.to_str(), entry.metadata()) else {
                    continue;
                };
                let path = entry_path(&folder, name);
                if is_unreachable(&entry.path()) {
                    tracing::warn!(%path, "skipping a vault entry whose path is too long");
                } else if !metadata.is_dir() {
                    meets(path, &metadata);
                } else if enters(&path) {
                    folders.push(path);
                }
            }
        }
    }
}

/// The path of an entry of a folder; the root's path is empty.
fn entry_path(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// Whether the reason is that nothing is at the path.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// Whether a path is longer than any call accepts.
fn is_unreachable(path: &Path) -> bool {
    let is_refused = |error: io::Error| error.kind() == io::ErrorKind::InvalidFilename;
    path.as_os_str().len() > LONG_PATH_BYTES && path.symlink_metadata().is_err_and(is_refused)
}

/// The owner of the folder that a file is in.
fn owner_of(path: &str) -> Option<(Scope, Owner)> {
    let (at, _) = path.match_indices('/').nth(3)?;
    let place = Place::of(&format!("{}/facts/any.md", &path[..at])).ok()?;
    Some((place.scope, place.owner))
}

/// Whether the history may cover a path: no name in it begins with one of these characters.
pub(crate) fn is_kept(path: &str) -> bool {
    !path.split('/').any(|name| name.starts_with(['.', '#', '~']))
}

/// Whether memory files can be below a folder: some path through it is a memory file's.
pub(crate) fn may_hold_memory(path: &str) -> bool {
    let below = ["a", "users", "a", "facts", "SKILL.md"];
    let depth = path.matches('/').count();
    let example = [&[path], &below[depth.min(below.len() - 1)..]].concat();
    Place::of(&example.join("/")) != Err(NoPlace::Foreign)
}
