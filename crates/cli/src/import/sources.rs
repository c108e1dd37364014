//! The files of a path: the file itself, or the files of an archive or a folder, ordered by name.
//!
//! Owns: finding and opening files, and counting the bytes read. Never: their content, or which of them have conversations.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::text::Fnv;
use serde_json::Value;
use tempfile::NamedTempFile;

use super::everos;
use crate::error::Failure;

/// Maximum depth of files below a folder: `~/.codex/sessions/2026/02/03/` has depth four.
const DEPTH_MAX: usize = 6;

/// One file that may have conversations.
#[derive(Debug, Clone)]
pub(crate) struct ImportFile {
    pub(super) path: PathBuf,
    /// The file's name inside the archive at `path`.
    entry: Option<String>,
    /// The archive inside an archive that has the entry.
    inner: Option<Arc<NamedTempFile>>,
    /// A name in place of the folder's, for files whose folder says nothing.
    place: Option<String>,
    /// The person named this file itself, not a folder or an archive.
    pub(super) is_named: bool,
    /// Bytes to read.
    pub(crate) bytes: u64,
}

impl fmt::Display for ImportFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.entry {
            Some(entry) => write!(f, "`{entry}` of `{}`", self.path.display()),
            None => write!(f, "`{}`", self.path.display()),
        }
    }
}

/// The files of some paths.
pub(crate) fn sources(paths: &[PathBuf]) -> Result<Vec<ImportFile>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let file = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if file.is_dir() && !everos::is_everos(path) {
            in_folder(path, &mut found)?;
        } else if is_zip(path) {
            in_archive(path, None, &mut found)?;
        } else if file.is_dir() {
            found.push(of_path(path.join(everos::FILE), true));
        } else {
            found.push(of_path(path.clone(), true));
        }
    }
    Ok(found)
}

fn of_path(path: PathBuf, is_named: bool) -> ImportFile {
    ImportFile {
        bytes: std::fs::metadata(&path).map_or(0, |file| file.len()),
        path,
        entry: None,
        inner: None,
        place: None,
        is_named,
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read `{}`: {error}", path.display()))
        .hint("give the path of a file or folder that exists and can be read")
}

/// Whether a file begins like a zip archive.
fn is_zip(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"PK\x03\x04"
}

/// Bytes at a file's beginning that make the name in place of its folder's.
const BEGINNING_BYTES: u64 = 256;

fn is_named_zip(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("zip"))
}

/// Maximum unpacked bytes of an archive inside an archive; a longer one is reported as broken.
const UNPACKED_BYTES_MAX: u64 = 4 << 30;

/// Extensions that no format uses.
const NO_FORMATS: &[&str] = &[
    "png", "jpg", "jpeg", "webp", "gif", "heic", "svg", "mp3", "m4a", "ogg", "opus", "wav", "mp4", "mov",
    "webm", "pdf", "dat", "gz", "vcf", "css", "js", "lock", "toml", "log",
];

fn may_hold(name: &str) -> bool {
    let ending = Path::new(name).extension().unwrap_or_default();
    !NO_FORMATS.iter().any(|none| ending.eq_ignore_ascii_case(none))
}

fn in_folder(folder: &Path, found: &mut Vec<ImportFile>) -> Result<(), Failure> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((next, depth)) = folders.pop() {
        let entries = std::fs::read_dir(&next).map_err(|error| unreadable(&next, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&next, &error))?;
            let kind = entry.file_type().map_err(|error| unreadable(&next, &error))?;
            if kind.is_dir() && depth < DEPTH_MAX {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() && may_hold(&entry.file_name().to_string_lossy()) {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    for path in files {
        // Office documents are archives too; a broken archive is read as a file and reported as one without conversations.
        let count = found.len();
        let is_archive = is_named_zip(&path) && in_archive(&path, None, found).is_ok();
        if !is_archive {
            found.truncate(count);
            found.push(of_path(path, false));
        }
    }
    Ok(())
}

/// The entries of an archive and of the archives inside it: some services pack each part of an export.
fn in_archive(
    path: &Path,
    inner: Option<&Arc<NamedTempFile>>,
    found: &mut Vec<ImportFile>,
) -> Result<(), Failure> {
    let mut archive = archive(inner.map_or(path, |inner| inner.path()))?;
    let mut entries = Vec::new();
    for at in 0..archive.len() {
        let entry = archive.by_index_raw(at).map_err(|error| broken(path, &error))?;
        if let Ok(name) = entry.name()
            && entry.is_file()
            && !name.starts_with("__MACOSX/")
            && may_hold(&name)
        {
            entries.push((name.into_owned(), entry.size()));
        }
    }
    entries.sort();
    for (entry, bytes) in entries {
        if is_named_zip(Path::new(&entry)) && inner.is_none() {
            let packed = archive.by_name(&entry).map_err(|error| broken(path, &error))?;
            let mut packed = packed.take(UNPACKED_BYTES_MAX);
            let mut file = NamedTempFile::new()?;
            std::io::copy(&mut packed, &mut file)?;
            in_archive(path, Some(&Arc::new(file)), found)?;
        } else {
            found.push(ImportFile {
                entry: Some(entry),
                inner: inner.cloned(),
                bytes,
                ..of_path(path.to_owned(), false)
            });
        }
    }
    Ok(())
}

fn archive(path: &Path) -> Result<zip::ZipArchive<BufReader<File>>, Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    zip::ZipArchive::new(BufReader::new(file)).map_err(|error| broken(path, &error))
}

fn broken(path: &Path, error: &zip::result::ZipError) -> Failure {
    let path = path.display();
    Failure::usage(format!("`{path}` is not a readable zip archive: {error}"))
}

impl ImportFile {
    /// Whether the file is on disk, not in an archive.
    pub(super) fn is_file(&self) -> bool {
        self.entry.is_none()
    }

    fn own(&self) -> &Path {
        self.entry.as_ref().map_or(self.path.as_path(), Path::new)
    }

    /// The file's name without its extension.
    pub(crate) fn stem(&self) -> String {
        let stem = self.own().file_stem();
        stem.map_or_else(|| "import".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    /// The file's name with its extension.
    pub(super) fn file_name(&self) -> String {
        let name = self.own().file_name();
        name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// For a file whose folder says nothing, such as an upload: a hash of the file's beginning replaces the folder's name. A
    /// conversation that has grown begins the same.
    pub(crate) fn alone(mut self) -> Self {
        let mut head = Vec::new();
        let read = File::open(&self.path).and_then(|file| file.take(BEGINNING_BYTES).read_to_end(&mut head));
        if read.is_ok() && self.entry.is_none() {
            self.place = Some(format!("upload-{:016x}", Fnv::of(&head)));
        }
        self
    }

    /// The name of the file's folder, or of its archive.
    pub(super) fn folder(&self) -> String {
        if let Some(place) = &self.place {
            return place.clone();
        }
        let folder = self.own().parent().and_then(Path::file_name);
        let folder = folder.or_else(|| self.path.file_stem());
        folder.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Whether a folder with this name is above the file.
    pub(super) fn is_below(&self, name: &str) -> bool {
        let mut above = self.path.components().chain(self.own().components());
        above.any(|part| part.as_os_str() == name)
    }

    /// The JSON of another file in the same folder.
    pub(super) fn beside(&self, name: &str) -> Value {
        let mut other = self.clone();
        let beside = self.own().with_file_name(name);
        match &mut other.entry {
            Some(entry) => *entry = beside.to_string_lossy().into_owned(),
            None => other.path = beside,
        }
        let mut value = Value::Null;
        let read = other.open(&Arc::default(), &mut |stream| {
            value = serde_json::from_reader(stream).unwrap_or_default();
            Ok(())
        });
        read.map_or(Value::Null, |()| value)
    }

    /// Passes a stream of the file to `read`; `count` grows with the bytes read.
    pub(super) fn open(
        &self,
        count: &Arc<AtomicU64>,
        read: &mut dyn FnMut(&mut dyn BufRead) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let count = count.clone();
        let Some(entry) = &self.entry else {
            let inner = File::open(&self.path).map_err(|error| unreadable(&self.path, &error))?;
            return read(&mut BufReader::new(Counted { inner, count }));
        };
        let mut archive = archive(self.inner.as_ref().map_or(&self.path, |inner| inner.path()))?;
        let inner = archive.by_name(entry);
        let inner = inner.map_err(|error| broken(&self.path, &error))?;
        read(&mut BufReader::new(Counted { inner, count }))
    }
}

/// A reader that counts the bytes read.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.count.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}
