//! The real vault keeps the port's contract, and what only a disk can do to it: links, crashes, saves, events.

mod crashes;
mod links;
mod pages;
mod saves;
mod watching;

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use model::{Entry, Timestamp};
use ports::{Clock, Vault};
use tempfile::TempDir;
use testkit::vault::contract;
use testkit::vault::samples::zone;

use crate::MarkdownVault;
use crate::disk::{Disk, RealDisk};
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

/// The disk without its syncs, which cost most of the time and which no test can see.
#[derive(Debug)]
struct FastDisk;

impl Disk for FastDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_folder(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        RealDisk.remove(path)?;
        std::fs::write(path, bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)?
            .write_all(bytes)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.set_len(len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        path.metadata().map(drop)
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

fn at(entry: &Entry) -> String {
    markdown::path_of(entry, &zone())
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
    let folder = Folder::new();
    contract::keeps_a_shelf(&folder, &*folder.vault).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_the_contract_of_pages() {
    contract::pages::holds(async || Folder::new(), |folder| &*folder.vault).await;
}
