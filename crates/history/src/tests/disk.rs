//! Links, names, locks and everything else that only a disk has.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use ports::{Author, CommitPart, History as _, HistoryError};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::{FACTS, Folder, PROFILE, at, berlin, everything, run};
use crate::GitHistory;

#[test]
fn a_folder_that_is_not_there_is_told() {
    let folder = TempDir::new().expect("a folder");
    let refused = GitHistory::open(&folder.path().join("none"), berlin()).expect_err("refuses");
    let HistoryError::Io { path, source } = refused else {
        panic!("{refused:?}");
    };
    assert!(path.ends_with("none"));
    assert_eq!(source.kind(), io::ErrorKind::NotFound);
}

/// Whoever may write anywhere cannot run into this: for them a folder stands where a file must be.
#[test]
fn a_folder_that_may_not_be_written_to_is_told() {
    let folder = TempDir::new().expect("a folder");
    let mut permissions = fs::metadata(folder.path()).expect("is there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.path(), permissions).expect("sets");
    if fs::create_dir(folder.path().join(".locks")).is_ok() {
        fs::create_dir(folder.path().join(".locks/history")).expect("creates");
    }
    let refused = GitHistory::open(folder.path(), berlin()).expect_err("refuses");
    assert!(
        matches!(&refused, HistoryError::Io { path, .. } if path.contains(".locks")),
        "{refused:?}"
    );
}

/// A backup that keeps files alone has none.
#[tokio::test]
async fn a_copy_without_its_empty_folders_goes_on() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n");
    folder.by_run("r_1").await;
    for empty in [".git/objects/pack", ".git/objects/info", ".git/refs/tags"] {
        fs::remove_dir(folder.at(empty)).ok();
    }
    assert!(!folder.at(".git/objects/pack").exists());
    folder.put(FACTS, "## B\n");
    let made = folder
        .history
        .commit(&Author::Person, &CommitPart::All, at(1))
        .await;
    assert!(matches!(made, Ok(Some(_))), "{made:?}");
    assert!(folder.at(".git/objects/pack").exists());
}

#[tokio::test]
async fn a_damaged_repository_is_told() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n");
    folder.by_run("r_1").await;
    fs::remove_dir_all(folder.at(".git/objects")).expect("removes");
    fs::create_dir(folder.at(".git/objects")).expect("creates");
    folder.put(FACTS, "## B\n");
    let refused = folder
        .history
        .commit(&Author::Person, &CommitPart::All, at(1))
        .await;
    assert!(
        matches!(refused, Err(HistoryError::Damaged { .. })),
        "{refused:?}"
    );
}

/// Two handles of one process, each with calls at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn handles_take_turns() {
    let folder = Folder::new();
    let handles = [folder.history.clone(), Arc::new(folder.reopen().expect("opens"))];
    let mut tasks = JoinSet::new();
    for n in 0..12 {
        folder.put(&format!("default/default/users/u{n}/profile.md"), "## A\n");
        let history = handles[n % 2].clone();
        tasks.spawn(async move { history.commit(&Author::Person, &CommitPart::All, at(1)).await });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("no panic").expect("commits");
    }
    folder.by_hand().await;
    // A file that was being written may be in two.
    let log = folder.log().await;
    let files: BTreeSet<_> = log.iter().flat_map(|change| &change.files).collect();
    assert_eq!(files.len(), 12);
}

/// An append that comes between the merge and the writing would be lost.
#[tokio::test(flavor = "multi_thread")]
async fn an_undo_waits_for_the_vaults_writers() {
    let folder = Folder::new();
    folder.put(FACTS, "## A {#a}\n");
    folder.by_run("r_1").await;
    let writer = File::create(folder.at(".locks/3")).expect("creates");
    writer.lock().expect("locks");
    let history = folder.history.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { history.undo("r_1", &run("u_1"), at(2)).await });
    let lock = File::open(folder.at(".locks/history")).expect("opens");
    while lock.try_lock().is_ok() {
        lock.unlock().expect("unlocks");
        tokio::task::yield_now().await;
    }
    folder.put(FACTS, "## A {#a}\n\n## B {#b}\n");
    writer.unlock().expect("unlocks");
    let undone = tasks.join_next().await.expect("one").expect("no panic");
    undone.expect("undoes").expect("something changed");
    assert_eq!(folder.bytes(FACTS).as_deref(), Some(&b"\n## B {#b}\n"[..]));
}

/// Found out by changing one behind the back of its time and size.
#[tokio::test]
async fn a_file_that_looks_unchanged_is_not_read() {
    let folder = Folder::new();
    folder.configure("core.trustctime", "false");
    let put = |path: &str, text: &str, seconds: u64| {
        folder.put(path, text);
        let file = File::options().write(true).open(folder.at(path)).expect("opens");
        let modified = UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_modified(modified).expect("sets");
    };
    put(PROFILE, "## A\n", 1_000_000_000);
    put(FACTS, "## A\n", 1_000_000_000);
    folder.by_hand().await;
    put(PROFILE, "## B\n", 1_000_000_000);
    folder.put(FACTS, "## A\n## B\n");
    let made = folder.by_hand().await;
    assert_eq!(made.expect("something changed").files, [FACTS.into()]);
    // Looked at again, and found to be the same.
    put(PROFILE, "## A\n", 1_000_000_001);
    assert_eq!(folder.by_hand().await, None);
    put(PROFILE, "## C\n", 1_000_000_001);
    assert_eq!(folder.by_hand().await, None);
}

#[tokio::test]
async fn a_file_saved_again_in_the_same_moment_is_recorded() {
    let folder = Folder::new();
    for n in 0..40 {
        folder.put(FACTS, format!("## A\n\n{n:04}\n"));
        assert!(folder.by_hand().await.is_some(), "{n}");
    }
}

/// It is in this commit as it was, or in a later one.
#[test]
fn a_file_that_grows_meanwhile_fails_no_commit() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let folder = Folder::new();
    folder.put(FACTS, "");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut file = File::options()
                .append(true)
                .open(folder.at(FACTS))
                .expect("opens");
            while !is_over.load(Ordering::Relaxed) {
                file.write_all(b"more\n").expect("writes");
            }
        });
        while folder.at(FACTS).metadata().is_ok_and(|file| file.len() == 0) {
            std::thread::yield_now();
        }
        for n in 0..20 {
            folder.put(PROFILE, format!("## {n}\n"));
            let made = runtime.block_on(folder.history.commit(&Author::Person, &CommitPart::All, at(1)));
            if !matches!(&made, Ok(Some(_))) {
                is_over.store(true, Ordering::Relaxed);
                panic!("{made:?}");
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// What it held before would stay in the history.
#[test]
fn a_file_that_grows_meanwhile_does_not_outlive_a_purge() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let folder = Folder::new();
    for n in 0..5 {
        folder.put(FACTS, "the secret\n");
        runtime.block_on(folder.by_run(&format!("r_{n}")));
        folder.put(FACTS, "");
        let is_over = AtomicBool::new(false);
        let purged = std::thread::scope(|threads| {
            threads.spawn(|| {
                let mut file = File::options()
                    .append(true)
                    .open(folder.at(FACTS))
                    .expect("opens");
                while !is_over.load(Ordering::Relaxed) {
                    file.write_all(b"more\n").expect("writes");
                }
            });
            let purged = runtime.block_on(folder.history.purge(&[everything(1)]));
            is_over.store(true, Ordering::Relaxed);
            purged
        });
        purged.expect("purges");
        super::purge::assert_forgotten(&folder, "secret");
    }
}

#[tokio::test]
async fn a_repository_in_the_vault_is_somebody_elses() {
    let folder = Folder::new();
    folder.put("default/theirs/a.md", "## A\n");
    git2::Repository::init(folder.at("default/theirs")).expect("makes it");
    assert_eq!(folder.by_hand().await, None);
    folder.put(FACTS, "## A\n");
    assert_eq!(
        folder.by_hand().await.expect("something changed").files,
        [FACTS.into()]
    );
}

#[tokio::test]
async fn a_file_gives_its_place_to_a_folder_and_back() {
    let folder = Folder::new();
    folder.put("notes", "x");
    folder.by_hand().await;
    fs::remove_file(folder.at("notes")).expect("removes");
    folder.put("notes/a.md", "## A\n");
    folder.by_run("r_1").await;
    assert_eq!(folder.by_hand().await, None);
    fs::remove_dir_all(folder.at("notes")).expect("removes");
    folder.put("notes", "y");
    folder.by_run("r_2").await;
    assert_eq!(folder.by_hand().await, None);
    assert_eq!(folder.log().await.len(), 3);
}

/// What a `.gitignore` leaves out may be anybody's.
#[tokio::test]
async fn an_undo_writes_over_nothing_that_is_not_recorded() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n");
    folder.put("kept.md", "## K\n");
    folder.by_hand().await;
    fs::remove_file(folder.at(FACTS)).expect("removes");
    folder.by_run("r_1").await;
    folder.put(".gitignore", "facts/\n");
    folder.put(FACTS, "private");
    let refused = folder.undo("r_1").await;
    assert!(matches!(refused, Err(HistoryError::Conflict { paths, .. }) if paths == [FACTS.into()]));
    assert_eq!(folder.bytes(FACTS).as_deref(), Some(&b"private"[..]));
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[tokio::test]
    async fn links_are_not_followed() {
        let folder = Folder::new();
        let outside = TempDir::new().expect("a folder");
        fs::write(outside.path().join("secret.md"), "## Secret\n").expect("writes");
        symlink(outside.path(), folder.at("linked")).expect("links");
        symlink(outside.path().join("secret.md"), folder.at("linked.md")).expect("links");
        symlink("nowhere", folder.at("broken.md")).expect("links");
        let made = folder.by_hand().await.expect("something changed");
        assert_eq!(
            made.files,
            ["broken.md".into(), "linked".into(), "linked.md".into()]
        );
        let text = folder.history.diff(Some(&made.id)).await.expect("reads");
        assert!(!text.contains("Secret"), "{text}");
        assert_eq!(folder.by_hand().await, None);
    }

    /// A folder gave its place to a link: what was in it cannot come back through that.
    #[tokio::test]
    async fn an_undo_does_not_write_through_a_link() {
        let folder = Folder::new();
        let outside = TempDir::new().expect("a folder");
        folder.put("notes/a.md", "## A\n");
        folder.put("kept.md", "## K\n");
        folder.by_hand().await;
        fs::remove_dir_all(folder.at("notes")).expect("removes");
        folder.by_run("r_1").await;
        folder.put(".gitignore", "notes\n");
        symlink(outside.path(), folder.at("notes")).expect("links");
        let refused = folder.undo("r_1").await;
        assert!(
            matches!(refused, Err(HistoryError::Conflict { .. })),
            "{refused:?}"
        );
        fs::remove_file(folder.at(".gitignore")).expect("removes");
        let refused = folder.undo("r_1").await;
        assert!(
            matches!(refused, Err(HistoryError::Conflict { .. })),
            "{refused:?}"
        );
        assert_eq!(fs::read_dir(outside.path()).expect("lists").count(), 0);
    }

    #[tokio::test]
    async fn names_that_are_no_text_are_recorded_and_come_back() {
        let folder = Folder::new();
        let name = folder.folder.path().join(OsStr::from_bytes(b"not\xffes\n.md"));
        fs::write(&name, "## A\n").expect("writes");
        let made = folder.by_hand().await.expect("something changed");
        assert_eq!(made.files, ["not\u{fffd}es\n.md".into()]);
        assert_eq!(made.subject, "not\u{fffd}es?.md: 1 entry added");
        folder.history.diff(Some(&made.id)).await.expect("reads");
        fs::remove_file(&name).expect("removes");
        folder.by_run("r_1").await;
        folder.undo("r_1").await.expect("undoes");
        assert_eq!(fs::read(&name).expect("is back"), b"## A\n");
    }

    #[tokio::test]
    async fn nobody_else_may_enter_the_repository() {
        let folder = Folder::new();
        for path in [".git", ".locks"] {
            let mode = fs::metadata(folder.at(path))
                .expect("is there")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o700, "{path}");
        }
    }
}
