//! Every write of every operation fails once: each operation then happens completely or not at all.

use std::path::Path;

use ledger::SqliteLedger;
use model::{CellId, Owner, SessionKey};
use ports::{
    Conversations, FileAppend, FileChanges, JobFailure, JobId, JobKind, Jobs, LedgerError, Sweep, TaskQuery,
    Transcripts,
};
use testkit::ledger::contract::conversations::{item, note};
use testkit::ledger::samples::{at, cell, cut, file, job, name, new, says, scope, session, with_client_id};

const TABLES: [&str; 14] = [
    "scopes",
    "sessions",
    "events",
    "messages",
    "cells",
    "cell_owners",
    "speakers",
    "jobs",
    "files",
    "file_marks",
    "conversations",
    "records",
    "texts",
    "append_keys",
];

/// Makes the n-th change of a row fail, counted down in a table of the test's own.
fn plant(path: &Path) -> rusqlite::Connection {
    let raw = rusqlite::Connection::open(path).expect("opens");
    raw.execute_batch("CREATE TABLE planted (n INTEGER); INSERT INTO planted VALUES (-1);")
        .expect("creates");
    for table in TABLES {
        for change in ["INSERT", "UPDATE", "DELETE"] {
            let trigger = format!(
                "CREATE TRIGGER planted_{table}_{change} AFTER {change} ON {table} BEGIN
                   UPDATE planted SET n = n - 1;
                   SELECT RAISE(ABORT, 'planted') FROM planted WHERE n = 0;
                 END;"
            );
            raw.execute_batch(&trigger).expect("creates");
        }
    }
    raw
}

/// Everything that the ports return.
async fn everything(ledger: &SqliteLedger) -> String {
    let s = session("a", "s");
    let all_jobs = TaskQuery {
        scope: scope("a"),
        session: None,
        state: None,
        kinds: Vec::new(),
        made_from: None,
        made_before: None,
        page: 1,
        page_size: 99,
    };
    let mut seen = Vec::new();
    seen.push(format!("{:?}", ledger.buffer(&s).await.expect("reads")));
    for user in ["ann", "bob"] {
        let owner = Owner::user(name(user));
        seen.push(format!(
            "{:?}",
            ledger.tail(&scope("a"), &owner).await.expect("reads")
        ));
    }
    for id in ["c1", "c2", "c3"] {
        seen.push(format!(
            "{:?}",
            ledger.cell(&CellId::new(id)).await.expect("reads")
        ));
    }
    seen.push(format!("{:?}", ledger.buffered().await.expect("reads")));
    seen.push(format!("{:?}", ledger.page(&all_jobs).await.expect("reads")));
    let files = FileChanges::stats(ledger).await.expect("reads");
    for stat in files {
        seen.push(format!("{:?}", ledger.record(&stat.path).await.expect("reads")));
    }
    for s in ["s", "fork"] {
        let s = session("a", s);
        seen.push(format!("{:?}", ledger.read(&s, 0, 99).await.expect("reads")));
        seen.push(format!("{:?}", ledger.find(&s, "words", 9).await.expect("looks")));
    }
    seen.join("\n")
}

/// Two memcells, a leased job, a dead-lettered one, three buffered messages, two files.
async fn fill(ledger: &SqliteLedger) {
    let s = session("a", "s");
    let user = |i: i64| if i % 2 == 0 { "ann" } else { "bob" };
    let messages = (0..7).map(|i| new(says(&s, user(i), &format!("m{i}"), i)));
    Transcripts::append(ledger, &s, messages.collect(), at(1))
        .await
        .expect("accepted");
    let buffer = ledger.buffer(&s).await.expect("reads");
    let cells = vec![
        cell("c1", &buffer[..2], &["ann"]),
        cell("c2", &buffer[2..4], &["ann", "bob"]),
    ];
    ledger.cut(cut(cells)).await.expect("cut");
    let failed = job("failed", JobKind::MemoryAdd, &session("a", "other"));
    ledger.enqueue(vec![failed.clone()], at(1)).await.expect("queued");
    ledger.claim(2, 0, at(10), at(20)).await.expect("claims");
    let failure = JobFailure {
        error: "a broken file".to_owned(),
        retry_at: None,
    };
    ledger.fail(&failed.id, failure, at(11)).await.expect("recorded");
    for path in ["f1", "f2"] {
        ledger
            .put(file(path, 1, &[("ep_1", 1), ("ep_2", 2)]))
            .await
            .expect("recorded");
    }
    let ann = Owner::user(name("ann"));
    let records = vec![item(0, "some words"), note("between"), item(1, "other words")];
    Conversations::append(ledger, &s, &ann, 0, Some("key"), records)
        .await
        .expect("appended");
}

async fn converse(ledger: &SqliteLedger, operation: &str, s: &SessionKey) -> Result<(), LedgerError> {
    let ann = Owner::user(name("ann"));
    match operation {
        "log append" => {
            let records = vec![item(2, "more words"), note("the end")];
            Conversations::append(ledger, s, &ann, 3, Some("new key"), records)
                .await
                .map(drop)
        }
        "log replace" => {
            let replaced = vec![(0, note("gone")), (2, item(1, "another text"))];
            ledger
                .replace(s, 3, replaced, vec![note("the end")])
                .await
                .map(drop)
        }
        "log fork" => ledger.fork(s, 3, &session("a", "fork").session).await,
        "log delete" => ledger.delete(s).await.map(drop),
        other => panic!("no operation `{other}`"),
    }
}

async fn operate(ledger: &SqliteLedger, operation: &str) -> Result<(), LedgerError> {
    let s = session("a", "s");
    let leased = JobId("job-c1".to_owned());
    match operation {
        "append" => {
            let new_session = session("new", "s2");
            let messages = (0..3).map(|i| {
                let id = format!("n{i}");
                with_client_id(says(&new_session, "ann", &id, 5), &id)
            });
            Transcripts::append(ledger, &new_session, messages.collect(), at(30))
                .await
                .map(drop)
        }
        "cut" => {
            let buffer = ledger.buffer(&s).await.expect("reads");
            ledger.cut(cut(vec![cell("c3", &buffer, &["ann", "bob"])])).await
        }
        "enqueue" => {
            let jobs = vec![
                job("j1", JobKind::MemoryAdd, &s),
                job("j2", JobKind::MemoryAdd, &session("a", "z")),
            ];
            ledger.enqueue(jobs, at(30)).await
        }
        "claim" => ledger.claim(9, 0, at(40), at(50)).await.map(drop),
        "complete" => ledger.complete(&[leased], at(30)).await,
        "fail" => {
            let failure = JobFailure {
                error: "no space".to_owned(),
                retry_at: None,
            };
            ledger.fail(&leased, failure, at(30)).await
        }
        "retry" => {
            let failed = JobId("failed".to_owned());
            let retried = ledger.retry(&scope("a"), &failed, at(30)).await?;
            assert!(retried, "it was given up");
            Ok(())
        }
        "release" => Jobs::release_all(ledger, at(1_000)).await.map(drop),
        log if log.starts_with("log") => converse(ledger, log, &s).await,
        sweep if sweep.starts_with("forget") => forget(ledger, sweep, s).await,
        "put" => ledger.put(file("f1", 2, &[("ep_3", 3)])).await,
        "extend" => {
            let before = ledger.stat(&"f1".into()).await?;
            let appends = vec![
                FileAppend {
                    before,
                    after: file("f1", 2, &[("ep_2", 9), ("ep_3", 3)]),
                },
                FileAppend {
                    before: None,
                    after: file("f3", 1, &[("ep_1", 1)]),
                },
            ];
            ledger.extend(appends).await
        }
        "drop paths" => ledger.drop_paths(&["f1".into(), "f2".into()]).await,
        other => panic!("no operation `{other}`"),
    }
}

async fn forget(ledger: &SqliteLedger, operation: &str, s: SessionKey) -> Result<(), LedgerError> {
    match operation {
        "forget session" => ledger.sweep(Sweep::Session(s)).await.map(drop),
        "forget owner" => {
            let ann = Owner::user(name("ann"));
            ledger.sweep(Sweep::Owner(scope("a"), ann)).await.map(drop)
        }
        "forget owner in session" => {
            let ann = Owner::user(name("ann"));
            ledger.sweep(Sweep::OwnerInSession(s, ann)).await.map(drop)
        }
        "forget scope" => ledger.sweep(Sweep::Scope(scope("a"))).await.map(drop),
        "forget messages" => {
            let ids = ["m0", "m1", "m4"].into_iter().map(model::MessageId::new);
            ledger
                .sweep(Sweep::Messages(scope("a"), ids.collect()))
                .await
                .map(drop)
        }
        other => panic!("no operation `{other}`"),
    }
}

#[tokio::test]
async fn an_operation_with_a_failed_write_changes_nothing() {
    let operations = [
        "append",
        "cut",
        "enqueue",
        "claim",
        "complete",
        "fail",
        "retry",
        "release",
        "forget session",
        "forget owner",
        "forget owner in session",
        "forget scope",
        "forget messages",
        "put",
        "extend",
        "drop paths",
        "log append",
        "log replace",
        "log fork",
        "log delete",
    ];
    for operation in operations {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger.db");
        let ledger = SqliteLedger::open(&path).expect("opens");
        let raw = plant(&path);
        fill(&ledger).await;
        let before = everything(&ledger).await;
        let mut n = 1;
        loop {
            raw.execute("UPDATE planted SET n = ?1", [n]).expect("sets");
            match operate(&ledger, operation).await {
                Ok(()) => break,
                Err(LedgerError::Store(_)) => {
                    assert_eq!(everything(&ledger).await, before, "{operation}, write {n}");
                }
                Err(other) => panic!("{operation}, write {n}: {other:?}"),
            }
            n += 1;
        }
        assert!(n > 1, "{operation} writes something");
        if operation != "append" && operation != "release" {
            assert_ne!(everything(&ledger).await, before, "{operation} does something");
        }
        let integrity: String = raw
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("checks");
        assert_eq!(integrity, "ok", "{operation}");
        let orphans: usize = raw
            .prepare("PRAGMA foreign_key_check")
            .and_then(|mut s| s.query_map([], |_| Ok(())).map(Iterator::count))
            .expect("checks");
        assert_eq!(orphans, 0, "{operation}");
    }
}
