//! Which file holds a row when several files contain its id.
//!
//! Owns: the rule of holders, copies and versions. Never: reading or writing anything.
//!
//! One file holds each id of an owner: the file of its row in the index while that file contains the id, else the file that
//! was recorded first, else the file with the smallest path. The same text in another file is a copy and has no row.
//! Another text is a version: it has a row with an id of its own.

use std::collections::{BTreeMap, BTreeSet};

use model::{CONFLICT, Doc, DocId, DocKey, EntryId};
use ports::{FileMark, VaultPath};

use crate::ids::version_id;

/// A file that was read, against its record.
#[derive(Debug, Clone, Default)]
pub(super) struct FileContents {
    /// In the order of the file.
    pub(super) entries: Vec<FileEntry>,
    /// The rows of each entry that the file had and does not contain now.
    pub(super) lost: Vec<Vec<DocKey>>,
    /// Marks of entries that cannot be read now: they keep their rows.
    pub(super) unreadable: Vec<FileMark>,
    /// Its place in the order in which files were first recorded; a file without a record comes last.
    pub(super) rank: usize,
}

/// An entry of a file.
#[derive(Debug, Clone)]
pub(super) struct FileEntry {
    pub(super) entry: EntryId,
    pub(super) digest: u64,
    pub(super) before: Option<FileMark>,
    /// Its rows. They are in the index already if the entry `is_same`.
    pub(super) docs: Vec<Doc>,
    /// It is as recorded, and the file holds all its rows.
    pub(super) is_same: bool,
}

impl FileEntry {
    /// The rows that the file held for the entry.
    pub(super) fn before_keys(&self) -> impl Iterator<Item = DocKey> {
        let before = self.before.iter().flat_map(|mark| &mark.docs);
        before.filter_map(|id| Some(key(self.docs.first()?, id)))
    }
}

/// An entry that does not hold all its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SharedEntry {
    pub(super) entry: EntryId,
    pub(super) holder: VaultPath,
    /// Its text differs from the holder's.
    pub(super) is_version: bool,
}

/// Changes of the rows.
#[derive(Debug, Default)]
pub(super) struct RowPlan {
    pub(super) add: BTreeMap<DocKey, Doc>,
    pub(super) remove: BTreeSet<DocKey>,
    pub(super) marks: BTreeMap<VaultPath, Vec<FileMark>>,
    pub(super) shared: BTreeMap<VaultPath, Vec<SharedEntry>>,
    /// Number of entries that no file contains now.
    pub(super) entries_gone: usize,
}

/// Files that were read together, and the rows that the index has of their ids.
#[derive(Debug)]
pub(super) struct Holders<'a> {
    files: &'a BTreeMap<VaultPath, FileContents>,
    rows: &'a BTreeMap<DocKey, Doc>,
    /// The files that contain each id, with the row that they would have.
    containing: BTreeMap<&'a DocKey, BTreeMap<&'a VaultPath, &'a Doc>>,
}

impl<'a> Holders<'a> {
    pub(super) fn new(files: &'a BTreeMap<VaultPath, FileContents>, rows: &'a BTreeMap<DocKey, Doc>) -> Self {
        let mut containing: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for (path, file) in files {
            for doc in file.entries.iter().flat_map(|entry| &entry.docs) {
                containing.entry(&doc.key).or_default().entry(path).or_insert(doc);
            }
        }
        Self {
            files,
            rows,
            containing,
        }
    }

    /// The file that holds an id; none if no file contains it.
    fn holder(&self, key: &DocKey) -> Option<&'a VaultPath> {
        let present = self.rows.get(key).map(|row| &row.path);
        let containing = self.containing.get(key);
        if let Some(path) = present.filter(|path| !path.is_empty()) {
            let is_holding = match self.files.get(path) {
                // A file that was not read keeps its row; a sync reads it when it changes.
                None => true,
                Some(file) => {
                    containing.is_some_and(|paths| paths.contains_key(path))
                        || file.unreadable.iter().any(|mark| mark.docs.contains(&key.id))
                }
            };
            if is_holding {
                return Some(path);
            }
        }
        let paths = containing?.keys().copied();
        paths.min_by_key(|path| (self.files[*path].rank, *path))
    }

    /// The plan for all files.
    pub(super) fn plan(&self) -> RowPlan {
        let mut plan = RowPlan::default();
        for (path, file) in self.files {
            let mut marks = file.unreadable.clone();
            for entry in &file.entries {
                marks.push(self.entry(path, entry, &mut plan));
            }
            plan.marks.insert(path.clone(), marks);
            for keys in &file.lost {
                self.lose(path, keys, &mut plan);
            }
        }
        plan.remove.extend(plan.add.keys().cloned());
        plan
    }

    /// The rows of an entry, and its mark.
    fn entry(&self, path: &VaultPath, content: &FileEntry, plan: &mut RowPlan) -> FileMark {
        let mut mark = FileMark {
            entry: content.entry.clone(),
            digest: content.digest,
            docs: Vec::new(),
            is_shared: false,
        };
        if let (true, Some(before)) = (content.is_same, &content.before) {
            return before.clone();
        }
        for doc in &content.docs {
            let holder = self.holder(&doc.key).unwrap_or(path);
            if holder == path {
                // One file can contain a message twice: its first place counts.
                if !plan.add.contains_key(&doc.key) {
                    mark.docs.push(doc.key.id.clone());
                    plan.add.insert(doc.key.clone(), doc.clone());
                }
                continue;
            }
            mark.is_shared = true;
            let is_version = !self
                .text_of(&doc.key, holder)
                .is_none_or(|held| is_same_text(held, doc));
            if is_version {
                let version = version(doc, path);
                mark.docs.push(version.key.id.clone());
                plan.add.insert(version.key.clone(), version);
            }
            let shared = plan.shared.entry(path.clone()).or_default();
            match shared.iter_mut().find(|one| one.entry == content.entry) {
                Some(one) => one.is_version |= is_version,
                None => shared.push(SharedEntry {
                    entry: content.entry.clone(),
                    holder: holder.clone(),
                    is_version,
                }),
            }
        }
        let kept: BTreeSet<&DocId> = mark.docs.iter().collect();
        for key in content.before_keys().filter(|key| !kept.contains(&key.id)) {
            self.release(path, key, plan);
        }
        mark
    }

    /// Removes the rows of an entry that its file does not contain now.
    fn lose(&self, path: &VaultPath, keys: &[DocKey], plan: &mut RowPlan) {
        let is_own = |key: &&DocKey| self.rows.get(key).is_some_and(|row| row.path == *path);
        let mut own = keys.iter().filter(is_own).peekable();
        let has_any = own.peek().is_some();
        let is_gone = own.all(|key| self.holder(key).is_none());
        plan.entries_gone += usize::from(has_any && is_gone);
        for key in keys {
            self.release(path, key.clone(), plan);
        }
    }

    /// A file does not contain a row's id now: the row goes, unless another file holds it.
    fn release(&self, path: &VaultPath, key: DocKey, plan: &mut RowPlan) {
        // A pending row is not in the index yet.
        let is_own = self.rows.get(&key).is_none_or(|row| row.path == *path);
        if is_own && self.holder(&key).is_none() {
            plan.remove.insert(key);
        }
    }

    fn text_of(&self, key: &DocKey, holder: &VaultPath) -> Option<&Doc> {
        let read = self.containing.get(key).and_then(|paths| paths.get(holder));
        read.copied().or_else(|| self.rows.get(key))
    }
}

fn key(like: &Doc, id: &DocId) -> DocKey {
    DocKey {
        id: id.clone(),
        ..like.key.clone()
    }
}

fn is_same_text(one: &Doc, other: &Doc) -> bool {
    (&one.subject, &one.summary, &one.text) == (&other.subject, &other.summary, &other.text)
}

/// A row for another text of an id: found, and superseding nothing.
fn version(doc: &Doc, path: &VaultPath) -> Doc {
    let mut labels = doc.labels.clone();
    labels.push(CONFLICT.to_owned());
    Doc {
        key: key(doc, &version_id(path, &doc.key.id)),
        supersedes: Vec::new(),
        superseded_by: None,
        labels,
        ..doc.clone()
    }
}
