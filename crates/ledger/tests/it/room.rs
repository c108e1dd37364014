//! A ledger on a disk that accepts no files next to it: it can be read, and written as soon as the disk
//! accepts them.

use std::fs;
use std::path::Path;

use ledger::SqliteLedger;
use ports::{LedgerError, NoRoom, Transcripts};
use rusqlite::Connection;
use testkit::ledger::samples::{at, new, says, session};

/// Blocks the file that `SQLite` creates next to the database: SQLite follows no link.
fn block(path: &Path) {
    std::os::unix::fs::symlink("nowhere/else", path.with_extension("db-shm")).expect("takes the place");
}

async fn say(ledger: &SqliteLedger, id: &str) -> Result<(), LedgerError> {
    let session = session("a", "s");
    let message = new(says(&session, "ana", id, 1));
    ledger.append(&session, vec![message], at(1)).await.map(drop)
}

async fn buffered(ledger: &SqliteLedger) -> usize {
    ledger.buffer(&session("a", "s")).await.expect("reads").len()
}

/// Checks that the ledger refuses writes and answers reads, and does both once there is room.
async fn is_read_and_later_written(path: &Path, messages: usize) {
    block(path);
    let ledger = SqliteLedger::open(path).expect("opens to be read");
    assert_eq!(buffered(&ledger).await, messages);
    for _ in 0..2 {
        let refused = say(&ledger, "refused").await.expect_err("no room");
        assert_eq!(NoRoom::of(&refused), Some(NoRoom::Full), "{refused:?}");
        assert_eq!(buffered(&ledger).await, messages);
    }
    let other = SqliteLedger::open(path);
    assert!(matches!(other, Err(LedgerError::InUse)), "{other:?}");
    fs::remove_file(path.with_extension("db-shm")).expect("makes room");
    let reading = async {
        for _ in 0..50 {
            assert!(buffered(&ledger).await >= messages, "no read fails meanwhile");
        }
    };
    let (written, ()) = tokio::join!(say(&ledger, "later"), reading);
    written.expect("there is room");
    assert_eq!(buffered(&ledger).await, messages + 1);
}

#[tokio::test]
async fn a_closed_ledger_is_read_and_written_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("led ger?#%.db");
    say(&SqliteLedger::open(&path).expect("opens"), "one")
        .await
        .expect("accepts");
    assert!(!path.with_extension("db-wal").exists());
    is_read_and_later_written(&path, 1).await;
}

#[tokio::test]
async fn messages_in_the_log_of_a_killed_process_are_read_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let killed = folder.path().join("killed.db");
    let ledger = SqliteLedger::open(&path).expect("opens");
    for id in ["one", "two"] {
        say(&ledger, id).await.expect("accepts");
    }
    for suffix in ["db", "db-wal"] {
        fs::copy(path.with_extension(suffix), killed.with_extension(suffix)).expect("copies");
    }
    is_read_and_later_written(&killed, 2).await;
}

#[tokio::test]
async fn a_ledger_of_an_older_version_waits_for_room_to_be_upgraded() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let old = Connection::open(&path).expect("opens");
    old.execute_batch(include_str!("../fixtures/v5.sql"))
        .expect("creates");
    old.pragma_update(None, "user_version", 5).expect("sets");
    old.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
        .expect("sets");
    drop(old);
    block(&path);
    let opened = SqliteLedger::open(&path);
    assert!(matches!(opened, Err(LedgerError::Store(_))), "{opened:?}");
    fs::remove_file(path.with_extension("db-shm")).expect("makes room");
    say(&SqliteLedger::open(&path).expect("upgrades"), "one")
        .await
        .expect("accepts");
}
