//! Many callers at once on one session: nothing is lost and nothing is doubled.

use std::collections::BTreeMap;
use std::sync::Arc;

use ledger::SqliteLedger;
use model::{CellId, Content, Message, MessageId};
use ports::{Jobs, LedgerError, Transcripts};
use testkit::ledger::samples::{at, cell, cut, new, says, session, with_client_id};
use tokio::task::JoinSet;

const ROUNDS: usize = 200;
const CALLERS: usize = 64;

/// Cuts the older half of the buffer, like a caller that read it a moment ago.
async fn cut_half(ledger: &SqliteLedger, id: &str) -> Option<CellId> {
    let s = session("a", "s");
    let buffer = ledger.buffer(&s).await.expect("reads");
    tokio::task::yield_now().await;
    let half = &buffer[..buffer.len().div_ceil(2)];
    if half.is_empty() {
        return None;
    }
    match ledger.cut(cut(vec![cell(id, half, &["ann"])])).await {
        Ok(()) => Some(CellId::new(id)),
        Err(LedgerError::Conflict) => None,
        Err(other) => panic!("{other:?}"),
    }
}

/// One round: every caller adds a message, every fourth one retries its add at the same moment, three cut.
async fn round(ledger: &Arc<SqliteLedger>, round: usize) -> Vec<CellId> {
    let s = session("a", "s");
    let mut adds = JoinSet::new();
    for caller in 0..CALLERS {
        for attempt in 0..=usize::from(caller % 4 == 0) {
            let (ledger, s) = (Arc::clone(ledger), s.clone());
            adds.spawn(async move {
                let said = format!("r{round}-{caller}");
                // A retry has another message id; all have the same time.
                let message = says(&s, "ann", &format!("{said}-{attempt}"), 1);
                let message = match caller % 4 {
                    0 => with_client_id(message, &said),
                    _ => new(message),
                };
                let outcome = ledger.append(&s, vec![message], at(1)).await.expect("accepted");
                (said, outcome.accepted[0].id.clone())
            });
        }
    }
    let mut cuts = JoinSet::new();
    for cutter in 0..3 {
        let ledger = Arc::clone(ledger);
        cuts.spawn(async move { cut_half(&ledger, &format!("c{round}-{cutter}")).await });
    }
    let mut acknowledged: BTreeMap<String, MessageId> = BTreeMap::new();
    while let Some(added) = adds.join_next().await {
        let (said, id) = added.expect("no panic");
        let first = acknowledged.entry(said).or_insert_with(|| id.clone());
        assert_eq!(*first, id, "a retry is told the first id");
    }
    assert_eq!(acknowledged.len(), CALLERS);
    let mut cells = Vec::new();
    while let Some(cut) = cuts.join_next().await {
        cells.extend(cut.expect("no panic"));
    }
    cells
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_or_doubled_by_64_callers_in_200_rounds_with_cuts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let ledger = Arc::new(SqliteLedger::open(&path).expect("opens"));
    let mut cells = Vec::new();
    for n in 0..ROUNDS {
        cells.extend(round(&ledger, n).await);
    }
    assert!(cells.len() > ROUNDS / 2, "cuts came through: {}", cells.len());
    let s = session("a", "s");
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |messages: Vec<Message>| {
        for message in messages {
            let said = message
                .id
                .as_str()
                .rsplit_once('-')
                .expect("said-attempt")
                .0
                .to_owned();
            *places.entry(said).or_default() += 1;
        }
    };
    count(ledger.buffer(&s).await.expect("reads"));
    for id in &cells {
        let cell = ledger.cell(id).await.expect("reads").expect("was cut");
        count(cell.messages);
    }
    assert_eq!(places.len(), ROUNDS * CALLERS, "every message is somewhere");
    assert!(places.values().all(|n| *n == 1), "and nowhere twice");
    let stats = Jobs::stats(&*ledger).await.expect("reads");
    assert_eq!(stats.queued, cells.len(), "one job for each memcell");
}

/// Anonymous memory of this process, in bytes.
#[cfg(target_os = "linux")]
fn anonymous() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("reads");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kibibytes.expect("a size").parse::<usize>().expect("a number") << 10
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_message_of_40_mib_leaves_no_pages_in_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = SqliteLedger::open(&folder.path().join("ledger.db")).expect("opens");
    let s = session("a", "s");
    let said = |id: &str, bytes: usize| {
        let mut message = says(&s, "ann", id, 1);
        message.content = Content::Text("x".repeat(bytes)).into();
        vec![new(message)]
    };
    ledger.append(&s, said("short", 1), at(1)).await.expect("accepts");
    let before = anonymous();
    // The allocator frees buffers over 32 MiB at once.
    ledger
        .append(&s, said("long", 40 << 20), at(2))
        .await
        .expect("accepts");
    // Other tests may share this process.
    let left = anonymous().saturating_sub(before);
    assert!(left < 16 << 20, "{left}");
}
