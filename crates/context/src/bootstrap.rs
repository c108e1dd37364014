//! Instruction files at the start of a session: their choice, order and maximum size.
//!
//! Owns: the order of names and places, the sections, the budget, the origin of each section, the detection of
//! dangerous content. Never: reading; [`Files`] does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::text::sha256_hex;

/// Reads files for the loader. An implementation:
/// - resolves every link first, and refuses a path that ends outside its roots as [`Missing::Outside`];
/// - opens only regular files and never waits: a FIFO, device, socket or directory is [`Missing::Unfit`];
/// - reads at most `bytes_max` bytes, from the beginning, however large the file;
/// - returns the same result for the same tree, and no error other than [`Missing`].
pub trait Files {
    /// The file at `path`.
    fn read(&self, path: &Path, bytes_max: usize) -> Result<FileHead, Missing>;
}

/// The beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHead {
    /// At most the requested number of bytes.
    pub bytes: Vec<u8>,
    /// The size of the whole file, in bytes.
    pub bytes_total: u64,
    /// The path with every link resolved.
    pub real_path: PathBuf,
}

/// Why a file was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    #[error("not there")]
    Absent,
    #[error("no permission to read it")]
    Denied,
    #[error("leads out of its folder")]
    Outside,
    #[error("not a text file")]
    Unfit,
}

/// Treatment of a file that looks dangerous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Danger {
    Report,
    /// Left out with a note; other folders are not searched for the name.
    Drop,
}

/// Names, places and sizes of the files to load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Plain names of files, in the order of their sections.
    pub names: Vec<String>,
    /// Folders, by real paths, in the order in which they are searched for a name. A file outside of them is never
    /// loaded, whatever [`Files`] allows.
    pub roots: Vec<PathBuf>,
    /// Maximum characters of the whole content; headings and truncation marks count. Files that no longer fit are read
    /// too, so that the report lists them.
    pub chars_max: usize,
    pub danger: Danger,
}

/// Instruction files at the beginning of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    /// `## NAME`, a blank line, the text; between sections a blank line, `---`, a blank line.
    pub content: String,
    pub sections: Vec<Section>,
    /// Whether text was left out because of `chars_max`.
    pub truncated: bool,
    pub notes: Vec<Note>,
}

/// One file's part of the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    /// The requested path.
    pub path: PathBuf,
    pub real_path: PathBuf,
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// Characters of its text in the content, without its heading and the truncation mark.
    pub chars: usize,
    pub truncated: bool,
    /// SHA-256 of the read bytes, in hexadecimal; covers the whole file if all of it was read.
    pub sha256: String,
    /// The dangerous patterns it matches, by name.
    pub dangers: Vec<&'static str>,
}

/// An existing file that is not in the content, or a name that no file can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub path: PathBuf,
    pub what: Remark,
}

/// Why a file is not in the content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Remark {
    /// It contains dangerous patterns, by name.
    #[error("contains dangerous patterns: {}", .0.join(", "))]
    Dangerous(Vec<&'static str>),
    /// Outside the roots, unreadable or unfit.
    #[error("{0}")]
    Refused(Missing),
    /// The content already contains the same real file.
    #[error("the same file has been used already")]
    Repeated,
    #[error("no room")]
    LeftOut,
    #[error("not a plain file name")]
    Name,
}

const NAMES: &[&str] = &[
    "BOOTSTRAP.md", "AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md",
];
/// Maximum characters of all files together.
pub const CHARS_MAX: usize = 20_000;
const BETWEEN: &str = "\n\n---\n\n";
const TRUNCATED: &str = "\n\n... (truncated)";
/// Bytes read beyond the budget: blank lines at the beginning do not count as text.
const SLACK_BYTES: usize = 16 * 1024;

impl Policy {
    /// The known names in these folders, given as real paths.
    pub fn new(roots: Vec<PathBuf>) -> Self {
        Self {
            names: NAMES.iter().map(|&name| name.to_owned()).collect(),
            roots,
            chars_max: CHARS_MAX,
            danger: Danger::Report,
        }
    }
}

/// Loads the files of the policy. The same files give the same bytes.
pub fn load(policy: &Policy, files: &impl Files) -> Loaded {
    let mut loader = Loader {
        policy,
        files,
        seen: BTreeSet::new(),
        used: 0,
        loaded: Loaded::default(),
    };
    for name in &policy.names {
        if !is_plain(name) {
            loader.note(Path::new(name).to_path_buf(), Remark::Name);
            continue;
        }
        if let Some(candidate) = loader.find(name) {
            loader.include(name, candidate);
        }
    }
    loader.loaded
}

struct Loader<'a, F> {
    policy: &'a Policy,
    files: &'a F,
    seen: BTreeSet<PathBuf>,
    /// Characters of the content.
    used: usize,
    loaded: Loaded,
}

struct FileCandidate {
    path: PathBuf,
    found: FileHead,
    text: String,
}

impl<F: Files> Loader<'_, F> {
    fn note(&mut self, path: PathBuf, what: Remark) {
        self.loaded.notes.push(Note { path, what });
    }

    /// The file in the first folder where this name has text.
    fn find(&mut self, name: &str) -> Option<FileCandidate> {
        let bytes_max = self
            .policy
            .chars_max
            .saturating_mul(4)
            .saturating_add(SLACK_BYTES);
        for place in &self.policy.roots {
            let path = place.join(name);
            let found = match self.files.read(&path, bytes_max) {
                Ok(found) => found,
                Err(Missing::Absent) => continue,
                Err(missing) => {
                    self.note(path, Remark::Refused(missing));
                    continue;
                }
            };
            if !self
                .policy
                .roots
                .iter()
                .any(|root| found.real_path.starts_with(root))
            {
                self.note(path, Remark::Refused(Missing::Outside));
                continue;
            }
            let Some(text) = decode(&found, bytes_max) else {
                self.note(path, Remark::Refused(Missing::Unfit));
                continue;
            };
            if !text.is_empty() {
                return Some(FileCandidate { path, found, text });
            }
        }
        None
    }

    fn include(&mut self, name: &str, candidate: FileCandidate) {
        let FileCandidate { path, found, text } = candidate;
        if self.seen.contains(&found.real_path) {
            return self.note(path, Remark::Repeated);
        }
        let dangers = dangers(&text);
        if self.policy.danger == Danger::Drop && !dangers.is_empty() {
            return self.note(path, Remark::Dangerous(dangers));
        }
        let between = if self.loaded.sections.is_empty() {
            ""
        } else {
            BETWEEN
        };
        let head = format!("{between}## {name}\n\n");
        let whole = found.bytes_total <= found.bytes.len() as u64;
        let Some(kept) = self.fit(&head, &text, whole) else {
            self.loaded.truncated = true;
            return self.note(path, Remark::LeftOut);
        };
        let truncated = kept.len() < text.len() || !whole;
        let tail = if truncated { TRUNCATED } else { "" };
        let chars = count(kept);
        self.used += count(&head) + chars + count(tail);
        self.loaded.content.extend([head.as_str(), kept, tail]);
        self.loaded.truncated |= truncated;
        self.seen.insert(found.real_path.clone());
        self.loaded.sections.push(Section {
            name: name.to_owned(),
            path,
            real_path: found.real_path,
            bytes: found.bytes_total,
            chars,
            truncated,
            sha256: sha256_hex(&found.bytes),
            dangers,
        });
    }

    /// The part of the text that fits; none if not even its first character does.
    fn fit<'t>(&self, head: &str, text: &'t str, whole: bool) -> Option<&'t str> {
        let room = self.policy.chars_max.saturating_sub(self.used);
        let room = room.checked_sub(count(head))?;
        if whole && count(text) <= room {
            return Some(text);
        }
        let kept = model::head(text, room.checked_sub(count(TRUNCATED))?);
        (!kept.is_empty()).then_some(kept)
    }
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// Whether a name is plain: it cannot lead into another directory.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name != "."
        && name != ".."
        && !name.contains(['/', '\\', ':'])
        && !name.contains(char::is_control)
}

/// The text without surrounding white space; none if the bytes are not text.
fn decode(found: &FileHead, bytes_max: usize) -> Option<String> {
    let bytes = &found.bytes[..found.bytes.len().min(bytes_max)];
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The read bytes may end inside a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    (!text.contains('\0')).then(|| text.trim().to_owned())
}

/// Names and patterns of content that instruction files do not need.
const DANGERS: &[(&str, &str)] = &[
    ("eval", r"(?-u:\b)eval\s*\("),
    ("new Function", r"(?-u:\b)new\s+Function\s*\("),
    (
        "child_process",
        r#"require\s*\(\s*(?:'child_process'|"child_process")\s*\)"#,
    ),
    ("exec", r"(?-u:\b)exec(?:Sync)?\s*\("),
    ("spawn", r"(?-u:\b)spawn(?:Sync)?\s*\("),
    ("script", r"(?i)<script(?-u:\b)"),
];

static DANGER_REGEXES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let compile = |&(name, pattern)| (name, Regex::new(pattern).expect("a test compiles every pattern"));
    DANGERS.iter().map(compile).collect()
});

fn dangers(text: &str) -> Vec<&'static str> {
    DANGER_REGEXES
        .iter()
        .filter(|(_, regex)| regex.is_match(text))
        .map(|(name, _)| *name)
        .collect()
}
