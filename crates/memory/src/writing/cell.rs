//! Writes segments of one session to Markdown and index, for each of their owners, exactly once.
//!
//! Owns: the order vault, index, record, and the check of a second attempt. Never: the content of a segment
//! (`extraction`).
//!
//! Facts are appended before their episode, so a stored episode shows that everything of its segment was written. A
//! second attempt that finds it takes the file as the truth, hand edits included; an attempt that does not find it
//! appends again under the same ids.
//!
//! The owner's lock is held until the Markdown is written, the cached owner has the rows and the index writer has them
//! in its queue, in the order of the appends; then the next segment of the owner may come, and both share one write of
//! the index.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use extract::KnownFacts;
use futures::future::join_all;
use model::text::chain;
use model::{Cell, CellId, Doc, DocKey, Entry, EntryId, EntryKind, Message, Owner, Scope};
use ports::runs::MemoryEvent;
use ports::{FileAppend, FileRecord, VaultPath, Written};

use super::extraction::{CellContent, NewFacts};
use super::{Writing, extraction};
use crate::base::records::mark;
use crate::base::{Base, LONG_BYTES, OnTheirWay, Pending};
use crate::error::{EngineError, JobError};
use crate::files::{history, sync};
use crate::ids;
use crate::parts::Parts;
use crate::runtime::KeyedLocks;

/// Writes segments of one session in their order; several only on the first attempt. A deleted segment is skipped.
pub(super) async fn write(writing: &Writing, ids: &[CellId], attempt: u32) -> Result<(), JobError> {
    let base = &writing.base;
    let sweeps = base.sweeps();
    // An earlier attempt at several segments may have written facts of later ones.
    let later = match ids {
        [id] if attempt > 1 => base.parts.transcripts.unwritten_after(id).await?,
        _ => Vec::new(),
    };
    let write = |cells| write_extracted(writing, cells, &later, sweeps, attempt == 1);
    let (mut cells, mut together) = (Vec::new(), 0);
    for id in ids {
        let noted = base.turns.long_cells.lock().get(id).copied();
        let mut short = None;
        let bytes = if let Some(bytes) = noted {
            bytes
        } else {
            let Some(cell) = base.parts.transcripts.cell(id).await? else {
                continue;
            };
            let bytes = cell.bytes();
            short = (bytes <= LONG_BYTES).then_some(cell);
            bytes
        };
        if together + bytes > LONG_BYTES {
            write(std::mem::take(&mut cells)).await?;
            together = 0;
        }
        if let Some(cell) = short {
            cells.push(extracted(writing, cell, attempt).await?);
            together += bytes;
            continue;
        }
        let _turn = base.turns.long.lock().await;
        let _room = base.room_for(bytes).await;
        if let Some(cell) = base.parts.transcripts.cell(id).await? {
            write(vec![extracted(writing, cell, attempt).await?]).await?;
        }
        base.turns.long_cells.lock().remove(id);
    }
    write(cells).await
}

async fn extracted(writing: &Writing, cell: Cell, attempt: u32) -> Result<ExtractedCell, JobError> {
    let content = extraction::content(writing, &cell, attempt).await?;
    Ok(ExtractedCell {
        cell: Arc::new(cell),
        content,
    })
}

async fn write_extracted(
    writing: &Writing,
    cells: Vec<ExtractedCell>,
    later: &[CellId],
    sweeps: u64,
    is_first: bool,
) -> Result<(), JobError> {
    let base = &writing.base;
    if cells.is_empty() {
        return Ok(());
    }
    let owners: Vec<OwnerWrite<'_>> = by_owner(writing, &cells, later, sweeps);
    let written = join_all(owners.into_iter().map(|one| one.write(is_first))).await;
    let events = written.into_iter().collect::<Result<Vec<_>, JobError>>()?;
    // The job is not done before the events are on disk; a repeated job emits them again.
    base.parts.events.emit(events.concat()).await?;
    for one in &cells {
        base.corpora.cache.unbuffer(&one.cell.session, &one.cell.messages);
        writing.intake.passes.forget_answer(&one.cell.id);
    }
    Ok(())
}

fn by_owner<'a>(
    writing: &'a Writing,
    cells: &'a [ExtractedCell],
    later: &'a [CellId],
    sweeps: u64,
) -> Vec<OwnerWrite<'a>> {
    let owners: BTreeSet<&Owner> = cells.iter().flat_map(|one| &one.cell.owners).collect();
    let writes = owners.into_iter().map(|owner| OwnerWrite {
        base: &writing.base,
        owners: &writing.owners,
        owner,
        cells: cells
            .iter()
            .filter(|one| one.cell.owners.contains(owner))
            .collect(),
        later,
        sweeps,
    });
    writes.collect()
}

/// A segment and its extracted content.
#[derive(Debug)]
struct ExtractedCell {
    cell: Arc<Cell>,
    content: CellContent,
}

/// The rows of appended entries, and the appends to record for them.
#[derive(Debug, Default)]
struct Rows {
    docs: Vec<Doc>,
    appends: Vec<FileAppend>,
}

/// Rows that were handed to the index writer.
#[derive(Debug)]
struct HandedOver {
    /// The files with a pending record.
    paths: Vec<VaultPath>,
    rows: OnTheirWay,
    pending: Pending,
}

/// Segments of one session for one owner.
struct OwnerWrite<'a> {
    base: &'a Base,
    owners: &'a KeyedLocks<(Scope, Owner)>,
    owner: &'a Owner,
    /// At least one segment.
    cells: Vec<&'a ExtractedCell>,
    /// Segments after these; some of their facts may be in the file already.
    later: &'a [CellId],
    /// The number of sweeps of the ledger before the segments were read.
    sweeps: u64,
}

impl<'a> OwnerWrite<'a> {
    /// Writes the segments that still belong to the owner, and returns one event for each.
    async fn write(mut self, is_first: bool) -> Result<Vec<MemoryEvent>, JobError> {
        // If another ledger wrote in a file meanwhile, this ledger must not append to it.
        sync::changed(self.base, self.paths()).await?;
        let _shared = self.base.gate.shared(self.scope()).await;
        let owner = (self.scope().clone(), self.owner.clone());
        let own = self.owners.lock(&owner).await;
        if self.base.sweeps() != self.sweeps {
            self.cells = self.still_owned().await?;
        }
        if self.cells.is_empty() {
            return Ok(Vec::new());
        }
        if !is_first && let Some(paths) = self.written_files().await? {
            self.index_files(paths).await?;
            return Ok(self.events());
        }
        let (facts, episodes) = (self.new_facts().await?, self.episodes());
        let vault = &self.base.parts.vault;
        let paths = facts.iter().chain(&episodes).map(|entry| vault.path_of(entry));
        let _writing = self.base.dirty.writing(paths.collect());
        let entries: Vec<Entry> = facts.into_iter().chain(episodes).collect();
        let append = self.base.parts.vault_writer.append(&entries, is_first);
        let written = history::remembered(self.base, append).await?;
        if !is_first {
            let paths = written.into_iter().map(|written| written.stat.path);
            self.index_files(paths.collect()).await?;
            return Ok(self.events());
        }
        let entries = entries.into_iter().map(|entry| (entry.id.clone(), entry));
        let entries: BTreeMap<EntryId, Entry> = entries.collect();
        let rows = self.rows(&entries, written).await?;
        let handed = self.hand_over(rows).await?;
        drop(own);
        self.indexed(handed).await?;
        Ok(self.events())
    }

    fn events(&self) -> Vec<MemoryEvent> {
        let written = self.cells.iter().map(|one| MemoryEvent::EpisodeWritten {
            scope: self.scope().clone(),
            owner: self.owner.clone(),
            session: one.cell.session.session.clone(),
            cell: one.cell.clone(),
            episode: ids::episode_id(&one.cell.id),
        });
        written.collect()
    }

    fn scope(&self) -> &Scope {
        &self.cells[0].cell.session.scope
    }

    /// The facts that are new to the owner.
    async fn new_facts(&self) -> Result<Vec<Entry>, EngineError> {
        let says_any = |one: &&ExtractedCell| {
            one.content.has_facts() || one.content.doubts(&one.cell, self.owner).next().is_some()
        };
        if !self.cells.iter().any(says_any) {
            return Ok(Vec::new());
        }
        let known = self.base.corpora.facts(self.scope(), self.owner).await?;
        let _turn = self.base.busy().await;
        let facts_of = |known: &KnownFacts| {
            let mut news = NewFacts::before(self.later);
            let facts = self
                .cells
                .iter()
                .flat_map(|one| one.content.facts(&one.cell, self.owner, known, &mut news));
            facts.collect()
        };
        known.with_facts(facts_of).await
    }

    fn episodes(&self) -> Vec<Entry> {
        let cells = self.cells.iter();
        cells
            .map(|one| one.content.episode_entry(&one.cell, self.owner))
            .collect()
    }

    /// The segments that still belong to the owner.
    async fn still_owned(&self) -> Result<Vec<&'a ExtractedCell>, JobError> {
        let ids: Vec<CellId> = self.cells.iter().map(|one| one.cell.id.clone()).collect();
        let now = self.base.parts.transcripts.cells(&ids).await?;
        let mut still = Vec::new();
        for one in &self.cells {
            match now.iter().find(|cell| cell.id == one.cell.id) {
                Some(now) if now.messages != one.cell.messages => return Err(JobError::Changed),
                Some(now) if now.owners.contains(self.owner) => still.push(*one),
                Some(_) | None => {}
            }
        }
        Ok(still)
    }

    /// The files that the segments are written to.
    fn paths(&self) -> BTreeSet<VaultPath> {
        let mut paths = BTreeSet::new();
        for ExtractedCell { cell, content } in &self.cells {
            let mut fact = content.episode_entry(cell, self.owner);
            paths.insert(self.base.parts.vault.path_of(&fact));
            fact.kind = EntryKind::Fact;
            for message in &cell.messages {
                fact.time = message.time;
                paths.insert(self.base.parts.vault.path_of(&fact));
            }
        }
        paths
    }

    /// The files in which an earlier attempt wrote, if it wrote everything.
    async fn written_files(&self) -> Result<Option<BTreeSet<VaultPath>>, JobError> {
        let Parts { vault, index, .. } = &self.base.parts;
        let mut paths = self.paths();
        for ExtractedCell { cell, content } in &self.cells {
            let episode = content.episode_entry(cell, self.owner);
            let key = DocKey::new(self.scope(), self.owner, episode.id.as_str());
            // The earlier attempt may have run before the ledger had a name.
            let row = index.get(&[key]).await.map_err(EngineError::from)?.pop();
            let path = row.map_or_else(|| vault.path_of(&episode), |row| row.path);
            let file = vault.read(&path).await?;
            if !file.is_some_and(|file| file.entries.iter().any(|read| read.entry.id == episode.id)) {
                return Ok(None);
            }
            paths.insert(path);
        }
        Ok(Some(paths))
    }

    async fn index_files(&self, paths: BTreeSet<VaultPath>) -> Result<(), JobError> {
        sync::files(self.base, paths).await?;
        Ok(())
    }

    /// The rows of entries that were just appended, without reading them back, and the appends to record for them.
    async fn rows(
        &self,
        entries: &BTreeMap<EntryId, Entry>,
        written: Vec<Written>,
    ) -> Result<Rows, EngineError> {
        let base = self.base;
        let mut rows = Rows::default();
        for Written { stat, before, ids } in written {
            let mut marks = Vec::new();
            for (entry, digest) in ids {
                let mut docs = entries
                    .get(&entry)
                    .map_or_else(Vec::new, |entry| Doc::of_entry(entry, &stat.path));
                let is_its = |one: &&&ExtractedCell| ids::episode_id(&one.cell.id) == entry;
                let extracted = self.cells.iter().find(is_its);
                if let (Some(episode), Some(one)) = (docs.first_mut(), extracted) {
                    one.content.digest().clone_into(&mut episode.text);
                }
                marks.push(mark(entry, digest, &docs));
                rows.docs.extend(docs);
            }
            if base.records.stat(&stat.path).await? == before {
                let after = FileRecord {
                    stat,
                    scope: self.scope().clone(),
                    owner: self.owner.clone(),
                    marks,
                    problem: None,
                };
                rows.appends.push(FileAppend { before, after });
            } else {
                // Somebody edited the file, and no sync has seen it yet: a record would hide the edit.
                base.dirty.add([stat.path]);
            }
        }
        if !self.embed(&mut rows.docs).await {
            // Without a record the file is synced again, when the model may answer.
            let appends = rows.appends.drain(..);
            base.dirty.add(appends.map(|append| append.after.stat.path));
        }
        Ok(rows)
    }

    /// Shows the rows to the owner, and queues them for the index and their records, after those of earlier appends.
    async fn hand_over(&self, rows: Rows) -> Result<HandedOver, EngineError> {
        let base = self.base;
        let stats = rows.appends.iter().map(|append| &append.after.stat);
        let paths = stats.clone().map(|stat| stat.path.clone()).collect();
        stats.for_each(|stat| base.records.know(stat.clone()));
        let shown: OnTheirWay = rows.docs.clone().into();
        {
            let _turn = base.busy().await;
            base.corpora.cache.show(self.scope(), self.owner, &shown);
        }
        let pending = base.writer.append(rows.docs, rows.appends).await;
        let pending = pending.inspect_err(|_| self.arrived(&shown))?;
        Ok(HandedOver {
            paths,
            rows: shown,
            pending,
        })
    }

    fn arrived(&self, rows: &OnTheirWay) {
        self.base.corpora.cache.arrived(self.scope(), self.owner, rows);
    }

    /// Waits until the rows are in the index and the files recorded.
    async fn indexed(&self, handed: HandedOver) -> Result<(), EngineError> {
        let base = self.base;
        let written = handed.pending.written().await;
        self.arrived(&handed.rows);
        if written.is_err() {
            for path in handed.paths {
                base.records.break_promise(&path);
                base.dirty.add([path]);
            }
        }
        written
    }

    async fn embed(&self, docs: &mut [Doc]) -> bool {
        if !self.base.gauge.takes_vectors() {
            return true;
        }
        let messages = self.cells.iter().flat_map(|one| one.cell.messages.clone());
        let messages: Vec<Message> = messages.collect();
        match self.base.rows.embed_with(docs, &messages).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(
                    error = chain(&error),
                    "embedder unavailable; new memories are found by keyword search only"
                );
                false
            }
        }
    }
}
