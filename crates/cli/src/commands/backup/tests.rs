//! A backup of files with names of any bytes, and from a read-only disk.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::*;
use crate::commands::restore::restore;
use crate::commands::runtime;
use crate::commands::tests::{Told, desk, typed};

fn said(root: &Path, lines: &[&str]) -> Told {
    let told = runtime()
        .expect("a runtime")
        .block_on(typed(&desk(root, &[]), lines));
    told.expect("it answers")
}

#[test]
fn a_file_name_that_is_not_utf8_is_backed_up_and_restored() {
    let place = TempDir::new().expect("a folder");
    let [source, folder, root] = ["source", "backup", "root"].map(|name| place.path().join(name));
    let was = said(&source, &["add --flush I-keep-bees.", "--json history log"]).json();
    let names: [&[u8]; 3] = [b"memory/caf\xe9.txt", b"memory/caf%E9.txt", b"memory/\xff/a%.md"];
    for (at, name) in names.iter().enumerate() {
        let file = source.join(OsStr::from_bytes(name));
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, format!("file {at}")).expect("written");
    }
    let exit = backup(&desk(&source, &[]), &folder);
    assert_eq!(exit.expect("it is backed up"), Exit::Ok);
    for name in ["caf%E9.txt", "caf%E9.txt%", "%FF/a%.md"] {
        assert!(folder.join("memory").join(name).is_file(), "{name}");
    }
    let exit = restore(&desk(&root, &[]), &folder);
    assert_eq!(exit.expect("it is restored"), Exit::Ok);
    let log = said(&root, &["--json history log"]).json();
    let log = log["changes"].as_array().expect("a list");
    assert_eq!(log.last(), was["changes"].get(0), "the history came along");
    for (at, name) in names.iter().enumerate() {
        let text = fs::read_to_string(root.join(OsStr::from_bytes(name))).expect("it is there");
        assert_eq!(text, format!("file {at}"));
    }
}

/// Commands that may let a test mount a disk on this machine.
const WAYS: [&[&str]; 3] = [
    &["unshare", "--user", "--map-root-user", "--mount"],
    &["unshare", "--mount"],
    &["sudo", "-n", "unshare", "--mount"],
];

#[test]
fn a_root_on_a_read_only_disk_is_backed_up_and_shows_its_history() {
    let place = TempDir::new().expect("a folder");
    let run = |way: &[&str], more: &[&OsStr]| {
        let mut command = Command::new(way[0]);
        command
            .args(&way[1..])
            .args(more)
            .current_dir(place.path())
            .status()
    };
    let mount = ["mount", "-t", "tmpfs", "none", "/tmp"].map(OsStr::new);
    let may_mount = |way: &&&[&str]| run(way, &mount).is_ok_and(|status| status.success());
    let Some(way) = WAYS.iter().find(may_mount) else {
        eprintln!("this machine lets no test mount a disk: nothing is checked");
        return;
    };
    fs::write(place.path().join("child"), "").expect("marked");
    let program = std::env::current_exe().expect("this test");
    let test = "commands::backup::tests::backs_up_from_a_read_only_disk_in_the_current_folder";
    let again = [program.as_os_str(), "--exact".as_ref(), test.as_ref()];
    assert!(run(way, &again).expect("it runs").success());
}

#[test]
fn backs_up_from_a_read_only_disk_in_the_current_folder() {
    // Only the child process of the test above, which may mount, has a marker in its current folder.
    if !Path::new("child").exists() {
        return;
    }
    let mount = |arguments: &[&str]| {
        let status = Command::new("mount").args(arguments).status().expect("it runs");
        assert!(status.success(), "mount {arguments:?}");
    };
    fs::create_dir("disk").expect("made");
    mount(&["-t", "tmpfs", "none", "disk"]);
    let root = std::path::absolute("disk/root").expect("a path");
    said(&root, &["add --flush I-keep-bees.", "history log"]);
    fs::remove_file(root.join("ledger.lock")).expect("removed");
    mount(&["-o", "remount,ro", "disk"]);
    let told = said(&root, &["history log"]);
    assert!(told.said.contains("me"), "{}", told.said);
    let folder = std::path::absolute("backup").expect("a path");
    let exit = backup(&desk(&root, &[]), &folder);
    assert_eq!(exit.expect("it is backed up"), Exit::Ok);
    let there = desk(&std::path::absolute("back").expect("a path"), &[]);
    assert_eq!(restore(&there, &folder).expect("it is restored"), Exit::Ok);
    let found = said(Path::new("back"), &["search bees"]);
    assert!(found.said.contains("I-keep-bees."), "{}", found.said);
}
