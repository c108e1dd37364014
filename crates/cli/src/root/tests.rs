//! A root is recognised by its content, and other folders stay unchanged.

use std::collections::BTreeMap;

use ports::{Index, IndexError};
use tempfile::TempDir;

use super::*;
use crate::error::Exit;

fn folder(paths: &[&str]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for path in paths {
        let file = folder.path().join(path);
        if path.ends_with('/') {
            fs::create_dir_all(file).expect("made");
            continue;
        }
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, "text").expect("written");
    }
    folder
}

#[test]
fn a_root_is_recognised_by_its_content() {
    let root = Some(RootFolder::Root);
    for (paths, expected) in [
        (&["quipu.toml", "other.txt"][..], root),
        (&["ledger.sqlite"], root),
        (&["memory/a/b/users/ana/facts/f.md", "README.md"], root),
        (&["memory/a/b/agents/x"], root),
        (&["memory/a/b/libraries/x"], root),
        (&["tokens.json"], root),
        (&["init/changes.json", "models/m/config.json", "hook.log"], root),
        (&["memory/"], root),
        (&["memory/.git/config", "lost+found/"], root),
        (&[], Some(RootFolder::Empty)),
        (&["lost+found/"], Some(RootFolder::Empty)),
        (&["notes.txt"], None),
        (&["memory/notes.md"], None),
        (&["memory/a/b/c/users/ana/f.md"], None),
        (&["tokens.json", "package.json"], None),
        (&["index/0.lance"], None),
        (
            &["quipu-backup.json", "ledger.sqlite", "memory/a/b/users/ana/f.md"],
            None,
        ),
    ] {
        let folder = folder(paths);
        assert_eq!(check(folder.path()).ok(), expected, "{paths:?}");
    }
    let folder = folder(&["file"]);
    assert_eq!(check(&folder.path().join("new")).ok(), Some(RootFolder::Absent));
    assert_eq!(
        check(&folder.path().join("file")).expect_err("no folder").exit,
        Exit::Usage
    );
}

#[test]
fn a_folder_with_another_programs_database_is_not_a_root() {
    let folder = TempDir::new().expect("a folder");
    let ledger = folder.path().join(LEDGER);
    let foreign = rusqlite::Connection::open(&ledger).expect("opens");
    foreign
        .execute_batch("CREATE TABLE accounts (name TEXT)")
        .expect("made");
    drop(foreign);
    let before = below(folder.path());
    let refused = check(folder.path()).expect_err("not ours");
    let says = format!("{refused:?}");
    assert!(says.contains("another program's database"), "{says}");
    assert_eq!(below(folder.path()), before);

    fs::remove_file(&ledger).expect("removed");
    let own = SqliteLedger::open(&ledger).expect("opens");
    assert_eq!(
        check(folder.path()).ok(),
        Some(RootFolder::Root),
        "while it is open"
    );
    drop(own);
    assert_eq!(check(folder.path()).ok(), Some(RootFolder::Root));
}

fn no_index(_: &Path, _: model::EmbedderId) -> Result<std::sync::Arc<dyn Index>, IndexError> {
    panic!("nothing is opened")
}

/// Every path below a folder, with the text of files.
fn below(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        found.insert(path.clone(), fs::read(&path).ok());
        if path.is_dir() {
            found.extend(below(&path));
        }
    }
    found
}

#[test]
fn every_command_refuses_a_folder_that_is_not_a_root_and_does_not_change_it() {
    let theirs = folder(&["notes.txt", "memory/diary.md", "index/a.html", "src/main.rs"]);
    let before = below(theirs.path());
    let backup = TempDir::new().expect("a folder");
    let to = backup.path().join("b").display().to_string();
    let lines = [
        "add I-keep-bees.",
        "export to.jsonl --user me",
        "import talk.jsonl",
        "search bees",
        "get",
        "skill list",
        "forget --all --yes",
        "history log",
        "history diff",
        "history undo r",
        "audit",
        "knowledge list",
        "knowledge add guide.md",
        "rebuild",
        "sync",
        "status",
        "status users",
        "runs retry",
        &format!("backup {to}"),
        &format!("restore {to}"),
        "token create",
        "token list",
        "token revoke t_1",
        "runs",
        "runs start dream",
        "context list",
        "context instructions",
        "context talk.json",
        "serve --listen 127.0.0.1:0",
        "mcp",
        "hook",
        "chat --message hello",
        "context cache",
        "model fetch some/model",
        "init --yes",
        "doctor",
        "config",
        "demo --quiet",
    ];
    for line in lines {
        let root = theirs.path().to_str().expect("a path");
        let words = ["quipu", "--root", root].into_iter().chain(line.split(' '));
        let exit = crate::run(words.map(Into::into), no_index);
        // A hook must never disturb its agent.
        assert_eq!(exit == Exit::Ok, line == "hook", "{line}");
        assert_eq!(below(theirs.path()), before, "{line}");
    }
    assert!(!backup.path().join("b").exists());
}

#[test]
fn a_reading_command_creates_no_root_in_an_empty_folder() {
    let empty = folder(&[]);
    let root = empty.path().to_str().expect("a path");
    for line in [
        "status",
        "search bees",
        "history log",
        "token list",
        "backup /nowhere/b",
    ] {
        let words = ["quipu", "--root", root].into_iter().chain(line.split(' '));
        assert_ne!(crate::run(words.map(Into::into), no_index), Exit::Ok, "{line}");
        assert!(below(empty.path()).is_empty(), "{line}");
    }
}
