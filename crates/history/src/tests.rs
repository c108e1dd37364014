//! The real history keeps the port's contract, and what only a disk and a person's git can do to it.

mod crashes;
mod disk;
mod hands;
mod pack;
mod purge;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::{Config, Repository};
use model::{Timestamp, Zone};
use ports::{Author, CommitPart, Debt, History, HistoryError, RecordedChange, Run, Touching};
use tempfile::TempDir;
use testkit::history::contract;

use crate::GitHistory;

/// A vault's folder and its history.
struct Folder {
    folder: TempDir,
    history: Arc<GitHistory>,
}

fn berlin() -> Zone {
    Zone::named("Europe/Berlin").expect("a zone")
}

impl Folder {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let history = GitHistory::open(folder.path(), berlin()).expect("opens");
        let history = Arc::new(history);
        let this = Self { folder, history };
        // Whoever runs the tests may have told git their name.
        this.configure("user.name", "");
        this.configure("user.email", "");
        this
    }

    /// Opens the history once more, as the next process does.
    fn reopen(&self) -> Result<GitHistory, HistoryError> {
        GitHistory::open(self.folder.path(), berlin())
    }

    fn configure(&self, key: &str, value: &str) {
        let mut config = Config::open(&self.at(".git/config")).expect("opens");
        config.set_str(key, value).expect("sets");
    }

    /// As a person's git sees it.
    fn repository(&self) -> Repository {
        Repository::open(self.folder.path()).expect("opens")
    }

    async fn by_hand(&self) -> Option<RecordedChange> {
        let made = self
            .history
            .commit(&Author::Person, &CommitPart::All, at(1))
            .await;
        made.expect("commits")
    }

    async fn by_run(&self, id: &str) -> RecordedChange {
        let made = self
            .history
            .commit(&Author::Run(run(id)), &CommitPart::All, at(2))
            .await;
        made.expect("commits").expect("something changed")
    }

    async fn undo(&self, id: &str) -> Result<Option<RecordedChange>, HistoryError> {
        self.history.undo(id, &run(&format!("u_{id}")), at(3)).await
    }

    async fn log(&self) -> Vec<RecordedChange> {
        self.history.log(&Touching::All, 100).await.expect("reads")
    }

    fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        write(&self.at(path), bytes.as_ref());
    }

    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.at(path)).ok()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + seconds * 1000)
}

/// All of the history begins anew.
fn everything(seconds: i64) -> Debt {
    Debt {
        id: 1,
        below: "".into(),
        at: at(seconds),
    }
}

fn run(id: &str) -> Run {
    Run {
        id: id.into(),
        strategy: "facts".to_owned(),
        reason: "a test".to_owned(),
    }
}

const FACTS: &str = "default/default/users/alice/facts/2023-05-08.md";
const PROFILE: &str = "default/default/users/alice/profile.md";

fn write(full: &Path, bytes: &[u8]) {
    fs::create_dir_all(full.parent().expect("it has one")).expect("creates folders");
    fs::write(full, bytes).expect("writes");
}

impl contract::Fixture for Folder {
    fn history(&self) -> Arc<dyn History> {
        self.history.clone()
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.at(path), text.as_bytes());
    }

    fn delete(&self, path: &str) {
        fs::remove_file(self.at(path)).expect("removes");
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.at(path)).ok()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_the_contract() {
    contract::holds(async || Folder::new()).await;
}
