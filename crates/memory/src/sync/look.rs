//! Syncs one file: indexes its new and changed entries, and notes the removed ones.
//!
//! Owns: the comparison of a file with its record. Never: removing (that waits until every file was read).

use std::collections::{BTreeMap, BTreeSet};

use model::{Doc, DocId, DocKey, EntryId, Owner, Scope, Vector, Zone};
use ports::{FileMark, FileRecord, ParsedFile, ReadEntry, VaultError, VaultPath};
use text::chain;

use super::Pass;
use super::gone::Gone;
use crate::api::EngineError;
use crate::records::{self, mark, problem, unfitting};

/// Rows of a file that one write of the index takes: the rows of others come in between.
const ROWS_AT_A_TIME: usize = 512;

/// Problem of a path that is a link, not a file.
const LINK: &str = "a link is in its place, or in that of a folder above it, and links are not followed: put the file \
                    itself there, or remove the link";

/// A file against its record.
#[derive(Debug, Default)]
struct Difference {
    add: Vec<Doc>,
    remove: BTreeSet<DocKey>,
    marks: Vec<FileMark>,
    gone: Vec<Gone>,
}

/// The rows of an entry in a file.
pub(crate) fn rows_of(read: &ReadEntry, path: &VaultPath, zone: &Zone) -> Vec<Doc> {
    extract::digested(Doc::of_entry(&read.entry, path), &read.entry, zone)
}

impl Pass<'_> {
    /// Indexes what is new or changed in a file, and notes what is gone. A file that cannot be read is noted too, and
    /// keeps nothing from being carried over but itself; so is one in whose place a link is, and what is known of it
    /// stays as it was until the link is gone or the file is back.
    pub(super) async fn look(&mut self, path: &VaultPath) -> Result<(), EngineError> {
        let record = self.world.records.record(path).await?;
        match self.look_against(path, record.as_ref()).await {
            Err(EngineError::Vault(VaultError::Outside { .. })) => match record {
                Some(record) => self.note_problem(path, record, LINK.to_owned()).await,
                // Nothing that ever was a file of the vault.
                None => Ok(()),
            },
            Err(EngineError::Vault(error)) => {
                self.again.insert(path.clone());
                let record = record.unwrap_or_else(|| records::of_nobody(path, None));
                self.note_problem(path, record, chain(&error)).await?;
                self.trouble.get_or_insert(error);
                Ok(())
            }
            looked => looked,
        }
    }

    async fn look_against(
        &mut self,
        path: &VaultPath,
        record: Option<&FileRecord>,
    ) -> Result<(), EngineError> {
        let stat = self.world.parts.vault.stat(path).await?;
        if let Some(record) = record
            && stat.as_ref() == Some(&record.stat)
        {
            // Most changes are the engine's own: the record already contains the file's entries.
            for mark in &record.marks {
                self.note_present(&record.scope, &record.owner, &mark.entry);
            }
            return Ok(());
        }
        self.world.chronicle.is_by_hand(path);
        let Some(file) = self.world.parts.vault.read(path).await? else {
            self.note_vanished(path, record);
            return Ok(());
        };
        self.synced.files += 1;
        let is_broken = problem(&file).is_some();
        self.synced.broken += usize::from(is_broken);
        for read in &file.entries {
            self.note_present(&read.entry.scope, &read.entry.owner, &read.entry.id);
        }
        let mut difference = self.compare(&file, record, is_broken);
        let is_bare = !self.embed(&mut difference.add, record).await?;
        self.carry_over(&mut difference).await?;
        if is_bare {
            self.again.insert(path.clone());
            return Ok(());
        }
        let record = records::of_file(&file, difference.marks, record);
        self.vanished.remove(path);
        if difference.gone.is_empty() {
            self.held.remove(path);
            let app = record.scope.app.clone();
            self.world.records.put(record).await?;
            self.world.corpora.let_all_projects_go(&app);
        } else {
            self.held.insert(path.clone(), record);
            self.note_gone(path, difference.gone);
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
        self.world.records.put(unreadable).await?;
        Ok(())
    }

    fn note_present(&mut self, scope: &Scope, owner: &Owner, id: &EntryId) {
        self.present.insert((scope.clone(), owner.clone(), id.clone()));
    }

    fn note_vanished(&mut self, path: &VaultPath, record: Option<&FileRecord>) {
        let Some(record) = record else { return };
        let (scope, owner) = (&record.scope, &record.owner);
        let gone = record
            .marks
            .iter()
            .map(|mark| Gone::new(scope, owner, mark))
            .collect();
        self.note_gone(path, gone);
        self.held.remove(path);
        self.vanished.insert(path.clone());
    }

    fn note_gone(&mut self, path: &VaultPath, gone: Vec<Gone>) {
        for one in gone {
            self.gone.insert((path.clone(), one.entry.clone()), one);
        }
    }

    fn compare(&mut self, file: &ParsedFile, record: Option<&FileRecord>, is_broken: bool) -> Difference {
        let mut recorded: BTreeMap<&EntryId, &FileMark> = record
            .into_iter()
            .flat_map(|record| &record.marks)
            .map(|mark| (&mark.entry, mark))
            .collect();
        let mut difference = Difference::default();
        for read in &file.entries {
            let docs = Doc::of_entry(&read.entry, &file.stat.path);
            let before = recorded.remove(&read.entry.id);
            difference.marks.push(mark(read, &docs));
            if before.is_some_and(|before| before.digest == read.digest) {
                continue;
            }
            match before {
                Some(_) => {
                    self.synced.entries_changed += 1;
                    let chronicle = &self.world.chronicle;
                    chronicle.is_read_anew(&file.stat.path, &read.entry.id, read.digest);
                }
                None => self.synced.entries_added += 1,
            }
            let own = |id: &DocId| DocKey {
                scope: read.entry.scope.clone(),
                owner: read.entry.owner.clone(),
                id: id.clone(),
            };
            // The rows can exist even if the record has none: from an unfinished sync, or from another file.
            difference
                .remove
                .extend(before.into_iter().flat_map(|mark| &mark.docs).map(own));
            difference.remove.extend(docs.iter().map(|doc| doc.key.clone()));
            let docs = extract::digested(docs, &read.entry, &self.world.settings.zone);
            difference.add.extend(docs);
        }
        let Some(record) = record else { return difference };
        for mark in recorded.into_values() {
            if is_broken {
                // An unreadable entry is not gone: it stays searchable until the file is repaired.
                difference.marks.push(mark.clone());
            } else {
                difference
                    .gone
                    .push(Gone::new(&record.scope, &record.owner, mark));
            }
        }
        difference
    }

    /// Gives vectors to rows; false when the model does not answer now.
    async fn embed(&self, docs: &mut [Doc], record: Option<&FileRecord>) -> Result<bool, EngineError> {
        let world = self.world;
        if docs.is_empty() || !world.gauge.takes_vectors() {
            return Ok(true);
        }
        if let Some(record) = record
            && !world.parts.embedder.is_instant()
        {
            // A changed entry has many rows whose text is as it was, and the model is slow.
            let rows = world.parts.index.load(&record.scope, &record.owner).await?;
            let known: BTreeMap<(&DocKey, &str), &Vector> = rows
                .iter()
                .filter_map(|row| Some(((&row.key, row.text.as_str()), row.vector.as_ref()?)))
                .collect();
            for doc in docs.iter_mut().filter(|doc| doc.kind == model::DocKind::Turn) {
                doc.vector = known
                    .get(&(&doc.key, doc.text.as_str()))
                    .map(|vector| (*vector).clone());
            }
        }
        match world.rows.embed_docs(docs).await {
            Ok(()) => Ok(true),
            Err(error) => {
                tracing::warn!(
                    error = chain(&error),
                    "embedder unavailable; keyword search only for new rows until it answers"
                );
                Ok(false)
            }
        }
    }

    async fn carry_over(&self, difference: &mut Difference) -> Result<(), EngineError> {
        let add = std::mem::take(&mut difference.add);
        // A file can contain one entry twice: the last one is searchable.
        let by_key: BTreeMap<DocKey, Doc> = add.into_iter().map(|doc| (doc.key.clone(), doc)).collect();
        let add: Vec<Doc> = by_key.into_values().collect();
        let remove: Vec<DocKey> = std::mem::take(&mut difference.remove).into_iter().collect();
        let mut parts = add.chunks(ROWS_AT_A_TIME);
        let first = parts.next().unwrap_or_default().to_vec();
        self.world.writer.apply(first, remove.clone()).await?;
        for part in parts {
            self.world.writer.apply(part.to_vec(), Vec::new()).await?;
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
            self.world.corpora.rows(&scope, &owner, add, remove);
        }
        Ok(())
    }
}
