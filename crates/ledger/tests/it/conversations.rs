//! Logs of conversations: they equal those of the fake after any steps, are erased from the files, and
//! survive a kill, one by one.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use ledger::SqliteLedger;
use model::{Owner, SessionId, SessionKey};
use ports::{Conversations, NewRecord, Sweep, Transcripts};
use proptest::collection::vec;
use proptest::prelude::*;
use testkit::ledger::MemoryLedger;
use testkit::ledger::contract::conversations::{item, note};
use testkit::ledger::samples::{name, scope, session};

/// A step; its numbers choose among the existing values.
#[derive(Debug, Clone)]
enum Step {
    /// Conversation, owner, how far from the end, key, records.
    Append(u8, u8, u64, Option<u8>, Vec<(Option<u64>, String)>),
    Replace(u8, Vec<(u64, Option<u64>, String)>, Option<String>),
    Fork(u8, u64, u8),
    Delete(u8),
    Sweep(u8, u8, u8),
    Reopen,
}

fn any_record() -> impl Strategy<Value = (Option<u64>, String)> {
    // Long ones are packed.
    let text = prop_oneof![".{0,6}", "[abAB\u{3a3}ς東 \0]{0,9}", "[a-d ]{250,400}"];
    (prop::option::of(0..30_u64), text)
}

fn step() -> impl Strategy<Value = Step> {
    let late = prop_oneof![9 => Just(0), 1 => 1..3_u64];
    prop_oneof![
        8 => (0..4_u8, prop_oneof![9 => Just(0), 1 => Just(1)], late, prop::option::weighted(0.3, 0..4_u8), vec(any_record(), 0..4))
            .prop_map(|(s, owner, late, key, records)| Step::Append(s, owner, late, key, records)),
        3 => (0..4_u8, vec((0..9_u64, prop::option::of(0..30_u64), ".{0,6}"), 0..3), prop::option::of(".{0,6}"))
            .prop_map(|(s, replaced, appended)| Step::Replace(s, replaced, appended)),
        2 => (0..4_u8, 0..6_u64, 0..2_u8).prop_map(|(from, records, to)| Step::Fork(from, records, to)),
        1 => (0..4_u8).prop_map(Step::Delete),
        1 => (0..5_u8, 0..4_u8, 0..2_u8).prop_map(|(kind, s, owner)| Step::Sweep(kind, s, owner)),
        1 => Just(Step::Reopen),
    ]
}

fn chosen(n: u8) -> SessionKey {
    session(["a", "b"][usize::from(n % 2)], &format!("s{}", n / 2))
}

fn owner(n: u8) -> Owner {
    Owner::user(name(["ann", "bob"][usize::from(n)]))
}

fn record(number: Option<u64>, text: &str) -> NewRecord {
    match number {
        Some(number) => item(number, text),
        None => NewRecord {
            text: text.to_owned(),
            ..note(text)
        },
    }
}

async fn run(ledger: &(impl Conversations + Transcripts), step: &Step) -> String {
    let end = async |s: &SessionKey| ledger.read(s, 0, 999).await.expect("reads").len() as u64;
    match step {
        Step::Append(s, of, late, key, records) => {
            let s = chosen(*s);
            let at = end(&s).await.saturating_sub(*late);
            let records = records.iter().map(|(n, text)| record(*n, text)).collect();
            let key = key.map(|key| format!("key-{key}"));
            let appended = Conversations::append(ledger, &s, &owner(*of), at, key.as_deref(), records).await;
            format!("{appended:?}")
        }
        Step::Replace(s, replaced, appended) => {
            let s = chosen(*s);
            let replaced = replaced.iter().map(|(at, n, text)| (*at, record(*n, text)));
            let appended = appended.iter().map(|text| note(text));
            let at = end(&s).await;
            format!(
                "{:?}",
                ledger
                    .replace(&s, at, replaced.collect(), appended.collect())
                    .await
            )
        }
        Step::Fork(from, records, to) => {
            let to = SessionId::new(format!("s{to}"));
            format!("{:?}", ledger.fork(&chosen(*from), *records, &to).await)
        }
        Step::Delete(s) => format!("{:?}", ledger.delete(&chosen(*s)).await),
        Step::Sweep(kind, s, of) => {
            let (s, owner) = (chosen(*s), owner(*of));
            let sweep = match kind {
                0 => Sweep::Session(s),
                1 => Sweep::Owner(s.scope, owner),
                2 => Sweep::OwnerInSession(s, owner),
                3 => Sweep::Scope(s.scope),
                _ => Sweep::Messages(s.scope, Vec::new()),
            };
            format!("{:?}", ledger.sweep(sweep).await)
        }
        Step::Reopen => String::new(),
    }
}

/// Everything that the port returns.
async fn everything(ledger: &impl Conversations) -> Vec<String> {
    let mut seen = Vec::new();
    for n in 0..4 {
        let s = chosen(n);
        seen.push(format!("{:?}", ledger.read(&s, 0, 999).await));
        seen.push(format!("{:?}", ledger.read(&s, 2, 3).await));
        seen.push(format!("{:?}", ledger.items(&s, 3..25).await));
        seen.push(format!("{:?}", ledger.item(&s, 7).await));
        for words in ["a", "Σ", "東", "b A", "ab", "\0", "cd d"] {
            seen.push(format!("{words}: {:?}", ledger.find(&s, words, 5).await));
        }
    }
    seen
}

#[tokio::main(flavor = "current_thread")]
async fn compare(path: &Path, steps: &[Step]) {
    let model = MemoryLedger::new();
    let mut ledger = SqliteLedger::open(path).expect("opens");
    for (i, step) in steps.iter().enumerate() {
        if matches!(step, Step::Reopen) {
            drop(ledger);
            ledger = SqliteLedger::open(path).expect("opens");
        }
        let expected = run(&model, step).await;
        assert_eq!(run(&ledger, step).await, expected, "step {i}: {step:?}");
        assert_eq!(
            everything(&ledger).await,
            everything(&model).await,
            "after step {i}: {step:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_ledger_answers_like_the_one_in_memory(steps in vec(step(), 1..40)) {
        let folder = tempfile::tempdir().expect("a folder");
        compare(&folder.path().join("ledger.db"), &steps);
    }
}

/// Number of these pieces of 16 bytes in the ledger's files.
fn left(folder: &Path, pieces: &BTreeSet<Vec<u8>>) -> usize {
    let files: Vec<Vec<u8>> = std::fs::read_dir(folder)
        .expect("reads")
        .map(|entry| std::fs::read(entry.expect("reads").path()).expect("reads"))
        .collect();
    let wanted: BTreeSet<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    let found: BTreeSet<&[u8]> = files
        .iter()
        .flat_map(|file| file.windows(16))
        .filter(|window| wanted.contains(window))
        .collect();
    found.len()
}

/// Pieces of every stored body and text of a conversation: the first, middle and last 16 bytes of each,
/// packed or not.
fn stored(path: &Path) -> BTreeSet<Vec<u8>> {
    let raw = rusqlite::Connection::open(path).expect("opens");
    let sql = "SELECT CAST(body AS BLOB) FROM records UNION ALL SELECT CAST(text AS BLOB) FROM texts
               UNION ALL SELECT CAST(name AS BLOB) FROM conversations UNION ALL SELECT CAST(key AS BLOB) FROM append_keys";
    let mut statement = raw.prepare(sql).expect("prepares");
    let columns = statement
        .query_map([], |row| row.get::<_, Vec<u8>>(0))
        .expect("reads");
    let mut pieces = BTreeSet::new();
    for column in columns {
        let column = column.expect("reads");
        for start in [0, column.len() / 2, column.len().saturating_sub(16)] {
            pieces.extend(column.get(start..start + 16).map(<[u8]>::to_vec));
        }
    }
    pieces
}

/// Hexadecimal text without repetitions, so each piece of it is unique.
fn needle(seed: u64, digits: usize) -> String {
    let mut seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let words = std::iter::repeat_with(|| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        format!("{seed:016x}")
    });
    words.take(digits / 16 + 1).collect()
}

async fn fill(ledger: &SqliteLedger, s: &SessionKey, seed: u64) {
    let ann = Owner::user(name("ann"));
    let mut at = 0;
    for n in 0..40 {
        let text = needle(
            seed + n,
            [20, 200, 2_000, 30_000][usize::try_from(n % 4).expect("small")],
        );
        let key = needle(seed + 1_000 + n, 16);
        let append = Conversations::append(ledger, s, &ann, at, Some(&key), vec![item(n, &text)]);
        at = append.await.expect("appended");
    }
}

/// The pieces of `before` that no column holds now; many.
fn gone(path: &Path, before: BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
    let kept = stored(path);
    let gone: BTreeSet<Vec<u8>> = before.into_iter().filter(|piece| !kept.contains(piece)).collect();
    assert!(gone.len() > 150, "{}", gone.len());
    gone
}

#[tokio::test]
async fn replaced_deleted_and_swept_text_is_in_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let ledger = SqliteLedger::open(&path).expect("opens");
    let named = |n: u64| session("a", &needle(n, 32));
    for n in [1, 2, 4, 5] {
        fill(&ledger, &named(n), 10_000 * n).await;
    }
    ledger
        .fork(&named(2), 40, &named(3).session)
        .await
        .expect("forked");
    let all = stored(&path);
    // A few cross the end of a page.
    assert!(left(folder.path(), &all) > all.len() * 9 / 10);

    let notes = (0..40).map(|n| (n, note("{}"))).collect();
    ledger
        .replace(&named(1), 40, notes, Vec::new())
        .await
        .expect("replaced");
    let replaced = gone(&path, all);
    assert_eq!(left(folder.path(), &replaced), 0);

    let ann = Owner::user(name("ann"));
    let before = stored(&path);
    assert!(ledger.delete(&named(2)).await.expect("deleted"));
    let in_fork = Sweep::OwnerInSession(named(3), ann.clone());
    for sweep in [in_fork, Sweep::Session(named(4))] {
        ledger.sweep(sweep).await.expect("swept");
    }
    assert_eq!(left(folder.path(), &gone(&path, before)), 0);

    let before = stored(&path);
    ledger.sweep(Sweep::Owner(scope("a"), ann)).await.expect("swept");
    assert_eq!(left(folder.path(), &gone(&path, before)), 0);
    assert_eq!(stored(&path), BTreeSet::new());
}

/// Set for the process to be killed: the path of its ledger.
const CHILD: &str = "QUIPU_CONVERSATIONS_TEST_CHILD";

#[test]
fn records_acknowledged_by_a_killed_process_are_there_in_order() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the only way to tell a copy of this test what it is"
    )]
    let child = std::env::var(CHILD);
    if let Ok(path) = child {
        return append_until_killed(Path::new(&path));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let mut before = 0;
    for acknowledgements in [1, 40, 7, 90] {
        let acknowledged = run_and_kill(&path, acknowledgements);
        before = check(&path, before, acknowledged);
    }
}

/// Runs a child until it has acknowledged this many appends; returns the last length that it reported.
fn run_and_kill(path: &Path, acknowledgements: usize) -> u64 {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args([
            "--exact",
            "--nocapture",
            "conversations::records_acknowledged_by_a_killed_process_are_there_in_order",
        ])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let output = BufReader::new(child.stdout.take().expect("piped"));
    let mut lengths = Vec::new();
    for line in output.lines() {
        let line = line.expect("the pipe holds text");
        let length: Option<u64> = line.strip_prefix("ack ").and_then(|length| length.parse().ok());
        lengths.extend(length);
        if length.is_some() && lengths.len() == acknowledgements {
            child.kill().expect("kills");
        }
    }
    child.wait().expect("ends");
    assert!(lengths.len() >= acknowledgements, "{lengths:?}");
    lengths.last().copied().expect("at least one")
}

/// Appends three records at a time for ever and prints the length after each.
#[tokio::main(flavor = "current_thread")]
async fn append_until_killed(path: &Path) {
    let ledger = SqliteLedger::open(path).expect("the lock of a dead process is free");
    let (s, ann) = (session("a", "s"), Owner::user(name("ann")));
    let mut at = ledger.read(&s, 0, usize::MAX).await.expect("reads").len() as u64;
    loop {
        let records = (at..at + 3).map(|n| item(n, &"some words ".repeat(60))).collect();
        let key = at.to_string();
        let append = Conversations::append(&ledger, &s, &ann, at, Some(&key), records);
        at = append.await.expect("appended");
        // One write for each line, so that a kill cannot mix two lines.
        let line = format!("ack {at}\n");
        std::io::stdout()
            .write_all(line.as_bytes())
            .expect("the test listens");
    }
}

/// Opens the ledger of the killed process and checks it: whole appends, in order, and all acknowledged ones.
/// Returns the number of records.
#[tokio::main(flavor = "current_thread")]
async fn check(path: &Path, before: u64, acknowledged: u64) -> u64 {
    assert!(acknowledged > before);
    let ledger = SqliteLedger::open(path).expect("opens");
    let log = ledger
        .read(&session("a", "s"), 0, usize::MAX)
        .await
        .expect("reads");
    let length = log.len() as u64;
    assert!(
        length >= acknowledged && length.is_multiple_of(3),
        "{length}, told {acknowledged}"
    );
    for (n, record) in (0..).zip(&log) {
        assert_eq!((record.position, record.item), (n, Some(n)));
    }
    let found = ledger
        .find(&session("a", "s"), "WORDS some", 1)
        .await
        .expect("looks");
    assert_eq!(found, [length - 1]);
    length
}
