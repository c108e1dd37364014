//! Roots of earlier versions, in tests/roots: opened, with the answers that those versions gave. An older version refuses a newer
//! root. `scripts/root_fixture.sh` writes such a root; none has an index, because opening builds it again.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;

use super::*;
use crate::serving::LEDGER;

/// The oldest version of the ledger with a folder; every later version has one, and all are kept forever.
const FIRST: u32 = 8;

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/roots/v{version}"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let from = entry.expect("an entry").path();
        let to = to.join(from.file_name().expect("a name"));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("copied");
        }
    }
}

/// A copy of a version's root in a temporary folder.
fn left_by(version: u32) -> TempDir {
    let root = TempDir::new().expect("a folder");
    let fixture = fixture(version);
    copy(&fixture.join("memory"), &root.path().join("memory"));
    for file in ["memory.id", "quipu.toml"] {
        fs::copy(fixture.join(file), root.path().join(file)).expect("copied");
    }
    let dump = fs::read_to_string(fixture.join("ledger.sql")).expect("a dump");
    let ledger = Connection::open(root.path().join(LEDGER)).expect("opens");
    ledger.execute_batch(&dump).expect("the dump is SQL");
    root
}

fn version_of(root: &Path) -> u32 {
    let ledger = Connection::open(root.join(LEDGER)).expect("opens");
    ledger
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .expect("reads")
}

/// Every file below a folder, except the lock that an attempt to open leaves.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_none_or(|end| end != "lock") {
            let bytes = fs::read(&path).expect("reads");
            files.insert(path, bytes);
        }
    }
    files
}

#[tokio::test]
async fn a_root_of_each_version_gives_the_answers_of_that_version() {
    let newest = TempDir::new().expect("a folder");
    typed(&desk(newest.path(), &[]), &["status"])
        .await
        .expect("it answers");
    let known = version_of(newest.path());
    for version in FIRST..=known {
        assert!(
            fixture(version).exists(),
            "version {version} of the ledger needs a root: scripts/root_fixture.sh writes it"
        );
        let root = left_by(version);
        assert_eq!(version_of(root.path()), version);
        let desk = desk(root.path(), &[]);
        let answers = fs::read_to_string(fixture(version).join("answers.txt")).expect("text");
        for asked in answers.split("$ quipu ").skip(1) {
            let (line, answer) = asked.split_once('\n').expect("a line and its answer");
            let said = typed(&desk, &[line]).await.expect("it answers").said;
            assert_eq!(said.trim_end(), answer.trim_end(), "version {version}: {line}");
        }
        let said = typed(&desk, &[r#"search --user ana "alarm code""#])
            .await
            .expect("it answers")
            .said;
        assert!(!said.contains("Zebra"), "version {version}: forgotten: {said}");
        let status = typed(&desk, &["--json status"]).await.expect("it answers").json();
        assert_eq!(
            [
                &status["files"],
                &status["open_sessions"],
                &status["buffered_messages"]
            ],
            [6, 1, 2],
            "version {version}: {status}"
        );
        assert_eq!(status["problems"].as_array().map(Vec::len), Some(0), "{status}");
        let again = r#"--json add --user ana --session code --id code-1 "My alarm code is Zebra-4711.""#;
        let added = typed(&desk, &[again]).await.expect("it answers").json();
        assert_eq!(added["forgotten"], true, "version {version}: {added}");
    }
}

#[tokio::test]
async fn a_newer_root_is_refused_and_stays_unchanged() {
    let root = left_by(FIRST);
    let desk = desk(root.path(), &[]);
    typed(&desk, &["status"]).await.expect("it answers");
    let ledger = Connection::open(root.path().join(LEDGER)).expect("opens");
    let (known, newer) = (version_of(root.path()), version_of(root.path()) + 1);
    ledger.pragma_update(None, "user_version", newer).expect("sets");
    ledger.close().expect("closes");
    let before = files(root.path());
    for line in [
        "search --user ana parrot",
        "add --user ana I-sail.",
        "forget --user ana --all --yes",
    ] {
        let refused = typed(&desk, &[line]).await.expect_err("refused");
        let error = format!("{:#}", refused.error);
        let sentence =
            format!("the ledger has version {newer}, this program knows {known}: use a newer quipu");
        assert!(error.contains(&sentence), "{line}: {error}");
        let hint = refused.hint.expect("what to do");
        assert_eq!(hint, "install the newer quipu; nothing was changed");
    }
    assert_eq!(files(root.path()), before);
}
