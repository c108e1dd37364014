//! Writes the files of clients, and undoes the changes.
//!
//! Owns: `init/` in the root with the original texts and the list of changed files. Never: a file that changed since it was read.
//!
//! The list records a change before the file is written. So after a crash at any moment, an undo knows every change.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::edit::{self, AddedEntry, EditRefusal, FileFormat};
use super::plan::{ConfigChange, read};
use crate::private::if_there;

const LIST: &str = "changes.json";
const VERSION: u32 = 1;

/// The changes of `quipu init`.
#[derive(Debug)]
pub(crate) struct ChangeStore {
    folder: PathBuf,
    list: ChangeList,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct ChangeList {
    version: u32,
    records: Vec<ChangeRecord>,
}

/// One changed file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ChangeRecord {
    file: PathBuf,
    format: FileFormat,
    /// None: the file did not exist.
    before_sha256: Option<String>,
    after_sha256: String,
    added: Vec<AddedEntry>,
    /// Folders that were created for the file, the outermost first.
    folders: Vec<PathBuf>,
}

/// A file, and its text after an undo.
#[derive(Debug)]
pub(crate) struct RestoredFile {
    pub(crate) file: PathBuf,
    /// None: the file does not exist.
    pub(crate) now: Option<String>,
    /// None: the undo removes the file.
    pub(crate) then: Result<Option<String>, EditRefusal>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("`{}` changed meanwhile; nothing was written to it", .0.display())]
    Changed(PathBuf),
    #[error("`{}`: an earlier entry of Quipu cannot be told apart: {refusal}", file.display())]
    Tangled { file: PathBuf, refusal: EditRefusal },
    #[error("`{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` is no list of changes, or of a newer version", .0.display())]
    Unknown(PathBuf),
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io { path, source }
}

impl ChangeStore {
    /// Opens the store in a folder; the first change creates the folder.
    pub(crate) fn open(folder: PathBuf) -> Result<Self, StoreError> {
        let path = folder.join(LIST);
        let none = ChangeList {
            version: VERSION,
            ..ChangeList::default()
        };
        let text = if_there(fs::read(&path)).map_err(at(&path))?;
        let list = text.map_or(Some(none), |text| serde_json::from_slice(&text).ok());
        let list = list.filter(|list| list.version == VERSION);
        let list = list.ok_or(StoreError::Unknown(path))?;
        Ok(Self { folder, list })
    }

    /// Writes a change, if the file still has its text from the plan.
    pub(crate) fn apply(&mut self, change: &ConfigChange) -> Result<(), StoreError> {
        let known = self
            .list
            .records
            .iter()
            .position(|record| record.file == change.file);
        let earlier = known.map(|known| self.list.records[known].clone());
        // The text that an undo of both changes restores.
        let before = match &earlier {
            None => change.before.clone(),
            Some(record) => self
                .restored(record, change.before.as_deref())
                .map_err(|refusal| StoreError::Tangled {
                    file: change.file.clone(),
                    refusal,
                })?,
        };
        let mut record = ChangeRecord {
            file: change.file.clone(),
            format: change.format,
            before_sha256: before.as_deref().map(sha256),
            after_sha256: sha256(&change.after),
            added: change.added.clone(),
            folders: missing_folders(&change.file),
        };
        if let Some(earlier) = earlier {
            record.added = [earlier.added, record.added].concat();
            record.folders = [earlier.folders, record.folders].concat();
        }
        if let (Some(text), Some(name)) = (&before, &record.before_sha256) {
            replace(&self.folder.join(name), text, None)?;
        }
        match known {
            Some(known) => self.list.records[known] = record.clone(),
            None => self.list.records.push(record.clone()),
        }
        self.save()?;
        for folder in &record.folders {
            fs::create_dir_all(folder).map_err(at(folder))?;
        }
        write(&change.file, Some(&change.after), change.before.as_deref())
    }

    /// The changed files, the newest first, each with its text after an undo.
    pub(crate) fn undo_plan(&self) -> Vec<RestoredFile> {
        let records = self.list.records.iter().rev();
        let restored = records.map(|record| {
            let now = read(&record.file);
            RestoredFile {
                file: record.file.clone(),
                then: now.clone().and_then(|now| self.restored(record, now.as_deref())),
                now: now.unwrap_or_default(),
            }
        });
        restored.collect()
    }

    /// Undoes the changes of a file, if it still has its text from the plan. A refused file stays unchanged.
    pub(crate) fn undo(&mut self, restored: &RestoredFile) -> Result<(), StoreError> {
        let Ok(then) = &restored.then else { return Ok(()) };
        write(&restored.file, then.as_deref(), restored.now.as_deref())?;
        let is_gone = |record: &mut ChangeRecord| record.file == restored.file;
        let gone: Vec<ChangeRecord> = self.list.records.extract_if(.., is_gone).collect();
        self.save()?;
        for record in gone {
            // A folder with other files is not empty, and stays.
            for folder in record.folders.iter().rev() {
                fs::remove_dir(folder).ok();
            }
            let is_used = self
                .list
                .records
                .iter()
                .any(|left| left.before_sha256 == record.before_sha256);
            if let (Some(name), false) = (record.before_sha256, is_used) {
                fs::remove_file(self.folder.join(name)).ok();
            }
        }
        if self.list.records.is_empty() {
            fs::remove_file(self.folder.join(LIST)).ok();
            fs::remove_dir(&self.folder).ok();
        }
        Ok(())
    }

    /// A file's text without the changes: the original text if nobody else changed the file, else the current text without
    /// Quipu's entries. None: no file.
    fn restored(&self, record: &ChangeRecord, now: Option<&str>) -> Result<Option<String>, EditRefusal> {
        let Some(now) = now else { return Ok(None) };
        let sha = sha256(now);
        if record.before_sha256.as_ref() == Some(&sha) {
            return Ok(Some(now.to_owned()));
        }
        if sha == record.after_sha256 {
            let Some(name) = &record.before_sha256 else {
                return Ok(None);
            };
            let text = read(&self.folder.join(name))?;
            // If the original text is lost, removing the entries is the remaining way.
            if let Some(text) = text.filter(|text| sha256(text) == *name) {
                return Ok(Some(text));
            }
        }
        let mut text = now.to_owned();
        for added in record.added.iter().rev() {
            text = edit::remove(record.format, &text, added)?.unwrap_or(text);
        }
        let is_ours = record.before_sha256.is_none();
        let holds_nothing = || edit::values(record.format, &text).is_ok_and(|values| edit::is_empty(&values));
        Ok((!is_ours || !holds_nothing()).then_some(text))
    }

    fn save(&self) -> Result<(), StoreError> {
        let path = self.folder.join(LIST);
        let text = serde_json::to_string_pretty(&self.list).map_err(|error| at(&path)(error.into()))?;
        replace(&path, &text, None)
    }
}

/// Writes a file's text, or removes the file, if its text is still `expected`.
fn write(file: &Path, text: Option<&str>, expected: Option<&str>) -> Result<(), StoreError> {
    let now = read(file).map_err(|_| StoreError::Changed(file.to_owned()))?;
    if now.as_deref() != expected {
        return Err(StoreError::Changed(file.to_owned()));
    }
    match (text, now) {
        (None, None) => Ok(()),
        (None, Some(_)) => fs::remove_file(file).map_err(at(file)),
        (Some(text), now) if now.as_deref() == Some(text) => Ok(()),
        (Some(text), None) => replace(file, text, None),
        (Some(text), Some(_)) => {
            // A link, as in a folder of dotfiles, stays: its target is written.
            let target = file.canonicalize().map_err(at(file))?;
            let rights = target.metadata().map_err(at(&target))?.permissions();
            replace(&target, text, Some(rights))
        }
    }
}

/// Writes a file in one step; without `rights`, only its owner can read the file.
fn replace(file: &Path, text: &str, rights: Option<fs::Permissions>) -> Result<(), StoreError> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let written = (|| {
        let mut beside = NamedTempFile::new_in(folder)?;
        beside.write_all(text.as_bytes())?;
        if let Some(rights) = rights {
            beside.as_file().set_permissions(rights)?;
        }
        beside.as_file().sync_all()?;
        beside.persist(file).map_err(|error| error.error)
    })();
    written.map(drop).map_err(at(file))
}

fn missing_folders(file: &Path) -> Vec<PathBuf> {
    let folders = file.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut folders: Vec<PathBuf> = folders.map(Path::to_owned).collect();
    folders.reverse();
    folders
}

fn sha256(text: &str) -> String {
    model::hex(Sha256::digest(text))
}
