//! Waiting segments of one session are written together, with the same result as one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use memory::{Engine, Forget, MemorySettings};
use model::{Entry, EntryId};
use tokio::sync::Semaphore;

use crate::slow::At;
use crate::stage::{Stage, flush, say, session};

/// Ann's messages, each a segment of its own: facts that repeat, replace and end each other.
const TEXTS: [&str; 9] = [
    "My rent is 900.",
    "I eat meat.",
    "As I said: my rent is 900.",
    "My dog is called Rex.",
    "My rent is 950 now.",
    "I don't eat meat.",
    "My sister is called Ines.",
    "My rent is 900 now.",
    "I eat meat.",
];

/// Every entry as a person reads it: facts named by their text, not by their id.
pub(crate) fn entry_lines(stage: &Stage) -> Vec<String> {
    let entries = stage.vault.entries();
    let texts: BTreeMap<&EntryId, &str> = entries
        .iter()
        .map(|(_, entry)| (&entry.id, entry.body.as_str()))
        .collect();
    let line = |entry: &Entry| {
        let replaced: Vec<&str> = entry.supersedes.iter().map(|id| texts[id]).collect();
        format!(
            "{:?} {} until {:?} in place of {replaced:?}",
            entry.kind,
            entry.body,
            entry.superseded_by.as_ref().map(|id| texts[id])
        )
    };
    entries.iter().map(|(_, entry)| line(entry)).collect()
}

/// Leaves the segments of one session waiting, with nothing written.
pub(crate) async fn wait_on(stage: &Stage) {
    let settings = MemorySettings {
        asks_only: true,
        ..stage.settings.clone()
    };
    let engine = Engine::start(stage.parts(), settings).await.expect("it starts");
    let key = session("s");
    for (n, text) in (0..).zip(TEXTS) {
        say(&engine, &key, "ann", n, text).await;
        engine.flush(flush(&key)).await.expect("it cuts");
    }
    engine.shutdown().await;
}

/// The entries when each segment is written before the next is cut.
pub(crate) async fn entry_lines_alone() -> Vec<String> {
    entry_lines_one_by_one(Stage::default()).await
}

async fn entry_lines_one_by_one(stage: Stage) -> Vec<String> {
    let engine = stage.open().await;
    let key = session("s");
    for (n, text) in (0..).zip(TEXTS) {
        say(&engine, &key, "ann", n, text).await;
        engine.flush(flush(&key)).await.expect("it cuts");
        assert_eq!(stage.rest(&engine).await, 0);
    }
    entry_lines(&stage)
}

#[tokio::test]
async fn segments_written_together_give_the_same_entries_as_alone() {
    let stage = Stage::default();
    wait_on(&stage).await;
    let before = stage.faults.made();
    let engine = stage.open().await;
    assert_eq!(stage.rest(&engine).await, 0);
    let expected = entry_lines_alone().await;
    assert_eq!(entry_lines(&stage), expected);
    let replaces = |line: &&String| line.contains("in place of [\"");
    assert!(expected.iter().filter(replaces).count() >= 3, "{expected:#?}");
    stage.check().await;
    let calls = stage.faults.made() - before;
    assert!(calls < 6 * TEXTS.len(), "{calls} calls: each was written alone");
}

#[tokio::test]
async fn the_facts_are_the_same_whatever_is_cached() {
    let expected = entry_lines_alone().await;
    // No room for any rows, and an owner with too many.
    for (hot_bytes_max, hot_rows_max) in [(1, 50_000), (64 << 20, 0)] {
        let mut stage = Stage::default();
        stage.settings.hot_bytes_max = hot_bytes_max;
        stage.settings.hot_rows_max = hot_rows_max;
        assert_eq!(entry_lines_one_by_one(stage).await, expected, "{hot_bytes_max}");
    }
}

#[tokio::test]
async fn segments_before_one_that_cannot_be_written_are_written() {
    let stage = Stage::default();
    wait_on(&stage).await;
    let refused = stage.ledger.everything()[3].1.clone().expect("it is cut");
    stage
        .vault
        .refuse(Some(&refused.as_str().replacen("mc_", "ep_", 1)));
    let engine = stage.open().await;
    let episodes = || {
        let entries = stage.vault.entries();
        entries
            .iter()
            .filter(|(_, entry)| !entry.turns.is_empty())
            .count()
    };
    stage
        .drive(async {
            while episodes() < 3 {
                tokio::task::yield_now().await;
            }
        })
        .await;
    stage.vault.refuse(None);
    assert_eq!(stage.rest(&engine).await, 0);
    assert_eq!(entry_lines(&stage), entry_lines_alone().await);
    stage.check().await;
}

#[tokio::test]
async fn a_long_segment_waits_a_minute_for_room() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let room = Arc::new(Semaphore::new(1_024));
    engine.share_room(room.clone(), 1_024);
    let all = room.acquire_many(1_024).await.expect("it is open");
    let key = session("s");
    say(&engine, &key, "ann", 0, &"violin ".repeat(200_000)).await;
    engine.flush(flush(&key)).await.expect("it cuts");
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert!(stage.vault.entries().is_empty());
    assert_eq!(stage.rest(&engine).await, 0);
    assert_eq!(stage.vault.entries().len(), 1);
    drop(all);
    stage.check().await;
}

#[tokio::test]
async fn a_long_segment_deleted_before_its_write_leaves_no_trace_in_memory() {
    let stage = Stage::default();
    let settings = MemorySettings {
        asks_only: true,
        ..stage.settings.clone()
    };
    let engine = Engine::start(stage.parts(), settings).await.expect("it starts");
    let key = session("s");
    say(&engine, &key, "ann", 0, &"violin ".repeat(200_000)).await;
    engine.flush(flush(&key)).await.expect("it cuts");
    let keeps = || format!("{engine:?}").contains("long_cells: Mutex { data: {CellId");
    assert!(keeps());
    let forget = Forget::Session(key.clone());
    engine.forget(forget).await.expect("it forgets");
    assert!(!keeps());
}

#[tokio::test]
async fn only_one_long_segment_is_written_at_a_time() {
    for talks in [[("s", "ann"), ("s", "ann")], [("s", "ann"), ("t", "bob")]] {
        let stage = Stage::default();
        let settings = MemorySettings {
            asks_only: true,
            ..stage.settings.clone()
        };
        let engine = Engine::start(stage.parts(), settings).await.expect("it starts");
        for (n, (name, who)) in (0..).zip(talks) {
            let key = session(name);
            say(&engine, &key, who, n, &format!("violin {n} ").repeat(150_000)).await;
            engine.flush(flush(&key)).await.expect("it cuts");
        }
        engine.shutdown().await;

        let (slow, engine) = stage.open_slow().await;
        slow.arm(At::Apply);
        stage.drive(slow.called()).await;
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(stage.vault.entries().len(), 1, "{talks:?}");
        slow.let_go();
        assert_eq!(stage.rest(&engine).await, 0);
        assert_eq!(stage.vault.entries().len(), 2, "{talks:?}");
        stage.check().await;
    }
}
