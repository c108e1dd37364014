//! The port on top of git: what runs where, and in whose turn.
//!
//! Owns: the opened history. Never: blocking the runtime.

use std::io;
use std::path::Path;

use async_trait::async_trait;
use model::{Owner, Scope, Timestamp, Zone};
use ports::{Author, CommitPart, Debt, History, HistoryError, RecordedChange, Run, Touching, VaultPath};

use crate::purge;
use crate::repository::{DOT_GIT, Folder, HistoryTurn, io_error};

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
    pub(crate) async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&HistoryTurn) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        let folder = self.folder.clone();
        blocking(move || work(&folder.turn()?)).await
    }

    /// Reads or writes debts, which wait for nobody's turn; where there is no history there are none.
    async fn of_debts<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        let folder = self.folder.clone();
        blocking(move || {
            folder
                .dot_git()?
                .map_or(Ok(T::default()), |dot_git| work(&dot_git))
        })
        .await
    }
}

/// Runs work where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HistoryError> + Send + 'static,
) -> Result<T, HistoryError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(cancelled) => Err(io_error(Path::new(""))(io::Error::other(cancelled))),
    }
}

#[async_trait]
impl History for GitHistory {
    async fn commit(
        &self,
        author: &Author,
        part: &CommitPart,
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

    async fn tidy(&self, at: Timestamp) -> Result<(), HistoryError> {
        self.in_turn(move |turn| turn.tidy(at)).await
    }

    fn folder_of(&self, scope: &Scope, owner: Option<&Owner>) -> VaultPath {
        markdown::place::folder_of(scope, owner).into()
    }

    async fn purge(&self, debts: &[Debt]) -> Result<(), HistoryError> {
        let debts = debts.to_vec();
        self.in_turn(move |turn| turn.purge(&debts)).await
    }

    async fn owe_purge(&self, debt: &Debt) -> Result<(), HistoryError> {
        let debt = debt.clone();
        self.of_debts(move |dot_git| purge::owe(dot_git, &debt)).await
    }

    async fn forgive(&self, debt: &Debt) -> Result<(), HistoryError> {
        let debt = debt.clone();
        self.of_debts(move |dot_git| purge::forgive(dot_git, &debt)).await
    }

    async fn owed(&self) -> Result<Vec<Debt>, HistoryError> {
        self.of_debts(purge::owed).await
    }
}
