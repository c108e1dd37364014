//! What a commit costs as the vault grows: `cargo bench --profile fast -p history`.
//!
//! Owns: the proof that a commit reads what changed, not what is there. What grows is the look at every file's time
//! and size, and writing the list of them.

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use history::GitHistory;
use model::{Timestamp, Zone};
use ports::{Author, CommitPart, Debt, History as _, Run, Touching};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// How often each call is repeated; the median counts.
const CALLS: usize = 21;

/// The size of a file, in bytes.
const FILE_BYTES: usize = 4_000;

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn median_millis(mut once: impl FnMut(usize)) -> f64 {
    let mut times: Vec<Duration> = (0..CALLS)
        .map(|n| {
            let start = Instant::now();
            once(n);
            start.elapsed()
        })
        .collect();
    times.sort();
    times[CALLS / 2].as_secs_f64() * 1000.0
}

fn text(n: usize) -> String {
    let body = "We talked about the pottery class. ".repeat(FILE_BYTES / 35);
    format!("## A talk {{#ep_{n}}}\n\n{body}\n<!-- end -->\n")
}

fn run(id: &str) -> Run {
    Run {
        id: id.into(),
        strategy: "facts".to_owned(),
        reason: String::new(),
    }
}

#[expect(clippy::print_stdout, reason = "a bench reports on its output")]
fn main() {
    let runtime = Runtime::new().expect("a runtime");
    let at = Timestamp::from_millis(1_700_000_000_000);
    println!(
        "{:>8}  {:>12}  {:>12}  {:>14}  {:>8}  {:>8}",
        "files", "nothing, ms", "one file, ms", "log of 50, ms", "undo, ms", "purge, ms"
    );
    for files in [100, 1_000, 10_000] {
        let folder = TempDir::new().expect("a folder");
        let path = |n: usize| {
            let owner = folder
                .path()
                .join(format!("default/default/users/u{}/episodes", n % 100));
            fs::create_dir_all(&owner).expect("creates");
            owner.join(format!("{n}.md"))
        };
        for n in 0..files {
            fs::write(path(n), text(n)).expect("writes");
        }
        let history = GitHistory::new(folder.path(), Zone::utc()).expect("opens");
        let commit = |author: &Author| {
            black_box(runtime.block_on(history.commit(author, &CommitPart::All, at))).expect("commits")
        };
        commit(&Author::Person);
        let nothing = median_millis(|_| assert!(commit(&Author::Person).is_none()));
        let one = median_millis(|n| {
            fs::write(path(n), text(n + 1)).expect("writes");
            assert!(commit(&Author::Run(run(&format!("r_{n}")))).is_some());
        });
        let log = median_millis(|_| {
            black_box(runtime.block_on(history.log(&Touching::All, 50))).expect("reads");
        });
        let undo = median_millis(|n| {
            let (id, by) = (format!("r_{n}"), run(&format!("u_{n}")));
            let undone = runtime.block_on(history.undo(&id, &by, at));
            assert!(undone.expect("undoes").is_some());
        });
        let purge = median_millis(|_| {
            runtime
                .block_on(history.purge(&[Debt {
                    id: 1,
                    below: "".into(),
                    at,
                }]))
                .expect("purges");
        });
        println!("{files:>8}  {nothing:>12.1}  {one:>12.1}  {log:>14.1}  {undo:>8.1}  {purge:>8.1}");
    }
}
