//! Summary of a table at its last maintenance, in a small file beside it.
//!
//! Owns: the size of an unopened index without LanceDB, and whether its data files are complete. Never: valid after a
//! later write to the table.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ports::{IndexError, IndexStats};

const FILE: &str = "SUMMARY";
const TITLE: &str = "quipu-index-summary 1";

/// A data file and how long it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataFile {
    pub(crate) path: String,
    pub(crate) bytes: u64,
}

/// One version of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) version: u64,
    pub(crate) rows: u64,
    pub(crate) fragments: u64,
    pub(crate) unindexed_rows: u64,
    pub(crate) files: Vec<DataFile>,
}

impl Summary {
    /// The summary beside a table, if it is of the table's newest version.
    pub(crate) fn read(dir: &Path, table: &Path) -> Option<Self> {
        let text = fs::read_to_string(dir.join(FILE)).ok()?;
        let (summary, manifest_bytes) = Self::parse(&text)?;
        let manifest = fs::metadata(manifest(table, summary.version)).ok()?;
        let is_newest = !manifest_after(table, summary.version).exists();
        (is_newest && manifest.len() == manifest_bytes).then_some(summary)
    }

    /// Writes it down. A process that dies meanwhile leaves a text that has no end and is not read.
    pub(crate) fn write(&self, dir: &Path, table: &Path) -> io::Result<()> {
        let manifest_bytes = fs::metadata(manifest(table, self.version))?.len();
        fs::write(dir.join(FILE), self.to_text(manifest_bytes))
    }

    fn to_text(&self, manifest_bytes: u64) -> String {
        let Self {
            version,
            rows,
            fragments,
            unindexed_rows,
            files,
        } = self;
        let mut text = format!(
            "{TITLE}\nversion {version} {manifest_bytes}\nrows {rows} {unindexed_rows}\nfragments {fragments}\n"
        );
        for file in files {
            writeln!(text, "file {} {}", file.bytes, file.path).expect("a string takes all");
        }
        text.push_str("end\n");
        text
    }

    fn parse(text: &str) -> Option<(Self, u64)> {
        fn pair(line: &str, name: &str) -> Option<(u64, u64)> {
            let (first, second) = line.strip_prefix(name)?.split_once(' ')?;
            Some((first.parse().ok()?, second.parse().ok()?))
        }
        let mut lines = text.strip_prefix(TITLE)?.strip_suffix("\nend\n")?.lines().skip(1);
        let (version, manifest_bytes) = pair(lines.next()?, "version ")?;
        let (rows, unindexed_rows) = pair(lines.next()?, "rows ")?;
        let fragments = lines.next()?.strip_prefix("fragments ")?.parse().ok()?;
        let file = |line: &str| {
            let (bytes, path) = line.strip_prefix("file ")?.split_once(' ')?;
            Some(DataFile {
                path: path.to_owned(),
                bytes: bytes.parse().ok()?,
            })
        };
        let summary = Self {
            version,
            rows,
            fragments,
            unindexed_rows,
            files: lines.map(file).collect::<Option<_>>()?,
        };
        Some((summary, manifest_bytes))
    }

    /// Whether every data file is there and as long as it was written.
    pub(crate) fn check(&self, table: &Path) -> Result<(), IndexError> {
        check(table, &self.files)
    }

    /// The numbers, as of a generation that takes so much of the disk.
    pub(crate) fn stats(&self, generation: u64, bytes_on_disk: u64) -> IndexStats {
        IndexStats {
            rows: self.rows,
            fragments: self.fragments,
            unindexed_rows: self.unindexed_rows,
            bytes_on_disk,
            generation,
        }
    }
}

/// Whether these data files of a table are there and as long as they were written.
pub(crate) fn check(table: &Path, files: &[DataFile]) -> Result<(), IndexError> {
    let data = table.join("data");
    for DataFile { path, bytes } in files {
        if fs::metadata(data.join(path)).ok().map(|meta| meta.len()) != Some(*bytes) {
            let reason = format!("its file `{path}` is missing or cut");
            return Err(IndexError::Unusable { reason });
        }
    }
    Ok(())
}

/// Where LanceDB keeps a version's list of files: newer versions have names that sort first.
fn manifest(table: &Path, version: u64) -> PathBuf {
    let name = format!("{:020}.manifest", u64::MAX - version);
    table.join("_versions").join(name)
}

fn manifest_after(table: &Path, version: u64) -> PathBuf {
    manifest(table, version.saturating_add(1))
}
