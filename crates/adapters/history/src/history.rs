//! The port on top of git: what runs where, and in whose turn.
//!
//! Owns: the opened history. Never: blocking the runtime.

use std::io;
use std::path::Path;

use async_trait::async_trait;
use model::{Timestamp, Zone};
use ports::{Author, History, HistoryError, Part, RecordedChange, Run, Touching};

use crate::repository::{DOT_GIT, Folder, Turn, io_error};

/// The git repository in a vault's folder, as port [`History`].
#[derive(Debug)]
pub struct GitHistory {
    folder: Folder,
}

impl GitHistory {
    /// The history of the vault in a folder that is there. It is made, and what a crash interrupted finished, by the
    /// first call; until then nothing is touched. Times are written with the offset of `zone`.
    pub fn new(root: &Path, zone: Zone) -> Result<Self, HistoryError> {
        let folder = Folder::open(root, zone)?;
        Ok(Self { folder })
    }

    /// The same, made at once.
    #[cfg(test)]
    pub(crate) fn open(root: &Path, zone: Zone) -> Result<Self, HistoryError> {
        let this = Self::new(root, zone)?;
        this.folder.turn().map(drop)?;
        Ok(this)
    }

    /// Whether a folder has a git repository, whoever made it.
    pub fn is_in(root: &Path) -> bool {
        root.join(DOT_GIT).symlink_metadata().is_ok()
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
    async fn commit(
        &self,
        author: &Author,
        part: &Part,
        at: Timestamp,
    ) -> Result<Option<RecordedChange>, HistoryError> {
        let (author, part) = (author.clone(), part.clone());
        self.in_turn(move |turn| turn.commit(&author, &part, at)).await
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

    async fn owe_purge(&self, at: Timestamp) -> Result<(), HistoryError> {
        self.in_turn(move |turn| turn.owe_purge(at)).await
    }
}
