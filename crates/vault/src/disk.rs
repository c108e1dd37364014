//! Every change of the vault to the disk, one method each: the seam that a test breaks at the n-th change.
//!
//! Owns: when files and folders are synced. Never: the decision to write.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use ports::Room;

/// Changes to a disk. Each is durable when it returns, except entries of folders, which `sync` makes durable.
pub(crate) trait Disk: Send + Sync + Debug {
    /// Creates a folder, unless it exists.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// Writes a whole file and replaces an existing one.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Appends to a file; creates it if needed.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a file to a length.
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;
    /// Renames a file and replaces the target atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file, if it exists.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes a file's content or a folder's entries durable.
    fn sync(&self, path: &Path) -> io::Result<()>;
}

/// The disk.
#[derive(Debug)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        unless(fs::create_dir(path), io::ErrorKind::AlreadyExists)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // An attacker's link under this name is removed, not followed.
        self.remove(path)?;
        let mut file = File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_data()
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(len)?;
        file.sync_data()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        unless(fs::remove_file(path), io::ErrorKind::NotFound)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

/// Room on the disk of a folder, for this process: a file system may keep a part for the administrator.
#[cfg(unix)]
pub(crate) fn room(folder: &Path) -> Option<Room> {
    let about = rustix::fs::statvfs(folder).ok()?;
    Some(Room {
        path: folder.display().to_string(),
        free_bytes: about.f_bavail.saturating_mul(about.f_frsize),
        total_bytes: about.f_blocks.saturating_mul(about.f_frsize),
        is_read_only: about.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
    })
}

#[cfg(not(unix))]
pub(crate) fn room(_: &Path) -> Option<Room> {
    None
}

fn unless(result: io::Result<()>, fine: io::ErrorKind) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == fine => Ok(()),
        result => result,
    }
}
