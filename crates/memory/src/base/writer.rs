//! The one writer of the index: merges the writes of many workers into few large ones.
//!
//! Owns: batching, a second attempt, that a file's record is written after the rows that it claims, when the index is
//! compacted. Never: deciding the content of a row.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use model::text::chain;
use model::{Doc, DocKey, warned};
use ports::{Clock, FileAppend, FileChanges, Index, IndexError};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::error::EngineError;
use crate::parts::Parts;
use crate::runtime::{Panics, panics};

/// Maximum number of waiting writes; callers with more must wait.
const WAITING_MAX: usize = 64;
/// Maximum number of rows in one merged write.
const BATCH_ROWS_MAX: usize = 4_096;
/// After this number of writes the index is compacted even if more are waiting.
const MAINTAIN_AFTER_WRITES: usize = 96;
/// After this time without a write the index is compacted, if there was any write.
const IDLE: Duration = Duration::from_secs(3);

/// The workers' end.
#[derive(Debug, Clone)]
pub(crate) struct IndexWriter {
    sender: mpsc::Sender<Write>,
}

/// Rows that must change together, and the appends to files that contain them.
#[derive(Debug)]
struct Write {
    add: Vec<Doc>,
    remove: Vec<DocKey>,
    appends: Vec<FileAppend>,
    /// Purge earlier deletions from every file.
    is_erasing: bool,
    done: oneshot::Sender<Result<(), EngineError>>,
}

/// A submitted write.
#[derive(Debug)]
pub(crate) struct Pending(Option<oneshot::Receiver<Result<(), EngineError>>>);

impl Pending {
    /// Waits until every read shows the write.
    pub(crate) async fn written(self) -> Result<(), EngineError> {
        match self.0 {
            Some(answer) => answer.await.map_err(|_| EngineError::Stopping)?,
            None => Ok(()),
        }
    }
}

/// The writer's end, to be run as a task.
#[derive(Debug)]
pub(crate) struct WriterLoop {
    receiver: mpsc::Receiver<Write>,
    index: Arc<dyn Index>,
    files: Arc<dyn FileChanges>,
    clock: Arc<dyn Clock>,
    panics: Arc<Panics>,
    stop: CancellationToken,
    writes: usize,
}

impl IndexWriter {
    /// A writer, and the loop that must run for it.
    pub(super) fn new(parts: &Parts, panics: Arc<Panics>, stop: CancellationToken) -> (Self, WriterLoop) {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        let writing = WriterLoop {
            receiver,
            index: parts.index.clone(),
            files: parts.file_changes.clone(),
            clock: parts.clock.clone(),
            panics,
            stop,
            writes: 0,
        };
        (Self { sender }, writing)
    }

    /// Adds and removes rows, removals first; returns when every read shows the change.
    pub(crate) async fn apply(&self, add: Vec<Doc>, remove: Vec<DocKey>) -> Result<(), EngineError> {
        self.hand_over(add, remove, Vec::new(), false)
            .await?
            .written()
            .await
    }

    /// As [`Self::apply`], for rows of appended files, whose records are extended afterwards. Writes are done in the
    /// order of submission, so the appends to one file follow each other.
    pub(crate) async fn append(
        &self,
        add: Vec<Doc>,
        appends: Vec<FileAppend>,
    ) -> Result<Pending, EngineError> {
        self.hand_over(add, Vec::new(), appends, false).await
    }

    /// Purges deleted rows from the index's files; all callers that wait share one purge.
    pub(crate) async fn erase(&self) -> Result<(), EngineError> {
        let purge = self.hand_over(Vec::new(), Vec::new(), Vec::new(), true);
        purge.await?.written().await
    }

    async fn hand_over(
        &self,
        add: Vec<Doc>,
        remove: Vec<DocKey>,
        appends: Vec<FileAppend>,
        is_erasing: bool,
    ) -> Result<Pending, EngineError> {
        if add.is_empty() && remove.is_empty() && appends.is_empty() && !is_erasing {
            return Ok(Pending(None));
        }
        let (done, answer) = oneshot::channel();
        let write = Write {
            add,
            remove,
            appends,
            is_erasing,
            done,
        };
        self.sender.send(write).await.map_err(|_| EngineError::Stopping)?;
        Ok(Pending(Some(answer)))
    }
}

impl WriterLoop {
    /// Writes until the stop signal, then the rest of the queue. After a panic, the waiting caller of the write gets an
    /// error.
    pub(crate) async fn run(mut self) {
        let (panics, clock) = (self.panics.clone(), self.clock.clone());
        for count in 1.. {
            let serving = async {
                self.serve().await;
                Ok(())
            };
            if panics.caught("index writer", &*clock, serving).await.is_ok() {
                return;
            }
            tokio::select! {
                biased;
                () = self.stop.cancelled() => {}
                () = clock.sleep(panics::wait(count)) => {}
            }
        }
    }

    async fn serve(&mut self) {
        loop {
            tokio::select! {
                biased;
                write = self.receiver.recv() => match write {
                    Some(write) => self.write(write).await,
                    None => return,
                },
                () = self.stop.cancelled() => return,
                () = self.clock.sleep(IDLE), if self.writes > 0 => self.maintain().await,
            }
        }
    }

    async fn write(&mut self, first: Write) {
        let mut rows = first.add.len() + first.remove.len();
        let mut writes = vec![first];
        while rows < BATCH_ROWS_MAX
            && let Ok(write) = self.receiver.try_recv()
        {
            rows += write.add.len() + write.remove.len();
            writes.push(write);
        }
        let erasing: Vec<Write> = writes.extract_if(.., |write| write.is_erasing).collect();
        if !writes.is_empty() {
            self.writes += 1;
        }
        tracing::debug!(writes = writes.len(), rows, "wrote the index");
        if writes.len() == 1 {
            let write = writes.remove(0);
            self.write_alone(write).await;
        } else {
            self.write_together(writes).await;
        }
        if !erasing.is_empty() {
            self.erase(erasing).await;
        }
        if self.writes >= MAINTAIN_AFTER_WRITES {
            self.maintain().await;
        }
    }

    async fn erase(&mut self, asked: Vec<Write>) {
        let erased = self.index.erase().await;
        if erased.is_ok() {
            self.writes = 0;
        }
        let failure = erased.err();
        if let Some(error) = &failure {
            tracing::warn!(
                error = chain(error),
                "cannot purge deleted text from the index files; retrying with the next deletion or start"
            );
        }
        for write in asked {
            let erased = match &failure {
                None => Ok(()),
                Some(error) => Err(IndexError::Store(chain(error).into()).into()),
            };
            drop(write.done.send(erased));
        }
    }

    async fn write_together(&self, writes: Vec<Write>) {
        if writes.is_empty() {
            return;
        }
        let (add, remove) = merged(&writes);
        if self.index.apply(&add, &remove).await.is_ok() {
            let appends: Vec<_> = writes.iter().flat_map(|write| &write.appends).cloned().collect();
            if appends.is_empty() || self.files.extend(appends).await.is_ok() {
                for write in writes {
                    // The waiting caller may be gone.
                    drop(write.done.send(Ok(())));
                }
                return;
            }
        }
        // One of them may have failed the batch, so each is written alone. Its rows may be in the index already.
        for mut write in writes {
            write.remove.extend(write.add.iter().map(|doc| doc.key.clone()));
            self.write_alone(write).await;
        }
    }

    async fn write_alone(&self, write: Write) {
        let Write {
            add,
            mut remove,
            appends,
            done,
            ..
        } = write;
        let mut outcome = self.index.apply(&add, &remove).await;
        if matches!(outcome, Err(IndexError::Store(_))) {
            // A part of it may have been written.
            let named: BTreeSet<DocKey> = remove
                .drain(..)
                .chain(add.iter().map(|doc| doc.key.clone()))
                .collect();
            remove = named.into_iter().collect();
            outcome = self.index.apply(&add, &remove).await;
        }
        let outcome = match outcome {
            Ok(()) if !appends.is_empty() => self.files.extend(appends).await.map_err(EngineError::from),
            outcome => outcome.map_err(EngineError::Index),
        };
        drop(done.send(outcome));
    }

    async fn maintain(&mut self) {
        self.writes = 0;
        let maintained = self.index.maintain().await;
        if warned!(maintained, "cannot compact the index; retrying later").is_some() {
            tracing::debug!("compacted the index");
        }
    }
}

/// Several writes as one: the later write of a row wins.
fn merged(writes: &[Write]) -> (Vec<Doc>, Vec<DocKey>) {
    let mut add: BTreeMap<&DocKey, &Doc> = BTreeMap::new();
    let mut remove: BTreeSet<&DocKey> = BTreeSet::new();
    for write in writes {
        for key in &write.remove {
            add.remove(key);
            remove.insert(key);
        }
        add.extend(write.add.iter().map(|doc| (&doc.key, doc)));
    }
    (
        add.into_values().cloned().collect(),
        remove.into_iter().cloned().collect(),
    )
}

#[cfg(test)]
mod tests;
