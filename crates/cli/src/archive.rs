//! A backup on disk: a folder with the files of a root, and a list of them with their checksums.
//!
//! Owns: the list's format, which carries a version, and complete copies synced to disk. Never: the choice of files
//! (`commands::backup`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use model::{hex, unhex};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::error::{Failure, Hinted as _};
use crate::private::{self, if_there};

/// The list. It is written last, so that a folder with a list is a complete backup.
pub(crate) const LIST: &str = "quipu-backup.json";
/// The version that this program writes, and the newest that it reads.
const FORMAT: u32 = 1;
const PIECE: usize = 1 << 16;

/// The list of a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Archive {
    /// Version of this format.
    format: u32,
    /// Version of the program that wrote the backup.
    quipu: String,
    /// Time of the backup: it has everything acknowledged until then.
    pub(crate) taken: String,
    /// Settings whose secrets the backup leaves out.
    pub(crate) secrets_left_out: Vec<String>,
    pub(crate) files: Vec<ArchivedFile>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArchivedFile {
    /// Path below the root, and below the backup's folder, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// Checksum in hexadecimal.
    pub(crate) sha256: String,
    /// The bytes of a path below the root that is not UTF-8, in hexadecimal; `path` is then only the path below the backup's
    /// folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl ArchivedFile {
    /// A file that was copied from the path `from` below a root to `path` below the backup's folder.
    pub(crate) fn new(path: &str, from: &Path, (bytes, sha256): (u64, String)) -> Self {
        let name = from.to_str().is_none().then(|| hex(from.as_os_str().as_bytes()));
        Self {
            path: path.to_owned(),
            bytes,
            sha256,
            name,
        }
    }

    /// The path below the root; `None` if it leads out of the root.
    fn place(&self) -> Option<PathBuf> {
        let place = match &self.name {
            None => PathBuf::from(&self.path),
            Some(name) => OsString::from_vec(unhex(name)?).into(),
        };
        (is_below(Path::new(&self.path)) && is_below(&place)).then_some(place)
    }
}

impl Archive {
    pub(crate) fn new(taken: String, secrets_left_out: Vec<String>, files: Vec<ArchivedFile>) -> Self {
        Self {
            format: FORMAT,
            quipu: env!("CARGO_PKG_VERSION").to_owned(),
            taken,
            secrets_left_out,
            files,
        }
    }

    /// Reads the list in a backup's folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let file = folder.join(LIST);
        let shown = folder.display();
        let text = fs::read(&file)
            .with_context(|| format!("`{shown}` is not a whole backup: cannot read `{LIST}`"))
            .hint(
                "name the folder that `quipu backup DIR` wrote; a backup that was interrupted has no list",
            )?;
        // Every version of the list has this field.
        let any: Value = serde_json::from_slice(&text).unwrap_or_default();
        if let Some(found) = any["format"].as_u64().filter(|format| *format > FORMAT.into()) {
            let newer = format!("the backup has format {found}, this program knows {FORMAT}");
            return Err(Failure::failed(newer).hint("restore it with the newer quipu that wrote it"));
        }
        let archive: Self = serde_json::from_slice(&text)
            .with_context(|| format!("cannot read `{}`: the backup is damaged", file.display()))?;
        match archive.files.iter().find(|file| file.place().is_none()) {
            Some(ArchivedFile { path, .. }) => {
                let why = format!("the backup is damaged: `{path}` leads out of its folder");
                Err(Failure::usage(why))
            }
            None => Ok(archive),
        }
    }

    /// Writes the list into the backup's folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let text = serde_json::to_vec_pretty(self)?;
        copy(&mut &*text, &folder.join(LIST))?;
        Ok(sync_folder(folder)?)
    }

    /// Reads every file of the backup and compares it with the list.
    pub(crate) fn verify(&self, folder: &Path) -> Result<(), Failure> {
        for file in &self.files {
            let there = File::open(folder.join(&file.path))
                .and_then(|mut there| sum(&mut there))
                .with_context(|| format!("the backup is damaged: cannot read `{}`", file.path))?;
            if there != (file.bytes, file.sha256.clone()) {
                return Err(damaged(&file.path));
            }
        }
        Ok(())
    }

    /// Copies every file to its path below a root, and compares it with the list while copying.
    pub(crate) fn unpack(&self, folder: &Path, root: &Path) -> Result<(), Failure> {
        for file in &self.files {
            let to = root.join(file.place().ok_or_else(|| damaged(&file.path))?);
            private::folder(to.parent().unwrap_or(root))?;
            let copied = File::open(folder.join(&file.path))
                .and_then(|mut from| copy(&mut from, &to))
                .with_context(|| format!("cannot copy `{}`", file.path))?;
            if copied != (file.bytes, file.sha256.clone()) {
                return Err(damaged(&file.path));
            }
        }
        Ok(())
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

fn damaged(path: &str) -> Failure {
    let why = format!("the backup is damaged: `{path}` is not as it was written");
    Failure::failed(why).hint("restore another backup; nothing of this one was used")
}

/// Whether a relative path stays below its folder.
fn is_below(path: &Path) -> bool {
    !path.as_os_str().is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// Writes a file that only its owner can read, replaces an existing one, and syncs it to disk. Returns size and checksum.
pub(crate) fn copy(from: &mut impl Read, to: &Path) -> io::Result<(u64, String)> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(to)?;
    let copied = transfer(from, &mut file)?;
    file.sync_all()?;
    Ok(copied)
}

fn transfer(from: &mut impl Read, to: &mut impl Write) -> io::Result<(u64, String)> {
    let (mut hash, mut bytes, mut piece) = (Sha256::new(), 0, vec![0; PIECE]);
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&piece[..read]);
        to.write_all(&piece[..read])?;
        bytes += read as u64;
    }
    Ok((bytes, hex(hash.finalize())))
}

/// Size and checksum of a reader's bytes.
pub(crate) fn sum(from: &mut impl Read) -> io::Result<(u64, String)> {
    transfer(from, &mut io::sink())
}

/// Syncs the names in a folder to disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Refuses a folder with content.
pub(crate) fn check_empty(folder: &Path, what: &str) -> Result<(), Failure> {
    let shown = folder.display();
    let entries = if_there(fs::read_dir(folder)).with_context(|| format!("cannot read `{shown}`"))?;
    match entries.and_then(|mut entries| entries.next()) {
        None => Ok(()),
        Some(_) => Err(Failure::usage(format!("{what} `{shown}` is not empty"))),
    }
}

/// The plain files below a folder, by their paths below `root` as text; no two files have the same text. Links, pipes and sockets
/// are left out, as in the vault.
pub(crate) fn files_below(
    root: &Path,
    folder: &str,
    skip: &[&str],
) -> anyhow::Result<BTreeMap<String, PathBuf>> {
    let (mut found, mut unnamed) = (BTreeMap::new(), Vec::new());
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        let unreadable = || format!("cannot read the folder `{}`", folder.display());
        let entries = if_there(fs::read_dir(root.join(&folder))).with_context(unreadable)?;
        for entry in entries.into_iter().flatten() {
            let entry = entry.with_context(unreadable)?;
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !skip.iter().any(|skipped| path == Path::new(skipped)) => {
                    folders.push(path);
                }
                Ok(kind) if kind.is_file() => match path.to_str() {
                    Some(text) => drop(found.insert(text.to_owned(), path)),
                    None => unnamed.push(path),
                },
                _ => {}
            }
        }
    }
    unnamed.sort();
    for path in unnamed {
        let mut text = as_text(&path);
        while found.contains_key(&text) {
            text.push('%');
        }
        found.insert(text, path);
    }
    Ok(found)
}

/// A path as text; bytes that are not UTF-8 become `%E9`.
fn as_text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push('%');
            text.push_str(&hex([*byte]).to_uppercase());
        }
    }
    text
}

/// An absolute form of a path, whether or not the path exists.
pub(crate) fn absolute(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|_| std::path::absolute(path))
}

#[cfg(test)]
mod tests;
