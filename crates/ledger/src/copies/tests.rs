//! Copies on a real disk, interrupted at each step. Never: the ledger itself; a table of words replaces it.

use std::collections::BTreeMap;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

const STEPS: [CopyStep; 5] = [
    CopyStep::Begin,
    CopyStep::Write,
    CopyStep::Check,
    CopyStep::Rename,
    CopyStep::RemoveOld,
];

fn day(day: i8) -> Date {
    Date::constant(2026, 11, day)
}

/// A ledger with one word, and its copies.
fn stage(word: &str) -> (TempDir, Copies) {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = folder.path().join("ledger.sqlite");
    let connection = Connection::open(&ledger).expect("opens");
    let created = connection.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE words (word TEXT)");
    created.expect("created");
    drop(connection);
    let copies = Copies::of(&ledger);
    write(&copies, word);
    (folder, copies)
}

fn write(copies: &Copies, word: &str) {
    let connection = Connection::open(&copies.ledger).expect("opens");
    let written = connection.execute("INSERT INTO words VALUES (?1)", [word]);
    written.expect("written");
}

/// The words of each copy, by the name of its file.
fn read(copies: &Copies) -> BTreeMap<String, Vec<String>> {
    let words = |name: &String| {
        let connection = Connection::open(copies.folder.join(name)).expect("opens");
        let mut rows = connection.prepare("SELECT word FROM words").expect("a copy");
        let words = rows.query_map([], |row| row.get(0)).expect("reads");
        words.collect::<Result<_, _>>().expect("text")
    };
    let names = copies.names().expect("reads");
    names.iter().map(|name| (name.clone(), words(name))).collect()
}

fn make(copies: &Copies, of: i8) -> bool {
    copies.make(day(of), |_| Ok(())).expect("made")
}

#[test]
fn the_seven_newest_are_kept_and_only_their_owner_reads_them() {
    let (_folder, copies) = stage("a");
    for of in [3, 1, 2, 4, 5, 6, 7, 8, 9] {
        assert!(make(&copies, of));
    }
    assert_eq!(copies.days().expect("reads"), [3, 4, 5, 6, 7, 8, 9].map(day));
    write(&copies, "b");
    assert!(make(&copies, 9), "a second copy of a day replaces the first");
    assert_eq!(read(&copies)["2026-11-09.sqlite"], ["a", "b"]);
    #[cfg(unix)]
    for (file, expected) in [("", 0o700), ("2026-11-09.sqlite", 0o600)] {
        let about = fs::metadata(copies.folder.join(file)).expect("is there");
        assert_eq!(about.permissions().mode() & 0o777, expected, "{file}");
    }
}

#[test]
fn a_copy_interrupted_at_any_step_leaves_the_others_and_no_half_one() {
    for interrupted in STEPS {
        let (_folder, copies) = stage("a");
        for of in 1..=7 {
            make(&copies, of);
        }
        write(&copies, "b");
        let died = copies.make(day(8), |step| {
            if step == interrupted {
                return Err(io::Error::from(ErrorKind::StorageFull));
            }
            Ok(())
        });
        died.expect_err("interrupted");
        let days = copies.days().expect("reads");
        let is_made = interrupted == CopyStep::RemoveOld;
        assert_eq!(days.len(), 7 + usize::from(is_made), "{interrupted:?}");
        for (name, words) in read(&copies).iter().filter(|(name, _)| day_of(name).is_some()) {
            let expected: &[&str] = if name == "2026-11-08.sqlite" {
                &["a", "b"]
            } else {
                &["a"]
            };
            assert_eq!(words, expected, "{interrupted:?} {name}");
        }
        // A killed process leaves its unfinished copy.
        fs::write(copies.folder.join(UNFINISHED), "half").expect("written");
        assert!(make(&copies, 8), "the next try finishes it");
        assert_eq!(copies.names().expect("reads").len(), 7, "{interrupted:?}");
    }
}

#[test]
fn a_removal_deletes_all_copies_also_an_unfinished_one() {
    let (_folder, copies) = stage("a");
    copies.remove_all().expect("there is no folder yet");
    for step in STEPS {
        make(&copies, 1);
        let made = copies.make(day(2), |now| {
            // The rename step holds the lock.
            if now == step && step != CopyStep::Rename {
                return copies.remove_all();
            }
            Ok(())
        });
        let is_before = !matches!(step, CopyStep::Rename | CopyStep::RemoveOld);
        assert_eq!(made.expect("no failure"), !is_before, "{step:?}");
        if step != CopyStep::Rename {
            assert_eq!(copies.names().expect("reads"), [""; 0], "{step:?}");
        }
    }
    fs::write(copies.folder.join("notes.txt"), "a person's").expect("written");
    copies.remove_all().expect("removed");
    assert_eq!(copies.names().expect("reads"), ["notes.txt"]);
}
