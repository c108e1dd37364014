//! The cost of an append as its file grows: `cargo bench -p vault`.
//!
//! Owns: the proof that the cost depends on the entry, not on the file. The time is that of the disk's sync.
//! The last column is the same append with the check that `fresh` saves; its cost grows with the file.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use model::{Entry, Timestamp};
use ports::{Clock, VaultWriter as _};
use testkit::vault::samples::{episode, zone};
use tokio::runtime::Runtime;
use vault::MarkdownVault;

/// Number of repetitions of each append; the median counts.
const APPENDS: usize = 50;

#[derive(Debug)]
struct NoTime;

#[async_trait]
impl Clock for NoTime {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
    async fn sleep(&self, _duration: Duration) {}
}

fn entry(id: &str) -> Entry {
    let text = "We talked about the pottery class, and that it starts at seven on Mondays.";
    episode("ann", id, "2023-05-08", &[text; 6])
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn median_micros(mut once: impl FnMut(usize)) -> u128 {
    let mut times: Vec<Duration> = (0..APPENDS)
        .map(|n| {
            let start = Instant::now();
            once(n);
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2].as_micros()
}

/// The median time of an append to a file of about that size.
fn append_micros(runtime: &Runtime, bytes: usize, fresh: bool) -> u128 {
    let folder = tempfile::TempDir::new().expect("a folder");
    let vault = MarkdownVault::open(folder.path(), zone(), Arc::new(NoTime)).expect("opens");
    let size = markdown::render(&entry("ep_0"), &zone()).len();
    let filled: Vec<Entry> = (0..=bytes / size).map(|n| entry(&format!("ep_{n}"))).collect();
    runtime.block_on(vault.append(&filled, true)).expect("fills");
    median_micros(|n| {
        let new = entry(&format!("ep_new_{n}"));
        black_box(runtime.block_on(vault.append(&[new], fresh))).expect("appends");
    })
}

#[expect(clippy::print_stdout, reason = "a bench reports on its output")]
fn main() {
    let runtime = Runtime::new().expect("a runtime");
    println!("{:>10}  {:>12}  {:>14}", "file", "append, µs", "with look, µs");
    for bytes in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let [fresh, look] = [true, false].map(|fresh| append_micros(&runtime, bytes, fresh));
        println!("{bytes:>10}  {fresh:>12}  {look:>14}");
    }
}
