//! What the history costs while memory is written: `cargo bench -p history --bench growth`.
//!
//! Owns: the proof that the repository stays small beside the Markdown that it records, and that a commit reads what changed.
//! Appends 400 messages to 100 files and records them after every second one, as the engine does.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use history::GitHistory;
use model::{EntryId, Timestamp, Zone};
use ports::{Author, CommitPart, History as _, Run, VaultPath};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const MESSAGES: usize = 400;
const FILES: usize = 100;
/// Messages between two commits.
const BATCH: usize = 2;
/// The words of a message.
const WORDS: usize = 160;

/// Words drawn as in speech: few often, many seldom.
fn text(n: usize, seed: &mut u64) -> String {
    let mut body = String::new();
    for _ in 0..WORDS {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        let rare = (*seed >> 20) % 4_000;
        let word = if (*seed).is_multiple_of(3) {
            rare
        } else {
            rare % 60
        };
        write!(body, "{:x} ", word * 2_654_435_761 % 1_000_003).expect("a string takes any text");
    }
    format!("\n## Talk {n} {{#ep_{n}}}\n\n{body}\n")
}

/// The blocks below a folder, and the bytes of its files.
fn size(below: &Path) -> (u64, u64, usize) {
    let mut sum = (0, 0, 0);
    for entry in fs::read_dir(below).expect("lists") {
        let entry = entry.expect("lists");
        let metadata = entry.metadata().expect("is there");
        sum.0 += metadata.blocks() * 512;
        if metadata.is_dir() {
            let below = size(&entry.path());
            sum = (sum.0 + below.0, sum.1 + below.1, sum.2 + below.2);
        } else {
            sum.1 += metadata.len();
            sum.2 += 1;
        }
    }
    sum
}

/// What this process used of the processor, in milliseconds.
fn processor_millis() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux tells");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |n: usize| fields[n].parse::<u64>().expect("a number");
    (ticks(11) + ticks(12)) * 10
}

#[expect(clippy::print_stdout, reason = "a bench reports on its output")]
fn main() {
    let runtime = Runtime::new().expect("a runtime");
    let folder = TempDir::new().expect("a folder");
    let history = GitHistory::new(folder.path(), Zone::utc()).expect("opens");
    let mut seed = 7;
    let (mut spent, mut commits) = (0, 0_u32);
    let mut told = std::collections::BTreeMap::<VaultPath, std::collections::BTreeSet<EntryId>>::new();
    for n in 0..MESSAGES {
        let owner = n * 7919 % FILES;
        let path = format!(
            "default/default/users/u{owner}/episodes/2026-11-{:02}.md",
            owner % 28 + 1
        );
        let full = folder.path().join(&path);
        fs::create_dir_all(full.parent().expect("it has one")).expect("creates");
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(full)
            .expect("opens");
        file.write_all(text(n, &mut seed).as_bytes()).expect("writes");
        told.entry(path.into())
            .or_default()
            .insert(EntryId::new(format!("ep_{n}")));
        if n % BATCH != BATCH - 1 {
            continue;
        }
        let before = processor_millis();
        let at = Timestamp::from_millis(1_700_000_000_000 + i64::try_from(n).expect("few") * 1_000);
        let run = Run {
            id: format!("r_{n}").into(),
            strategy: "remember".to_owned(),
            reason: String::new(),
        };
        let rest = told.keys().cloned().collect();
        let part = CommitPart::Entries(std::mem::take(&mut told));
        let made = runtime.block_on(history.commit(&Author::Run(run), &part, at));
        assert!(made.expect("commits").is_some());
        let made = runtime.block_on(history.commit(&Author::Person, &CommitPart::Files(rest), at));
        assert!(made.expect("commits").is_none());
        runtime.block_on(history.tidy(at)).expect("tidies");
        spent += processor_millis() - before;
        commits += 1;
    }
    let git = size(&folder.path().join(".git"));
    let all = size(folder.path());
    let markdown = all.1 - git.1;
    println!(
        "{commits} commits: {:.1} ms of processor time each; {} kB of Markdown, {} kB of blocks in {} files of the repository: {:.1} times",
        spent as f64 / f64::from(commits),
        markdown / 1000,
        git.0 / 1000,
        git.2,
        git.0 as f64 / markdown as f64
    );
}
