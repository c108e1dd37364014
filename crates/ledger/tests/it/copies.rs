//! Daily copies on a real disk: no file holds deleted words once a sweep is answered, also after a kill.

use std::fs;
use std::path::{Path, PathBuf};

use ledger::SqliteLedger;
use model::{Content, Date, Message};
use ports::{Retention as _, Sweep, Transcripts as _};
use tempfile::TempDir;
use testkit::ledger::samples::{at, new, says, session};

const WORD: &str = "Zebra-4711";

fn day(day: i8) -> Date {
    Date::constant(2026, 11, day)
}

/// A ledger with the word, copied on two days.
async fn stage() -> (TempDir, PathBuf, SqliteLedger) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.sqlite");
    let ledger = SqliteLedger::open(&path).expect("opens");
    let s = session("a", "s");
    let content = Content::Text(format!("My alarm code is {WORD}.")).into();
    let message = Message {
        content,
        ..says(&s, "ann", "m1", 1)
    };
    ledger
        .append(&s, vec![new(message)], at(1))
        .await
        .expect("accepted");
    for of in [1, 2] {
        assert!(ledger.copy(day(of)).await.expect("made"));
    }
    (folder, path, ledger)
}

/// The number of files below a folder that contain the word.
fn with_word(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder");
    let count = entries.map(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            return with_word(&path);
        }
        let bytes = fs::read(path).expect("reads");
        usize::from(bytes.windows(WORD.len()).any(|window| window == WORD.as_bytes()))
    });
    count.sum()
}

async fn sweep(ledger: &SqliteLedger) -> Result<(), ports::LedgerError> {
    ledger.sweep(Sweep::Session(session("a", "s"))).await.map(drop)
}

#[tokio::test]
async fn no_file_has_deleted_words_when_a_sweep_is_answered() {
    let (folder, path, ledger) = stage().await;
    assert!(with_word(folder.path()) >= 3, "the ledger and its copies");
    SqliteLedger::check(&path.with_extension("daily").join("2026-11-02.sqlite")).expect("whole");
    sweep(&ledger).await.expect("swept");
    assert_eq!(with_word(folder.path()), 0);
}

#[tokio::test]
async fn a_deletion_fails_while_copies_cannot_be_removed() {
    let (folder, path, ledger) = stage().await;
    // A folder in the place of a copy cannot be removed as a file.
    let stays = path.with_extension("daily").join("2026-11-03.sqlite");
    fs::create_dir(&stays).expect("a folder");
    for _ in 0..2 {
        let error = sweep(&ledger).await.expect_err("a copy stays");
        let cause = std::error::Error::source(&error).expect("a cause");
        let chain = format!("{cause}: {}", cause.source().expect("its own cause"));
        assert!(chain.contains("ledger.daily"), "{chain}");
    }
    fs::remove_dir(&stays).expect("removed");
    sweep(&ledger).await.expect("swept");
    assert_eq!(with_word(folder.path()), 0);
}

#[tokio::test]
async fn a_start_removes_the_copies_that_a_killed_deletion_left() {
    let (folder, path, ledger) = stage().await;
    drop(ledger);
    // The commit of a sweep, without the work after it.
    let raw = rusqlite::Connection::open(&path).expect("opens");
    let swept =
        raw.execute_batch("DELETE FROM messages; DELETE FROM events; INSERT INTO erasures DEFAULT VALUES");
    swept.expect("swept");
    raw.close().expect("closes");
    let ledger = SqliteLedger::open(&path).expect("opens");
    assert_eq!(ledger.copies().await.expect("reads"), []);
    assert_eq!(with_word(folder.path()), 0);
}
