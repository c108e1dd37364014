//! The port on top of git: what runs where, and in whose turn.
//!
//! Owns: the opened history. Never: blocking the runtime.

use std::io;
use std::path::Path;

use async_trait::async_trait;
use model::{Timestamp, Zone};
use ports::{Author, History, HistoryError, RecordedChange, Run, Touching};

use crate::repository::{Folder, Turn, io_error};

/// The git repository in a vault's folder, as port [`History`].
#[derive(Debug)]
pub struct GitHistory {
    folder: Folder,
}

impl GitHistory {
    /// Opens the history of the vault in a folder that is there; makes it if need be, and finishes what a crash
    /// interrupted. Times are written with the offset of `zone`.
    pub fn open(root: &Path, zone: Zone) -> Result<Self, HistoryError> {
        let folder = Folder::open(root, zone)?;
        folder.turn().map(drop)?;
        Ok(Self { folder })
    }

    /// Runs work in its turn, where it may block.
    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Turn) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        let folder = self.folder.clone();
        match tokio::task::spawn_blocking(move || work(&folder.turn()?)).await {
            Ok(done) => done,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(cancelled) => Err(io_error(Path::new(""))(io::Error::other(cancelled))),
        }
    }
}

#[async_trait]
impl History for GitHistory {
    async fn commit(&self, author: &Author, at: Timestamp) -> Result<Option<RecordedChange>, HistoryError> {
        let author = author.clone();
        self.in_turn(move |turn| turn.commit(&author, at)).await
    }

    async fn log(&self, touching: &Touching, limit: usize) -> Result<Vec<RecordedChange>, HistoryError> {
        let touching = touching.clone();
        self.in_turn(move |turn| turn.log(&touching, limit)).await
    }

    async fn diff(&self, id: Option<&str>) -> Result<String, HistoryError> {
        let id = id.map(str::to_owned);
        self.in_turn(move |turn| turn.diff(id.as_deref())).await
    }

    async fn undo(&self, run: &str, by: &Run, at: Timestamp) -> Result<Option<RecordedChange>, HistoryError> {
        let (run, by) = (run.into(), by.clone());
        self.in_turn(move |turn| turn.undo(&run, &by, at)).await
    }

    async fn purge(&self, at: Timestamp) -> Result<(), HistoryError> {
        self.in_turn(move |turn| turn.purge(at)).await
    }
}
