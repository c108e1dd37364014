//! The cost of an acknowledged append at 1, 8 and 64 callers, and of the other foreground reads in a full
//! ledger. `cargo bench -p ledger`; with `--test` a short run that only checks that the bench works.

#![expect(clippy::print_stdout, reason = "its output is what a bench is for")]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ledger::SqliteLedger;
use model::{Content, Message, Owner};
use ports::{Jobs, NewMessage, Sweep, Transcripts};
use testkit::ledger::samples::{at, cell, cut, name, new, replies, says, scope, session};
use tokio::task::JoinSet;

const TEXT: &str = "I moved to Lisbon in May, and the flat has a balcony that looks over the river; remind me to \
                    ask Marta about the tram pass before the weekend, because the office closes at noon on Friday.";

#[expect(
    clippy::disallowed_methods,
    reason = "a bench measures the machine's own time"
)]
fn now() -> Instant {
    Instant::now()
}

/// The processor time of this process so far, its threads included, to 10 ms.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() - 1) * percent / 100]
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let (p50, p99) = (percentile(&times, 50), percentile(&times, 99));
    println!(
        "{what:<44} p50 {p50:>10.2?}  p99 {p99:>10.2?}  max {:>10.2?}",
        percentile(&times, 100)
    );
}

/// The time of the smallest durable write on this disk.
fn fsync(folder: &Path, rounds: usize) {
    let mut file = File::create(folder.join("fsync")).expect("creates");
    let times = (0..rounds).map(|_| {
        let start = now();
        file.write_all(&[7; 4096]).expect("writes");
        file.sync_data().expect("syncs");
        start.elapsed()
    });
    show("write of 4 KiB and fsync", times.collect());
}

fn turn(caller: usize, n: usize, batch: usize) -> (model::SessionKey, Vec<NewMessage>) {
    let s = session("a", &format!("s{caller}-{}", n / 40));
    let messages = (0..batch).map(|i| {
        let id = format!("m_20260302_{caller:04}{n:08}{i:02}");
        let millis = i64::try_from(n).expect("small");
        let message = match i % 2 {
            0 => says(&s, &format!("user-{caller}"), &id, millis),
            _ => replies(&s, "bot", &id, millis),
        };
        new(Message {
            content: Content::Text(TEXT.to_owned()).into(),
            ..message
        })
    });
    let messages = messages.collect();
    (s, messages)
}

async fn appends(folder: &Path, callers: usize, batch: usize, messages: usize) {
    let path = folder.join(format!("append-{callers}-{batch}.db"));
    let ledger = Arc::new(SqliteLedger::open(&path).expect("opens"));
    let rounds = messages.div_ceil(callers * batch);
    let (start, cpu_before) = (now(), cpu());
    let mut tasks = JoinSet::new();
    for caller in 0..callers {
        let ledger = Arc::clone(&ledger);
        tasks.spawn(async move {
            let mut times = Vec::with_capacity(rounds);
            for n in 0..rounds {
                let (s, messages) = turn(caller, n, batch);
                let start = now();
                ledger.append(&s, messages, at(1)).await.expect("accepted");
                times.push(start.elapsed());
            }
            times
        });
    }
    let times = tasks.join_all().await.concat();
    let (wall, cpu) = (start.elapsed(), cpu().saturating_sub(cpu_before));
    let done = u32::try_from(rounds * callers * batch).expect("small");
    show(&format!("append of {batch}, {callers} callers"), times);
    println!(
        "{:<44} {:>8.0} messages/s, {:.3} ms of CPU a message",
        "",
        f64::from(done) / wall.as_secs_f64(),
        cpu.as_secs_f64() * 1000.0 / f64::from(done)
    );
}

/// Reads and claims in a ledger with many messages of other owners, all cut and written.
async fn in_a_full_ledger(folder: &Path, messages: usize) {
    let path = folder.join("full.db");
    let ledger = SqliteLedger::open(&path).expect("opens");
    for n in 0..messages.div_ceil(200) {
        let (s, batch) = turn(n, 0, 200);
        ledger.append(&s, batch, at(1)).await.expect("accepted");
        let buffer = ledger.buffer(&s).await.expect("reads");
        let cells = buffer.chunks(20).enumerate();
        let cells = cells.map(|(i, messages)| cell(&format!("mc_{n}_{i}"), messages, &["ann"]));
        ledger.cut(cut(cells.collect())).await.expect("cut");
        loop {
            let claimed = ledger.claim(64, 0, at(10), at(20)).await.expect("claims");
            if claimed.is_empty() {
                break;
            }
            let ids: Vec<_> = claimed.into_iter().map(|job| job.id).collect();
            ledger.complete(&ids, at(11)).await.expect("done");
        }
    }
    let bytes = std::fs::metadata(&path).expect("there").len();
    println!(
        "a ledger of {messages} messages: {} bytes a message",
        bytes / messages as u64
    );
    let mut times = Vec::new();
    for _ in 0..300 {
        let start = now();
        let tail = ledger
            .tail(&scope("a"), &Owner::user(name("ann")))
            .await
            .expect("reads");
        times.push(start.elapsed());
        assert!(tail.is_empty());
    }
    show("  tail of an owner of all, nothing open", times);
    let mut times = Vec::new();
    for _ in 0..300 {
        let start = now();
        ledger.claim(8, 0, at(30), at(40)).await.expect("claims");
        times.push(start.elapsed());
    }
    show("  claim with nothing due", times);
    for (n, which) in ["first", "second"].into_iter().enumerate() {
        let (s, _) = turn(n, 0, 0);
        let start = now();
        let mut sweep = ledger.sweep(Sweep::Session(s));
        let mut times = Vec::new();
        loop {
            let (s, batch) = turn(messages + n, times.len(), 1);
            let appended = now();
            tokio::select! {
                biased;
                swept = &mut sweep => {
                    swept.expect("swept");
                    break;
                }
                accepted = ledger.append(&s, batch, at(50)) => {
                    accepted.expect("accepted");
                    times.push(appended.elapsed());
                }
            }
        }
        println!("  {which} sweep of one session: {:.2?}", start.elapsed());
        show("  append of 1 meanwhile", times);
    }
}

#[tokio::main]
async fn main() {
    let is_short = std::env::args().any(|argument| argument == "--test");
    let messages = if is_short { 200 } else { 20_000 };
    let folder = tempfile::tempdir().expect("a folder");
    fsync(folder.path(), messages / 20);
    for callers in [1, 8, 64] {
        appends(
            folder.path(),
            callers,
            1,
            messages / if callers == 1 { 8 } else { 1 },
        )
        .await;
    }
    appends(folder.path(), 8, 10, messages).await;
    for size in [messages, messages * 5] {
        let place = folder.path().join(size.to_string());
        std::fs::create_dir(&place).expect("creates");
        in_a_full_ledger(&place, size).await;
    }
}
