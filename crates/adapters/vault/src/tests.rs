//! The real vault keeps the port's contract, and what only a disk can do to it: links, crashes, events.

mod crashes;
mod links;
mod watching;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use model::Timestamp;
use ports::{Clock, Vault};
use tempfile::TempDir;
use testkit::vault::contract;
use testkit::vault::samples::zone;

use crate::MarkdownVault;
use crate::disk::Disk;
use crate::watch::Watching;

/// A clock for which no time passes, and no wait takes any.
#[derive(Debug)]
struct NoTime;

#[async_trait]
impl Clock for NoTime {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    async fn sleep(&self, _duration: Duration) {
        tokio::task::yield_now().await;
    }
}

/// A vault in a folder of its own.
struct Folder {
    folder: TempDir,
    vault: Arc<MarkdownVault>,
}

impl Folder {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let vault = MarkdownVault::open(root(&folder), zone(), Arc::new(NoTime)).expect("opens");
        Self {
            folder,
            vault: Arc::new(vault),
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        root(&self.folder).join(path)
    }
}

fn root(folder: &TempDir) -> PathBuf {
    folder.path().join("memory")
}

/// A vault on another disk, without a watcher.
fn on_disk(folder: &TempDir, disk: Arc<dyn Disk>) -> MarkdownVault {
    let watching = Watching {
        events: false,
        rescan: Duration::from_secs(30),
    };
    MarkdownVault::open_with(&root(folder), zone(), Arc::new(NoTime), disk, watching).expect("opens")
}

fn write(full: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(full.parent().expect("it has one")).expect("creates folders");
    std::fs::write(full, bytes).expect("writes");
}

impl contract::Fixture for Folder {
    fn vault(&self) -> Arc<dyn Vault> {
        self.vault.clone()
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        write(&self.at(path), bytes);
    }

    fn delete(&self, path: &str) {
        std::fs::remove_file(self.at(path)).expect("removes");
    }

    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.at(path)).ok()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_the_contract() {
    contract::holds(async || Folder::new()).await;
}
