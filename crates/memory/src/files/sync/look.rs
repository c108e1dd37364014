//! Syncs files, many at a time: reads them, decides which file holds each row, and writes the index and the records.
//!
//! Owns: the comparison of a file with its record, and the order index, then record. Never: deciding between files
//! (`holders` does).

use std::collections::{BTreeMap, BTreeSet};

use model::text::chain;
use model::{AppId, CellId, Doc, DocId, DocKey, DocKind, Owner, Scope, Vector, Zone, warned};
use ports::{FileMark, FileRecord, FileStat, ParsedFile, ReadEntry, VaultError, VaultPath};

use super::holders::{FileContents, FileEntry, Holders, RowPlan, SharedEntry};
use super::pass::Pass;
use crate::base::records::{problem, unfitting};
use crate::base::{Base, records};
use crate::error::EngineError;
use crate::files::history;
use crate::ids;

/// Maximum number of rows in one write of the index, so that rows of others come in between.
const ROWS_AT_A_TIME: usize = 512;

/// Segments that are looked up at a time; each comes with its messages.
const CELLS_AT_A_TIME: usize = 32;

/// Problem of a path that is a link, not a file.
const LINK: &str = "a link is in its place, or in that of a folder above it, and links are not followed: put the file \
                    itself there, or remove the link";

/// A file that differs from its record.
#[derive(Debug)]
pub(super) struct Looked {
    record: Option<FileRecord>,
    state: LookState,
}

#[derive(Debug)]
enum LookState {
    There(Box<ParsedFile>, FileContents),
    Gone,
    Unreadable(VaultError),
}

/// The rows of an entry in a file.
pub(crate) fn rows_of(read: &ReadEntry, path: &VaultPath, zone: &Zone) -> Vec<Doc> {
    extract::digested(Doc::of_entry(&read.entry, path), &read.entry, zone)
}

/// The rows that a file held for an entry.
fn keys_of(record: &FileRecord, mark: &FileMark) -> Vec<DocKey> {
    let key = |id: &DocId| DocKey::new(&record.scope, &record.owner, id.clone());
    mark.docs.iter().map(key).collect()
}

impl Looked {
    fn stat(&self) -> Option<&FileStat> {
        match &self.state {
            LookState::There(file, _) => Some(&file.stat),
            LookState::Gone | LookState::Unreadable(_) => None,
        }
    }
}

impl Pass<'_> {
    /// Reads the files that differ from their records, with vectors for their new rows. It changes nothing.
    pub(super) async fn read(&self, paths: &[VaultPath]) -> Result<BTreeMap<VaultPath, Looked>, EngineError> {
        let mut looks = BTreeMap::new();
        for path in paths {
            if let Some(looked) = self.read_one(path, false).await? {
                looks.insert(path.clone(), looked);
            }
        }
        Ok(looks)
    }

    /// Reads those files again that changed since they were read; the caller holds their tenants exclusively.
    pub(super) async fn read_again(
        &self,
        looks: &mut BTreeMap<VaultPath, Looked>,
    ) -> Result<(), EngineError> {
        let paths: Vec<VaultPath> = looks.keys().cloned().collect();
        for path in paths {
            let stat = self.base.parts.vault.stat(&path).await;
            let recorded = self.base.records.stat(&path).await?;
            let looked = &looks[&path];
            let is_as_read = stat.is_ok_and(|stat| stat.as_ref() == looked.stat());
            if is_as_read && recorded.as_ref() == looked.record.as_ref().map(|record| &record.stat) {
                continue;
            }
            match self.read_one(&path, false).await? {
                Some(looked) => looks.insert(path, looked),
                None => looks.remove(&path),
            };
        }
        Ok(())
    }

    /// A file compared with its record; none if it is as recorded, unless `always`.
    async fn read_one(&self, path: &VaultPath, always: bool) -> Result<Option<Looked>, EngineError> {
        let record = self.base.parts.file_changes.record(path).await?;
        let vault = &self.base.parts.vault;
        let read = async {
            let stat = vault.stat(path).await?;
            let is_recorded = stat.is_some() && stat.as_ref() == record.as_ref().map(|record| &record.stat);
            if is_recorded && !always {
                return Ok(None);
            }
            Ok(Some(vault.read(path).await?))
        };
        let state = match read.await {
            Ok(None) => return Ok(None),
            Ok(Some(None)) => LookState::Gone,
            Ok(Some(Some(file))) => {
                let contents = self.contents(&file, record.as_ref()).await?;
                LookState::There(Box::new(file), contents)
            }
            Err(error) => LookState::Unreadable(error),
        };
        Ok(Some(Looked { record, state }))
    }

    /// The entries of a file, with rows and vectors, compared with the file's record.
    async fn contents(
        &self,
        file: &ParsedFile,
        record: Option<&FileRecord>,
    ) -> Result<FileContents, EngineError> {
        let recorded = record.into_iter().flat_map(|record| &record.marks);
        let mut recorded: BTreeMap<_, &FileMark> = recorded.map(|mark| (&mark.entry, mark)).collect();
        let mut contents = FileContents::default();
        for read in &file.entries {
            let before = recorded.remove(&read.entry.id);
            contents.entries.push(FileEntry {
                entry: read.entry.id.clone(),
                digest: read.digest,
                docs: rows_of(read, &file.stat.path, &self.base.settings.zone),
                is_same: before.is_some_and(|before| before.digest == read.digest && !before.is_shared),
                before: before.cloned(),
            });
        }
        // An unreadable entry is not gone: it stays searchable until the file is repaired.
        let is_there = |mark: &&FileMark| file.is_unread || file.unreadable.contains(&mark.entry);
        let (unreadable, lost): (Vec<_>, Vec<_>) = recorded.into_values().partition(is_there);
        contents.unreadable = unreadable.into_iter().cloned().collect();
        let lost = record.map(|record| lost.into_iter().map(|mark| keys_of(record, mark)));
        contents.lost = lost.into_iter().flatten().collect();
        self.embed(&mut contents).await?;
        Ok(contents)
    }

    /// Carries files over: index first, then records. The caller holds their tenants exclusively.
    pub(super) async fn carry(&mut self, mut looks: BTreeMap<VaultPath, Looked>) -> Result<(), EngineError> {
        let sharing = self.add_sharing(&mut looks).await?;
        self.note_unreadable(&mut looks).await?;
        self.meet_others(&looks).await?;
        let mut files: BTreeMap<VaultPath, FileContents> = BTreeMap::new();
        for (path, looked) in &mut looks {
            let mut contents = match &mut looked.state {
                LookState::There(_, contents) => std::mem::take(contents),
                LookState::Gone | LookState::Unreadable(_) => FileContents::default(),
            };
            if let (LookState::Gone, Some(record)) = (&looked.state, &looked.record) {
                contents.lost = record.marks.iter().map(|mark| keys_of(record, mark)).collect();
            }
            let place = sharing.iter().position(|other| other == path);
            contents.rank = place.unwrap_or(sharing.len() + usize::from(looked.record.is_none()));
            files.insert(path.clone(), contents);
        }
        let rows = self.rows(&files).await?;
        let plan = Holders::new(&files, &rows).plan();
        if files.values().any(|file| !file.lost.is_empty()) {
            // Files of an unmounted vault are missing, not deleted.
            self.base.parts.vault.is_present().await?;
        }
        self.count(&looks, &files, &plan);
        self.write(&plan).await?;
        let bare: BTreeSet<&VaultPath> = if self.is_bare(&plan) {
            plan.marks.keys().collect()
        } else {
            BTreeSet::new()
        };
        self.again.extend(bare.iter().map(|path| (*path).clone()));
        self.record(&looks, &plan, &bare).await
    }

    /// If a file that this ledger may write to has memories of another ledger, this ledger from now on writes to files
    /// of its own name.
    async fn meet_others(&self, looks: &BTreeMap<VaultPath, Looked>) -> Result<(), EngineError> {
        let Base { parts, .. } = self.base;
        let is_named = parts.vault.name().is_some();
        for (path, looked) in looks {
            let LookState::There(_, contents) = &looked.state else {
                continue;
            };
            if is_named && !parts.vault.is_own_file(path) {
                continue;
            }
            let new = contents.entries.iter().filter(|entry| entry.before.is_none());
            let cells: BTreeSet<CellId> = new.filter_map(|entry| ids::cell_of(&entry.entry)).collect();
            let cells: Vec<CellId> = cells.into_iter().collect();
            for some in cells.chunks(CELLS_AT_A_TIME) {
                if parts.transcripts.cells(some).await?.len() == some.len() {
                    continue;
                }
                let name = ids::ledger_name(&*parts.ids);
                parts.vault.take_name(&name).await?;
                tracing::info!(
                    %path,
                    %name,
                    "another ledger writes to this vault too: new files of this one have its name"
                );
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads the other files of the same owners that share ids with any file: one of them may hold an id that is lost
    /// here. Returns the files that share ids, the first recorded one first.
    async fn add_sharing(
        &self,
        looks: &mut BTreeMap<VaultPath, Looked>,
    ) -> Result<Vec<VaultPath>, EngineError> {
        let records = looks.values().filter_map(|looked| looked.record.as_ref());
        let owners: BTreeSet<(Scope, Owner)> = records
            .map(|record| (record.scope.clone(), record.owner.clone()))
            .collect();
        let mut sharing = Vec::new();
        for (scope, owner) in owners {
            sharing.extend(
                self.base
                    .parts
                    .file_changes
                    .sharing(Some((&scope, &owner)))
                    .await?,
            );
        }
        for path in &sharing {
            if !looks.contains_key(path)
                && let Some(looked) = self.read_one(path, true).await?
            {
                looks.insert(path.clone(), looked);
            }
        }
        Ok(sharing)
    }

    /// Notes the files that cannot be read, and takes them out; their records stay as they were.
    async fn note_unreadable(&mut self, looks: &mut BTreeMap<VaultPath, Looked>) -> Result<(), EngineError> {
        let is_unreadable = |looked: &Looked| matches!(looked.state, LookState::Unreadable(_));
        let paths = looks.iter().filter(|(_, looked)| is_unreadable(looked));
        let paths: Vec<VaultPath> = paths.map(|(path, _)| path.clone()).collect();
        for path in paths {
            let Some(Looked {
                record,
                state: LookState::Unreadable(error),
            }) = looks.remove(&path)
            else {
                continue;
            };
            if matches!(error, VaultError::Outside { .. }) {
                // Without a record, it was never a file of the vault.
                if let Some(record) = record {
                    self.note_problem(&path, record, LINK.to_owned()).await?;
                }
                continue;
            }
            self.again.insert(path.clone());
            let record = record.unwrap_or_else(|| records::of_nobody(&path, None));
            self.note_problem(&path, record, chain(&error)).await?;
            self.trouble.get_or_insert(error);
        }
        Ok(())
    }

    async fn note_problem(
        &mut self,
        path: &VaultPath,
        record: FileRecord,
        problem: String,
    ) -> Result<(), EngineError> {
        tracing::warn!(path = &**path, "{problem}");
        self.synced.broken += 1;
        let unreadable = FileRecord {
            stat: unfitting(path),
            problem: Some(problem),
            ..record
        };
        self.base.records.put(unreadable).await?;
        Ok(())
    }

    /// The rows that the index has of all ids that change.
    async fn rows(
        &self,
        files: &BTreeMap<VaultPath, FileContents>,
    ) -> Result<BTreeMap<DocKey, Doc>, EngineError> {
        let mut keys: BTreeSet<DocKey> = BTreeSet::new();
        for file in files.values() {
            for entry in file.entries.iter().filter(|entry| !entry.is_same) {
                keys.extend(entry.docs.iter().map(|doc| doc.key.clone()));
                keys.extend(entry.before_keys());
            }
            keys.extend(file.lost.iter().flatten().cloned());
        }
        if keys.is_empty() {
            return Ok(BTreeMap::new());
        }
        let keys: Vec<DocKey> = keys.into_iter().collect();
        let mut rows = BTreeMap::new();
        for some in keys.chunks(ROWS_AT_A_TIME) {
            let found = self.base.parts.index.get(some).await?;
            rows.extend(found.into_iter().map(|row| (row.key.clone(), row)));
        }
        Ok(rows)
    }

    fn count(
        &mut self,
        looks: &BTreeMap<VaultPath, Looked>,
        files: &BTreeMap<VaultPath, FileContents>,
        plan: &RowPlan,
    ) {
        self.synced.entries_removed += plan.entries_gone;
        for (path, file) in files {
            let LookState::There(parsed, _) = &looks[path].state else {
                continue;
            };
            let is_recorded = looks[path].record.as_ref().map(|record| &record.stat) == Some(&parsed.stat);
            if is_recorded {
                continue;
            }
            self.synced.files += 1;
            self.synced.broken += usize::from(problem(parsed).is_some());
            for entry in &file.entries {
                match &entry.before {
                    None => self.synced.entries_added += 1,
                    Some(before) if before.digest != entry.digest => {
                        self.synced.entries_changed += 1;
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// Writes the records of the files that were read, and drops those of files that are gone.
    async fn record(
        &self,
        looks: &BTreeMap<VaultPath, Looked>,
        plan: &RowPlan,
        bare: &BTreeSet<&VaultPath>,
    ) -> Result<(), EngineError> {
        let read = looks.iter().map(|(path, looked)| {
            let file = match &looked.state {
                LookState::There(file, _) => Some(&**file),
                LookState::Gone | LookState::Unreadable(_) => None,
            };
            (path, file, looked.record.as_ref())
        });
        history::find(self.base, read).await?;
        let (mut put, mut gone) = (Vec::new(), Vec::new());
        for (path, looked) in looks {
            match &looked.state {
                _ if bare.contains(path) => {}
                LookState::There(file, _) => {
                    let marks = plan.marks.get(path).cloned().unwrap_or_default();
                    let mut record = records::of_file(file, marks, looked.record.as_ref());
                    let shared = || conflict(path, plan.shared.get(path)?);
                    record.problem = record.problem.or_else(shared);
                    put.push(record);
                }
                LookState::Gone | LookState::Unreadable(_) => gone.push(path.clone()),
            }
        }
        let apps: BTreeSet<AppId> = put.iter().map(|file| file.scope.app.clone()).collect();
        self.base.records.put_all(put).await?;
        if !gone.is_empty() {
            self.base.records.drop_paths(&gone).await?;
        }
        for app in &apps {
            self.base.corpora.cache.let_all_projects_go(app);
        }
        Ok(())
    }

    /// Gives vectors to new rows; leaves them without if the model does not answer now.
    async fn embed(&self, contents: &mut FileContents) -> Result<(), EngineError> {
        let base = self.base;
        let changed = |entry: &&mut FileEntry| !entry.is_same;
        let mut docs: Vec<Doc> = Vec::new();
        let mut lengths = Vec::new();
        for entry in contents.entries.iter_mut().filter(changed) {
            lengths.push(entry.docs.len());
            docs.append(&mut entry.docs);
        }
        if !docs.is_empty() && base.gauge.takes_vectors() {
            self.take_known_vectors(&mut docs).await?;
            warned!(
                base.rows.embed_docs(&mut docs).await,
                "embedder unavailable; keyword search only for new rows until it answers"
            );
        }
        let mut docs = docs.into_iter();
        for (entry, length) in contents.entries.iter_mut().filter(changed).zip(lengths) {
            entry.docs = docs.by_ref().take(length).collect();
        }
        Ok(())
    }

    /// Reuses vectors of the index, because a changed entry has many rows with unchanged text, and the model can be
    /// slow.
    async fn take_known_vectors(&self, docs: &mut [Doc]) -> Result<(), EngineError> {
        if self.base.parts.embedder.is_instant() {
            return Ok(());
        }
        let turns = docs.iter().filter(|doc| doc.kind == DocKind::Turn);
        let keys: Vec<DocKey> = turns.map(|doc| doc.key.clone()).collect();
        let rows = self.base.parts.index.get(&keys).await?;
        let known: BTreeMap<(&DocKey, &str), &Vector> = rows
            .iter()
            .filter_map(|row| Some(((&row.key, row.text.as_str()), row.vector.as_ref()?)))
            .collect();
        for doc in docs {
            let vector = known.get(&(&doc.key, doc.text.as_str()));
            doc.vector = vector.map(|vector| (*vector).clone());
        }
        Ok(())
    }

    /// Whether rows lack vectors that a model has to give.
    fn is_bare(&self, plan: &RowPlan) -> bool {
        self.base.gauge.takes_vectors() && plan.add.values().any(|doc| doc.vector.is_none())
    }

    async fn write(&self, plan: &RowPlan) -> Result<(), EngineError> {
        let add: Vec<Doc> = plan.add.values().cloned().collect();
        let remove: Vec<DocKey> = plan.remove.iter().cloned().collect();
        if add.is_empty() && remove.is_empty() {
            return Ok(());
        }
        let mut parts = add.chunks(ROWS_AT_A_TIME);
        let first = parts.next().unwrap_or_default().to_vec();
        self.base.writer.apply(first, remove.clone()).await?;
        for part in parts {
            self.base.writer.apply(part.to_vec(), Vec::new()).await?;
        }
        let mut by_owner: BTreeMap<(Scope, Owner), (Vec<Doc>, Vec<DocId>)> = BTreeMap::new();
        for key in remove {
            by_owner.entry((key.scope, key.owner)).or_default().1.push(key.id);
        }
        for doc in add {
            let owner = (doc.key.scope.clone(), doc.key.owner.clone());
            by_owner.entry(owner).or_default().0.push(doc);
        }
        for ((scope, owner), (add, remove)) in by_owner {
            self.base.corpora.cache.rows(&scope, &owner, &add, &remove);
        }
        Ok(())
    }
}

/// The problem of a file with another text of entries that other files hold. A copy is no problem: the log names it.
fn conflict(path: &VaultPath, shared: &[SharedEntry]) -> Option<String> {
    for SharedEntry { entry, holder, .. } in shared.iter().filter(|one| !one.is_version) {
        tracing::info!(path = &**path, "`{entry}` is a copy of the one in `{holder}`");
    }
    let mut versions = shared.iter().filter(|one| one.is_version);
    let SharedEntry { entry, holder, .. } = versions.next()?;
    let more = match versions.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!(
        "`{entry}` has another text in `{holder}`{more}: searches find both; keep one of them"
    ))
}
