//! A process is killed while it acknowledges messages: every acknowledged message is there, once.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ledger::SqliteLedger;
use model::{CellId, Message};
use ports::{JobId, Jobs, LedgerError, Transcripts};
use testkit::ledger::samples::{at, cell, cut, new, says, session};
use tokio::task::JoinSet;

/// Set for the process to be killed: the path of its ledger, and the round.
const CHILD: &str = "QUIPU_LEDGER_TEST_CHILD";
const CALLERS: usize = 6;

#[test]
fn messages_acknowledged_by_a_killed_process_are_there_once() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the only way to tell a copy of this test what it is"
    )]
    let child = std::env::var(CHILD);
    if let Ok(child) = child {
        let (round, path) = child.split_once(' ').expect("round and path");
        return acknowledge_until_killed(Path::new(path), round);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let mut acknowledged = Vec::new();
    for (round, acknowledgements) in [1, 2, 150, 30, 7, 400, 61, 3, 97, 13].into_iter().enumerate() {
        acknowledged.extend(run_and_kill(&path, round, acknowledgements));
        check(&path, &acknowledged);
    }
    assert!(acknowledged.len() > 700, "{}", acknowledged.len());
}

/// Runs a child until it has acknowledged this many messages; returns all that it acknowledged before it
/// died.
fn run_and_kill(path: &Path, round: usize, acknowledgements: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args([
            "--exact",
            "--nocapture",
            "kill::messages_acknowledged_by_a_killed_process_are_there_once",
        ])
        .env(CHILD, format!("{round} {}", path.display()))
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let output = BufReader::new(child.stdout.take().expect("piped"));
    let mut acknowledged = Vec::new();
    for line in output.lines() {
        let line = line.expect("the pipe holds text");
        if let Some(id) = line.strip_prefix("ack ") {
            acknowledged.push(id.to_owned());
            if acknowledged.len() == acknowledgements {
                child.kill().expect("kills");
            }
        }
    }
    let status = child.wait().expect("ends");
    assert!(!status.success(), "it was killed, it did not end");
    assert!(acknowledged.len() >= acknowledgements);
    acknowledged
}

/// Adds, cuts and finishes jobs for ever; prints the acknowledged messages.
#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledge_until_killed(path: &Path, round: &str) {
    let ledger = Arc::new(SqliteLedger::open(path).expect("the lock of a dead process is free"));
    let mut tasks = JoinSet::new();
    for caller in 0..CALLERS {
        let (ledger, round) = (Arc::clone(&ledger), round.to_owned());
        tasks.spawn(async move {
            let s = session("a", &format!("s{}", caller % 2));
            for n in 0.. {
                let id = format!("{round}-{caller}-{n}");
                let message = new(says(&s, "ann", &id, n));
                ledger.append(&s, vec![message], at(n)).await.expect("accepted");
                // One write for each line, so that a kill cannot mix two lines.
                let line = format!("ack {id}\n");
                std::io::stdout()
                    .write_all(line.as_bytes())
                    .expect("the test listens");
            }
        });
    }
    for cutter in 0..2 {
        let (ledger, round) = (Arc::clone(&ledger), round.to_owned());
        tasks.spawn(async move {
            let s = session("a", &format!("s{cutter}"));
            for n in 0.. {
                let buffer = ledger.buffer(&s).await.expect("reads");
                if buffer.len() > 3 {
                    let wanted = cell(&format!("c-{round}-{cutter}-{n}"), &buffer[..3], &["ann"]);
                    match ledger.cut(cut(vec![wanted])).await {
                        Ok(()) | Err(LedgerError::Conflict) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
                let claimed = ledger.claim(1, 0, at(n), at(n + 1)).await.expect("claims");
                let ids: Vec<JobId> = claimed.into_iter().map(|job| job.id).collect();
                ledger.complete(&ids, at(n)).await.expect("done");
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("nothing ends but by the kill");
    }
}

/// Opens the ledger of the killed process and checks it: each message is in the buffer or in one memcell, and
/// each memcell has its job.
#[tokio::main(flavor = "current_thread")]
async fn check(path: &Path, acknowledged: &[String]) {
    let ledger = SqliteLedger::open(path).expect("opens");
    let raw = rusqlite::Connection::open(path).expect("opens");
    let mut statement = raw.prepare("SELECT id FROM cells").expect("prepares");
    let ids = statement
        .query_map([], |row| row.get::<_, String>(0))
        .expect("reads");
    let cell_ids: Vec<CellId> = ids.map(|id| CellId::new(id.expect("reads"))).collect();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |messages: Vec<Message>| {
        for message in messages {
            *places.entry(message.id.as_str().to_owned()).or_default() += 1;
        }
    };
    for s in ["s0", "s1"] {
        count(ledger.buffer(&session("a", s)).await.expect("reads"));
    }
    for id in cell_ids {
        let cell = ledger.cell(&id).await.expect("reads").expect("was cut");
        assert_eq!(cell.messages.len(), 3, "a memcell is whole");
        count(cell.messages);
        let job = JobId(format!("job-{id}"));
        let job = ledger.job(&cell.session.scope, &job).await.expect("reads");
        assert!(job.is_some(), "a memcell has its job");
    }
    for id in acknowledged {
        assert_eq!(places.get(id), Some(&1), "`{id}` was acknowledged");
    }
    assert!(places.values().all(|n| *n == 1), "nothing is there twice");
    let integrity: String = raw
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("checks");
    assert_eq!(integrity, "ok");
}
