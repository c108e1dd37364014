//! A new index from the vault, built beside the live one, and swapped in when it is complete.
//!
//! Owns: that a record never claims rows that the live index does not hold, before, during and after the swap. Never:
//! stopping anybody for longer than the swap takes.
//!
//! Until the swap everything is written to the live index as usual. Right before it, with the gate held exclusively,
//! every file that changed since it was read for the new index gets a record that fits no file, so that it must be read
//! again, by this process or by the next one. Then the swap, then that second read.

mod swap;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use model::{Doc, DocKey, warned};
use ports::{EmbedError, FileRecord, FileStat, IndexStage, ParsedFile, VaultPath};

use super::sync;
use crate::api::Synced;
use crate::base::records::mark;
use crate::base::{Base, Serving, records};
use crate::error::EngineError;

/// Rows that are embedded and added together.
const ROWS: usize = 1_024;
/// Batches that are embedded at a time.
const BATCHES: usize = 2;

/// Handling of missing vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VectorMode {
    /// The live index still answers: the new one must have vectors, or the rebuild fails.
    Must,
    /// Nothing answers meanwhile: rows without vectors are better than none. The vectors follow.
    MayFollow,
    /// Nothing answers meanwhile, and the model is slow: they follow.
    Follow,
}

/// Rows on their way through the embedder.
type EmbeddedRows = BoxFuture<'static, Result<(Vec<Doc>, Result<(), EmbedError>), EngineError>>;

/// A new index under way.
struct Build<'a> {
    base: &'a Arc<Base>,
    vectors: VectorMode,
    embedding: FuturesOrdered<EmbeddedRows>,
    waiting: Vec<Doc>,
    /// Rows that are in the new index; a second entry of the same id is not added twice.
    seen: HashSet<DocKey>,
    new: NewIndex<'a>,
    meter: RebuildMeter,
}

/// A new index, and the files that it was made of.
struct NewIndex<'a> {
    base: &'a Base,
    stage: Box<dyn IndexStage>,
    /// Every file as it was read.
    files: BTreeMap<VaultPath, FileRecord>,
    /// Files that could not be read.
    unread: BTreeSet<VaultPath>,
    /// Some rows have no vectors.
    is_bare: bool,
    synced: Synced,
}

/// Progress; the remaining rows are estimated from the remaining bytes.
#[derive(Debug, Default)]
struct RebuildMeter {
    bytes_total: u64,
    bytes_read: u64,
    rows_read: usize,
    rows_done: usize,
}

/// Builds a new index from the vault and swaps it in.
pub(crate) async fn rebuild(base: &Arc<Base>) -> Result<Synced, EngineError> {
    base.accepting()?;
    let _one = base.rebuilding.lock().await;
    let built = build(base).await;
    base.gauge.set_progress(None);
    built
}

async fn build(base: &Arc<Base>) -> Result<Synced, EngineError> {
    let stage = base.parts.index.stage(base.parts.embedder.id()).await?;
    let vectors = match base.gauge.now() {
        Serving::Ready | Serving::Words => VectorMode::Must,
        _ if base.parts.embedder.is_instant() => VectorMode::MayFollow,
        _ => VectorMode::Follow,
    };
    let stats = base.parts.vault.scan().await?;
    base.parts.vault.is_present().await?;
    let meter = RebuildMeter {
        bytes_total: stats.iter().map(|stat| stat.bytes).sum(),
        ..RebuildMeter::default()
    };
    let mut build = Build {
        base,
        vectors,
        embedding: FuturesOrdered::new(),
        waiting: Vec::new(),
        seen: HashSet::new(),
        new: NewIndex {
            base,
            stage,
            files: BTreeMap::new(),
            unread: BTreeSet::new(),
            is_bare: false,
            synced: Synced::default(),
        },
        meter,
    };
    for stat in first_recorded_first(base, stats).await? {
        base.accepting()?;
        let file = base.parts.vault.read(&stat.path).await;
        // One unreadable file does not stop the rebuild; the sync after the swap reports it.
        match warned!(
            file,
            path = &*stat.path,
            "unreadable file; the new index leaves it out"
        ) {
            Some(Some(file)) => build.take(file).await?,
            Some(None) => {}
            None => _ = build.new.unread.insert(stat.path),
        }
    }
    build.embed_waiting(0).await?;
    build.new.swap_in().await
}

/// Sorts files: first those that hold all their rows, by path, then those that share some, in the order of their first
/// record. So each row keeps its holder.
async fn first_recorded_first(base: &Base, stats: Vec<FileStat>) -> Result<Vec<FileStat>, EngineError> {
    let sharing = base.parts.file_changes.sharing(None).await?;
    let place = |stat: &FileStat| sharing.iter().position(|path| *path == stat.path);
    let mut stats: Vec<_> = stats.into_iter().map(|stat| (place(&stat), stat)).collect();
    stats.sort_by_key(|(place, _)| *place);
    Ok(stats.into_iter().map(|(_, stat)| stat).collect())
}

impl Build<'_> {
    async fn take(&mut self, file: ParsedFile) -> Result<(), EngineError> {
        self.meter.bytes_read += file.stat.bytes;
        self.new.synced.files += 1;
        self.new.synced.entries_added += file.entries.len();
        let mut marks = Vec::new();
        let mut rows = Vec::new();
        for read in &file.entries {
            let docs = sync::rows_of(read, &file.stat.path, &self.base.settings.zone);
            marks.push(mark(read.entry.id.clone(), read.digest, &docs));
            rows.extend(docs);
        }
        if rows.iter().any(|doc| self.seen.contains(&doc.key)) {
            // Another file holds a part of it: the sync after the swap decides.
            self.new.unread.insert(file.stat.path.clone());
            return Ok(());
        }
        let is_new = |doc: &Doc| self.seen.insert(doc.key.clone());
        self.waiting.extend(rows.into_iter().filter(is_new));
        let record = records::of_file(&file, marks, None);
        self.new.synced.broken += usize::from(record.problem.is_some());
        self.new.files.insert(record.stat.path.clone(), record);
        self.embed_waiting(ROWS).await
    }

    /// Embeds rows if more than this number wait, and adds finished ones; with 0, all of them.
    async fn embed_waiting(&mut self, rows_max: usize) -> Result<(), EngineError> {
        while self.waiting.len() > rows_max {
            let rest = self.waiting.split_off(self.waiting.len().min(ROWS));
            let docs = std::mem::replace(&mut self.waiting, rest);
            self.meter.rows_read += docs.len();
            self.embedding.push_back(self.embed(docs));
            if self.embedding.len() >= BATCHES {
                self.add_next().await?;
            }
        }
        while rows_max == 0 && !self.embedding.is_empty() {
            self.add_next().await?;
        }
        Ok(())
    }

    fn embed(&self, mut docs: Vec<Doc>) -> EmbeddedRows {
        if self.vectors == VectorMode::Follow {
            return Box::pin(async { Ok((docs, Ok(()))) });
        }
        let base = self.base.clone();
        Box::pin(async move {
            let own = base.clone();
            let work = async move {
                let done = own.rows.embed_docs(&mut docs).await;
                (docs, done)
            };
            base.work.run(work).await
        })
    }

    async fn add_next(&mut self) -> Result<(), EngineError> {
        let Some(embedded) = self.embedding.next().await else {
            return Ok(());
        };
        let (docs, done) = embedded?;
        if self.vectors == VectorMode::Must {
            done?;
        } else {
            let embedded = warned!(done, "embedder unavailable; the new index gets its vectors later");
            self.new.is_bare |= embedded.is_none() || self.vectors == VectorMode::Follow;
        }
        self.new.stage.add(&docs).await?;
        self.meter.rows_done += docs.len();
        self.base.gauge.set_progress(Some(self.meter.progress()));
        Ok(())
    }
}

impl RebuildMeter {
    /// The rows in the new index, and those that it will have.
    fn progress(&self) -> (usize, usize) {
        let to_come = u128::from(self.bytes_total.saturating_sub(self.bytes_read));
        let estimate = self.rows_read as u128 * to_come / u128::from(self.bytes_read.max(1));
        let total = self.rows_read + usize::try_from(estimate).unwrap_or(0);
        (self.rows_done, total.max(self.rows_done))
    }
}
