//! The moment in which the new index replaces the old one.
//!
//! Owns: the order records, swap, second read. Never: building.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use model::warned;
use ports::{FileMark, FileRecord, VaultPath};

use super::NewIndex;
use crate::api::Synced;
use crate::base::Serving;
use crate::base::records::unfitting;
use crate::error::EngineError;
use crate::files::history::UNKNOWN;
use crate::files::{history, sync};

/// Records read at a time.
const RECORDS: usize = 64;

impl NewIndex<'_> {
    /// Swaps the new index in. No write runs in the meantime, and searches without cached rows wait.
    pub(super) async fn swap_in(self) -> Result<Synced, EngineError> {
        let base = self.base;
        let _alone = base.gate.alone().await;
        let (before_swap, after_swap, mut again) = self.records().await?;
        let humbled = before_swap.iter().map(|record| record.stat.path.clone());
        let humbled: Vec<_> = humbled.collect();
        base.records.put_all(before_swap).await?;
        let before = base.gauge.now();
        base.gauge.set(Serving::Swapping);
        if let Err(error) = self.stage.publish().await {
            base.gauge.set(before);
            again.extend(humbled);
            base.dirty.add(again);
            return Err(error.into());
        }
        base.records.put_all(after_swap).await?;
        let is_followed = !self.is_bare && {
            let followed = sync::files(base, again.iter().cloned()).await;
            warned!(
                followed,
                "cannot index the changes made during the rebuild; retrying later"
            )
            .is_some()
        };
        if !is_followed {
            base.dirty.add(again);
        }
        base.corpora.cache.let_all_go();
        base.gauge.set(Serving::Ready);
        Ok(self.synced)
    }

    /// The records of files that have different rows in the two indexes, before and after the swap, and the files to
    /// read again after it. The process may end before the swap, so until then the records claim nothing that the old
    /// index may lack; after it they claim the rows of the new one.
    async fn records(&self) -> Result<(Vec<FileRecord>, Vec<FileRecord>, BTreeSet<VaultPath>), EngineError> {
        let mut new: BTreeSet<&VaultPath> = self.files.keys().collect();
        let mut changed = Vec::new();
        for stat in self.base.parts.file_changes.stats().await? {
            new.remove(&stat.path);
            // The old index may hold entries of a broken file that cannot be read now, and the record claims them.
            let is_same = |file: &FileRecord| file.stat == stat && file.problem.is_none();
            if self.is_bare || !self.files.get(&stat.path).is_some_and(is_same) {
                changed.push(stat.path);
            }
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for some in changed.chunks(RECORDS) {
            let recorded =
                try_join_all(some.iter().map(|path| self.base.parts.file_changes.record(path))).await?;
            for record in recorded.into_iter().flatten() {
                if self
                    .files
                    .get(&record.stat.path)
                    .is_none_or(|file| file.stat != record.stat)
                {
                    self.find(&record.stat.path, Some(&record)).await?;
                }
                if !self.is_bare {
                    after.push(self.humble(record.clone(), false));
                }
                before.push(self.humble(record, true));
            }
        }
        let mut again = self.unread.clone();
        again.extend(changed);
        for path in new {
            self.find(path, None).await?;
            let record = self.files[path].clone();
            if self.is_bare {
                again.insert(path.clone());
            } else {
                after.push(record.clone());
            }
            before.push(self.humble(record, true));
        }
        // Files that a person saved after they were read; the watcher may not have reported the change yet.
        for stat in self.base.parts.vault.scan().await? {
            if self.files.get(&stat.path).is_none_or(|file| file.stat != stat) {
                again.insert(stat.path);
            }
        }
        Ok((before, after, again))
    }

    /// Records the differences of a file from its record in the history, before a new record hides them. A file that
    /// cannot be read is recorded later.
    async fn find(&self, path: &VaultPath, record: Option<&FileRecord>) -> Result<(), EngineError> {
        let Ok(file) = self.base.parts.vault.read(path).await else {
            return Ok(());
        };
        history::find(self.base, std::iter::once((path, file.as_ref(), record))).await
    }

    /// A record that fits no file: it claims no entry that an index may lack, but keeps those that may have to be
    /// removed.
    fn humble(&self, recorded: FileRecord, claims_nothing: bool) -> FileRecord {
        let read = self.files.get(&recorded.stat.path);
        let mut marks = read.map_or_else(Vec::new, |file| file.marks.clone());
        if claims_nothing {
            for mark in &mut marks {
                mark.digest = UNKNOWN;
            }
        }
        let known: BTreeSet<_> = marks.iter().map(|mark| mark.entry.clone()).collect();
        let others = recorded.marks.into_iter();
        let others = others.filter(|mark| !known.contains(&mark.entry));
        marks.extend(others.map(|mark| FileMark {
            digest: UNKNOWN,
            ..mark
        }));
        let stat = unfitting(&recorded.stat.path);
        FileRecord {
            stat,
            marks,
            ..recorded
        }
    }
}
