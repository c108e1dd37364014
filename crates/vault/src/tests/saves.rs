//! Another program saves a file while Quipu writes it.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ports::{Edit, Vault as _, VaultWriter as _};
use tempfile::TempDir;
use testkit::vault::samples::fact;

use super::{FastDisk, at, on_disk};
use crate::disk::Disk;

/// A disk on which another program once saves the file at the worst moment, as editors do: the whole text as
/// the program read it, with one more entry.
#[derive(Debug)]
struct Interrupted {
    is_over: AtomicBool,
}

impl Interrupted {
    fn save(&self, file: &Path, before: &str) -> io::Result<()> {
        if self.is_over.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        std::fs::write(file, format!("{before}\n## By hand\n\nsaved meanwhile\n"))
    }
}

impl Disk for Interrupted {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        FastDisk.create_folder(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let file = path.with_file_name("2023-05-08.md");
        self.save(&file, &std::fs::read_to_string(&file).unwrap_or_default())?;
        FastDisk.write(path, bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let before = std::fs::read_to_string(path)?;
        FastDisk.append(path, bytes)?;
        self.save(path, &before)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        FastDisk.truncate(path, len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        FastDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        FastDisk.remove(path)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        FastDisk.sync(path)
    }
}

/// Neither the save nor Quipu's write is lost, and the returned stat is not the save's.
#[tokio::test]
async fn a_save_in_the_middle_of_a_write_loses_nothing() {
    let [one, two] = ["af_1", "af_2"].map(|id| fact("ann", id, "2023-05-08", id));
    let path = at(&one).into();
    for story in ["create", "append", "edit"] {
        let folder = TempDir::new().expect("a folder");
        let disk = Arc::new(Interrupted {
            is_over: AtomicBool::new(story != "create"),
        });
        let vault = on_disk(&folder, disk.clone());
        if story != "create" {
            vault
                .append(std::slice::from_ref(&one), true)
                .await
                .expect("appends");
            disk.is_over.store(false, Ordering::SeqCst);
        }
        let (stat, expected) = match story {
            "create" => (
                vault
                    .append(std::slice::from_ref(&one), true)
                    .await
                    .expect("appends")
                    .remove(0)
                    .stat,
                vec!["af_1"],
            ),
            "append" => (
                vault
                    .append(std::slice::from_ref(&two), true)
                    .await
                    .expect("appends")
                    .remove(0)
                    .stat,
                vec!["af_1", "af_2"],
            ),
            _ => (
                vault
                    .edit(
                        &path,
                        &[Edit::Put(Box::new(two.clone())), Edit::Remove(one.id.clone())],
                    )
                    .await
                    .expect("edits")
                    .expect("one is left"),
                vec!["af_2"],
            ),
        };
        let file = vault.read(&path).await.expect("reads").expect("is there");
        let ids: Vec<&str> = file.entries.iter().map(|read| read.entry.id.as_str()).collect();
        let ours: Vec<&str> = ids
            .iter()
            .copied()
            .filter(|id| id.starts_with("af_") && !id.contains("hand"))
            .collect();
        assert_eq!(ours, expected, "{story}");
        assert_eq!(ids.len(), expected.len() + 1, "{story}");
        assert!(
            file.entries
                .iter()
                .any(|read| read.entry.body == "saved meanwhile")
        );
        assert_eq!(file.stat, stat, "{story}");
    }
}
