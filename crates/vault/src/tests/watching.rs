//! Changes: reported once for a moment, from events or from scans, and never lost.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::Event;
use notify::event::{
    AccessKind, AccessMode, CreateKind, DataChange, EventKind, Flag, ModifyKind, RemoveKind,
};
use ports::{Vault as _, VaultChange};
use testkit::clock::ManualClock;
use testkit::vault::samples::zone;

use super::{Folder, root, write};
use crate::MarkdownVault;
use crate::disk::RealDisk;
use crate::tree::Tree;
use crate::watch::{Pending, Watch, Watching};

const ANN: &str = "default/default/users/ann/facts/2023-05-08.md";
const BOB: &str = "default/default/users/bob/facts/2023-05-08.md";

fn event(kind: EventKind, path: &Path) -> Event {
    Event::new(kind).add_path(path.to_owned())
}

fn written() -> EventKind {
    EventKind::Modify(ModifyKind::Data(DataChange::Any))
}

/// A watch with events made by the test.
fn silent(folder: &Path, clock: &Arc<ManualClock>) -> Watch {
    let tree = Tree::open(folder).expect("opens");
    let watching = Watching {
        events: true,
        rescan: Duration::from_secs(30),
    };
    Watch::new(tree, clock.clone(), watching)
}

#[tokio::test]
async fn changes_of_one_moment_are_reported_once_and_dropping_the_wait_loses_none() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let base = folder.path().canonicalize().expect("is there");
    let clock = Arc::new(ManualClock::new());
    let watch = silent(&base, &clock);
    assert!(watch.changed().await.all);
    let pending: Arc<Pending> = watch.pending();
    pending.note(&base, Ok(event(written(), &base.join(ANN))));
    {
        let waiting = watch.changed();
        tokio::pin!(waiting);
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("the moment is not over"),
            () = clock.sleeping(1) => {}
        }
    }
    pending.note(&base, Ok(event(written(), &base.join(BOB))));
    pending.note(&base, Ok(event(written(), &base.join(ANN))));
    let (change, ()) = tokio::join!(watch.changed(), async {
        clock.sleeping(1).await;
        clock.advance(Duration::from_millis(100));
    });
    assert_eq!(
        change,
        VaultChange {
            paths: [ANN.into(), BOB.into()].into(),
            ..VaultChange::default()
        }
    );
}

#[tokio::test]
async fn events_of_ignored_files_are_not_reported() {
    let folder = Folder::new();
    let base = root(&folder.folder).canonicalize().expect("is there");
    let pending = Pending::default();
    for (kind, path) in [
        (written(), "default/default/users/ann/facts/.2023-05-08.md.tmp"),
        (written(), ".git/index"),
        (written(), "notes/#1.md#"),
        (
            EventKind::Remove(RemoveKind::File),
            ".torn/default/default/users/ann/facts/2023-05-08.md",
        ),
        (EventKind::Access(AccessKind::Open(AccessMode::Read)), ANN),
        (EventKind::Create(CreateKind::Folder), ".git"),
        (written(), ""),
        (written(), "../elsewhere.md"),
    ] {
        pending.note(&base, Ok(event(kind, &base.join(path))));
        assert!(pending.is_empty(), "{path}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_memory_is_reported_as_such() {
    let folder = Folder::new();
    let base = root(&folder.folder).canonicalize().expect("is there");
    write(&base.join("default/default/users/ann/facts/notes.txt"), b"x");
    write(&base.join("SOUL.md"), b"x");
    let link = "default/default/users/ann/notes/link";
    std::fs::create_dir_all(base.join("default/default/users/ann/notes")).expect("made");
    std::os::unix::fs::symlink("/", base.join(link)).expect("links");
    let gone = EventKind::Remove(RemoveKind::Folder);
    for (kind, path) in [
        (written(), "default/default/users/ann/facts/notes.txt"),
        (written(), "default/default/users/ann/USER.md"),
        (written(), "SOUL.md"),
        (gone, "default/default/users/ann/notes/of/old"),
        (EventKind::Create(CreateKind::File), link),
    ] {
        let pending = Pending::default();
        pending.note(&base, Ok(event(kind, &base.join(path))));
        let change = VaultChange {
            beside: true,
            ..VaultChange::default()
        };
        assert_eq!(pending.take(), change, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_outside_memory_is_seen_each_time() {
    let folder = Folder::new();
    let vault = &folder.vault;
    assert!(vault.changed().await.all);
    for text in ["one", "two"] {
        write(&folder.at("default/default/users/ann/USER.md"), text.as_bytes());
        while !vault.changed().await.beside {}
    }
    std::fs::remove_file(folder.at("default/default/users/ann/USER.md")).expect("removes");
    while !vault.changed().await.beside {}
}

#[tokio::test]
async fn lost_events_removed_folders_and_links_report_everything() {
    let folder = Folder::new();
    let base = root(&folder.folder).canonicalize().expect("is there");
    let link = base.join("default/default/users/link");
    std::fs::create_dir_all(base.join("default/default/users")).expect("creates");
    std::os::unix::fs::symlink("/", &link).expect("links");
    for event in [
        Err(notify::Error::generic("lost")),
        Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)),
        Ok(event(
            EventKind::Remove(RemoveKind::Folder),
            &base.join("default/default/users/gone"),
        )),
        Ok(event(EventKind::Create(CreateKind::File), &link)),
    ] {
        let pending = Pending::default();
        pending.note(&base, event);
        assert!(pending.take().all);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_in_the_folder_is_seen() {
    let folder = Folder::new();
    let vault = &folder.vault;
    assert!(vault.changed().await.all);
    // New folders and files in them, a save by renaming, a renamed folder, and a removed one.
    write(&folder.at(ANN), b"## A\n\nx\n");
    until(vault, ANN).await;
    write(
        &folder.at("default/default/users/ann/facts/2023-05-08.md~"),
        b"## A\n\ny\n",
    );
    std::fs::rename(
        folder.at("default/default/users/ann/facts/2023-05-08.md~"),
        folder.at(ANN),
    )
    .expect("renames");
    until(vault, ANN).await;
    std::fs::rename(
        folder.at("default/default/users/ann"),
        folder.at("default/default/users/bob"),
    )
    .expect("renames");
    until(vault, BOB).await;
    std::fs::remove_dir_all(folder.at("default/default/users/bob")).expect("removes");
    until(vault, BOB).await;
}

async fn until(vault: &MarkdownVault, path: &str) {
    loop {
        let change = vault.changed().await;
        if change.all || change.paths.contains(path) {
            return;
        }
    }
}

#[tokio::test]
async fn without_events_the_files_are_scanned_again() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let clock = Arc::new(ManualClock::new());
    let watching = Watching {
        events: false,
        rescan: Duration::from_secs(30),
    };
    let vault = MarkdownVault::open_with(
        &root(&folder),
        zone(),
        clock.clone(),
        Arc::new(RealDisk),
        watching,
    );
    let vault = vault.expect("opens");
    write(&root(&folder).join(BOB), b"## B\n\nx\n");
    assert!(vault.changed().await.all);
    write(&root(&folder).join(ANN), b"## A\n\nx\n");
    let wake = async || {
        clock.sleeping(1).await;
        clock.advance(Duration::from_secs(30));
    };
    let (change, ()) = tokio::join!(vault.changed(), wake());
    assert_eq!(
        change,
        VaultChange {
            paths: [ANN.into()].into(),
            ..VaultChange::default()
        }
    );
    std::fs::remove_file(root(&folder).join(BOB)).expect("removes");
    write(&root(&folder).join(ANN), b"## A\n\nlonger\n");
    let (change, ()) = tokio::join!(vault.changed(), wake());
    assert_eq!(
        change,
        VaultChange {
            paths: [ANN.into(), BOB.into()].into(),
            ..VaultChange::default()
        }
    );
    for text in ["one", "two!"] {
        write(&root(&folder).join("notes/SOUL.md"), text.as_bytes());
        let (change, ()) = tokio::join!(vault.changed(), wake());
        assert_eq!(
            change,
            VaultChange {
                beside: true,
                ..VaultChange::default()
            }
        );
    }
}
