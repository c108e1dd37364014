//! Costs of the index: building, opening, loading an owner, candidates, writes, maintenance, disk and memory.
//!
//! Owns: the numbers that `docs/internals/lancedb-index.md` tells. Never: a pass or a fail.
#![expect(clippy::print_stdout, reason = "a bench prints its numbers")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use index::LanceIndex;
use model::{Doc, DocKey, EmbedderId, Scope, Vector};
use ports::{CandidateQuery, Index, IndexHealth};
use testkit::index::samples::{turn, user};

const DIMS: usize = 256;
const WORDS: u64 = 8_000;
const ROUNDS: usize = 21;
/// Rows of one owner that are written together.
const TOGETHER: usize = 4;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    if let [_, word, dir] = &std::env::args().collect::<Vec<_>>()[..]
        && word == "open"
    {
        return runtime.block_on(open_and_report(Path::new(dir)));
    }
    println!("{:<44}{:>12}{:>12}{:>12}", "", "p50", "min", "max");
    runtime.block_on(async {
        for (title, owners) in [
            ("10,000 rows of 10 owners", vec![1_000; 10]),
            ("the same owner among 100,000 rows", vec![1_000; 100]),
            (
                "an owner of 60,000 among 100,000 rows",
                [vec![60_000], vec![1_000; 40]].concat(),
            ),
        ] {
            println!("\n{title}");
            measure(&owners).await;
        }
    });
}

async fn measure(owners: &[usize]) {
    let root = tempfile::tempdir().expect("a folder");
    let mut data = Data(42);
    let index = open(root.path());
    let (time, ()) = timed(build(&index, owners, &mut data)).await;
    report("build and publish", &mut [time]);
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "{:<44}{:>9.1} MiB",
        "  on disk",
        mib(index.stats().await.expect("stats").bytes_on_disk)
    );
    drop(index);

    let this = std::env::current_exe().expect("this program has a path");
    let child = std::process::Command::new(this)
        .arg("open")
        .arg(root.path())
        .status();
    assert!(child.expect("a process starts").success());
    let index = open(root.path());
    let (scope, owner) = (Scope::default(), user("u0"));
    rounds("load an owner", async || {
        index.load(&scope, &owner).await.expect("loads").len()
    })
    .await;
    reads(&index, &mut data).await;
    writes(&index, &mut data).await;
    reads(&index, &mut data).await;
    let before = index.stats().await.expect("has stats");
    let (time, done) = timed(index.maintain()).await;
    report("maintain", &mut [time]);
    done.expect("maintains");
    let after = index.stats().await.expect("has stats");
    println!("  fragments {} -> {}", before.fragments, after.fragments);
    println!(
        "  MiB {:.1} -> {:.1}",
        mib(before.bytes_on_disk),
        mib(after.bytes_on_disk)
    );
    reads(&index, &mut data).await;
}

/// Cost for a process that opens an index which another one built.
async fn open_and_report(dir: &Path) {
    let before = resident_mib();
    let (time, index) = timed(async { open(dir) }).await;
    report("open", &mut [time]);
    let (time, health) = timed(index.health(&embedder())).await;
    assert_eq!(health, IndexHealth::Ready);
    report("first health check", &mut [time]);
    let checked = resident_mib();
    let (time, rows) = timed(index.load(&Scope::default(), &user("u0"))).await;
    report("first load of an owner", &mut [time]);
    let rows = rows.expect("loads").len();
    for (title, (all, data)) in [
        ("before", before),
        ("open and checked", checked),
        ("loaded", resident_mib()),
    ] {
        println!("  resident {title:<32}{all:>9.1} MiB{data:>9.1} MiB without mapped code");
    }
    println!("  rows loaded {rows}");
}

fn embedder() -> EmbedderId {
    EmbedderId {
        model: "bench/1".to_owned(),
        dims: DIMS,
    }
}

fn open(dir: &Path) -> LanceIndex {
    LanceIndex::open(dir, embedder()).expect("opens")
}

async fn build(index: &LanceIndex, owners: &[usize], data: &mut Data) {
    let mut stage = index.stage(&embedder()).await.expect("stages");
    // As they came: a few rows of one owner, then a few of the next.
    let most = owners.iter().copied().max().unwrap_or(0);
    for from in (0..most).step_by(TOGETHER) {
        for (n, rows) in owners.iter().enumerate() {
            let docs: Vec<Doc> = (from..(from + TOGETHER).min(*rows))
                .map(|row| data.doc(n, row))
                .collect();
            stage.add(&docs).await.expect("adds");
        }
    }
    stage.publish().await.expect("publishes");
}

async fn reads(index: &LanceIndex, data: &mut Data) {
    let query = |text: String, vector| CandidateQuery {
        scope: Scope::default(),
        owner: user("u0"),
        text,
        vector,
        limit: 100,
    };
    let queries: Vec<(String, Vector)> = (0..ROUNDS).map(|_| (data.text(4), data.vector())).collect();
    for (title, words, vectors) in [
        ("candidates by words", true, false),
        ("candidates by vector", false, true),
    ] {
        let mut queries = queries.iter();
        rounds(title, async || {
            let (text, vector) = queries.next().expect("one for each round").clone();
            let text = if words { text } else { String::new() };
            index
                .candidates(&query(text, vectors.then_some(vector)))
                .await
                .expect("searches")
                .len()
        })
        .await;
    }
}

async fn writes(index: &LanceIndex, data: &mut Data) {
    let mut next = 1_000_000;
    for rows in [3, 100, 1_000] {
        let mut written: Vec<DocKey> = Vec::new();
        let mut times = Vec::new();
        let mut replacing = Vec::new();
        for _ in 0..ROUNDS {
            let docs: Vec<Doc> = (next..next + rows).map(|row| data.doc(row % 10, row)).collect();
            next += rows;
            times.push(timed(index.apply(&docs, &[])).await.0);
            let again: Vec<Doc> = written
                .iter()
                .map(|key| Doc {
                    key: key.clone(),
                    ..docs[0].clone()
                })
                .collect();
            if !again.is_empty() {
                replacing.push(timed(index.apply(&again, &written)).await.0);
            }
            written = docs.into_iter().map(|doc| doc.key).collect();
        }
        report(&format!("add {rows} rows"), &mut times);
        report(&format!("replace {rows} rows"), &mut replacing);
    }
}

async fn rounds(title: &str, mut round: impl AsyncFnMut() -> usize) {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let (time, found) = timed(round()).await;
        assert!(found > 0, "{title} brings something");
        times.push(time);
    }
    report(title, &mut times);
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
async fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let start = Instant::now();
    let value = work.await;
    (start.elapsed(), value)
}

fn report(title: &str, times: &mut [Duration]) {
    times.sort();
    let millis = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    let [first, .., last] = times else {
        println!("{title:<44}{:>12}", millis(times[0]));
        return;
    };
    let (first, last) = (*first, *last);
    println!(
        "{title:<44}{:>12}{:>12}{:>12}",
        millis(times[times.len() / 2]),
        millis(first),
        millis(last)
    );
}

/// All resident memory, and that part of it which is not code or files mapped in.
fn resident_mib() -> (f64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib: Option<f64> = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        kib.unwrap_or(0.0) / 1024.0
    };
    (mib("VmRSS:"), mib("RssAnon:"))
}

/// Rows that look like talk: few words often, many seldom. A small generator keeps runs comparable.
struct Data(u64);

impl Data {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn text(&mut self, words: usize) -> String {
        let word = |n: u64| format!("w{n} ");
        (0..words)
            .map(|_| word((self.next() % WORDS) * (self.next() % WORDS) / WORDS))
            .collect()
    }

    fn vector(&mut self) -> Vector {
        let numbers: Vec<f32> = (0..DIMS)
            .map(|_| (self.next() % 2001) as f32 / 1000.0 - 1.0)
            .collect();
        let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
        numbers.iter().map(|x| x / length).collect()
    }

    fn doc(&mut self, owner: usize, row: usize) -> Doc {
        let text = self.text(25);
        let id = format!("m_20240508_{owner}_{row:08}");
        Doc {
            speaker: Some(format!("Speaker {owner}")),
            path: Arc::from(format!("default/default/users/u{owner}/2024-05.md")),
            vector: Some(self.vector()),
            ..turn(&format!("u{owner}"), &id, &text)
        }
    }
}
