//! Survival of needles in the digest of a talk, and the speed of the digest: `cargo bench -p context-bench
//! --bench digest`.
//!
//! Owns: planting needles of ten types in made-up agent sessions, and counting those that a digest of 25 %,
//! 10 % and 5 % of the size still shows word for word; files and commands against the true ones. Never: rules
//! made for its own phrasings; half of the phrasings are held out and reported separately.
#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]
#![expect(clippy::print_stdout, reason = "a measurement's result is what it prints")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use context::digest::{Digest, LineKind};
use context::tokens::Meter;
use context_bench::talk::{TYPES, Talk};
use transcript::{Block, Item, ItemId};

const SESSIONS: u64 = 60;
const SHARES: [usize; 3] = [25, 10, 5];

fn main() {
    let meter = Meter::estimate();
    let mut survived: BTreeMap<(usize, bool, usize), (usize, usize)> = BTreeMap::new();
    let mut trail = [Tally::default(); 2];
    let mut rules = [(0, 0); 2];
    let mut promoted = 0;
    let (mut bytes, mut reading, mut choosing, mut items) = (0, 0.0, 0.0, 0);
    for seed in 0..SESSIONS {
        let talk = Talk::new(seed);
        let numbered: Vec<(ItemId, &Item)> = (0..)
            .map(ItemId)
            .zip(talk.items.iter().map(|item| &**item))
            .collect();
        let size: usize = talk.items.iter().map(|item| meter.item(item)).sum();
        let start = Instant::now();
        let digest = context::digest::read(&numbered);
        reading += start.elapsed().as_secs_f64();
        bytes += talk.items.iter().map(|item| weight(item)).sum::<usize>();
        items += talk.items.len();
        compare(&digest, &talk, &mut trail);
        promoted += count_rules(&digest, &talk, &mut rules);
        for (column, share) in SHARES.into_iter().enumerate() {
            let start = Instant::now();
            let text = digest.clone().within(size * share / 100, &meter).to_text();
            choosing += start.elapsed().as_secs_f64();
            for needle in &talk.needles {
                let cell = survived
                    .entry((needle.kind, needle.held_out, column))
                    .or_default();
                cell.0 += usize::from(needle.is_in(&text));
                cell.1 += 1;
            }
        }
    }
    table(&survived);
    println!("\n| ledger | precision | recall |\n|---|---|---|");
    println!(
        "| files and their state | {} |\n| commands and their end | {} |",
        trail[0].cells(),
        trail[1].cells()
    );
    println!(
        "\nrules seen as such: {} of {}, held out {} of {}; {promoted} other sentences taken for one",
        rules[0].0, rules[0].1, rules[1].0, rules[1].1
    );
    let megabytes = bytes as f64 / 1e6;
    println!(
        "\n{SESSIONS} sessions, {items} items, {megabytes:.1} MB; read {:.1} MB/s; within {:.2} ms each",
        megabytes / reading,
        choosing * 1e3 / (SESSIONS * 3) as f64
    );
    large();
}

/// Counts the rules that the digest lists as rules; returns the number of other sentences that it lists as
/// rules.
fn count_rules(digest: &Digest, talk: &Talk, rules: &mut [(usize, usize); 2]) -> usize {
    let told: Vec<&str> = digest
        .lines
        .iter()
        .filter(|line| line.kind == LineKind::Constraint)
        .map(|line| line.text.as_str())
        .collect();
    let given: Vec<_> = talk
        .needles
        .iter()
        .filter(|needle| TYPES[needle.kind] == "constraint")
        .collect();
    let promoted = told
        .iter()
        .filter(|told| !given.iter().any(|needle| told.contains(&needle.text)))
        .count();
    for needle in given {
        let cell = &mut rules[usize::from(needle.held_out)];
        cell.0 += usize::from(told.iter().any(|told| told.contains(&needle.text)));
        cell.1 += 1;
    }
    promoted
}

fn weight(item: &Item) -> usize {
    let of = |block: &Block| match block {
        Block::Text(text) => text.len(),
        Block::Call(call) => call.arguments.len(),
        Block::Outcome(outcome) => outcome.text.len(),
        _ => 0,
    };
    item.blocks.iter().map(of).sum()
}

fn table(survived: &BTreeMap<(usize, bool, usize), (usize, usize)>) {
    println!("| needle | 25 % | 10 % | 5 % | held out 25 % | 10 % | 5 % |\n|---|---|---|---|---|---|---|");
    let mut sums = [(0, 0); 6];
    let percent = |(hit, all): (usize, usize)| format!("{:.0}", 100.0 * hit as f64 / all.max(1) as f64);
    for (kind, name) in TYPES.iter().enumerate() {
        let cells: Vec<(usize, usize)> = [false, true]
            .into_iter()
            .flat_map(|held_out| (0..3).map(move |column| (held_out, column)))
            .map(|(held_out, column)| {
                survived
                    .get(&(kind, held_out, column))
                    .copied()
                    .unwrap_or_default()
            })
            .collect();
        for (sum, cell) in sums.iter_mut().zip(&cells) {
            *sum = (sum.0 + cell.0, sum.1 + cell.1);
        }
        let cells: Vec<String> = cells.into_iter().map(percent).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    println!("| **all** | {} |", sums.map(percent).join(" | "));
}

#[derive(Clone, Copy, Default)]
struct Tally {
    told: usize,
    right: usize,
    real: usize,
}

impl Tally {
    fn add(&mut self, told: &[&str], real: &[String]) {
        self.told += told.len();
        self.real += real.len();
        self.right += told
            .iter()
            .filter(|told| real.iter().any(|real| real == *told))
            .count();
    }

    fn cells(&self) -> String {
        format!(
            "{:.3} | {:.3}",
            self.right as f64 / self.told.max(1) as f64,
            self.right as f64 / self.real.max(1) as f64
        )
    }
}

fn compare(digest: &Digest, talk: &Talk, trail: &mut [Tally; 2]) {
    let of = |kind: LineKind| {
        digest
            .lines
            .iter()
            .filter(|line| line.kind == kind)
            .map(|line| line.text.as_str())
            .collect::<Vec<_>>()
    };
    let state = |(path, state): (&String, &String)| state.replace("PATH", path);
    let files: Vec<String> = talk.files.iter().map(state).collect();
    let commands: Vec<String> = talk
        .commands
        .iter()
        .map(|(command, end)| format!("{end}: {command}"))
        .collect();
    trail[0].add(&of(LineKind::File), &files);
    trail[1].add(&of(LineKind::Command), &commands);
}

/// Results of one megabyte each, and talk of the same size.
fn large() {
    let mut log = String::new();
    for n in 0..12_000 {
        let _ = writeln!(
            log,
            "2026-05-06T12:00:{:02} INFO worker {n} took {} ms for /srv/data/{n}.bin",
            n % 60,
            n % 977
        );
    }
    let mut prose = String::new();
    for n in 0..8_000 {
        let _ = write!(
            prose,
            "The {n}th step of the migration moves the older rows first, which keeps the table small. "
        );
    }
    for (name, item) in [
        ("results", Item::outcome("x", log)),
        ("talk", Item::text(transcript::Role::Assistant, prose)),
    ] {
        let items: Vec<(ItemId, &Item)> = (0..20).map(|id| (ItemId(id), &item)).collect();
        let start = Instant::now();
        let digest = context::digest::read(&items);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "20 items of large {name}: {:.1} MB/s, {} lines",
            20.0 * weight(&item) as f64 / 1e6 / seconds,
            digest.lines.len()
        );
    }
}
