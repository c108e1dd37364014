//! The cost of the log of a conversation: durable appends, opening, searching words, erasing, and disk space.
//! `cargo bench -p ledger --bench conversations`; with `--test` a short run that only checks that the bench
//! works.

#![expect(clippy::print_stdout, reason = "its output is what a bench is for")]

use std::path::Path;
use std::time::{Duration, Instant};

use ledger::SqliteLedger;
use model::{Owner, SessionKey};
use ports::{Conversations, NewRecord};
use testkit::ledger::samples::{name, session};

const WORDS: &str = "the a of to in that for with on this error file line test value function return result state \
    request server session index memory token context message update build deploy config parse field struct query \
    match async await thread write read commit branch merge cache buffer stream handle client user answer question \
    because should would could after before between under without failed passed expected actual missing unknown \
    src/main.rs crates/lib.rs docs/readme.md HashMap Vec<String> Option<u64> impl trait fn let mut pub use mod";

#[expect(
    clippy::disallowed_methods,
    reason = "a bench measures the machine's own time"
)]
fn now() -> Instant {
    Instant::now()
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent| times[(times.len() - 1) * percent / 100];
    println!(
        "{what:<48} p50 {:>10.2?}  p99 {:>10.2?}  max {:>10.2?}",
        at(50),
        at(99),
        at(100)
    );
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }
}

/// Records as an agent makes them: short turns, calls, results of tools with numbers that occur only once.
struct Talk {
    dice: Dice,
    items: u64,
    bytes: usize,
}

impl Talk {
    fn new() -> Self {
        Self {
            dice: Dice(9),
            items: 0,
            bytes: 0,
        }
    }

    fn text(&mut self) -> String {
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        let length = [8, 20, 40, 60, 120, 400][self.dice.roll(6)];
        let said = (0..length).map(|_| match self.dice.roll(8) {
            0 => format!("{:x}", self.dice.roll(1 << 30)),
            _ => words[self.dice.roll(words.len())].to_owned(),
        });
        said.collect::<Vec<_>>().join(" ")
    }

    fn record(&mut self) -> NewRecord {
        let text = self.text();
        let id = self.items;
        self.items += 1;
        let raw = format!("{{\\\"role\\\":\\\"tool\\\",\\\"content\\\":\\\"{text}\\\"}}");
        let body = format!(
            "{{\"event\":\"item\",\"id\":{id},\"role\":\"tool\",\"blocks\":[{{\"kind\":\"outcome\",\
             \"call_id\":\"call_{:012x}\",\"text\":\"{text}\",\"failed\":false,\"images\":0}}],\
             \"raw\":\"{raw}\",\"edited\":false}}",
            id * 7919
        );
        self.bytes += body.len();
        NewRecord {
            item: Some(id),
            text,
            body,
        }
    }

    fn records(&mut self, n: usize) -> Vec<NewRecord> {
        (0..n).map(|_| self.record()).collect()
    }
}

async fn appends(folder: &Path, rounds: usize) {
    let ledger = SqliteLedger::open(&folder.join("append.db")).expect("opens");
    let ann = Owner::user(name("ann"));
    for (batch, rounds) in [(1, rounds), (100, rounds / 10)] {
        let s = session("a", &format!("batches of {batch}"));
        let (mut talk, mut at, mut times) = (Talk::new(), 0, Vec::new());
        for n in 0..rounds {
            let records = talk.records(batch);
            let key = format!("key-{n}");
            let start = now();
            at = ledger
                .append(&s, &ann, at, Some(&key), records)
                .await
                .expect("appended");
            times.push(start.elapsed());
        }
        show(&format!("durable append of {batch}"), times);
    }
}

async fn timed<T, F: Future<Output = T>>(what: &str, rounds: usize, call: impl Fn() -> F) {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = now();
        call().await;
        times.push(start.elapsed());
    }
    show(what, times);
}

async fn large(folder: &Path, records: usize) {
    let path = folder.join(format!("{records}.db"));
    let ledger = SqliteLedger::open(&path).expect("opens");
    let (s, ann) = (session("a", "large"), Owner::user(name("ann")));
    let (mut talk, mut at) = (Talk::new(), 0);
    for _ in 0..records / 100 {
        at = ledger
            .append(&s, &ann, at, None, talk.records(100))
            .await
            .expect("appended");
    }
    drop(ledger);
    let bytes = std::fs::metadata(&path).expect("there").len();
    println!(
        "{records} records of {} bytes: {bytes} bytes on disk, {:.3} a byte of the bodies",
        talk.bytes / records,
        bytes as f64 / talk.bytes as f64
    );
    let ledger = SqliteLedger::open(&path).expect("opens");
    let read = async || {
        assert_eq!(
            ledger.read(&s, 0, 10_000).await.expect("reads").len(),
            records.min(10_000)
        );
    };
    timed("  read of the first 10,000", 9, read).await;
    timed("  an item by number", 300, async || {
        ledger.item(&s, at / 2).await.expect("reads")
    })
    .await;
    for words in ["deploy commit", "ffffffffff", "zzz failed"] {
        let find = async || ledger.find(&s, words, 20).await.expect("looks");
        timed(
            &format!("  find `{words}` ({} found)", find().await.len()),
            9,
            find,
        )
        .await;
    }
    erase(&ledger, &s, at).await;
}

async fn erase(ledger: &SqliteLedger, s: &SessionKey, at: u64) {
    let gone = NewRecord {
        item: None,
        text: String::new(),
        body: "{}".to_owned(),
    };
    let start = now();
    let replaced = vec![(at / 2, gone)];
    ledger
        .replace(s, at, replaced, Vec::new())
        .await
        .expect("replaced");
    println!("  one record replaced and erased: {:.2?}", start.elapsed());
    let to = session("a", "fork").session;
    let start = now();
    ledger.fork(s, at, &to).await.expect("forked");
    println!("  forked: {:.2?}", start.elapsed());
    let start = now();
    ledger.delete(s).await.expect("deleted");
    println!("  deleted and erased: {:.2?}", start.elapsed());
}

#[tokio::main]
async fn main() {
    let is_short = std::env::args().any(|argument| argument == "--test");
    let folder = tempfile::tempdir().expect("a folder");
    appends(folder.path(), if is_short { 20 } else { 2_000 }).await;
    let sizes: &[usize] = if is_short { &[200] } else { &[10_000, 100_000] };
    for size in sizes {
        large(folder.path(), *size).await;
    }
}
