//! A memory folder that is missing or exchanged does not delete memories.

use std::fs;

use ports::Ids as _;
use tempfile::TempDir;
use vault::{ID_FILE, VaultId};

use super::*;
use crate::belonging::{FILE, check};
use crate::commands::tests::{desk, typed};
use crate::world::World;

const TOLD: &str = "add --flush I-keep-bees.";

/// A root with one memory.
async fn remembering() -> (TempDir, Desk) {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    typed(&desk, &[TOLD]).await.expect("it is remembered");
    (root, desk)
}

async fn assert_refused(desk: &Desk) {
    for line in ["status", "search bees", "add I-sail.", "sync"] {
        let refused = typed(desk, &[line]).await.expect_err("the folder is not the one");
        let text = refused.error.to_string();
        assert!(text.contains("is missing or is not the one"), "{line}: {text}");
        assert!(
            refused
                .hint
                .expect("what to do")
                .contains("`quipu sync --accept-missing`")
        );
    }
    check(&desk.root).expect_err("no backup of it");
}

async fn assert_found(desk: &Desk) {
    let found = typed(desk, &["sync", "search bees"])
        .await
        .expect("it answers")
        .said;
    assert!(found.contains("I-keep-bees."), "{found}");
    let status = typed(desk, &["--json status"]).await.expect("it answers").json();
    assert!(status["files"].as_u64() >= Some(1), "{status}");
}

#[tokio::test]
async fn a_missing_or_exchanged_memory_folder_is_refused_and_nothing_is_deleted() {
    let (root, desk) = remembering().await;
    let [memory, away] = ["memory", "away"].map(|name| root.path().join(name));
    fs::rename(&memory, &away).expect("renamed");
    assert_refused(&desk).await;
    assert!(!memory.exists());
    fs::create_dir(&memory).expect("an empty mount point");
    assert_refused(&desk).await;
    assert_eq!(fs::read_dir(&memory).expect("a folder").count(), 0);
    fs::remove_dir(&memory).expect("removed");
    let (other, _) = remembering().await;
    fs::rename(other.path().join("memory"), &memory).expect("renamed");
    assert_refused(&desk).await;
    fs::remove_dir_all(&memory).expect("removed");
    fs::rename(&away, &memory).expect("renamed");
    assert_found(&desk).await;
}

#[tokio::test]
async fn a_folder_that_disappears_under_a_running_process_deletes_no_memory() {
    let (root, desk) = remembering().await;
    let [memory, away] = ["memory", "away"].map(|name| root.path().join(name));
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await;
    let api = Api::here(world.expect("it opens"));
    let sync = async || api.post::<SyncedData>("/index/sync", &NOTHING).await;
    sync().await.expect("all is there");
    fs::rename(&memory, &away).expect("renamed");
    fs::create_dir(&memory).expect("an empty mount point");
    sync().await.expect_err("the folder is away");
    let rebuilt = api.post::<SyncedData>("/index/rebuild", &NOTHING).await;
    rebuilt.expect_err("the folder is away");
    fs::remove_dir_all(&memory).expect("removed");
    fs::rename(&away, &memory).expect("renamed");
    assert_eq!(sync().await.expect("it is back").entries_removed, 0);
    api.close().await;
    assert_found(&desk).await;
}

#[tokio::test]
async fn accepting_a_folder_deletes_the_memories_that_it_lacks() {
    let (root, desk) = remembering().await;
    let memory = root.path().join("memory");
    let id = VaultId::read(&root.path().join(FILE)).expect("read");
    fs::remove_dir_all(&memory).expect("removed");
    accept(&desk).expect("it is accepted");
    assert_eq!(VaultId::read(&memory.join(ID_FILE)).expect("read"), id);
    let status = typed(&desk, &["sync", "--json status"])
        .await
        .expect("it answers")
        .json();
    assert_eq!(status["files"], 0, "{status}");
    // Another folder is accepted together with its id.
    let (other, _) = remembering().await;
    fs::remove_dir_all(&memory).expect("removed");
    fs::rename(other.path().join("memory"), &memory).expect("renamed");
    accept(&desk).expect("it is accepted");
    assert_found(&desk).await;
    let ids = [root.path(), other.path()].map(|root| VaultId::read(&root.join(FILE)).expect("read"));
    assert_eq!(ids[0], ids[1]);
    // While a process has the root open, nothing changes.
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await;
    let world = world.expect("it opens");
    let refused = accept(&desk).expect_err("it is in use");
    assert_eq!(refused.exit, Exit::InUse);
    world.shutdown().await;
}

#[tokio::test]
async fn a_root_without_an_id_gets_one_if_its_files_exist() {
    let (root, desk) = remembering().await;
    let [memory, away] = ["memory", "away"].map(|name| root.path().join(name));
    let files = [root.path().join(FILE), memory.join(ID_FILE)];
    let forget = || files.iter().for_each(|file| drop(fs::remove_file(file)));
    forget();
    assert_found(&desk).await;
    let [known, there] = files.each_ref().map(|file| VaultId::read(file).expect("read"));
    assert!(known.is_some() && known == there);
    forget();
    fs::rename(&memory, &away).expect("renamed");
    let refused = typed(&desk, &["status"]).await.expect_err("its files are away");
    assert!(refused.error.to_string().contains("is missing"));
    assert!(!memory.exists());
    // Only the ledger's file is lost.
    fs::rename(&away, &memory).expect("renamed");
    VaultId::new(RandomIds.next(), 7)
        .write(&memory.join(ID_FILE))
        .expect("written");
    assert_found(&desk).await;
    check(&desk.root).expect("they belong together");
}
