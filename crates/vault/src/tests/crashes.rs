//! A disk that fails, tears or dies at the n-th change, for every n; then the vault is opened again and the
//! calls are repeated.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use model::{Entry, EntryId};
use ports::{Edit, Vault as _, VaultWriter as _};
use tempfile::TempDir;
use testkit::vault::samples::{episode, fact};

use super::{FastDisk, at, on_disk, root};
use crate::MarkdownVault;
use crate::disk::Disk;

/// The failure of the n-th change. After a crash no further change happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It fails without effect; the process lives on.
    Fails,
    /// The process dies before it.
    DiesBefore,
    /// The process dies in the middle of it: a part of the bytes is written.
    Tears(usize),
    /// The process dies after it, before the caller gets the result.
    DiesAfter,
}

/// The disk, with one fault.
#[derive(Debug)]
pub(super) struct FaultyDisk {
    fault: Fault,
    at: usize,
    changes: Mutex<Vec<&'static str>>,
}

impl FaultyDisk {
    pub(super) fn new(fault: Fault, at: usize) -> Arc<Self> {
        Arc::new(Self {
            fault,
            at,
            changes: Mutex::default(),
        })
    }

    /// The changes done or tried, in order.
    pub(super) fn changes(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.changes.lock().expect("no panic"))
    }

    fn change(
        &self,
        what: &'static str,
        bytes: &[u8],
        work: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut changes = self.changes.lock().expect("no panic");
        let n = changes.len();
        changes.push(what);
        let planned = || Err(io::Error::other("a planned fault"));
        match self.fault {
            _ if n < self.at => work(bytes),
            Fault::Fails if n > self.at => work(bytes),
            Fault::DiesAfter if n == self.at => work(bytes).and_then(|()| planned()),
            Fault::Tears(part) if n == self.at && !bytes.is_empty() => {
                work(&bytes[..bytes.len() * part / 100]).and_then(|()| planned())
            }
            _ => planned(),
        }
    }
}

impl Disk for FaultyDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.change("create_folder", b"", |_| FastDisk.create_folder(path))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.change("write", bytes, |bytes| FastDisk.write(path, bytes))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.change("append", bytes, |bytes| FastDisk.append(path, bytes))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.change("truncate", b"", |_| FastDisk.truncate(path, len))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change("rename", b"", |_| FastDisk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change("remove", b"", |_| FastDisk.remove(path))
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.change("sync", b"", |_| FastDisk.sync(path))
    }
}

pub(super) const FAULTS: [Fault; 8] = [
    Fault::Fails,
    Fault::DiesBefore,
    Fault::Tears(1),
    Fault::Tears(20),
    Fault::Tears(50),
    Fault::Tears(80),
    Fault::Tears(99),
    Fault::DiesAfter,
];

const BY_HAND: &str = "---\nquipu: 1\nmine: yes\n---\nintro\n\n## By hand\n\nno line feed at the end";

/// A scenario: the entries before it, and calls that may be repeated any number of times with the same
/// result.
struct Story {
    before: Vec<Entry>,
    by_hand: bool,
    append: Vec<Entry>,
    edits: Vec<Edit>,
}

/// Every file of the vault with its content, except lock files and temporary files.
fn files(folder: &TempDir) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root(folder)];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("reads").flatten() {
            let path = entry.path();
            let name = path
                .strip_prefix(root(folder))
                .expect("is inside")
                .display()
                .to_string();
            if path.is_dir() && name != ".locks" {
                folders.push(path);
            } else if path.is_file() && path.extension().is_none_or(|extension| extension != "tmp") {
                all.insert(name, std::fs::read_to_string(&path).expect("is text"));
            }
        }
    }
    all
}

impl Story {
    /// Makes all calls on a disk; returns the first error.
    async fn tell(&self, vault: &MarkdownVault) -> Result<(), ports::VaultError> {
        vault.append(&self.append, false).await?;
        for edit in &self.edits {
            let path = at(&self.before[0]).into();
            match vault.edit(&path, std::slice::from_ref(edit)).await {
                // An earlier attempt removed it.
                Err(ports::VaultError::NoEntry { .. }) if matches!(edit, Edit::Remove(_)) => {}
                done => {
                    done?;
                }
            }
        }
        Ok(())
    }

    async fn prepare(&self, folder: &TempDir) {
        if self.by_hand {
            super::write(&root(folder).join(at(&self.append[0])), BY_HAND.as_bytes());
        }
        let vault = on_disk(folder, Arc::new(FastDisk));
        vault.append(&self.before, true).await.expect("appends");
    }

    /// Runs the scenario with a fault at the n-th change, then opens the vault again and repeats it; false if
    /// there is no n-th change.
    async fn run(&self, fault: Fault, at: usize, expected: &BTreeMap<String, String>) -> bool {
        let folder = TempDir::new().expect("a folder");
        self.prepare(&folder).await;
        let disk = FaultyDisk::new(fault, at);
        let told = {
            let vault = on_disk(&folder, disk.clone());
            self.tell(&vault).await
        };
        let is_over = disk.changes().len() <= at;
        assert!(
            told.is_err() || is_over || fault == Fault::Fails,
            "{fault:?} at {at} was not told of"
        );
        let vault = on_disk(&folder, Arc::new(FastDisk));
        for stat in vault.scan().await.expect("scans") {
            vault
                .read(&stat.path)
                .await
                .expect("a torn file is read")
                .expect("is there");
        }
        self.tell(&vault).await.expect("the second time nothing fails");
        assert_eq!(&files(&folder), expected, "{fault:?} at {at}");
        !is_over
    }

    async fn check(&self) {
        let folder = TempDir::new().expect("a folder");
        self.prepare(&folder).await;
        let disk = FaultyDisk::new(Fault::Fails, usize::MAX);
        self.tell(&on_disk(&folder, disk.clone()))
            .await
            .expect("without faults");
        let expected = files(&folder);
        let changes = disk.changes();
        assert!(!changes.is_empty());
        for fault in FAULTS {
            // A fault may add changes: the loop ends at the first number without a change.
            let mut at = 0;
            loop {
                let tears = changes
                    .get(at)
                    .is_some_and(|change| matches!(*change, "write" | "append"));
                let is_idle = matches!(fault, Fault::Tears(_)) && !tears && at < changes.len();
                if !is_idle && !self.run(fault, at, &expected).await {
                    break;
                }
                at += 1;
            }
            assert!(at >= changes.len());
        }
    }
}

fn entries() -> Vec<Entry> {
    vec![
        fact("ann", "af_2", "2023-05-08", "Zwei — ä"),
        episode(
            "ann",
            "ep_1",
            "2023-05-08",
            &["<!-- end -->\n## not a heading", "日本語"],
        ),
        fact("ann", "af_3", "2023-05-08", "Three"),
        fact("bob", "af_1", "2023-05-09", "his"),
    ]
}

#[tokio::test]
async fn new_files_survive_every_fault() {
    let story = Story {
        before: Vec::new(),
        by_hand: false,
        append: entries(),
        edits: Vec::new(),
    };
    story.check().await;
}

#[tokio::test]
async fn appends_to_existing_files_survive_every_fault() {
    for by_hand in [false, true] {
        let story = Story {
            before: vec![fact("ann", "af_1", "2023-05-08", "One")],
            by_hand,
            append: entries(),
            edits: Vec::new(),
        };
        story.check().await;
    }
}

#[tokio::test]
async fn edits_survive_every_fault() {
    let [one, other] = ["af_1", "af_9"].map(|id| fact("ann", id, "2023-05-08", id));
    let new = Entry {
        body: "changed".to_owned(),
        ..one.clone()
    };
    let story = Story {
        before: vec![one, other],
        by_hand: true,
        append: entries(),
        edits: vec![Edit::Replace(Box::new(new)), Edit::Remove(EntryId::new("af_9"))],
    };
    story.check().await;
}

/// After a crash, another writer appends to the file before the crashed append is repeated.
#[tokio::test]
async fn a_torn_entry_found_by_another_writer_is_moved_to_torn_and_forgotten_with_its_owner() {
    let folder = TempDir::new().expect("a folder");
    let [one, two, three] = ["af_1", "af_2", "af_3"].map(|id| fact("ann", id, "2023-05-08", id));
    let vault = on_disk(&folder, Arc::new(FastDisk));
    vault
        .append(std::slice::from_ref(&one), true)
        .await
        .expect("appends");
    let disk = FaultyDisk::new(Fault::Tears(60), 0);
    let dying = on_disk(&folder, disk);
    dying
        .append(std::slice::from_ref(&two), true)
        .await
        .expect_err("dies");
    vault
        .append(std::slice::from_ref(&three), true)
        .await
        .expect("appends");
    vault
        .append(std::slice::from_ref(&two), false)
        .await
        .expect("appends");
    let file = vault
        .read(&at(&one).into())
        .await
        .expect("reads")
        .expect("is there");
    let ids: Vec<_> = file.entries.iter().map(|read| read.entry.id.as_str()).collect();
    assert_eq!((ids, file.problems.len()), (vec!["af_1", "af_3", "af_2"], 0));
    let kept = root(&folder).join(".torn").join(at(&one));
    assert!(
        std::fs::read_to_string(&kept)
            .expect("is kept")
            .starts_with("## af_2 <!--af_2 ")
    );
    assert_eq!(vault.scan().await.expect("scans").len(), 1);
    vault
        .edit(&at(&one).into(), &[Edit::Remove(EntryId::new("af_3"))])
        .await
        .expect("edits");
    assert!(!kept.exists(), "what is forgotten may stand in there");
    super::write(&kept, b"torn");
    vault.remove(&one.scope, Some(&one.owner)).await.expect("removes");
    assert!(!kept.exists());
}

/// Two vaults in one process; a file lock cannot distinguish them from two processes.
#[tokio::test(flavor = "multi_thread")]
async fn two_vaults_on_one_folder_lose_no_entry_and_double_none() {
    let folder = TempDir::new().expect("a folder");
    let open = || Arc::new(on_disk(&folder, Arc::new(FastDisk)));
    let vaults = [open(), open()];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..60 {
        let vault = vaults[n % 2].clone();
        // Every id is appended through both vaults.
        let entry = fact("ann", &format!("af_{}", n / 2), "2023-05-08", "x");
        tasks.spawn(async move {
            vault
                .append(std::slice::from_ref(&entry), false)
                .await
                .map(drop)?;
            let changed = Entry {
                body: "y".to_owned(),
                ..entry.clone()
            };
            vault
                .edit(&at(&entry).into(), &[Edit::Replace(Box::new(changed))])
                .await
                .map(drop)
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("no panic").expect("writes");
    }
    let file = vaults[0]
        .read(&at(&fact("ann", "x", "2023-05-08", "x")).into())
        .await
        .expect("reads");
    let file = file.expect("is there");
    let ids: std::collections::BTreeSet<_> = file.entries.iter().map(|read| read.entry.id.clone()).collect();
    assert_eq!((ids.len(), file.entries.len(), file.problems.len()), (30, 30, 0));
    assert!(file.entries.iter().all(|read| read.entry.body == "y"));
}

/// An append is one change, whatever the file; other writes show no half-written file.
#[tokio::test]
async fn an_append_is_one_write_and_whole_files_are_renamed_into_place() {
    let folder = TempDir::new().expect("a folder");
    let disk = FaultyDisk::new(Fault::Fails, usize::MAX);
    let vault = on_disk(&folder, disk.clone());
    let all: Vec<Entry> = (0..5)
        .map(|n| fact("ann", &format!("af_{n}"), "2023-05-08", "x"))
        .collect();
    vault.append(&all[..1], true).await.expect("appends");
    let folders = vec!["create_folder"; 5];
    let synced = vec!["sync"; 6];
    assert_eq!(
        disk.changes(),
        [folders, vec!["write", "rename"], synced.clone()].concat()
    );
    vault.append(&all[1..4], true).await.expect("appends");
    assert_eq!(disk.changes(), ["append"]);
    vault.append(&all, false).await.expect("appends");
    assert_eq!(disk.changes(), ["append"]);
    // An append of existing entries makes them durable: the call before may have died before its sync.
    vault.append(&all, false).await.expect("appends");
    assert_eq!(disk.changes(), [vec!["sync"], synced.clone()].concat());
    vault
        .edit(&at(&all[0]).into(), &[Edit::Remove(all[0].id.clone())])
        .await
        .expect("edits");
    assert_eq!(disk.changes(), [vec!["write", "rename"], synced].concat());
}
