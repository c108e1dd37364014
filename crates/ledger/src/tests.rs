//! The writer's promises under planted failures, and the indexes that reads use.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use rusqlite::{Connection, StatementStatus};
use tokio::task::JoinSet;

use crate::copies::Copies;
use crate::failure::{Failure, LedgerResult};
use crate::writer::{self, Writer};
use crate::{
    carried, changes, conversations, copied, forgotten_words, history, jobs, open, schema, transcripts,
};

fn start(path: &Path) -> Writer {
    let connection = Connection::open(path).expect("opens");
    writer::prepare(&connection).expect("prepares");
    writer::make_durable(&connection).expect("sets");
    connection
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS notes (note INTEGER PRIMARY KEY);
             CREATE TABLE IF NOT EXISTS replies (
               note INTEGER REFERENCES notes DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER IF NOT EXISTS disk_full BEFORE INSERT ON notes WHEN NEW.note = 666
               BEGIN SELECT RAISE(ROLLBACK, 'planted'); END;",
        )
        .expect("creates");
    Writer::start(connection, Arc::new(Copies::of(path))).expect("starts")
}

fn notes(path: &Path) -> Vec<i64> {
    let connection = Connection::open(path).expect("opens");
    let mut statement = connection
        .prepare("SELECT note FROM notes ORDER BY note")
        .expect("prepares");
    let rows = statement.query_map([], |row| row.get(0)).expect("reads");
    rows.map(|row| row.expect("reads")).collect()
}

fn note(connection: &Connection, note: i64) -> LedgerResult<()> {
    connection.execute("INSERT INTO notes VALUES (?1)", [note])?;
    Ok(())
}

type Work = Box<dyn FnOnce(&Connection) -> LedgerResult<()> + Send>;

/// Queues all the work while the writer is blocked, so that it becomes one batch; returns for each whether it
/// was answered `Ok`.
async fn as_one_batch(writer: &Arc<Writer>, work: Vec<Work>) -> Vec<bool> {
    let (gate, mut tasks) = queue_while_blocked(writer, work).await;
    drop(gate);
    let mut answers = vec![false; tasks.len()];
    while let Some(answer) = tasks.join_next().await {
        let (i, ok) = answer.expect("no panic");
        answers[i] = ok;
    }
    answers.remove(0);
    answers
}

/// The gate opens when the sender is dropped.
async fn queue_while_blocked(writer: &Arc<Writer>, work: Vec<Work>) -> (Sender<()>, JoinSet<(usize, bool)>) {
    let (gate, closed) = std::sync::mpsc::channel::<()>();
    let (reached, at_gate) = std::sync::mpsc::channel::<()>();
    let mut all: Vec<Work> = vec![Box::new(move |_| {
        reached.send(()).expect("the test waits for it");
        // The error is the signal: the sender was dropped.
        assert!(closed.recv().is_err());
        Ok(())
    })];
    all.extend(work);
    let mut tasks = JoinSet::new();
    for (i, work) in all.into_iter().enumerate() {
        let writer = Arc::clone(writer);
        tasks.spawn(async move { (i, writer.call(work, false).await.is_ok()) });
        // The test has one thread: when the task yields to wait for its answer, its request is queued.
        tokio::task::yield_now().await;
        if i == 0 {
            // Work queued before the writer reaches the gate would be in the gate's own batch.
            at_gate.recv().expect("the writer comes");
        }
    }
    (gate, tasks)
}

#[tokio::test]
async fn a_failed_request_undoes_its_own_work_and_one_commit_serves_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let writer = Arc::new(start(&path));
    let seen_by_others = path.clone();
    let work: Vec<Work> = vec![
        Box::new(|c| note(c, 1)),
        Box::new(|c| {
            note(c, 2)?;
            Err(Failure::Conflict)
        }),
        Box::new(|c| {
            note(c, 3)?;
            note(c, 3)
        }),
        Box::new(move |c| {
            assert_eq!(
                notes(&seen_by_others),
                [] as [i64; 0],
                "nothing of this batch is committed yet"
            );
            note(c, 4)
        }),
    ];
    assert_eq!(as_one_batch(&writer, work).await, [true, false, false, true]);
    assert_eq!(notes(&path), [1, 4]);
}

#[tokio::test]
async fn a_failed_commit_is_reported_to_every_caller() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let writer = Arc::new(start(&path));
    let work: Vec<Work> = vec![
        Box::new(|c| note(c, 1)),
        Box::new(|c| {
            c.execute("INSERT INTO replies VALUES (99)", [])?;
            Ok(())
        }),
        Box::new(|c| note(c, 2)),
    ];
    assert_eq!(as_one_batch(&writer, work).await, [false, false, false]);
    assert_eq!(notes(&path), [] as [i64; 0]);
    writer
        .call(|c| note(c, 3), false)
        .await
        .expect("the writer goes on");
    assert_eq!(notes(&path), [3]);
}

#[tokio::test]
async fn work_rolled_back_with_its_transaction_is_reported_and_later_work_is_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let writer = Arc::new(start(&path));
    let work: Vec<Work> = vec![
        Box::new(|c| note(c, 1)),
        Box::new(|c| note(c, 666)),
        Box::new(|c| note(c, 2)),
    ];
    assert_eq!(as_one_batch(&writer, work).await, [false, false, true]);
    assert_eq!(notes(&path), [2]);
}

#[tokio::test]
async fn queued_work_is_done_after_its_callers_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.db");
    let writer = Arc::new(start(&path));
    let work: Vec<Work> = (1..=20)
        .map(|i| Box::new(move |c: &Connection| note(c, i)) as Work)
        .collect();
    let (gate, mut tasks) = queue_while_blocked(&writer, work).await;
    tasks.shutdown().await;
    drop(gate);
    drop(Arc::into_inner(writer).expect("the callers are gone"));
    assert_eq!(notes(&path), (1..=20).collect::<Vec<_>>());
}

/// The lines of a plan that scan a whole table or index.
fn scans(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .expect("a statement");
    let parameters = vec![1_i64; statement.parameter_count()];
    let lines = statement
        .query_map(rusqlite::params_from_iter(parameters), |row| {
            row.get::<_, String>(3)
        })
        .expect("plans");
    lines
        .map(|line| line.expect("a line"))
        .filter(|line| line.starts_with("SCAN"))
        .collect()
}

#[test]
fn no_read_scans_rows_of_other_tenants() {
    let mut connection = Connection::open_in_memory().expect("opens");
    writer::prepare(&connection).expect("settings");
    schema::migrate(&mut connection).expect("migrates");
    let look_ups = [
        transcripts::BUFFER,
        transcripts::CELL_MESSAGES,
        transcripts::BY_ID,
        transcripts::CELL,
        transcripts::CELL_OWNERS,
        copied::OF_A_DAY,
        copied::PAYLOAD,
        carried::CLIENT_ID,
        carried::FORGOTTEN,
        forgotten_words::PREVIOUS,
        forgotten_words::NEXT,
        forgotten_words::EQUAL,
        changes::STAT,
        changes::RECORD,
        changes::MARKS,
        changes::FACTS,
        changes::SHARING_OF,
        changes::USERS,
        conversations::CONVERSATION,
        conversations::READ,
        conversations::ITEMS,
        conversations::TEXTS,
        history::LAST,
        history::reading::NEWEST,
        history::reading::NEWEST_OF,
    ];
    for sql in look_ups {
        assert_eq!(scans(&connection, sql), [] as [String; 0], "{sql}");
    }
    assert_eq!(
        scans(&connection, transcripts::TAIL),
        ["SCAN tail"],
        "its own result"
    );
    // Statements about all tenants scan only matching rows: a partial index, or everything.
    let whole = [
        (open::BUFFERED, "SCAN sessions USING INDEX open_sessions"),
        (open::OPEN, "SCAN sessions USING INDEX open_sessions"),
        (jobs::DUE, "SCAN jobs USING COVERING INDEX job_heads"),
        (changes::BROKEN, "SCAN files USING INDEX broken_files"),
        (
            changes::COUNT,
            "SCAN files USING COVERING INDEX sqlite_autoindex_files_1",
        ),
        (changes::STATS, "SCAN files USING INDEX sqlite_autoindex_files_1"),
    ];
    let waiting = [
        "SCAN messages USING INDEX buffers",
        "SCAN cell_owners USING COVERING INDEX owner_cells",
        "SCAN waiting",
    ];
    assert_eq!(scans(&connection, open::WAITING), waiting);
    for (sql, scan) in whole {
        assert_eq!(scans(&connection, sql), [scan], "{sql}");
    }
}

#[test]
fn a_statement_is_not_planned_again_for_another_value() {
    let mut connection = Connection::open_in_memory().expect("opens");
    writer::prepare(&connection).expect("settings");
    schema::migrate(&mut connection).expect("migrates");
    for sql in [transcripts::CELL, transcripts::CELL_MESSAGES, changes::STAT] {
        let mut statement = connection.prepare(sql).expect("plans");
        for value in ["a", "b", "c"] {
            let mut rows = statement.query([value]).expect("runs");
            assert!(rows.next().expect("runs").is_none());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "{sql}");
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_files_also_those_of_an_earlier_version() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.sqlite");
    let modes = || {
        let files = fs::read_dir(folder.path()).expect("lists");
        let modes = files.map(|file| {
            file.expect("lists")
                .metadata()
                .expect("is there")
                .permissions()
                .mode()
                & 0o077
        });
        modes.collect::<Vec<u32>>()
    };
    for _ in ["new", "of an earlier version"] {
        let ledger = crate::SqliteLedger::open(&path).expect("opens");
        let open = modes();
        // The lock's file is empty.
        assert!(
            open.len() >= 3 && open.iter().filter(|mode| **mode != 0).count() <= 1,
            "{open:?}"
        );
        drop(ledger);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("sets");
    }
}
