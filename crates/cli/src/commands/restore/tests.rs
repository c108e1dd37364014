//! A restore that is interrupted, at every file and at any time.

use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::commands::backup::backup;
use crate::commands::tests::{desk, typed};
use crate::root::{self, RootFolder};

/// Names of the folders in a test.
const BACKUP: &str = "backup";
const ROOT: &str = "root";

/// A folder with a backup.
fn backed_up() -> TempDir {
    let place = TempDir::new().expect("a folder");
    let desk = desk(&place.path().join("source"), &[]);
    let lines = [
        "add --user ana --flush I-keep-bees.",
        "add --user ben --flush I-sail.",
    ];
    let told = runtime().expect("a runtime").block_on(typed(&desk, &lines));
    told.expect("it is remembered");
    let folder = place.path().join(BACKUP);
    backup(&desk, &folder).expect("it is backed up");
    place
}

fn restored(place: &Path) -> Result<Exit, Failure> {
    let folder = place.join(BACKUP);
    restore(&desk(&place.join(ROOT), &[]), &folder)
}

/// Asserts that the root has every file of the backup, unchanged.
fn assert_whole(place: &Path) {
    let archive = Archive::read(&place.join(BACKUP)).expect("a list");
    assert!(archive.files.len() > 4, "{:?}", archive.files);
    for file in archive.files.iter().filter(|file| file.path.contains(".md")) {
        let [there, here] = [BACKUP, ROOT].map(|folder| fs::read(place.join(folder).join(&file.path)));
        assert_eq!(
            there.expect("in the backup"),
            here.expect("in the root"),
            "{}",
            file.path
        );
    }
    assert!(place.join(ROOT).join("ledger.sqlite").is_file());
}

fn is_left(place: &Path) -> bool {
    place.join("root.quipu-restoring").exists()
}

#[test]
fn a_restore_that_fails_at_any_file_leaves_no_root_and_the_next_one_succeeds() {
    let place = backed_up();
    let (place, target) = (place.path(), place.path().join(ROOT));
    let whole = Archive::read(&place.join(BACKUP)).expect("a list");
    for at in 0..whole.files.len() {
        let mut archive = Archive::read(&place.join(BACKUP)).expect("a list");
        "damaged".clone_into(&mut archive.files[at].sha256);
        made(&desk(&target, &[]), &archive, &place.join(BACKUP), &target).expect_err("a file is damaged");
        assert!(!target.exists() && !is_left(place), "file {at}");
    }
    // The state that a kill after this many files leaves.
    for files in 0..=whole.files.len() {
        let mut archive = Archive::read(&place.join(BACKUP)).expect("a list");
        archive.files.truncate(files);
        let left = unfinished(&target).expect("a name");
        fs::create_dir(&left).expect("made");
        archive.unpack(&place.join(BACKUP), &left).expect("it is copied");
        let refused = root::check(&left).expect_err("it is no root");
        assert!(
            refused
                .hint
                .expect("what to do")
                .contains("`quipu restore` again")
        );
        if files % 2 == 0 {
            fs::create_dir(&target).expect("an empty target");
        }
        assert_eq!(restored(place).expect("it is restored"), Exit::Ok);
        assert_whole(place);
        assert!(!is_left(place));
        fs::remove_dir_all(&target).expect("removed");
    }
}

#[test]
fn a_restore_during_another_one_is_refused() {
    let place = backed_up();
    let left = unfinished(&place.path().join(ROOT)).expect("a name");
    fs::create_dir(&left).expect("made");
    let other = locked(&left).expect("the other restore");
    let refused = restored(place.path()).expect_err("it is in use");
    assert_eq!(refused.exit, Exit::InUse);
    assert!(left.exists());
    drop(other);
    restored(place.path()).expect("it is restored");
}

#[test]
fn restores_in_the_current_folder() {
    // Only the process that the next test kills has a marker in its current folder.
    if !Path::new("child").exists() {
        return;
    }
    assert_eq!(restored(Path::new("")).expect("it is restored"), Exit::Ok);
}

#[test]
fn a_killed_restore_leaves_no_root_or_a_complete_one_and_the_next_one_succeeds() {
    let place = backed_up();
    let (place, target) = (place.path(), place.path().join(ROOT));
    std::fs::write(place.join("child"), "").expect("marked");
    let (mut seen, mut wait) = ([false; 3], Duration::ZERO);
    loop {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args([
                "--exact",
                "commands::restore::tests::restores_in_the_current_folder",
            ])
            .current_dir(place)
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(wait);
        let has_ended = child.try_wait().expect("it is a child").is_some();
        child.kill().expect("it is killed or has ended");
        let ended = child.wait().expect("it ends");
        let standing = root::check(&target).expect("no part of a root");
        match standing {
            RootFolder::Root => assert_whole(place),
            other => assert_eq!(other, RootFolder::Absent),
        }
        seen = [
            seen[0] || is_left(place),
            seen[1] || (standing == RootFolder::Absent),
            seen[2] || (standing == RootFolder::Root),
        ];
        if has_ended {
            assert!(ended.success());
            break;
        }
        if standing == RootFolder::Root {
            fs::remove_dir_all(&target).expect("removed");
        }
        wait += Duration::from_millis(4);
    }
    assert_eq!(seen, [true; 3], "killed in the middle, before and after");
    fs::remove_dir_all(&target).expect("removed");
    assert_eq!(restored(place).expect("it is restored"), Exit::Ok);
    assert_whole(place);
    assert!(!is_left(place));
}
