//! Which generation is live: one small file, replaced as a whole.
//!
//! Owns: the folder's layout, the `CURRENT` file with its format version, the note of pending purges. Never: the
//! content of a generation.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use model::EmbedderId;

/// The layout of the folder and the table; another one is rebuilt, never read.
const FORMAT: u32 = 6;
const FILE: &str = "CURRENT";

/// The file that is there while something that was removed may be in other files.
const OWED: &str = "ERASE";

/// The live generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Current {
    pub(crate) generation: u64,
    pub(crate) embedder: EmbedderId,
    /// Whether it was built from the whole vault, and not only from the writes since it was created.
    pub(crate) complete: bool,
    /// One that was built of nothing has no files; the first write makes them.
    pub(crate) has_files: bool,
}

/// State of the folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CurrentFile {
    Nothing,
    Live(Current),
    Unreadable { reason: String },
}

impl Current {
    fn to_text(&self) -> String {
        let Self {
            generation,
            embedder: EmbedderId { model, dims },
            complete,
            has_files,
        } = self;
        format!(
            "quipu-index {FORMAT}\ngeneration {generation}\ncomplete {complete}\nfiles {has_files}\ndims {dims}\n\
             model {model}\n"
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut value = |name: &str| {
            let (line, after) = rest.split_once('\n')?;
            rest = after;
            line.strip_prefix(name)?.strip_prefix(' ')
        };
        if value("quipu-index")? != FORMAT.to_string() {
            return None;
        }
        let generation = value("generation")?.parse().ok()?;
        let complete = value("complete")?.parse().ok()?;
        let has_files = value("files")?.parse().ok()?;
        let dims = value("dims")?.parse().ok()?;
        let model = rest.strip_prefix("model ")?.strip_suffix('\n')?.to_owned();
        Some(Self {
            generation,
            embedder: EmbedderId { model, dims },
            complete,
            has_files,
        })
    }
}

/// Reads the state of the folder.
pub(crate) fn read(dir: &Path) -> CurrentFile {
    match fs::read_to_string(dir.join(FILE)) {
        Ok(text) => match Current::parse(&text) {
            Some(current) => CurrentFile::Live(current),
            None => unreadable("its `CURRENT` file is damaged or of another version"),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => CurrentFile::Nothing,
        Err(error) => unreadable(&format!("its `CURRENT` file cannot be read: {error}")),
    }
}

fn unreadable(reason: &str) -> CurrentFile {
    CurrentFile::Unreadable {
        reason: reason.to_owned(),
    }
}

/// Makes a generation the live one; after a crash the file names the old one or this one.
pub(crate) fn write(dir: &Path, current: &Current) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let new = dir.join("CURRENT.new");
    let mut file = fs::File::create(&new)?;
    file.write_all(current.to_text().as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, dir.join(FILE))?;
    // From here on it is done for every process; a disk that cannot sync can lose it only in a power cut.
    if let Err(error) = fs::File::open(dir).and_then(|dir| dir.sync_all()) {
        tracing::warn!(%error, "cannot sync the index folder");
    }
    Ok(())
}

/// Stores whether removed rows must be erased from every file; synced, because the removal follows.
pub(crate) fn owe_erasing(dir: &Path, is_owed: bool) -> io::Result<()> {
    let note = dir.join(OWED);
    if is_owed {
        if note.exists() {
            return Ok(());
        }
        fs::create_dir_all(dir)?;
        fs::File::create(&note)?.sync_all()?;
        return fs::File::open(dir)?.sync_all();
    }
    match fs::remove_file(&note) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether that is written down.
pub(crate) fn owes_erasing(dir: &Path) -> bool {
    dir.join(OWED).exists()
}

/// Where a generation's files are.
pub(crate) fn generation_dir(dir: &Path, generation: u64) -> PathBuf {
    dir.join(format!("gen-{generation:06}"))
}

/// The generations that have a folder.
pub(crate) fn generations(dir: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut generations = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("gen-"));
        generations.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    Ok(generations)
}

/// Total bytes of the files below a folder; files that vanish in the meantime count nothing.
pub(crate) fn bytes_below(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_below(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    });
    bytes.sum()
}
