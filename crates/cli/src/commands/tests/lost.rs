//! A root that lost its ledger, or has its newest daily copy in its place: the rows of the table in docs/backup.md.

use std::fs;

use model::{Date, SessionId, SessionKey};
use ports::{Conversations as _, NewRecord, Retention as _};

use super::*;
use crate::serving::LEDGER;

const DAY: Date = Date::constant(2026, 11, 26);
const COPY: &str = "ledger.daily/2026-11-26.sqlite";
const BEFORE: &str = r#"add --user ana --session hives --id h1 --flush "I keep bees in Ghent.""#;
const FORGOTTEN: &str = r#"add --user ana --session code --id c1 --flush "My alarm code is Zebra-4711.""#;
const AFTER: &str = r#"add --user ana --session boats --id b1 --flush "I bought a kayak in Lisbon.""#;

#[derive(Debug, Clone, Copy, PartialEq)]
enum LostLedger {
    Gone,
    Copied,
}

fn conversation(name: &str) -> SessionKey {
    SessionKey::new(Scope::default(), SessionId::new(name))
}

/// Appends to a conversation through the ledger's own port.
async fn talk(root: &Path, name: &str) -> SqliteLedger {
    let ledger = SqliteLedger::open(&root.join(LEDGER)).expect("opens");
    let record = NewRecord {
        item: Some(0),
        text: "hello".to_owned(),
        body: "hello".to_owned(),
    };
    let ana = Owner::user(Name::parse("ana").expect("a name"));
    let conversation = conversation(name);
    let appended = ledger.append(&conversation, &ana, 0, None, vec![record]);
    appended.await.expect("appended");
    ledger
}

/// A root with data of each kind from before and after its daily copy; then its ledger is lost.
async fn stage(lost: LostLedger) -> (TempDir, Desk) {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let before = [
        BEFORE,
        FORGOTTEN,
        "forget --yes --session code",
        r#"add --user ana --session early "I sail on Sundays.""#,
    ];
    typed(&desk, &before).await.expect("stored");
    let ledger = talk(root.path(), "before").await;
    assert!(ledger.copy(DAY).await.expect("copied"));
    drop(ledger);
    let after = [AFTER, r#"add --user ana --session late "I row at night.""#];
    typed(&desk, &after).await.expect("stored");
    drop(talk(root.path(), "after").await);
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(root.path().join(format!("{LEDGER}{suffix}"))).ok();
    }
    if lost == LostLedger::Copied {
        fs::copy(root.path().join(COPY), root.path().join(LEDGER)).expect("put back");
    }
    (root, desk)
}

/// Searches for each text and checks whether the answer has it.
async fn check_found(desk: &Desk, expected: &[(&str, bool)]) {
    for (words, is_there) in expected {
        let said = typed(desk, &[&format!(r#"search --user ana "{words}""#)]).await;
        let said = said.expect("it answers").said;
        assert_eq!(said.contains(words), *is_there, "{words}: {said}");
    }
}

async fn conversations(root: &Path) -> Vec<usize> {
    let ledger = SqliteLedger::open(&root.join(LEDGER)).expect("opens");
    let mut counts = Vec::new();
    for name in ["before", "after"] {
        counts.push(ledger.read(&conversation(name), 0, 9).await.expect("reads").len());
    }
    counts
}

#[tokio::test]
async fn memories_stay_and_data_of_the_ledger_is_as_old_as_the_copy() {
    for lost in [LostLedger::Gone, LostLedger::Copied] {
        let (root, desk) = stage(lost).await;
        let is_copied = lost == LostLedger::Copied;
        let expected = [
            // Messages of episodes, which are in Markdown.
            ("I keep bees in Ghent.", true),
            ("I bought a kayak in Lisbon.", true),
            // Messages without an episode.
            ("I sail on Sundays.", is_copied),
            ("I row at night.", false),
        ];
        check_found(&desk, &expected).await;
        let listed = typed(&desk, &["--json get --user ana"])
            .await
            .expect("it lists")
            .json();
        assert_eq!(listed["total_count"], 2, "{lost:?} {listed}");
        assert_eq!(conversations(root.path()).await, [usize::from(is_copied), 0]);
    }
}

#[tokio::test]
async fn deleted_text_stays_out_with_a_copy_and_may_come_back_without_one() {
    for lost in [LostLedger::Gone, LostLedger::Copied] {
        let (_root, desk) = stage(lost).await;
        let added = typed(&desk, &[&format!("--json {FORGOTTEN}")]).await;
        let added = added.expect("it answers").json();
        assert_eq!(added["forgotten"], lost == LostLedger::Copied, "{lost:?} {added}");
    }
}

#[tokio::test]
async fn a_repeated_message_is_recognised_if_the_ledger_has_it() {
    for lost in [LostLedger::Gone, LostLedger::Copied] {
        let (_root, desk) = stage(lost).await;
        for (line, is_known) in [(BEFORE, lost == LostLedger::Copied), (AFTER, false)] {
            let added = typed(&desk, &[&format!("--json {line}")]).await;
            let added = added.expect("it answers").json();
            assert_eq!(added["duplicate"], is_known, "{lost:?} {added}");
        }
    }
}

#[tokio::test]
async fn the_history_ends_where_the_ledger_ends() {
    for (lost, authors) in [
        (LostLedger::Gone, &[][..]),
        // No ledger knows the changes of the folder since the copy.
        (LostLedger::Copied, &["person", "run"]),
    ] {
        let (_root, desk) = stage(lost).await;
        typed(&desk, &["sync"]).await.expect("it syncs");
        let log = typed(&desk, &["--json history log"])
            .await
            .expect("it lists")
            .json();
        let mut by: Vec<&str> = log["changes"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|change| change["by"].as_str().expect("an author"))
            .collect();
        by.dedup();
        assert_eq!(by, authors, "{lost:?} {log}");
    }
}

#[tokio::test]
async fn a_deletion_removes_the_daily_copies_and_counts_them() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    typed(&desk, &[BEFORE, FORGOTTEN]).await.expect("stored");
    let ledger = SqliteLedger::open(&root.path().join(LEDGER)).expect("opens");
    ledger.copy(DAY).await.expect("copied");
    drop(ledger);
    let said = typed(&desk, &["status"]).await.expect("it answers").said;
    assert!(said.contains("copy        of the ledger, 2026-11-26\n"), "{said}");
    let nothing = typed(&desk, &["forget --yes --session unknown"]).await;
    assert!(!nothing.expect("it answers").said.contains("daily"));
    assert!(root.path().join(COPY).exists());
    let said = typed(&desk, &["forget --yes --session code"])
        .await
        .expect("it answers")
        .said;
    assert!(said.contains("deleted 1 daily copy of the ledger"), "{said}");
    assert!(!root.path().join(COPY).exists());
}
