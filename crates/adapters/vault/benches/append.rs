//! What an append costs as its file grows: `cargo bench -p vault`.
//!
//! Owns: the proof that an append costs the entry, not the file. The time is the disk's sync, so the last column, the
//! same append with the look that `fresh` saves, shows what growing with the file would be like.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use model::{Entry, Timestamp};
use ports::{Clock, Vault as _};
use testkit::vault::samples::{episode, zone};
use vault::MarkdownVault;

const APPENDS: u32 = 200;

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
fn median_micros(mut once: impl FnMut(u32)) -> u128 {
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

#[expect(clippy::print_stdout, reason = "a bench reports on its output")]
fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .build()
        .expect("a runtime");
    println!(
        "{:>10}  {:>16}  {:>22}",
        "file", "append, µs", "append with look, µs"
    );
    for bytes in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let folder = tempfile::TempDir::new().expect("a folder");
        let vault = MarkdownVault::open(folder.path(), zone(), Arc::new(NoTime)).expect("opens");
        let mut filled: Vec<Entry> = Vec::new();
        let size = markdown::render(&entry("ep_0"), &zone()).len();
        filled.extend((0..bytes / size + 1).map(|n| entry(&format!("ep_{n}"))));
        runtime.block_on(vault.append(&filled, true)).expect("fills");
        let append = |id: String, fresh| {
            let entry = entry(&id);
            black_box(runtime.block_on(vault.append(&[entry], fresh))).expect("appends");
        };
        let fresh = median_micros(|n| append(format!("ep_fresh_{n}"), true));
        let look = if bytes > 1_000_000 { 20 } else { APPENDS };
        let looked = median_micros(|n| {
            if n < look {
                append(format!("ep_look_{n}"), false);
            }
        });
        println!("{bytes:>10}  {fresh:>16}  {looked:>22}");
    }
}
