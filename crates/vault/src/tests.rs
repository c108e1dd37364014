//! The real vault keeps the port's contract, also under conditions of a real disk: links, crashes, saves,
//! events.

mod away;
mod crashes;
mod foreign;
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
use model::{Entry, Name, Owner, Scope, Timestamp};
use ports::{Clock, FileBytes, LibraryFiles as _, Vault as _, VaultWriter as _};
use tempfile::TempDir;
use testkit::vault::contract;
use testkit::vault::samples::zone;

use crate::MarkdownVault;
use crate::disk::{Disk, RealDisk};
use crate::watch::Watching;

/// A clock that stands still; sleeps end at once.
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

/// The disk without its syncs: they take most of the time, and no test can observe them.
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
    fn vault(&self) -> Arc<dyn contract::WritableVault> {
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
    contract::keeps_library_files(&folder, &*folder.vault).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_original_is_stored_completely_whatever_the_position_of_its_file() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..9_000_000_u32)
        .flat_map(u32::to_le_bytes)
        .take(9_000_001)
        .collect();
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&bytes).expect("writes");
    let library = Owner::library(Name::parse("ours").expect("a name"));
    let file = FileBytes::Disk(Arc::new(file));
    let kept = folder
        .vault
        .put(&Scope::default(), &library, "originals/d_1/a.pdf", file)
        .await;
    let kept = kept.expect("puts");
    assert_eq!(contract::Fixture::bytes(&folder, &kept), Some(bytes));
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_the_contract_of_pages() {
    contract::pages::holds(async || Folder::new(), |folder| &*folder.vault).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_named_after_a_person_becomes_that_persons() {
    let folder = Folder::new();
    let text = b"- I live in Graz.\n";
    write(&folder.at("default/default/users/Daniel/facts/mine.md"), text);
    write(&folder.at("default/default/users/Eva/facts/2023-05-08.md"), text);
    write(
        &folder.at("default/default/users/Eva=1/facts/2023-05-09.md"),
        text,
    );
    let paths = async |folder: &Folder| {
        let found = folder.vault.scan().await.expect("it is looked at");
        found
            .into_iter()
            .map(|stat| stat.path.to_string())
            .collect::<Vec<_>>()
    };
    let found = paths(&folder).await;
    let mine = "default/default/users/Daniel=1/facts/mine.md";
    assert!(found.iter().any(|path| path == mine), "{found:?}");
    assert_eq!(
        folder
            .at("default/default/users/Daniel")
            .symlink_metadata()
            .ok()
            .map(drop),
        None
    );
    let read = folder
        .vault
        .read(&mine.into())
        .await
        .expect("it is read")
        .expect("it is there");
    assert_eq!(read.broken, None);
    assert_eq!(read.entries[0].entry.owner.id.as_str(), "Daniel");
    assert_eq!(read.entries[0].entry.body, "I live in Graz.");
    assert_ne!(
        read.entries[0].entry.time,
        Timestamp::default(),
        "the time at which it was saved"
    );
    // If both folders exist, they are not mixed: the misnamed one is reported and stays.
    let both = folder
        .vault
        .read(&"default/default/users/Eva/facts/2023-05-08.md".into())
        .await;
    let broken = both
        .expect("it is read")
        .expect("it is there")
        .broken
        .expect("it is told of");
    assert!(broken.contains("rename it to `Eva=1`"), "{broken}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_in_utf_16_can_be_read_but_not_written() {
    let folder = Folder::new();
    let [one, two] = ["af_1", "af_2"].map(|id| testkit::vault::samples::fact("ann", id, "2023-05-08", id));
    let path = at(&one);
    let own = markdown::render(&one, &zone());
    let utf_16 = format!("\u{feff}{own}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let bytes: Vec<u8> = utf_16;
    write(&folder.at(&path), &bytes);
    for fresh in [true, false] {
        let refused = folder.vault.append(std::slice::from_ref(&two), fresh).await;
        let reason = refused.expect_err("it is refused").to_string();
        assert!(reason.contains("UTF-16"), "{reason}");
    }
    let edits = [ports::Edit::Remove(one.id.clone())];
    assert!(folder.vault.edit(&path.as_str().into(), &edits).await.is_err());
    assert_eq!(contract::Fixture::bytes(&folder, &path), Some(bytes));
    let read = folder.vault.read(&path.as_str().into()).await;
    let read = read.expect("reads").expect("is there");
    assert!(read.broken.is_some_and(|reason| reason.contains("UTF-16")));
    assert_eq!(read.entries.len(), 1, "it is read all the same");
}
