//! The files of a path: itself, an export's parts in an archive or a folder, a client's folder of sessions.
//!
//! Owns: finding and opening them, and counting the bytes read. Never: their content.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::everos;
use crate::error::Failure;

/// Maximum depth of files below a folder: `~/.codex/sessions/2026/02/03/` is four.
const DEPTH_MAX: usize = 6;

/// One file with conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportFile {
    pub(super) path: PathBuf,
    /// The file's name inside the archive that `path` is.
    entry: Option<String>,
    /// How many bytes there are to read.
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
            found.extend(in_folder(path)?);
        } else if is_zip(path) {
            found.extend(in_archive(path)?);
        } else {
            let path = if file.is_dir() {
                path.join(everos::FILE)
            } else {
                path.clone()
            };
            let bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
            found.push(ImportFile {
                path,
                entry: None,
                bytes,
            });
        }
    }
    Ok(found)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read `{}`: {error}", path.display()))
        .hint("give the path of a file or folder that exists and can be read")
}

fn is_zip(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("zip"))
}

/// `conversations.json`, or one of its parts: `conversations-000.json`.
fn is_export(name: &str) -> bool {
    let part = name
        .strip_prefix("conversations")
        .and_then(|rest| rest.strip_suffix(".json"));
    part.is_some_and(|part| {
        let number = part.strip_prefix(['-', '_']);
        part.is_empty() || number.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// A session of Codex is a rollout.
fn is_rollout(name: &str) -> bool {
    name.starts_with("rollout-") && is_session(name)
}

/// A session's file. Not those of sub-agents, and not the list of all that was ever typed.
fn is_session(name: &str) -> bool {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let is_jsonl = Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    is_jsonl && !name.starts_with("agent-") && !name.ends_with("history.jsonl")
}

/// Of several files those that hold conversations: an export's, or else Codex's, or else all sessions.
fn chosen<T>(files: Vec<T>, name: impl Fn(&T) -> String) -> Vec<T> {
    let kinds: [fn(&str) -> bool; 3] = [is_export, is_rollout, is_session];
    let kind = kinds
        .into_iter()
        .find(|is_one| files.iter().any(|file| is_one(&name(file))));
    let Some(is_one) = kind else { return Vec::new() };
    files.into_iter().filter(|file| is_one(&name(file))).collect()
}

fn in_folder(folder: &Path) -> Result<Vec<ImportFile>, Failure> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((next, depth)) = folders.pop() {
        let entries = std::fs::read_dir(&next).map_err(|error| unreadable(&next, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&next, &error))?;
            let kind = entry.file_type().map_err(|error| unreadable(&next, &error))?;
            if kind.is_dir() && depth < DEPTH_MAX && entry.file_name() != "subagents" {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    let name = |path: &PathBuf| {
        path.file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    };
    let files = chosen(files, name);
    if files.is_empty() {
        return Err(Failure::usage(format!("`{}` contains no conversations", folder.display())).hint(
            "give an export's folder with its `conversations.json`, a folder of Claude Code or Codex sessions, or the \
             file itself",
        ));
    }
    let sources = files.into_iter().map(|path| ImportFile {
        bytes: std::fs::metadata(&path).map_or(0, |file| file.len()),
        path,
        entry: None,
    });
    Ok(sources.collect())
}

fn in_archive(path: &Path) -> Result<Vec<ImportFile>, Failure> {
    let mut archive = archive(path)?;
    let mut entries = Vec::new();
    for at in 0..archive.len() {
        let entry = archive.by_index_raw(at).map_err(|error| broken(path, &error))?;
        if let Ok(name) = entry.name()
            && entry.is_file()
            && !name.starts_with("__MACOSX/")
        {
            entries.push((name.into_owned(), entry.size()));
        }
    }
    entries.sort();
    let name = |entry: &(String, u64)| entry.0.rsplit('/').next().unwrap_or_default().to_owned();
    let entries = chosen(entries, name);
    if entries.is_empty() {
        return Err(
            Failure::usage(format!("`{}` contains no `conversations.json`", path.display()))
                .hint("give the archive as ChatGPT or Claude made it"),
        );
    }
    let sources = entries.into_iter().map(|(entry, bytes)| ImportFile {
        path: path.to_owned(),
        entry: Some(entry),
        bytes,
    });
    Ok(sources.collect())
}

fn archive(path: &Path) -> Result<zip::ZipArchive<BufReader<File>>, Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    zip::ZipArchive::new(BufReader::new(file)).map_err(|error| broken(path, &error))
}

fn broken(path: &Path, error: &zip::result::ZipError) -> Failure {
    Failure::usage(format!(
        "`{}` is not a readable zip archive: {error}",
        path.display()
    ))
}

impl ImportFile {
    /// The file's name without its ending.
    pub(crate) fn stem(&self) -> String {
        let path = self.entry.as_ref().map_or(self.path.as_path(), Path::new);
        path.file_stem()
            .map_or_else(|| "import".to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    /// The file's name with its ending.
    pub(super) fn file_name(&self) -> String {
        let path = self.entry.as_ref().map_or(self.path.as_path(), Path::new);
        path.file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Has the file read; `count` grows by the bytes that were.
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
        let mut archive = archive(&self.path)?;
        let inner = archive
            .by_name(entry)
            .map_err(|error| broken(&self.path, &error))?;
        read(&mut BufReader::new(Counted { inner, count }))
    }
}

/// A reader that reports its progress.
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
