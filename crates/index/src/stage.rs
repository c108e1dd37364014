//! A generation being built beside the live one.
//!
//! Owns: collecting small additions, and the order of a swap. Never: touching the live files before the swap.

use std::fs;
use std::sync::Arc;

use async_trait::async_trait;
use model::{Doc, EmbedderId};
use ports::{IndexError, IndexStage};

use crate::current::{self, Current};
use crate::errors::of_files;
use crate::generation::Generation;
use crate::store::{Live, Shared, check_vectors};

/// Rows written at once: fewer make many small files, more only take memory.
const BATCH_ROWS: usize = 4096;

#[derive(Debug)]
pub(crate) struct Stage {
    shared: Arc<Shared>,
    current: Current,
    /// None before the first rows are written, and once it is published.
    staged: Option<Generation>,
    pending: Vec<Doc>,
}

impl Stage {
    pub(crate) fn begin(shared: Arc<Shared>, embedder: &EmbedderId) -> Self {
        Self {
            current: Current {
                generation: shared.next_generation(),
                embedder: embedder.clone(),
                complete: true,
                has_files: false,
            },
            shared,
            staged: None,
            pending: Vec::new(),
        }
    }

    /// Writes the collected rows; without rows there is no table.
    async fn write_pending(&mut self) -> Result<(), IndexError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let staged = if let Some(staged) = self.staged.take() {
            staged
        } else {
            let current = Current {
                has_files: true,
                ..self.current.clone()
            };
            Generation::create(&self.shared.dir, current).await?
        };
        let staged = self.staged.insert(staged);
        staged.apply(&self.pending, &[]).await?;
        self.pending.clear();
        Ok(())
    }
}

#[async_trait]
impl IndexStage for Stage {
    async fn add(&mut self, docs: &[Doc]) -> Result<(), IndexError> {
        check_vectors(docs, &self.current.embedder, &self.current.embedder)?;
        self.pending.extend_from_slice(docs);
        if self.pending.len() >= BATCH_ROWS {
            self.write_pending().await?;
        }
        Ok(())
    }

    async fn publish(mut self: Box<Self>) -> Result<(), IndexError> {
        self.write_pending().await?;
        if let Some(staged) = &self.staged {
            staged.maintain().await?;
        }
        self.shared.clone().swap(&self.current, &mut self.staged).await
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let Some(staged) = &self.staged else { return };
        let dir = current::generation_dir(&self.shared.dir, staged.current.generation);
        if let Err(error) = fs::remove_dir_all(&dir) {
            tracing::warn!(%error, "cannot remove an unpublished index generation; the next start removes it");
        }
    }
}

impl Shared {
    /// Makes a staged generation the live one: first on disk, then for readers; then the old files go.
    async fn swap(&self, current: &Current, staged: &mut Option<Generation>) -> Result<(), IndexError> {
        let _writing = self.writing.lock().await;
        let mut state = self.state.write().await;
        let current = staged.as_ref().map_or(current, |staged| &staged.current).clone();
        let number = current.generation;
        // A table that the first write made while this one was being built is no rival: it was never complete.
        if state.live.published().is_some_and(|live| live > number) {
            return Err(IndexError::Store(
                "a newer generation was published meanwhile".into(),
            ));
        }
        let replaced = state.live.generation();
        current::write(&self.dir, &current).map_err(of_files)?;
        state.embedder = current.embedder.clone();
        let new = match staged.take() {
            Some(staged) => Live::Open(Arc::new(staged)),
            None => Live::Empty(current),
        };
        let old = std::mem::replace(&mut state.live, new);
        drop(state);
        if let Live::Open(old) = old {
            old.drain().await;
        }
        self.remove_generations(|generation| generation < number || Some(generation) == replaced);
        Ok(())
    }
}
